//! The ranks' programs as a task graph: computation, collectives and messages, in order.

use std::collections::BTreeMap;

use super::Training;
use super::error::TrainingError;
use crate::collective::{CollectiveKind, Plan};
use crate::ids::{HostId, TaskId};
use crate::units::{Bytes, Span, Time};
use crate::workload::graph::{GraphFault, GraphTask, TaskGraph};
use crate::workload::{DelayKind, Message, Parallelism, Phase, Workload};

/// Maximum number of messages, and of delays, of a training: 2^25, whose records take a few
/// gigabytes.
pub(super) const MAX_TRAINING_TASKS: usize = 1 << 25;

/// Kinds of traffic; each has its own streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrafficClass {
    /// Activations among tensor-parallel ranks.
    Tensor,
    /// Activations to the next stage.
    Forward,
    /// Gradients of activations to the previous stage.
    Backward,
    /// Tokens to their experts and back.
    Expert,
    /// Gradients among replicas, except those of experts.
    Gradients,
    /// Parameters among replicas, except those of experts.
    Parameters,
    /// Gradients of experts among ranks with the same experts.
    ExpertGradients,
    /// Parameters of experts among ranks with the same experts.
    ExpertParameters,
}

impl TrafficClass {
    /// Returns the stream of this class for a channel.
    pub fn stream(self, channel: u32) -> u32 {
        (self as u32) << 24 | channel
    }

    /// Returns the class of a stream; `None` if the stream does not belong to a training.
    pub fn of_stream(stream: u32) -> Option<Self> {
        let all = [
            Self::Tensor,
            Self::Forward,
            Self::Backward,
            Self::Expert,
            Self::Gradients,
            Self::Parameters,
            Self::ExpertGradients,
            Self::ExpertParameters,
        ];
        all.get((stream >> 24) as usize).copied()
    }

    /// Returns the kind of parallelism that this traffic serves.
    pub fn parallelism(self) -> Parallelism {
        match self {
            Self::Tensor => Parallelism::Tensor,
            Self::Forward | Self::Backward => Parallelism::Pipeline,
            Self::Expert => Parallelism::Expert,
            Self::Gradients | Self::Parameters | Self::ExpertGradients | Self::ExpertParameters => {
                Parallelism::Data
            }
        }
    }

    /// Describes the ranks that exchange this traffic, for errors.
    fn name(self) -> &'static str {
        match self {
            Self::Tensor => "among tensor-parallel ranks",
            Self::Forward | Self::Backward => "between stages",
            Self::Expert => "among expert-parallel ranks",
            Self::Gradients | Self::Parameters => "among replicas",
            Self::ExpertGradients | Self::ExpertParameters => "among replicas of experts",
        }
    }
}

/// A collective among the ranks of a group.
#[derive(Debug, Clone, Copy)]
pub(super) struct GroupCollective {
    pub class: TrafficClass,
    pub operation: CollectiveKind,
    /// Bytes as in [`Plan::bytes`], whose meaning depends on the operation.
    pub bytes: Bytes,
}

/// Builds the programs of all ranks.
pub(super) struct ProgramBuilder<'a> {
    training: &'a Training,
    graph: TaskGraph,
    /// By rank: the task that the next step of its program depends on.
    pub last: Vec<Option<GraphTask>>,
    /// The last background collective by class and rank: a communicator runs its collectives one at
    /// a time.
    last_in_background: BTreeMap<(TrafficClass, u32), GraphTask>,
    /// Cached messages of collectives, by class, operation, number of ranks and bytes.
    expansions: BTreeMap<(TrafficClass, u8, usize, Bytes), Workload>,
}

impl<'a> ProgramBuilder<'a> {
    pub(super) fn new(training: &'a Training) -> Self {
        Self {
            training,
            graph: TaskGraph::default(),
            last: vec![None; training.degrees.ranks() as usize],
            last_in_background: BTreeMap::new(),
            expansions: BTreeMap::new(),
        }
    }

    /// Adds a computation of `operations` to each of `ranks`.
    pub(super) fn compute(&mut self, ranks: impl Iterator<Item = u32>, operations: u128) {
        let span = self.training.flops.time_for(operations);
        if span == Span::ZERO {
            return;
        }
        for rank in ranks {
            let task = self.graph.delay(HostId(rank), span);
            if let Some(last) = self.last[rank as usize] {
                self.graph.wait(last, task);
            }
            self.last[rank as usize] = Some(task);
        }
    }

    /// Labels the computations that are added from now on.
    pub(super) fn begin_phase(&mut self, phase: Phase) {
        let delays = self.graph.counts().1;
        self.graph
            .labels
            .get_or_insert_default()
            .begin(delays, DelayKind::Computation(Some(phase)));
    }

    /// Returns the number of messages so far.
    pub(super) fn messages(&self) -> usize {
        self.graph.counts().0
    }

    /// Makes the next step of `rank` also depend on `other`.
    pub(super) fn wait_for(&mut self, rank: u32, other: Option<GraphTask>) {
        self.last[rank as usize] = self.join(rank, [self.last[rank as usize], other]);
    }

    /// Makes the next step of `rank` depend on its background collectives of a class.
    pub(super) fn wait_for_background(&mut self, rank: u32, class: TrafficClass) {
        let last = self.last_in_background.get(&(class, rank)).copied();
        self.wait_for(rank, last);
    }

    /// Adds a message after the last step of `src`; the next step of `src` does not depend on it.
    pub(super) fn send(
        &mut self,
        class: TrafficClass,
        src: u32,
        dst: u32,
        bytes: Bytes,
    ) -> GraphTask {
        let message = Message {
            src: HostId(src),
            dst: HostId(dst),
            bytes,
            stream: class.stream(0),
            start: Time::ZERO,
        };
        let task = self.graph.message(message);
        if let Some(last) = self.last[src as usize] {
            self.graph.wait(last, task);
        }
        task
    }

