//! Builds a workload task by task, for readers of files with sends, receives and computation.

use std::collections::BTreeSet;

use crate::ids::{HostId, TaskId};
use crate::units::{Bytes, Span, Time};

use super::{Delay, DelayKind, Labels, Lane, Message, Workload};

/// Maximum number of messages, and of delays, of a workload: 2^28, as for collectives.
pub const MAX_TASKS: usize = 1 << 28;

/// A message or a delay of an unfinished graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GraphTask(u32);

/// The bit that distinguishes delays from messages.
const DELAY: u32 = 1 << 31;

/// Reason why a graph is not a valid workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GraphFault {
    /// These tasks are on a dependency cycle or depend on one; in ascending order.
    Cycle(Vec<GraphTask>),
    /// There are more messages or delays than [`MAX_TASKS`].
    TooManyTasks,
    /// The total number of bytes exceeds 64 bits.
    TooManyBytes,
}

/// Position of an appended workload in the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// Index of its first message.
    messages: u32,
    /// Index of its first delay.
    delays: u32,
    /// Number of its messages.
    message_count: u32,
}

impl Appended {
    /// Returns the graph's task for one of the workload's messages or delays.
    pub fn task(self, id: TaskId) -> GraphTask {
        match id.0.checked_sub(self.message_count) {
            Some(delay) => GraphTask(DELAY | (self.delays + delay)),
            None => GraphTask(self.messages + id.0),
        }
    }
}

/// Messages, delays, and their dependencies.
#[derive(Debug, Default)]
pub struct TaskGraph {
    messages: Vec<Message>,
    delays: Vec<Delay>,
    /// Lanes of delays that have one, in order of the delays.
    lanes: Vec<(u32, Lane)>,
    /// Dependencies as (task, dependent).
    waits: Vec<(GraphTask, GraphTask)>,
    /// Delays that start when only some of their dependencies are met, with that number.
    starts_after: Vec<(GraphTask, u32)>,
    /// Purposes of the tasks; `None` if no task has one.
    pub labels: Option<Labels>,
}

impl TaskGraph {
    /// Adds a message without dependencies.
    pub fn message(&mut self, message: Message) -> GraphTask {
        self.messages.push(message);
        GraphTask(self.messages.len() as u32 - 1)
    }

    /// Adds a delay without dependencies.
    pub fn delay(&mut self, host: HostId, span: Span) -> GraphTask {
        self.delays.push(Delay { host, span });
        GraphTask(DELAY | (self.delays.len() as u32 - 1))
    }

    /// Adds a delay without dependencies. Delays of the same lane run one at a time.
    pub fn delay_on_lane(&mut self, lane: Option<Lane>, host: HostId, span: Span) -> GraphTask {
        self.lanes.extend(lane.map(|lane| (self.delays.len() as u32, lane)));
        self.delay(host, span)
    }

    /// Makes `after` depend on `before`. A message `before` must be completed if `after` is at its
    /// sender, and delivered if `after` is at its receiver.
    pub fn wait(&mut self, before: GraphTask, after: GraphTask) {
        self.waits.push((before, after));
    }

    /// Makes a delay start when any `count` of its dependencies are met.
    pub fn start_after(&mut self, delay: GraphTask, count: u32) {
        self.starts_after.push((delay, count));
    }

    /// Returns the numbers of messages and of delays.
    pub fn counts(&self) -> (usize, usize) {
        (self.messages.len(), self.delays.len())
    }

    /// Returns the streams of all messages.
    pub fn streams(&self) -> BTreeSet<u32> {
        self.messages.iter().map(|message| message.stream).collect()
    }

    /// Returns the number of messages or of delays, whichever is larger.
    pub fn larger_count(&self) -> usize {
        self.messages.len().max(self.delays.len())
    }

    /// Adds a whole workload that has no gap, lanes or starts. Its message `m` becomes the task
    /// `first + m`, where `first` is returned.
    pub fn extend(&mut self, other: &Workload) -> usize {
        let (first, delays) = (self.messages.len(), self.delays.len() as u32);
        let messages = other.messages.len() as u32;
        let task = |id: u32| match id.checked_sub(messages) {
            None => GraphTask(first as u32 + id),
            Some(delay) => GraphTask(DELAY | (delays + delay)),
        };
        self.messages.extend_from_slice(&other.messages);
        self.delays.extend_from_slice(&other.delays);
        for before in 0..messages + other.delays.len() as u32 {
            for after in other.dependents_of(TaskId(before)) {
                self.waits.push((task(before), task(after.0)));
            }
        }
        first
    }

