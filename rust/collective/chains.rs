//! Collectives whose messages are generated during a run.
//!
//! In a ring and in a pipeline each message waits for one other at most, and one waits for it at
//! most: the receiver of a message sends the next of its chain. A run then needs the messages that
//! are in flight alone, of which a ring of P ranks has P and not the 2P(P-1) of the whole
//! all-reduce.

use super::ring::Round;
use super::schedule::Blocks;
use super::{Collective, CollectiveError, Plan};
use crate::ids::HostId;
use crate::units::{Bytes, Span, Time};
use crate::workload::{Message, StepAfter, Workload};

/// How the chains of a collective proceed from rank to rank, each to the right neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChainShape {
    /// A chain begins at each rank, and carries one block in each of these rounds.
    Ring(&'static [Round]),
    /// A chain from the first rank to the last carries the segment as a whole.
    Line,
}

/// The place of a message: its segment, its step on the chain, and the rank that sends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainPlace {
    segment: u32,
    step: u32,
    rank: u32,
}

/// The messages of a collective that is a set of chains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chains {
    shape: ChainShape,
    plan: Plan,
    /// Channel and blocks of each segment that is not empty.
    segments: Vec<(u32, Blocks)>,
    step_after: StepAfter,
}

impl ChainShape {
    fn blocks(self, ranks: usize) -> usize {
        match self {
            Self::Ring(_) => ranks,
            Self::Line => 1,
        }
    }

    /// The number of ranks, the first ones, at which a chain begins.
    fn heads(self, ranks: usize) -> usize {
        match self {
            Self::Ring(_) => ranks,
            Self::Line => 1,
        }
    }

    /// The number of messages of a chain.
    fn steps(self, ranks: usize) -> usize {
        match self {
            Self::Ring(rounds) => rounds.len() * (ranks - 1),
            Self::Line => ranks - 1,
        }
    }

    /// The block that a rank sends in a step.
    fn block(self, ranks: usize, step: usize, rank: usize) -> usize {
        match self {
            Self::Ring(rounds) => rounds[step / (ranks - 1)].block(ranks, step % (ranks - 1), rank),
            Self::Line => 0,
        }
    }

    /// Bytes that a rank sends of a segment in all steps together.
    fn bytes_of(self, ranks: usize, rank: usize, blocks: &Blocks) -> u64 {
        let all = blocks.bytes(&(0..self.blocks(ranks)));
        match self {
            // In a round a rank sends every block but one: the one that it would send next.
            Self::Ring(rounds) => rounds
                .iter()
                .map(|round| round.block(ranks, ranks - 1, rank))
                .map(|kept| all - blocks.bytes(&(kept..kept + 1)))
                .sum(),
            Self::Line if rank + 1 < ranks => all,
            Self::Line => 0,
        }
    }
}

impl Collective {
    /// The chains of the collective; `None` if its messages are not chains, or if a block is empty
    /// and not sent, so that chains have gaps.
    ///
    /// # Errors
    /// As [`Self::build`].
    pub fn chains(
        &self,
        plan: &Plan,
        step_after: StepAfter,
    ) -> Result<Option<Chains>, CollectiveError> {
        let Some(shape) = self.chain else { return Ok(None) };
        plan.check()?;
        plan.check_cost(&(self.cost)(plan))?;
        let count = shape.blocks(plan.ranks.len());
        let segments: Vec<(u32, Blocks)> = plan
            .segments()
            .filter(|segment| segment.bytes > Bytes::ZERO)
            .map(|segment| (segment.channel, Blocks::equal(segment.bytes, count)))
            .collect();
        let has_gaps = segments.iter().any(|(_, blocks)| blocks.bytes(&(count - 1..count)) == 0);
        let plan = plan.clone();
        Ok((!has_gaps).then_some(Chains { shape, plan, segments, step_after }))
    }
}

impl Chains {
    fn ranks(&self) -> usize {
        self.plan.ranks.len()
    }