    /// Adds a collective in each group as the next step of its ranks.
    pub(super) fn add_collective(
        &mut self,
        collective: GroupCollective,
        groups: &[Vec<u32>],
    ) -> Result<(), TrainingError> {
        for group in groups {
            let starts: Vec<_> = group.iter().map(|&rank| self.last[rank as usize]).collect();
            let ends = self.expand(collective, group, &starts)?;
            for (&rank, end) in group.iter().zip(ends) {
                self.last[rank as usize] = end;
            }
        }
        Ok(())
    }

    /// Adds a background collective in each group. At each rank it depends on the rank's entry of
    /// `start` and on the previous background collective of the class. No step depends on it until
    /// [`Self::wait_for_background`].
    pub(super) fn add_background_collective(
        &mut self,
        collective: GroupCollective,
        groups: &[Vec<u32>],
        start: &[Option<GraphTask>],
    ) -> Result<(), TrainingError> {
        let GroupCollective { class, bytes, .. } = collective;
        if bytes == Bytes::ZERO {
            return Ok(());
        }
        for group in groups {
            let mut starts = Vec::with_capacity(group.len());
            for &rank in group {
                let previous = self.last_in_background.get(&(class, rank)).copied();
                starts.push(self.join(rank, [start[rank as usize], previous]));
            }
            let ends = self.expand(collective, group, &starts)?;
            for (&rank, end) in group.iter().zip(ends) {
                if let Some(end) = end {
                    self.last_in_background.insert((class, rank), end);
                }
            }
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Workload, TrainingError> {
        let parallelism = |stream| Some((stream, TrafficClass::of_stream(stream)?.parallelism()));
        let parallelisms = self.graph.streams().into_iter().filter_map(parallelism).collect();
        self.graph.labels.get_or_insert_default().parallelisms = parallelisms;
        self.graph.finish().map_err(|fault| match fault {
            GraphFault::TooManyTasks => TrainingError::TooManyMessages,
            GraphFault::TooManyBytes => TrainingError::TooManyBytes,
            GraphFault::Cycle(_) => unreachable!("each step depends on earlier ones only"),
        })
    }

    /// Adds the messages of a collective. `starts` holds each member's dependency, and the result
    /// holds the task with which each member ends. In a group of one rank it sends nothing.
    fn expand(
        &mut self,
        collective: GroupCollective,
        group: &[u32],
        starts: &[Option<GraphTask>],
    ) -> Result<Vec<Option<GraphTask>>, TrainingError> {
        let GroupCollective { class, operation, bytes } = collective;
        if group.len() < 2 || bytes == Bytes::ZERO {
            return Ok(starts.to_vec());
        }
        let key = (class, operation as u8, group.len(), bytes);
        let expansion = match self.expansions.remove(&key) {
            Some(known) => known,
            None => self.build(collective, group.len())?,
        };
        if self.graph.larger_count() + expansion.messages.len() > MAX_TRAINING_TASKS {
            return Err(TrainingError::TooManyMessages);
        }
        let host = |member: HostId| HostId(group[member.index()]);
        let ends: Vec<GraphTask> =
            group.iter().map(|&rank| self.graph.delay(HostId(rank), Span::ZERO)).collect();
        let appended = self.graph.append_at(&expansion, &|channel| class.stream(channel), &host);
        for (id, message) in (0u32..).map(TaskId).zip(&expansion.messages) {
            let task = appended.task(id);
            // A message that forwards data also waits until its sender takes part.
            if let Some(start) = starts[message.src.index()] {
                self.graph.wait(start, task);
            }
            self.graph.wait(task, ends[message.src.index()]);
            // If a message of the receiver depends on this one, the receiver's end already waits
            // for it.
            let dependents = expansion.dependents_of(id).iter();
            let mut hosts = dependents.map(|&after| expansion.host_of(after));
            if !hosts.any(|host| host == message.dst) {
                self.graph.wait(task, ends[message.dst.index()]);
            }
        }
        for (start, &end) in starts.iter().zip(&ends) {
            if let Some(start) = *start {
                self.graph.wait(start, end);
            }
        }
        self.expansions.insert(key, expansion);
        Ok(ends.into_iter().map(Some).collect())
    }

    /// Builds the messages of a collective among hosts 0 to `ranks` - 1.
    fn build(&self, collective: GroupCollective, ranks: usize) -> Result<Workload, TrainingError> {
        let GroupCollective { class, operation, bytes } = collective;
        let hosts = (0..ranks as u32).map(HostId).collect();
        let mut plan = Plan::new(hosts, bytes);
        (plan.channels, plan.group) = (self.training.channels, self.training.group);
        let algorithm = self.training.algorithms.get(operation);
        let messages = (algorithm.cost)(&plan).messages;
        if messages > MAX_TRAINING_TASKS as u128 {
            return Err(TrainingError::TooManyMessages);
        }
        let class = class.name();
        algorithm.build(&plan).map_err(|error| TrainingError::Collective { class, error })
    }

    /// Returns a task of `rank` that depends on both tasks.
    fn join(&mut self, rank: u32, tasks: [Option<GraphTask>; 2]) -> Option<GraphTask> {
        match tasks {
            [Some(one), Some(other)] if one != other => {
                let join = self.graph.delay(HostId(rank), Span::ZERO);
                self.graph.wait(one, join);
                self.graph.wait(other, join);
                Some(join)
            }
            [one, other] => one.or(other),
        }
    }
}
