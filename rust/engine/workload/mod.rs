//! Workloads: messages, the computation of hosts between them, and their dependencies.

mod blocks;
mod chains;
pub mod graph;
mod job;
mod labels;
mod step_after;

pub use blocks::{Blocks, equal_blocks};
pub use chains::{ChainPlace, ChainShape, Chains, ring_block};
pub use job::{Job, JobSpec, JobsError};
pub use labels::{DelayKind, Labels, Operation, Parallelism, Phase};
pub use step_after::StepAfter;

use serde::{Deserialize, Serialize};

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::ids::{HostId, MessageId, TaskId};
use crate::units::{Bytes, Span, Time};

/// A message that a host sends to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// The sending host.
    pub src: HostId,
    /// The receiving host, which differs from the sender.
    pub dst: HostId,
    /// Length of the message.
    pub bytes: Bytes,
    /// Messages of one stream between the same pair share queue pairs, in order. Flows for which an
    /// application would open separate connections have separate streams.
    pub stream: u32,
    /// The earliest start; for a message without dependencies, the start itself.
    pub start: Time,
}

impl Message {
    /// Returns a message that starts at time zero.
    pub const fn starting_at_zero(stream: u32, src: HostId, dst: HostId, bytes: Bytes) -> Self {
        Self { src, dst, bytes, stream, start: Time::ZERO }
    }
}

/// A computation or another delay of a host, which sends nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delay {
    /// The host that computes or waits.
    pub host: HostId,
    /// Duration, counted from the completion of its last dependency.
    pub span: Span,
}

/// A message or a delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task<'a> {
    /// A message of the workload.
    Message(MessageId, &'a Message),
    /// A delay of the workload.
    Delay(&'a Delay),
}

/// A unit of a host that runs one delay at a time: a processor, or a stream of a GPU. Lanes with
/// the same number at different hosts are independent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lane(pub u32);

/// Whether calculations of a trace or a schedule run one at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compute {
    /// Calculations on the same processor or accelerator run one at a time. Among those that are
    /// ready, the first in the file runs first.
    #[default]
    Serial,
    /// Calculations run in parallel; only dependencies order them.
    Parallel,
}

/// Messages, delays, and their dependencies.
///
/// Messages and delays together are the tasks of a workload ([`TaskId`]). A delay starts at time
/// zero, or when its dependencies are met at its host. The dependents of a delay may be at any
/// host: its completion is known everywhere immediately. Delays of a host run in parallel, except
/// those of the same lane, which run one at a time. Among those that are ready, the one with the
/// lowest index runs first.
///
/// A message starts at its `start`, or when all of its dependencies are met and its sender has
/// computed for the `gap`, whichever is later. A dependency on a message is met by its delivery if
/// the dependent is at its receiver, and by its completion if the dependent is at its sender;
/// [`StepAfter`] changes the former.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Workload {
    /// All messages, by [`MessageId`].
    pub messages: Vec<Message>,
    /// All delays; their task ids follow those of the messages.
    pub delays: Vec<Delay>,
    /// Lane of each delay, if it has one; empty if no delay has one.
    pub lanes: Vec<Option<Lane>>,
    /// Number of dependencies of each task; empty if no task has any.
    pub waits_for: Vec<u32>,
    /// `dependents[first_dependent[t]..first_dependent[t + 1]]` depend on task `t`; empty if there
    /// are no dependencies.
    pub first_dependent: Vec<u32>,
    /// Dependents of all tasks, grouped by the task that they depend on.
    pub dependents: Vec<TaskId>,
    /// Delays that start when any `n` of their dependencies are met, with `n`. Every other task
    /// waits for all of them.
    pub starts_after: BTreeMap<TaskId, u32>,
    /// Computing time of a sender between the last dependency of a message and its start. It does
    /// not apply to delays.
    pub gap: Span,
    /// Jobs of the workload; empty for a workload of one job.
    pub jobs: Vec<Job>,
    /// Start of the first job, if delays hold its messages back until then.
    pub begin: Time,
    /// Messages that are generated during the run. `messages` then holds only their load, one for
    /// each pair of hosts and stream, for lower bounds.
    pub chains: Option<Arc<Chains>>,
    /// Purposes of the tasks; `None` if the workload has no computation.
    pub labels: Option<Labels>,
    /// The collective operation that the messages perform, if they are one.
    pub operation: Option<Operation>,
}

impl Workload {
    /// Creates a workload of messages without dependencies, which start at their start times.
    pub fn independent(messages: Vec<Message>) -> Self {
        Self { messages, ..Self::default() }
    }

    /// Creates a workload of messages with dependencies, each a pair (task, dependent).
    ///
    /// # Panics
    /// If a message depends on one that its sender neither receives nor sends.
    pub fn with_dependencies(
        messages: Vec<Message>,
        dependencies: &[(MessageId, MessageId)],
    ) -> Self {
        let task = |&(before, after): &(MessageId, MessageId)| (before.into(), after.into());
        let dependencies: Vec<(TaskId, TaskId)> = dependencies.iter().map(task).collect();
        Self::with_delays(messages, Vec::new(), &dependencies)
    }

