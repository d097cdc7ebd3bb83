//! A machine that runs a collective on real vectors: every byte a number, in whatever order
//! messages may be delivered. As in a real library, what arrives waits in a buffer of its own:
//! a message carries what its sender has by the steps before it, and of later ones nothing.

use std::collections::BTreeMap;

use super::{How, Part, Schedule, Send};
use crate::collective::{Collective, Plan};
use crate::ids::MessageId;
use crate::rng::{Purpose, Stream};
use crate::units::Span;
use crate::workload::Workload;

/// What a message carries: blocks and their lengths.
#[derive(Debug, Clone)]
pub struct Carried {
    pub send: Send,
    pub part: Part,
    pub blocks: Vec<(usize, u64)>,
}

/// A block of a rank: of a channel and chunk, by its number.
type Place = (u32, u32, usize);

/// What ranks hold at the end: for each block, its numbers.
pub type Memory = Vec<BTreeMap<Place, Vec<u64>>>;

/// The collective's messages with what they carry.
pub fn schedule<'a>(collective: &Collective, plan: &'a Plan) -> Schedule<'a> {
    collective.schedule(plan).unwrap_or_else(|error| panic!("{}: {error}", collective.name))
}

/// What came for a block: by step and message.
type Arrivals = BTreeMap<(u32, usize), Vec<u64>>;

/// Ranks at work.
struct Machine<'a> {
    record: &'a [Carried],
    beginning: Memory,
    /// By rank and block, what was delivered: message and numbers, in order of steps.
    delivered: Vec<BTreeMap<Place, Arrivals>>,
}

/// Runs a collective from `memory`, delivering in random order whatever is under way.
pub fn run(collective: &Collective, plan: &Plan, memory: Memory, seed: u64) -> Memory {
    let mut schedule = schedule(collective, plan);
    let record = std::mem::take(&mut schedule.record);
    let workload = schedule.finish(Span::ZERO);
    let mut waits_for = workload.waits_for.clone();
    waits_for.resize(workload.messages.len() + workload.delays.len(), 0);
    let mut draws = Stream::new(seed, Purpose::Test, plan.ranks.len() as u64);
    let delivered = vec![BTreeMap::new(); memory.len()];
    let mut machine = Machine { record: &record, beginning: memory, delivered };
    let free = (0..record.len()).filter(|&message| waits_for[message] == 0);
    let mut under_way: Vec<(usize, Vec<Vec<u64>>)> =
        free.map(|message| (message, machine.read(message))).collect();
    let mut count = 0;
    while !under_way.is_empty() {
        let next = draws.below(under_way.len() as u32) as usize;
        let (message, numbers) = under_way.swap_remove(next);
        machine.deliver(message, numbers);
        count += 1;
        for after in released(&workload, &mut waits_for, message) {
            under_way.push((after, machine.read(after)));
        }
    }
    assert_eq!(count, record.len(), "{}: some messages never start", collective.name);
    machine.end()
}

/// Messages that wait for nothing more once `message` is delivered; joins are over at once.
fn released(workload: &Workload, waits_for: &mut [u32], message: usize) -> Vec<usize> {
    let (mut ready, mut over) = (Vec::new(), vec![message]);
    while let Some(task) = over.pop() {
        for after in workload.dependents_of(MessageId(task as u32)) {
            waits_for[after.index()] -= 1;
            if waits_for[after.index()] > 0 {
                continue;
            }
            let list = if workload.delay(*after).is_some() { &mut over } else { &mut ready };
            list.push(after.index());
        }
    }
    ready
}

impl Machine<'_> {
    /// What `rank` has of a block by the steps before `step`.
    fn holds(&self, rank: usize, place: Place, step: u32) -> Option<Vec<u64>> {
        let mut held = self.beginning[rank].get(&place).cloned();
        let arrived = self.delivered[rank].get(&place).into_iter().flatten();
        for (&(_, message), numbers) in arrived.take_while(|((of, _), _)| *of < step) {
            match (self.record[message].send.how, &mut held) {
                (How::Add, Some(held)) => {
                    held.iter_mut().zip(numbers).for_each(|(held, number)| *held += number);
                }
                _ => held = Some(numbers.clone()),
            }
        }
        held
    }

    fn read(&self, message: usize) -> Vec<Vec<u64>> {
        let Carried { send, part, blocks } = &self.record[message];
        let numbers = blocks.iter().map(|&(block, length)| {
            let held = self.holds(send.from, (part.channel, part.chunk, block), send.step);
            // An empty block is nothing to have.
            let held = held.or_else(|| (length == 0).then(Vec::new));
            let held = held.unwrap_or_else(|| panic!("{send:?} of block {block} without it"));
            assert_eq!(held.len() as u64, length);
            held
        });
        numbers.collect()
    }

    fn deliver(&mut self, message: usize, numbers: Vec<Vec<u64>>) {
        let Carried { send, part, blocks } = &self.record[message];
        for (&(block, _), numbers) in blocks.iter().zip(numbers) {
            let place = (part.channel, part.chunk, block);
            let arrived = self.delivered[send.to].entry(place).or_default();
            arrived.insert((send.step, message), numbers);
        }
    }

    fn end(self) -> Memory {
        let ranks = 0..self.beginning.len();
        let of_rank = |rank: usize| {
            let places = self.beginning[rank].keys().chain(self.delivered[rank].keys());
            let held = |&place: &Place| Some((place, self.holds(rank, place, u32::MAX)?));
            places.filter_map(held).collect()
        };
        ranks.map(of_rank).collect()
    }
}