    /// Adds a whole workload with its delays, with stream `s` replaced by `stream_of(s)`. Its
    /// compute gap becomes a delay before each message with dependencies.
    pub fn append(&mut self, other: &Workload, stream_of: impl Fn(u32) -> u32) -> Appended {
        self.append_at(other, &stream_of, &|host| host)
    }

    /// Adds a whole workload like [`Self::append`], with host `h` replaced by `host_of(h)`.
    pub fn append_at(
        &mut self,
        other: &Workload,
        stream_of: &dyn Fn(u32) -> u32,
        host_of: &dyn Fn(HostId) -> HostId,
    ) -> Appended {
        let (messages, delays) = (self.messages.len() as u32, self.delays.len() as u32);
        let appended = Appended { messages, delays, message_count: other.messages.len() as u32 };
        let remapped = |it: &Message| Message {
            src: host_of(it.src),
            dst: host_of(it.dst),
            stream: stream_of(it.stream),
            ..*it
        };
        self.messages.extend(other.messages.iter().map(remapped));
        let remapped_delays = other.delays.iter().map(|it| Delay { host: host_of(it.host), ..*it });
        self.delays.extend(remapped_delays);
        // Workloads on the same host share its processors, so lanes keep their numbers.
        let lane = |(index, lane): (u32, &Option<Lane>)| Some((delays + index, (*lane)?));
        self.lanes.extend((0u32..).zip(&other.lanes).filter_map(lane));
        let tasks = (other.messages.len() + other.delays.len()) as u32;
        // Dependencies of a message lead to its gap delay, which precedes the message.
        let mut entry_tasks: Vec<GraphTask> =
            (0..tasks).map(|id| appended.task(TaskId(id))).collect();
        if other.gap > Span::ZERO {
            let waits = |id: u32| other.waits_for.get(id as usize).is_some_and(|&count| count > 0);
            for id in (0..appended.message_count).filter(|&id| waits(id)) {
                let gap = self.delay(host_of(other.host_of(TaskId(id))), other.gap);
                self.wait(gap, appended.task(TaskId(id)));
                entry_tasks[id as usize] = gap;
            }
        }
        for before in 0..tasks {
            for after in other.dependents_of(TaskId(before)) {
                self.waits.push((appended.task(TaskId(before)), entry_tasks[after.index()]));
            }
        }
        let some = other.starts_after.iter().map(|(&task, &count)| (appended.task(task), count));
        self.starts_after.extend(some);
        self.append_labels(other, delays as usize, stream_of);
        appended
    }

    /// Adds the labels of a workload whose delays begin at an index. Delays of workloads without
    /// labels are not computations.
    fn append_labels(&mut self, other: &Workload, at: usize, stream_of: &dyn Fn(u32) -> u32) {
        let Some(labels) = &other.labels else {
            if let Some(own) = self.labels.as_mut().filter(|_| !other.delays.is_empty()) {
                let next = own.kind(at);
                own.begin(at, DelayKind::Waiting);
                own.begin(at + other.delays.len(), next);
            }
            return;
        };
        if self.labels.is_none() {
            self.labels.get_or_insert_default().begin(0, DelayKind::Waiting);
        }
        let own = self.labels.get_or_insert_default();
        own.append(labels, at, other.delays.len(), stream_of);
    }

    /// Sets the earliest start of a message.
    pub fn set_start(&mut self, message: GraphTask, start: Time) {
        self.messages[message.0 as usize].start = start;
    }

    /// Returns the task of the message at this index.
    pub fn nth_message(index: usize) -> GraphTask {
        GraphTask(index as u32)
    }