    /// The first message of each chain: they wait for no other.
    pub fn heads(&self) -> impl Iterator<Item = ChainPlace> + use<> {
        let segments = u32::try_from(self.segments.len()).expect("2^28 messages at most");
        let heads = u32::try_from(self.shape.heads(self.ranks())).expect("ranks are hosts");
        (0..segments)
            .flat_map(move |segment| (0..heads).map(move |rank| (segment, rank)))
            .map(|(segment, rank)| ChainPlace { segment, step: 0, rank })
    }

    /// The message after this one, which its receiver sends; `None` at the end of the chain.
    pub fn next(&self, place: ChainPlace) -> Option<ChainPlace> {
        let step = place.step + 1;
        let rank = (place.rank as usize + 1) % self.ranks();
        let is_there = (step as usize) < self.shape.steps(self.ranks());
        is_there.then_some(ChainPlace { step, rank: rank as u32, ..place })
    }

    /// The message of a place.
    pub fn message(&self, place: ChainPlace) -> Message {
        let (ranks, rank) = (self.ranks(), place.rank as usize);
        let (channel, blocks) = &self.segments[place.segment as usize];
        let block = self.shape.block(ranks, place.step as usize, rank);
        Message {
            src: self.plan.ranks[rank],
            dst: self.plan.ranks[(rank + 1) % ranks],
            bytes: Bytes::new(blocks.bytes(&(block..block + 1))),
            stream: *channel,
            start: Time::ZERO,
        }
    }

    /// The number of messages.
    pub fn messages(&self) -> u64 {
        let of_segment = self.shape.heads(self.ranks()) * self.shape.steps(self.ranks());
        self.segments.len() as u64 * of_segment as u64
    }

    /// Length of the longest message.
    pub fn longest(&self) -> Bytes {
        let first = self.segments.iter().map(|(_, blocks)| blocks.bytes(&(0..1)));
        Bytes::new(first.max().unwrap_or(0))
    }

    /// The lengths that messages have, in ascending order: few, since blocks differ by a byte.
    pub fn lengths(&self) -> Vec<Bytes> {
        let count = self.shape.blocks(self.ranks());
        let ends = [0..1, count - 1..count];
        let of_segment = |(_, blocks): &(u32, Blocks)| {
            ends.clone().map(|block| Bytes::new(blocks.bytes(&block)))
        };
        let mut lengths: Vec<Bytes> = self.segments.iter().flat_map(of_segment).collect();
        lengths.sort_unstable();
        lengths.dedup();
        lengths
    }

    /// Computing time of a rank between a message that it receives and the next of the chain.
    pub fn gap(&self) -> Span {
        self.plan.gap
    }

    /// The event of a message after which the next one of its chain is sent.
    pub fn step_after(&self) -> StepAfter {
        self.step_after
    }

    /// The load of the messages without their order, for lower bounds: one message for each rank
    /// and channel with all of its bytes.
    pub fn load(&self) -> Vec<Message> {
        let ranks = self.ranks();
        let mut load: Vec<Message> = Vec::new();
        for channel in 0..self.plan.channels {
            let segments = || self.segments.iter().filter(|(own, _)| *own == channel);
            for rank in 0..ranks {
                let of_segment = |blocks| self.shape.bytes_of(ranks, rank, blocks);
                let bytes: u64 = segments().map(|(_, blocks)| of_segment(blocks)).sum();
                let (src, dst) = (self.plan.ranks[rank], self.plan.ranks[(rank + 1) % ranks]);
                let bytes = Bytes::new(bytes);
                load.push(Message { src, dst, bytes, stream: channel, start: Time::ZERO });
            }
        }
        load.retain(|message| message.bytes > Bytes::ZERO);
        load
    }

    /// A workload of these messages, which are generated during the run.
    pub fn into_workload(self) -> Workload {
        let load = self.load();
        Workload { chains: Some(self.into()), ..Workload::independent(load) }
    }

