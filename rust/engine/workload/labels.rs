//! Purposes of the tasks of a workload. They do not affect a run; reports use them.

use std::collections::BTreeMap;

use crate::units::Bytes;

/// A kind of parallelism of a training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Parallelism {
    /// Ranks share the matrices of a layer.
    Tensor,
    /// Ranks hold consecutive layers.
    Pipeline,
    /// Ranks hold replicas of the model.
    Data,
    /// Ranks hold different experts of a layer.
    Expert,
}

impl Parallelism {
    /// Every kind, in the order of their values.
    pub const ALL: [Self; 4] = [Self::Tensor, Self::Pipeline, Self::Data, Self::Expert];

    /// Returns the name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tensor => "tensor",
            Self::Pipeline => "pipeline",
            Self::Data => "data",
            Self::Expert => "expert",
        }
    }
}

/// A phase of a training iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// A forward pass.
    Forward,
    /// A backward pass.
    Backward,
    /// The end of an iteration: gradients are reduced and parameters updated.
    Update,
}

impl Phase {
    /// Every phase, in the order of their values.
    pub const ALL: [Self; 3] = [Self::Forward, Self::Backward, Self::Update];

    /// Returns the name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Backward => "backward",
            Self::Update => "update",
        }
    }
}

/// Purpose of a delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DelayKind {
    /// A computation, in a phase if it is known.
    Computation(Option<Phase>),
    /// Communication that is not simulated, only its duration.
    Communication,
    /// Waiting: for the start of a job, or for other tasks.
    Waiting,
}

/// Labels of a workload whose hosts compute.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Labels {
    /// Kind of parallelism by stream, for streams of messages; empty if unknown.
    pub parallelisms: BTreeMap<u32, Parallelism>,
    /// By index of a delay: the kind of this delay and those after it, up to the next entry.
    kinds: BTreeMap<u32, DelayKind>,
}

impl Labels {
    /// Sets the kind of the delays from index `delay` on.
    pub fn begin(&mut self, delay: usize, kind: DelayKind) {
        self.kinds.insert(index(delay), kind);
    }

    /// Returns the kind of a delay; a computation if none is set.
    pub fn kind(&self, delay: usize) -> DelayKind {
        let known = self.kinds.range(..=index(delay)).next_back();
        known.map_or(DelayKind::Computation(None), |(_, kind)| *kind)
    }

    /// Adds the labels of a workload whose delays begin at index `delays` here and have the length
    /// `count`. `stream_of` maps its streams.
    pub(super) fn append(
        &mut self,
        other: &Self,
        delays: usize,
        count: usize,
        stream_of: &dyn Fn(u32) -> u32,
    ) {
        let streams = other.parallelisms.iter().map(|(&stream, &it)| (stream_of(stream), it));
        self.parallelisms.extend(streams);
        self.begin(delays, other.kind(0));
        self.kinds.extend(other.kinds.iter().map(|(&at, &kind)| (at + index(delays), kind)));
        self.begin(delays + count, DelayKind::Waiting);
    }
}

fn index(delay: usize) -> u32 {
    u32::try_from(delay).expect("ids are 32 bits")
}

/// A collective operation, for its rates as nccl-tests defines them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// Name, such as `all-reduce`.
    pub name: &'static str,
    /// Number of ranks.
    pub ranks: u32,
    /// Bytes of the larger of a rank's buffers.
    pub bytes: Bytes,
    /// Bytes that a rank's link carries in the best case, as a fraction of `bytes`: numerator and
    /// denominator.
    pub bus_factor: (u32, u32),
}

#[cfg(test)]
mod tests {
    use super::DelayKind::{Computation, Waiting};
    use super::*;

    #[test]
    fn a_kind_lasts_until_the_next_begins() {
        let mut labels = Labels::default();
        labels.begin(2, Computation(Some(Phase::Forward)));
        labels.begin(4, Waiting);
        let kinds = [1, 2, 3, 4, 9].map(|delay| labels.kind(delay));
        let forward = Computation(Some(Phase::Forward));
        assert_eq!(kinds, [Computation(None), forward, forward, Waiting, Waiting]);
    }

    #[test]
    fn appended_labels_keep_their_delays_and_follow_their_streams() {
        let mut other = Labels::default();
        other.parallelisms.insert(7, Parallelism::Expert);
        other.begin(1, Computation(Some(Phase::Backward)));
        let mut labels = Labels::default();
        labels.begin(0, Waiting);
        labels.append(&other, 10, 3, &|stream| stream + 1);
        assert_eq!(labels.parallelisms, BTreeMap::from([(8, Parallelism::Expert)]));
        let backward = Computation(Some(Phase::Backward));
        let kinds = [9, 10, 11, 12, 13].map(|delay| labels.kind(delay));
        assert_eq!(kinds, [Waiting, Computation(None), backward, backward, Waiting]);
    }
}
