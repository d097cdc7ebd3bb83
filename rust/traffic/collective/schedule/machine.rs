//! Executes a collective on real vectors: every byte is a number, and messages are delivered in
//! random order. As in a real library, arriving data has a separate buffer: a message carries the
//! result of earlier steps only.

use std::collections::BTreeMap;

use super::{OnArrival, ScheduleBuilder, Segment, Send};
use crate::collective::{Collective, Plan};
use crate::ids::TaskId;
use crate::rng::{Purpose, Stream};
use crate::units::Span;
use crate::workload::Workload;

/// The blocks of a message and their lengths.
#[derive(Debug, Clone)]
pub(crate) struct SentBlocks {
    pub send: Send,
    pub segment: Segment,
    pub blocks: Vec<(usize, u64)>,
}

/// A block of a rank: channel, chunk, and block index in this segment.
pub(crate) type BlockKey = (u32, u32, usize);

/// The memory of each rank: the numbers of each block.
pub(crate) type Memory = Vec<BTreeMap<BlockKey, Vec<u64>>>;

/// Returns the collective's messages and their contents.
pub(crate) fn schedule<'a>(collective: &Collective, plan: &'a Plan) -> ScheduleBuilder<'a> {
    collective.schedule(plan).unwrap_or_else(|error| panic!("{}: {error}", collective.name))
}

/// The numbers delivered for a block, by step and message.
type Arrivals = BTreeMap<(u32, usize), Vec<u64>>;

/// The state of all ranks during an execution.
struct Machine<'a> {
    record: &'a [SentBlocks],
    initial: Memory,
    /// Deliveries by rank and block, ordered by step.
    delivered: Vec<BTreeMap<BlockKey, Arrivals>>,
}

/// Executes a collective from `memory`, delivering in-flight messages in random order.
pub(crate) fn run(collective: &Collective, plan: &Plan, memory: Memory, seed: u64) -> Memory {
    let mut schedule = schedule(collective, plan);
    let record = std::mem::take(&mut schedule.record);
    let workload = schedule.finish(Span::ZERO);
    let mut waits_for = workload.waits_for.clone();
    waits_for.resize(workload.messages.len() + workload.delays.len(), 0);
    let mut draws = Stream::new(seed, Purpose::Test, plan.ranks.len() as u64);
    let delivered = vec![BTreeMap::new(); memory.len()];
    let mut machine = Machine { record: &record, initial: memory, delivered };
    let free = (0..record.len()).filter(|&message| waits_for[message] == 0);
    let mut in_flight: Vec<(usize, Vec<Vec<u64>>)> =
        free.map(|message| (message, machine.read(message))).collect();
    let mut count = 0;
    while !in_flight.is_empty() {
        let next = draws.below(in_flight.len() as u32) as usize;
        let (message, numbers) = in_flight.swap_remove(next);
        machine.deliver(message, numbers);
        count += 1;
        for after in released(&workload, &mut waits_for, message) {
            in_flight.push((after, machine.read(after)));
        }
    }
    assert_eq!(count, record.len(), "{}: some messages never start", collective.name);
    machine.end()
}

/// Returns the messages whose last dependency is the delivery of `message`. Joins complete
/// immediately.
fn released(workload: &Workload, waits_for: &mut [u32], message: usize) -> Vec<usize> {
    let (mut ready, mut completed) = (Vec::new(), vec![message]);
    while let Some(task) = completed.pop() {
        for after in workload.dependents_of(TaskId(task as u32)) {
            waits_for[after.index()] -= 1;
            if waits_for[after.index()] > 0 {
                continue;
            }
            let list = if workload.delay(*after).is_some() { &mut completed } else { &mut ready };
            list.push(after.index());
        }
    }
    ready
}

impl Machine<'_> {
    /// Returns the numbers that `rank` holds in a block after all steps before `step`.
    fn holds(&self, rank: usize, block: BlockKey, step: u32) -> Option<Vec<u64>> {
        let mut held = self.initial[rank].get(&block).cloned();
        let arrived = self.delivered[rank].get(&block).into_iter().flatten();
        for (&(_, message), numbers) in arrived.take_while(|((of, _), _)| *of < step) {
            match (self.record[message].send.on_arrival, &mut held) {
                (OnArrival::Reduce, Some(held)) => {
                    held.iter_mut().zip(numbers).for_each(|(held, number)| *held += number);
                }
                _ => held = Some(numbers.clone()),
            }
        }
        held
    }

    fn read(&self, message: usize) -> Vec<Vec<u64>> {
        let SentBlocks { send, segment, blocks } = &self.record[message];
        let numbers = blocks.iter().map(|&(block, length)| {
            let held = self.holds(send.from, (segment.channel, segment.chunk, block), send.step);
            // A rank need not hold an empty block.
            let held = held.or_else(|| (length == 0).then(Vec::new));
            let held = held.unwrap_or_else(|| panic!("{send:?} of block {block} without it"));
            assert_eq!(held.len() as u64, length);
            held
        });
        numbers.collect()
    }

    fn deliver(&mut self, message: usize, numbers: Vec<Vec<u64>>) {
        let SentBlocks { send, segment, blocks } = &self.record[message];
        for (&(block, _), numbers) in blocks.iter().zip(numbers) {
            let key = (segment.channel, segment.chunk, block);
            let arrived = self.delivered[send.to].entry(key).or_default();
            arrived.insert((send.step, message), numbers);
        }
    }

    /// Returns the memory after all steps.
    fn end(self) -> Memory {
        let ranks = 0..self.initial.len();
        let of_rank = |rank: usize| {
            let blocks = self.initial[rank].keys().chain(self.delivered[rank].keys());
            let held = |&block: &BlockKey| Some((block, self.holds(rank, block, u32::MAX)?));
            blocks.filter_map(held).collect()
        };
        ranks.map(of_rank).collect()
    }
}
