//! Collective operations: one algorithm a file, and the registry of them all.
//!
//! A collective turns a plan (which host is which rank, and how much each rank holds) into
//! messages and what they wait for. It knows no fabric and no policy. A new algorithm is a file
//! here and a line in [`ALL`]: what it sends step by step (dependencies follow from the data, see
//! `schedule`), and its closed forms: messages, bytes, and what its longest chain sends.

mod all_to_all;
mod binomial;
mod bruck_all_gather;
mod direct;
mod dissemination_barrier;
mod double_binary_tree_all_reduce;
mod error;
mod halving_doubling_all_reduce;
mod hierarchical_all_reduce;
mod hierarchical_all_to_all;
mod pipeline;
mod power_of_two;
mod recursive_doubling_all_reduce;
mod ring;
mod schedule;

pub use error::CollectiveError;

use schedule::{Part, Schedule, equal_blocks};

use crate::ids::HostId;
use crate::units::{Bytes, Span};
use crate::workload::Workload;

/// Most messages of one collective: 2^28, whose records alone take 8 GiB.
pub const MAX_MESSAGES: u64 = 1 << 28;

/// Every collective there is; of several algorithms for one operation the first is the default.
pub const ALL: &[Collective] = &[
    all_to_all::ALL_TO_ALL,
    hierarchical_all_to_all::HIERARCHICAL_ALL_TO_ALL,
    ring::ALL_REDUCE,
    halving_doubling_all_reduce::HALVING_DOUBLING_ALL_REDUCE,
    recursive_doubling_all_reduce::RECURSIVE_DOUBLING_ALL_REDUCE,
    direct::ALL_REDUCE,
    double_binary_tree_all_reduce::DOUBLE_BINARY_TREE_ALL_REDUCE,
    hierarchical_all_reduce::HIERARCHICAL_ALL_REDUCE,
    ring::ALL_GATHER,
    direct::ALL_GATHER,
    bruck_all_gather::BRUCK_ALL_GATHER,
    ring::REDUCE_SCATTER,
    direct::REDUCE_SCATTER,
    binomial::BROADCAST,
    binomial::REDUCE,
    pipeline::PIPELINE,
    dissemination_barrier::BARRIER,
];

/// What a collective achieves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Every rank has the sum of all vectors.
    AllReduce,
    /// Every rank has all blocks, of which each had one.
    AllGather,
    /// Rank i has block i of the sum of all vectors.
    ReduceScatter,
    /// Every rank has what rank 0 had.
    Broadcast,
    /// Rank 0 has the sum of all vectors.
    Reduce,
    /// Rank i has block i of every rank.
    AllToAll,
    /// No rank is done before all have begun.
    Barrier,
    /// The last rank has what the first had, over all between.
    Pipeline,
}

/// A collective algorithm.
#[derive(Debug, Clone, Copy)]
pub struct Collective {
    /// What scenarios call it.
    pub name: &'static str,
    /// What it achieves.
    pub operation: Operation,
    /// One line for people.
    pub summary: &'static str,
    /// Where it is from: title, year, section.
    pub source: &'static str,
    /// Its closed forms.
    pub cost: fn(&Plan) -> Cost,
    /// Says what is sent, of one part of the vector.
    steps: fn(&mut Schedule<'_>),
}

/// The closed forms of a collective in one part (a channel, a chunk).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cost {
    /// How many messages there are, if no block is empty.
    pub messages: u128,
    /// Payload bytes of all of them.
    pub bytes: u128,
    /// The alpha-beta form: what the rank on the longest chain sends, step by step, where blocks
    /// are equal. The collective takes one latency and the time of these bytes for each.
    pub chain: Vec<u64>,
    /// How many steps of the chain begin only when the sender knows that the one before is over.
    pub turns: usize,
}

/// Who takes part, with how much, and in which portions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The host of each rank, by rank; no host twice.
    pub ranks: Vec<HostId>,
    /// What each rank holds: for all-to-all what it has for all ranks together (itself
    /// included), for a reduction the length of its vector, for an all-gather that of the result.
    pub bytes: Bytes,
    /// The vector is divided over so many channels, which go their way independently on streams
    /// (so queue pairs) of their own, as NCCL's do.
    pub channels: u32,
    /// Each channel's part is cut into so many chunks, which follow each other through the same
    /// steps.
    pub chunks: u32,
    /// Hierarchical algorithms: so many ranks, next to each other, are a group (a machine).
    pub group: u32,
    /// How long a rank computes between what it got and what it sends for it.
    pub gap: Span,
}

