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

/// Labels of a workload whose hosts compute.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Labels {
    /// Kind of parallelism by stream, for streams of messages; empty if unknown.
    pub parallelisms: BTreeMap<u32, Parallelism>,
    /// By index of a delay: the phase of this delay and those after it, up to the next entry.
    phases: BTreeMap<u32, Option<Phase>>,
}

impl Labels {
    /// Sets the phase of the delays from index `delay` on.
    pub fn begin_phase(&mut self, delay: usize, phase: Option<Phase>) {
        self.phases.insert(index(delay), phase);
    }

    /// Returns the phase of a delay, if it is known.
    pub fn phase(&self, delay: usize) -> Option<Phase> {
        *self.phases.range(..=index(delay)).next_back()?.1
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
        self.phases.extend(other.phases.iter().map(|(&at, &phase)| (at + index(delays), phase)));
        self.begin_phase(delays + count, None);
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
    use super::*;

    #[test]
    fn a_phase_lasts_until_the_next_begins() {
        let mut labels = Labels::default();
        labels.begin_phase(2, Some(Phase::Forward));
        labels.begin_phase(4, None);
        assert_eq!(
            [1, 2, 3, 4, 9].map(|delay| labels.phase(delay)),
            [None, Some(Phase::Forward), Some(Phase::Forward), None, None]
        );
    }

    #[test]
    fn appended_labels_keep_their_delays_and_follow_their_streams() {
        let mut other = Labels::default();
        other.parallelisms.insert(7, Parallelism::Expert);
        other.begin_phase(1, Some(Phase::Backward));
        let mut labels = Labels::default();
        labels.append(&other, 10, 3, &|stream| stream + 1);
        assert_eq!(labels.parallelisms, BTreeMap::from([(8, Parallelism::Expert)]));
        let phases = [10, 11, 12, 13].map(|delay| labels.phase(delay));
        assert_eq!(phases, [None, Some(Phase::Backward), Some(Phase::Backward), None]);
    }
}