    /// Builds the workload of this graph.
    ///
    /// # Errors
    /// Fails if the dependencies have a cycle, or a limit is exceeded.
    pub fn finish(self) -> Result<Workload, GraphFault> {
        if self.larger_count() > MAX_TASKS {
            return Err(GraphFault::TooManyTasks);
        }
        let bytes: u128 = self.messages.iter().map(|it| u128::from(it.bytes.get())).sum();
        if u64::try_from(bytes).is_err() {
            return Err(GraphFault::TooManyBytes);
        }
        if self.waits.is_empty() && self.delays.is_empty() {
            return Ok(Workload::independent(self.messages));
        }
        let messages = self.messages.len() as u32;
        let id = |task: GraphTask| {
            TaskId(if task.0 & DELAY == 0 { task.0 } else { messages + (task.0 & !DELAY) })
        };
        let mut waits: Vec<(TaskId, TaskId)> =
            self.waits.iter().map(|&(before, after)| (id(before), id(after))).collect();
        waits.sort_unstable();
        // A dependency that was added twice counts once.
        waits.dedup();
        let delays = self.delays.len();
        let mut workload = Workload::with_delays(self.messages, self.delays, &waits);
        workload.labels = self.labels;
        if !self.lanes.is_empty() {
            workload.lanes = vec![None; delays];
            for (delay, lane) in self.lanes {
                workload.lanes[delay as usize] = Some(lane);
            }
        }
        workload.starts_after =
            self.starts_after.iter().map(|&(delay, count)| (id(delay), count)).collect();
        let stuck = cyclic_tasks(&workload);
        if stuck.is_empty() {
            return Ok(workload);
        }
        let task = |id: TaskId| match id.0.checked_sub(messages) {
            Some(delay) => GraphTask(DELAY | delay),
            None => GraphTask(id.0),
        };
        Err(GraphFault::Cycle(stuck.into_iter().map(task).collect()))
    }
}

/// Returns the tasks that never start because they are on a dependency cycle or depend on one.
fn cyclic_tasks(workload: &Workload) -> Vec<TaskId> {
    let mut open: Vec<u32> = workload.tasks().map(|task| workload.dependency_count(task)).collect();
    let ids = || (0..workload.waits_for.len() as u32).map(TaskId);
    let mut ready: Vec<TaskId> = ids().filter(|id| open[id.index()] == 0).collect();
    while let Some(task) = ready.pop() {
        for after in workload.dependents_of(task) {
            let left = &mut open[after.index()];
            if *left == 0 {
                continue;
            }
            *left -= 1;
            if *left == 0 {
                ready.push(*after);
            }
        }
    }
    ids().filter(|id| open[id.index()] > 0).collect()
}

/// Returns the length of a file's message in the workload. An empty message, which is one packet of
/// headers on the wire, gets one byte, because workload messages have at least one. \[inferred\]
pub fn at_least_a_byte(bytes: u64) -> Bytes {
    Bytes::new(bytes.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_numbered_messages_first_and_waits_counted_once() {
        let mut graph = TaskGraph::default();
        let compute = graph.delay(HostId(0), Span::from_us(1));
        let sent = graph.message(Message::starting_at_zero(0, HostId(0), HostId(1), Bytes::new(5)));
        let after = graph.delay(HostId(1), Span::ZERO);
        graph.wait(compute, sent);
        graph.wait(sent, after);
        graph.wait(sent, after);
        let workload = graph.finish().unwrap();
        assert_eq!(workload.waits_for, [1, 0, 1]);
        assert_eq!(workload.dependents_of(TaskId(1)), [TaskId(0)]);
        assert_eq!(workload.dependents_of(TaskId(0)), [TaskId(2)]);
        assert_eq!(workload.delay(TaskId(2)).map(|delay| delay.host), Some(HostId(1)));
    }

    #[test]
    fn a_cycle_names_the_tasks_that_never_start() {
        let mut graph = TaskGraph::default();
        let tasks: Vec<GraphTask> = (0..4).map(|_| graph.delay(HostId(0), Span::ZERO)).collect();
        for (before, after) in [(0, 1), (1, 2), (2, 1), (2, 3)] {
            graph.wait(tasks[before], tasks[after]);
        }
        assert_eq!(graph.finish(), Err(GraphFault::Cycle(tasks[1..].to_vec())));
    }

    #[test]
    fn more_than_2_to_the_64_bytes_are_rejected() {
        let mut graph = TaskGraph::default();
        for _ in 0..2 {
            graph.message(Message::starting_at_zero(0, HostId(0), HostId(1), Bytes::new(u64::MAX)));
        }
        assert_eq!(graph.finish(), Err(GraphFault::TooManyBytes));
    }

    #[test]
    fn a_delay_that_waits_for_some_is_on_no_cycle_through_the_others() {
        let mut graph = TaskGraph::default();
        let tasks: Vec<GraphTask> = (0..3).map(|_| graph.delay(HostId(0), Span::ZERO)).collect();
        for (before, after) in [(0, 1), (1, 2), (2, 1)] {
            graph.wait(tasks[before], tasks[after]);
        }
        graph.start_after(tasks[1], 1);
        let workload = graph.finish().unwrap();
        assert_eq!(workload.waits_for, [0, 2, 1]);
        assert_eq!([0, 1, 2].map(|task| workload.dependency_count(TaskId(task))), [0, 1, 1]);
    }
}
