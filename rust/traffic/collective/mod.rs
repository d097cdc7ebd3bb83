//! Collective operations: one file per algorithm, and the registry of all algorithms.
//!
//! A collective turns a plan (the host of each rank, and the bytes per rank) into messages and
//! their dependencies. It depends on neither the fabric nor the policy. A new algorithm needs a
//! file here and a line in [`ALL`]. The file defines the sends, step by step; dependencies follow
//! from the data (see `schedule`). It also defines the closed forms: messages, bytes, and the bytes
//! of the longest chain.

mod algorithms;
mod all_to_all;
mod binary_tree_all_reduce;
mod binomial;
mod bruck_all_gather;
mod chains;
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
mod tally;

pub use algorithms::Algorithms;
pub(crate) use double_binary_tree_all_reduce::tree_edges;
pub use error::CollectiveError;
pub use tally::MessageTally;

use schedule::{ScheduleBuilder, Segment};

use crate::ids::HostId;
use crate::units::{Bytes, Span};
use crate::workload::{ChainShape, Operation, Workload, equal_blocks};

/// Maximum number of messages of one collective: 2^28, whose records alone take 8 GiB.
pub const MAX_MESSAGES: u64 = 1 << 28;

/// All collectives. The first algorithm of an operation is its default.
pub const ALL: &[Collective] = &[
    all_to_all::ALL_TO_ALL,
    hierarchical_all_to_all::HIERARCHICAL_ALL_TO_ALL,
    ring::ALL_REDUCE,
    halving_doubling_all_reduce::HALVING_DOUBLING_ALL_REDUCE,
    recursive_doubling_all_reduce::RECURSIVE_DOUBLING_ALL_REDUCE,
    direct::ALL_REDUCE,
    double_binary_tree_all_reduce::DOUBLE_BINARY_TREE_ALL_REDUCE,
    binary_tree_all_reduce::BINARY_TREE_ALL_REDUCE,
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

/// The operation that a collective performs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectiveKind {
    /// Every rank has the sum of all vectors.
    AllReduce,
    /// Every rank has the blocks of all ranks.
    AllGather,
    /// Rank i has block i of the sum of all vectors.
    ReduceScatter,
    /// Every rank has the vector of rank 0.
    Broadcast,
    /// Rank 0 has the sum of all vectors.
    Reduce,
    /// Rank i has block i of every rank.
    AllToAll,
    /// No rank completes before all have started.
    Barrier,
    /// The last rank has the vector of the first, forwarded by all ranks between them.
    Pipeline,
}

impl CollectiveKind {
    /// Returns the name used in scenarios, which is also the suffix of its algorithms' names.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllReduce => "all-reduce",
            Self::AllGather => "all-gather",
            Self::ReduceScatter => "reduce-scatter",
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::AllToAll => "all-to-all",
            Self::Barrier => "barrier",
            Self::Pipeline => "pipeline",
        }
    }
}

/// An algorithm for a collective operation: its name, source, cost and sends.
#[derive(Debug, Clone, Copy)]
pub struct Collective {
    /// Name in scenarios, for example `ring-all-reduce`.
    pub name: &'static str,
    /// The operation that the algorithm performs.
    pub operation: CollectiveKind,
    /// One-line description for lists of collectives.
    pub summary: &'static str,
    /// Reference: title, year, section.
    pub source: &'static str,
    /// Closed forms for a plan of one segment.
    pub cost: fn(&Plan) -> CostModel,
    /// Shape of the message chains, if each message waits for at most one other.
    chain: Option<ChainShape>,
    /// Adds the sends for one segment of the vector.
    steps: fn(&mut ScheduleBuilder<'_>),
}

/// The closed forms of a collective with one segment (one channel, one chunk).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostModel {
    /// Number of messages, if no block is empty.
    pub messages: u128,
    /// Payload bytes of all messages.
    pub bytes: u128,
    /// The alpha-beta form: bytes sent in each step by a rank on the longest chain, for equal
    /// blocks. A step takes one latency plus the transmission time of its bytes.
    pub chain: Vec<u64>,
    /// Number of chain steps that start only when the sender's previous message has completed, i.e.
    /// after its acknowledgement.
    pub acknowledged_steps: usize,
}

impl CostModel {
    /// Creates the closed forms of an algorithm whose steps wait only for deliveries.
    fn new(messages: u128, bytes: u128, chain: Vec<u64>) -> Self {
        Self { messages, bytes, chain, acknowledged_steps: 0 }
    }
}