impl Plan {
    /// All of `ranks` with `bytes` each: one channel, one chunk, groups of 8, no compute gap.
    pub fn new(ranks: Vec<HostId>, bytes: Bytes) -> Self {
        Self { ranks, bytes, channels: 1, chunks: 1, group: 8, gap: Span::ZERO }
    }

    /// Refuses plans that no algorithm here can take.
    fn check(&self) -> Result<(), CollectiveError> {
        let ranks = self.ranks.len();
        if ranks < 2 {
            return Err(CollectiveError::TooFewRanks { ranks });
        }
        if self.bytes == Bytes::ZERO {
            return Err(CollectiveError::NoBytes);
        }
        for (what, count) in [("channels", self.channels), ("chunks", self.chunks)] {
            if count == 0 {
                return Err(CollectiveError::NoParts { what });
            }
        }
        let mut by_host: Vec<(HostId, usize)> = self.ranks.iter().copied().zip(0..).collect();
        by_host.sort_unstable();
        let twice = by_host.windows(2).find(|pair| pair[0].0 == pair[1].0);
        twice.map_or(Ok(()), |pair| {
            let (host, first) = pair[0];
            Err(CollectiveError::HostTwice { host, first, second: pair[1].1 })
        })
    }

    /// What is too much for a machine.
    fn check_cost(&self, cost: &Cost) -> Result<(), CollectiveError> {
        let ranks = self.ranks.len();
        let parts = u128::from(self.channels) * u128::from(self.chunks);
        let messages = cost.messages.saturating_mul(parts);
        if messages > u128::from(MAX_MESSAGES) {
            return Err(CollectiveError::TooManyMessages { ranks, messages });
        }
        if cost.bytes > u128::from(u64::MAX) {
            return Err(CollectiveError::TooManyBytes { ranks, bytes: self.bytes });
        }
        Ok(())
    }

    /// Ranks a group and how many groups there are, for algorithms that need whole groups.
    fn groups(&self) -> Result<(usize, usize), CollectiveError> {
        let (ranks, group) = (self.ranks.len(), self.group as usize);
        if group < 2 || group >= ranks || !ranks.is_multiple_of(group) {
            return Err(CollectiveError::Groups { ranks, group });
        }
        Ok((group, ranks / group))
    }
}

impl Collective {
    /// Its messages and what they wait for.
    ///
    /// # Errors
    /// Plans that are none: fewer than two ranks, no bytes, a host twice, groups that do not
    /// divide the ranks, more messages than [`MAX_MESSAGES`].
    pub fn build(&self, plan: &Plan) -> Result<Workload, CollectiveError> {
        Ok(self.schedule(plan)?.finish(plan.gap))
    }

    fn schedule<'a>(&self, plan: &'a Plan) -> Result<Schedule<'a>, CollectiveError> {
        plan.check()?;
        if self.name.starts_with("hierarchical") {
            plan.groups()?;
        }
        plan.check_cost(&(self.cost)(plan))?;
        let mut schedule = Schedule::new(plan);
        let channels = (0u32..).zip(equal_blocks(plan.bytes, plan.channels as usize));
        for (channel, bytes) in channels {
            for (chunk, bytes) in (0u32..).zip(equal_blocks(bytes, plan.chunks as usize)) {
                schedule.begin(Part { channel, chunk, bytes });
                (self.steps)(&mut schedule);
            }
        }
        Ok(schedule)
    }
}

/// The collective of that name.
///
/// # Errors
/// `CollectiveError::Unknown` names those that exist.
pub fn find(name: &str) -> Result<&'static Collective, CollectiveError> {
    ALL.iter().find(|collective| collective.name == name).ok_or_else(|| CollectiveError::Unknown {
        name: name.to_owned(),
        known: ALL.iter().map(|collective| collective.name).collect::<Vec<_>>().join(", "),
    })
}

/// The ranks of a plan and its bytes, as the closed forms want them.
fn wide(plan: &Plan) -> (u128, u128) {
    (plan.ranks.len() as u128, u128::from(plan.bytes.get()))
}

#[cfg(test)]
mod tests;