    /// Creates a workload of messages and delays with dependencies, each a pair (task, dependent).
    ///
    /// # Panics
    /// If a task depends on a message that its host neither receives nor sends.
    pub fn with_delays(
        messages: Vec<Message>,
        delays: Vec<Delay>,
        dependencies: &[(TaskId, TaskId)],
    ) -> Self {
        let mut workload = Self { messages, delays, ..Self::default() };
        let tasks = workload.messages.len() + workload.delays.len();
        let mut waits_for = vec![0u32; tasks];
        let mut first_dependent = vec![0u32; tasks + 1];
        for &(before, after) in dependencies {
            let host = workload.host_of(after);
            let message = workload.message(before);
            assert!(
                message.is_none_or(|message| [message.src, message.dst].contains(&host)),
                "{after} depends on {before}, which its host neither sends nor receives"
            );
            waits_for[after.index()] += 1;
            first_dependent[before.index() + 1] += 1;
        }
        for index in 1..first_dependent.len() {
            first_dependent[index] += first_dependent[index - 1];
        }
        let mut next = first_dependent.clone();
        let mut dependents = vec![TaskId::default(); dependencies.len()];
        for &(before, after) in dependencies {
            dependents[next[before.index()] as usize] = after;
            next[before.index()] += 1;
        }
        (workload.waits_for, workload.first_dependent) = (waits_for, first_dependent);
        workload.dependents = dependents;
        workload
    }

    /// Returns the sender of a message, or the host of a delay.
    pub fn host_of(&self, task: TaskId) -> HostId {
        match self.task(task) {
            Task::Message(_, message) => message.src,
            Task::Delay(delay) => delay.host,
        }
    }

    /// Returns the number of messages and delays together.
    pub fn task_count(&self) -> usize {
        self.messages.len() + self.delays.len()
    }

    /// Iterates over all tasks, messages first.
    pub fn tasks(&self) -> impl Iterator<Item = TaskId> + use<> {
        (0..u32::try_from(self.task_count()).expect("ids are 32 bits")).map(TaskId)
    }

    /// Returns the message or the delay of a task.
    pub fn task(&self, task: TaskId) -> Task<'_> {
        match self.message(task) {
            Some(message) => Task::Message(MessageId(task.0), message),
            None => Task::Delay(&self.delays[task.index() - self.messages.len()]),
        }
    }

    /// Returns the message of a task; `None` if it is a delay.
    pub fn message(&self, task: TaskId) -> Option<&Message> {
        self.messages.get(task.index())
    }

    /// Returns the delay of a task; `None` if it is a message.
    pub fn delay(&self, task: TaskId) -> Option<&Delay> {
        self.delays.get(task.index().checked_sub(self.messages.len())?)
    }

    /// Returns the lane of a delay; `None` if the delay has no lane, or if the task is a message.
    pub fn lane(&self, task: TaskId) -> Option<Lane> {
        *self.lanes.get(task.index().checked_sub(self.messages.len())?)?
    }

    /// Returns the number of dependencies that a task waits for.
    pub fn dependency_count(&self, task: TaskId) -> u32 {
        let all = self.waits_for.get(task.index()).copied().unwrap_or(0);
        self.starts_after.get(&task).map_or(all, |&some| some.min(all))
    }

    /// Returns the tasks that depend on `task`.
    pub fn dependents_of(&self, task: TaskId) -> &[TaskId] {
        if self.first_dependent.is_empty() {
            return &[];
        }
        let from = self.first_dependent[task.index()] as usize;
        let to = self.first_dependent[task.index() + 1] as usize;
        &self.dependents[from..to]
    }

    /// Replaces each host `i` by `hosts[i]`.
    ///
    /// # Panics
    /// If `hosts` has no entry for a host of the workload.
    pub fn remapped(mut self, hosts: &[HostId]) -> Self {
        for message in &mut self.messages {
            (message.src, message.dst) = (hosts[message.src.index()], hosts[message.dst.index()]);
        }
        for delay in &mut self.delays {
            delay.host = hosts[delay.host.index()];
        }
        self.chains = self.chains.map(|chains| Arc::unwrap_or_clone(chains).remapped(hosts).into());
        self
    }

    /// Returns the payload bytes of all messages.
    pub fn total_bytes(&self) -> Bytes {
        self.messages.iter().fold(Bytes::ZERO, |sum, message| sum + message.bytes)
    }

    /// Returns the start of the first message; for a workload with delays, that of its first job.
    pub fn first_start(&self) -> Time {
        if !self.delays.is_empty() {
            return self.begin;
        }
        self.messages.iter().map(|message| message.start).min().unwrap_or(Time::ZERO)
    }
}