/// The participants of a collective, the size of its data, and its division.
///
/// # Examples
/// A ring all-reduce of 8 MB among eight ranks, on hosts 0 to 7:
///
/// ```
/// use evenkeel_engine::ids::HostId;
/// use evenkeel_engine::units::Bytes;
/// use evenkeel_traffic::collective::{Plan, find};
///
/// let plan = Plan::new((0..8).map(HostId).collect(), Bytes::new(8_000_000));
/// let ring = find("ring-all-reduce")?;
/// let workload = ring.build(&plan)?;
/// // Each rank sends a block of 1 MB in each of 14 steps.
/// assert_eq!(workload.messages.len(), 8 * 14);
/// assert_eq!((ring.cost)(&plan).chain, [1_000_000; 14]);
/// # Ok::<(), evenkeel_traffic::collective::CollectiveError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The host of each rank, by rank. Hosts are unique.
    pub ranks: Vec<HostId>,
    /// Bytes per rank: for an all-to-all, its data for all ranks (itself included); for a
    /// reduction, the length of its vector; for an all-gather, the length of the result.
    pub bytes: Bytes,
    /// Number of channels over which the vector is divided. As in NCCL, channels are independent,
    /// with separate streams and therefore separate queue pairs.
    pub channels: u32,
    /// Number of chunks into which a channel's share is divided. Chunks are pipelined through the
    /// same steps.
    pub chunks: u32,
    /// Ranks per group (machine) in hierarchical algorithms; groups are consecutive ranks.
    pub group: u32,
    /// Ranks per server whose order each channel rotates: channel c begins at rank c of each
    /// server, and so leaves and enters each server at other ranks than the channel before it. 1
    /// gives all channels the same order.
    pub rotation: u32,
    /// A rank's computing time between a delivery and a send that depends on it.
    pub gap: Span,
    /// Maximum number of a rank's outstanding messages per segment of an all-to-all. Each further
    /// message starts when the one that many before it has completed. `None` starts all messages
    /// simultaneously. NCCL's sends alternate on few channels \[inferred\].
    pub outstanding: Option<u32>,
}

impl Plan {
    /// Creates a plan of `ranks` with `bytes` each: one channel, one chunk, groups of 8, no
    /// rotation, no compute gap, unlimited outstanding messages.
    pub fn new(ranks: Vec<HostId>, bytes: Bytes) -> Self {
        let (channels, chunks, group, rotation) = (1, 1, 8, 1);
        let (gap, outstanding) = (Span::ZERO, None);
        Self { ranks, bytes, channels, chunks, group, rotation, gap, outstanding }
    }

    /// Returns the rank at a position of a channel's order.
    fn rank_at(&self, channel: u32, position: usize) -> usize {
        let size = self.rotation as usize;
        let (server, index) = (position / size, position % size);
        server * size + (index + channel as usize) % size
    }

    /// Rejects plans that are invalid for every algorithm.
    fn check(&self) -> Result<(), CollectiveError> {
        let ranks = self.ranks.len();
        if ranks < 2 {
            return Err(CollectiveError::TooFewRanks { ranks });
        }
        if self.bytes == Bytes::ZERO {
            return Err(CollectiveError::NoBytes);
        }
        let counts = [
            ("channels", self.channels),
            ("chunks", self.chunks),
            ("outstanding messages", self.outstanding.unwrap_or(1)),
            ("ranks per server", self.rotation),
        ];
        for (what, count) in counts {
            if count == 0 {
                return Err(CollectiveError::ZeroCount { what });
            }
        }
        let size = self.rotation;
        if !ranks.is_multiple_of(size as usize) {
            return Err(CollectiveError::InvalidRotation { ranks, size });
        }
        let mut by_host: Vec<(HostId, usize)> = self.ranks.iter().copied().zip(0..).collect();
        by_host.sort_unstable();
        let twice = by_host.windows(2).find(|pair| pair[0].0 == pair[1].0);
        twice.map_or(Ok(()), |pair| {
            let (host, first) = pair[0];
            Err(CollectiveError::HostTwice { host, first, second: pair[1].1 })
        })
    }

    /// Rejects more messages or bytes than a simulation can hold.
    fn check_cost(&self, cost: &CostModel) -> Result<(), CollectiveError> {
        let ranks = self.ranks.len();
        let segments = u128::from(self.channels) * u128::from(self.chunks);
        let messages = cost.messages.saturating_mul(segments);
        if messages > u128::from(MAX_MESSAGES) {
            return Err(CollectiveError::TooManyMessages { ranks, messages });
        }
        if cost.bytes > u128::from(u64::MAX) {
            return Err(CollectiveError::TooManyBytes { ranks, bytes: self.bytes });
        }
        Ok(())
    }

    /// Returns the chunks of all channels, channel by channel.
    fn segments(&self) -> impl Iterator<Item = Segment> {
        let chunks = self.chunks as usize;
        let channels = (0u32..).zip(equal_blocks(self.bytes, self.channels as usize));
        channels.flat_map(move |(channel, bytes)| {
            let chunks = (0u32..).zip(equal_blocks(bytes, chunks));
            chunks.map(move |(chunk, bytes)| Segment { channel, chunk, bytes })
        })
    }