    /// The same with each host `i` replaced by `hosts[i]`.
    pub(crate) fn moved(mut self, hosts: &[HostId]) -> Self {
        self.plan.ranks.iter_mut().for_each(|host| *host = hosts[host.index()]);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::{ALL, find};
    use crate::ids::TaskId;

    fn plan(ranks: u32, bytes: u64, channels: u32, chunks: u32) -> Plan {
        let ranks = (0..ranks).map(|rank| HostId(3 * rank + 1)).collect();
        Plan { channels, chunks, ..Plan::new(ranks, Bytes::new(bytes)) }
    }

    fn chains(name: &str, plan: &Plan) -> Option<Chains> {
        find(name).unwrap().chains(plan, StepAfter::Delivery).unwrap()
    }

    /// Each chain of a workload that was built as a whole, from its first message on.
    fn built(workload: &Workload) -> Vec<Vec<Message>> {
        let waits = |task: &TaskId| workload.waits_for.get(task.index()).is_some_and(|it| *it > 0);
        let heads = workload.tasks().filter(|task| !waits(task));
        let chain = |head: TaskId| {
            let next = |task: &TaskId| match workload.dependents_of(*task) {
                [] => None,
                [next] => Some(*next),
                several => panic!("{task} is followed by {several:?}"),
            };
            std::iter::successors(Some(head), next).map(|task| *workload.message(task).unwrap())
        };
        heads.map(|head| chain(head).collect()).collect()
    }

    #[test]
    fn the_messages_are_those_of_the_schedule_in_its_order() {
        let plans = [(2, 64, 1, 1), (3, 1_000, 2, 1), (5, 77, 1, 3), (8, 4_096, 3, 2)];
        for collective in ALL.iter().filter(|it| it.chain.is_some()) {
            for plan in
                plans.map(|(ranks, bytes, channels, chunks)| plan(ranks, bytes, channels, chunks))
            {
                let chains = chains(collective.name, &plan).unwrap();
                let workload = collective.build(&plan).unwrap();
                let generated: Vec<Vec<Message>> = chains
                    .heads()
                    .map(|head| {
                        let places = std::iter::successors(Some(head), |at| chains.next(*at));
                        places.map(|place| chains.message(place)).collect()
                    })
                    .collect();
                assert_eq!(generated, built(&workload), "{} of {plan:?}", collective.name);
                assert_eq!(chains.messages(), workload.messages.len() as u64);
                let longest = workload.messages.iter().map(|message| message.bytes).max();
                assert_eq!(Some(chains.longest()), longest);
                let mut load = chains.load();
                let pair = |it: &Message| (it.src, it.dst, it.stream);
                for message in &workload.messages {
                    let of_pair = load.iter_mut().find(|it| pair(it) == pair(message)).unwrap();
                    of_pair.bytes = Bytes::new(of_pair.bytes.get() - message.bytes.get());
                }
                assert!(load.iter().all(|it| it.bytes == Bytes::ZERO), "{}", collective.name);
            }
        }
    }

    #[test]
    fn rings_and_pipelines_are_chains_unless_a_block_is_empty() {
        let names: Vec<&str> =
            ALL.iter().filter(|it| it.chain.is_some()).map(|it| it.name).collect();
        let expected = ["ring-all-reduce", "ring-all-gather", "ring-reduce-scatter", "pipeline"];
        assert_eq!(names, expected);
        assert_eq!(chains("ring-all-reduce", &plan(8, 7, 1, 1)), None);
        assert!(chains("ring-all-reduce", &plan(8, 8, 1, 1)).is_some());
        // Of three chunks of a pipeline with two bytes one is empty, and no chain.
        assert_eq!(chains("pipeline", &plan(8, 2, 1, 3)).unwrap().messages(), 2 * 7);
        assert_eq!(chains("all-to-all", &plan(8, 64, 1, 1)), None);
    }

    #[test]
    fn a_ring_of_thousands_of_ranks_takes_no_memory_for_its_messages() {
        let chains = chains("ring-all-reduce", &plan(8_192, 1 << 26, 1, 1)).unwrap();
        assert_eq!(chains.messages(), 2 * 8_191 * 8_192);
        assert_eq!((chains.heads().count(), chains.load().len()), (8_192, 8_192));
    }
}