    /// Returns the ranks per group and the number of groups, for algorithms that need equal groups.
    fn groups(&self) -> Result<(usize, usize), CollectiveError> {
        let (ranks, group) = (self.ranks.len(), self.group as usize);
        if group < 2 || group >= ranks || !ranks.is_multiple_of(group) {
            return Err(CollectiveError::InvalidGroup { ranks, group });
        }
        Ok((group, ranks / group))
    }
}

impl Collective {
    /// Returns the name without its operation; `direct` if nothing remains.
    fn algorithm(&self) -> &'static str {
        let name = self.name.strip_suffix(self.operation.name()).unwrap_or(self.name);
        match name.trim_end_matches('-') {
            "" => "direct",
            name => name,
        }
    }

    /// Returns true if the algorithm divides its ranks into groups of [`Plan::group`].
    pub fn is_hierarchical(&self) -> bool {
        self.name.starts_with("hierarchical")
    }

    /// Returns true if [`Plan::outstanding`] can limit a rank's outstanding messages.
    pub fn limits_outstanding(&self) -> bool {
        self.chain == Some(ChainShape::Exchange)
    }

    /// Returns the number of messages of the collective, if no block is empty.
    pub fn messages(&self, plan: &Plan) -> u128 {
        let segments = u128::from(plan.channels) * u128::from(plan.chunks);
        (self.cost)(plan).messages.saturating_mul(segments)
    }

    /// Returns a lower bound for the number of queue pairs: one per pair of ranks and channel for
    /// algorithms that connect all ranks, and 0 for others.
    pub fn queue_pairs(&self, plan: &Plan) -> u128 {
        let joins_all = self.chain == Some(ChainShape::Exchange) || self.name.starts_with("direct");
        let (ranks, _) = ranks_and_bytes(plan);
        let pairs = if joins_all { ranks * ranks.saturating_sub(1) } else { 0 };
        pairs * u128::from(plan.channels)
    }

    /// Returns what nccl-tests' rates are computed from; `None` for operations that it does not
    /// measure.
    ///
    /// Source: nccl-tests, `doc/PERFORMANCE.md`: the factors of bus bandwidth.
    pub fn rated(&self, plan: &Plan) -> Option<Operation> {
        let ranks = u32::try_from(plan.ranks.len()).expect("ranks are hosts");
        let bus_factor = match self.operation {
            CollectiveKind::AllReduce => (2 * (ranks - 1), ranks),
            CollectiveKind::AllGather
            | CollectiveKind::ReduceScatter
            | CollectiveKind::AllToAll => (ranks - 1, ranks),
            CollectiveKind::Broadcast | CollectiveKind::Reduce => (1, 1),
            CollectiveKind::Barrier | CollectiveKind::Pipeline => return None,
        };
        let (name, bytes) = (self.operation.name(), plan.bytes);
        Some(Operation { name, ranks, bytes, bus_factor })
    }

    /// Returns the messages of the collective and their dependencies.
    ///
    /// # Errors
    /// Fails for fewer than two ranks, no bytes, a host with two ranks, groups that do not divide
    /// the ranks, and more messages than [`MAX_MESSAGES`].
    pub fn build(&self, plan: &Plan) -> Result<Workload, CollectiveError> {
        Ok(self.schedule(plan)?.finish(plan.gap))
    }

    fn schedule<'a>(&self, plan: &'a Plan) -> Result<ScheduleBuilder<'a>, CollectiveError> {
        self.schedule_with(plan, ScheduleBuilder::new(plan))
    }

    fn schedule_with<'a>(
        &self,
        plan: &Plan,
        mut schedule: ScheduleBuilder<'a>,
    ) -> Result<ScheduleBuilder<'a>, CollectiveError> {
        plan.check()?;
        if self.is_hierarchical() {
            plan.groups()?;
        }
        // The closed form comes first: a plan with too many messages is rejected before it is
        // built.
        plan.check_cost(&(self.cost)(plan))?;
        for segment in plan.segments() {
            schedule.start_segment(segment);
            (self.steps)(&mut schedule);
        }
        Ok(schedule)
    }
}

/// Returns the collective called `name`.
///
/// # Errors
/// [`CollectiveError::Unknown`] lists the known names.
pub fn find(name: &str) -> Result<&'static Collective, CollectiveError> {
    ALL.iter().find(|collective| collective.name == name).ok_or_else(|| CollectiveError::Unknown {
        name: name.to_owned(),
        known: ALL.iter().map(|collective| collective.name).collect::<Vec<_>>().join(", "),
    })
}

/// Returns the number of ranks and the bytes of a plan, wide enough for the closed forms.
fn ranks_and_bytes(plan: &Plan) -> (u128, u128) {
    (plan.ranks.len() as u128, u128::from(plan.bytes.get()))
}

#[cfg(test)]
mod tests;
