//! The normal form of a workload: the dependencies of its messages and computations, independent of
//! how a file or a generator expresses them.
//!
//! Formats of other projects use receives, triggers or barriers where a [`Workload`] has
//! zero-length delays. The normal form avoids them: each message and each computation has the set
//! of events that it waits for. The network cannot distinguish two workloads with the same normal
//! form.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use thiserror::Error;

use crate::ids::{HostId, TaskId};
use crate::units::{Bytes, Span, Time};
use crate::workload::{Lane, Workload};

/// Maximum number of dependencies of a normal form: 2^24.
const MAX_EVENTS: usize = 1 << 24;

/// Why a workload cannot be written in a format.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotWritten {
    /// The workload has no messages, which the format requires.
    #[error("it has no messages; the format needs at least one")]
    NoMessages,
    /// A task starts when only some of its dependencies are met.
    #[error(
        "{0} waits for the first of several messages (a receive from any source, or a multishot \
         trigger)"
    )]
    PartialDependency(HostId),
    /// There are too many dependencies.
    #[error("it has more than 2^24 dependencies, including those through barriers")]
    TooMany,
    /// The workload computes, and the format has messages only.
    #[error("{0} has a computation or a delay, but the format has only messages")]
    Computation(HostId),
    /// The format has no dependencies.
    #[error(
        "a message of {0} waits for other messages, but flows of the format start at fixed times"
    )]
    Dependency(HostId),
    /// A task depends on an event at another host.
    #[error(
        "a task of {0} depends on an event at another host, and no message reports that event to \
         it"
    )]
    RemoteDependency(HostId),
    /// Two hosts share several streams.
    #[error(
        "{0} sends to {1} on several queue pairs, but in the format messages of two hosts share \
         one"
    )]
    Streams(HostId, HostId),
    /// Several messages share a queue pair.
    #[error(
        "{0} sends several messages to {1} on one queue pair, but in the format each has its own"
    )]
    SharedStream(HostId, HostId),
    /// A time is not a multiple of the format's unit.
    #[error("a time of {host} is {span}, but the format has only whole {unit}")]
    TooFine {
        /// The host that waits for it.
        host: HostId,
        /// The time.
        span: Span,
        /// The unit of the format.
        unit: &'static str,
    },
    /// A message is too long.
    #[error("a message of {host} has {bytes}, but sizes in the format have 32 bits")]
    TooLong {
        /// The sender.
        host: HostId,
        /// Its size.
        bytes: Bytes,
    },
    /// A message has both a start and dependencies.
    #[error(
        "a message of {0} waits for other messages and for a time, but a connection has only one \
         of the two"
    )]
    StartAndTrigger(HostId),
    /// A connection would activate two triggers.
    #[error(
        "the end of a message of {0} starts messages that wait for different messages, but a \
         connection activates only one trigger"
    )]
    TwoTriggers(HostId),
    /// The written file would be read back as a different workload.
    #[error("the written file would not be read back as the same workload")]
    RoundTripMismatch,
}

/// An event that a task waits for. Messages and computations are given by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// A message is delivered to its receiver.
    Delivered(usize),
    /// A message is acknowledged at its sender.
    Completed(usize),
    /// A computation ends.
    Ended(usize),
}

/// A message and the events that it waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NormalMessage {
    pub src: HostId,
    pub dst: HostId,
    pub bytes: Bytes,
    /// The stream's number among those of its pair of hosts, in order of their first messages.
    pub stream: u32,
    pub start: Time,
    pub after: BTreeSet<Event>,
}

/// A computation, or a time span that a host waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Computation {
    pub host: HostId,
    pub span: Span,
    /// The lane, if the host has other computations on it.
    pub lane: Option<Lane>,
    pub after: BTreeSet<Event>,
}

/// The normal form of a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NormalForm {
    pub messages: Vec<NormalMessage>,
    pub computations: Vec<Computation>,
}

impl NormalForm {
    pub(super) fn of(workload: &Workload) -> Result<Self, NotWritten> {
        if let Some((&task, _)) = workload.starts_after.first_key_value() {
            return Err(NotWritten::PartialDependency(workload.host_of(task)));
        }
        let shared = shared_lanes(workload);
        let lane = |task: TaskId| {
            let host = workload.host_of(task);
            workload.lane(task).filter(|&lane| shared.contains(&(host, lane)))
        };
        let kept = |task: TaskId| {
            let delay = workload.delay(task);
            delay.is_some_and(|delay| delay.span > Span::ZERO || lane(task).is_some())
        };
        let delays = workload.tasks().skip(workload.messages.len());
        let numbers: BTreeMap<TaskId, usize> = delays.filter(|&task| kept(task)).zip(0..).collect();
        let mut events = events(workload, &numbers)?;
        let mut form = Self { messages: Vec::new(), computations: Vec::new() };
        for &task in numbers.keys() {
            let (host, after) = (workload.host_of(task), std::mem::take(&mut events[task.index()]));
            let span = workload.delay(task).map_or(Span::ZERO, |delay| delay.span);
            form.computations.push(Computation { host, span, lane: lane(task), after });
        }
        for (index, message) in workload.messages.iter().enumerate() {
            let waits = workload.dependency_count(TaskId(index as u32)) > 0;
            let mut after = std::mem::take(&mut events[index]);
            if waits && workload.gap > Span::ZERO {
                after = form.compute(message.src, workload.gap, after);
            }
            let (src, dst, bytes) = (message.src, message.dst, message.bytes);
            let (stream, start) = (message.stream, message.start);
            form.messages.push(NormalMessage { src, dst, bytes, stream, start, after });
        }
        Ok(form.with_streams_in_order())
    }

    /// Adds a computation without a lane and returns the event of its end.
    fn compute(&mut self, host: HostId, span: Span, after: BTreeSet<Event>) -> BTreeSet<Event> {
        self.computations.push(Computation { host, span, lane: None, after });
        BTreeSet::from([Event::Ended(self.computations.len() - 1)])
    }

    /// Replaces each start time by a computation from time zero that the message waits for.
    pub(super) fn with_starts_as_computations(mut self) -> Self {
        for index in 0..self.messages.len() {
            let NormalMessage { src, start, .. } = self.messages[index];
            if start > Time::ZERO {
                let ended = self.compute(src, start.since(Time::ZERO), BTreeSet::new());
                self.messages[index].after.extend(ended);
                self.messages[index].start = Time::ZERO;
            }
        }
        self
    }

    /// Sorts messages by sender and computations by host, stably.
    pub(super) fn by_host(self) -> Self {
        self.reordered(|message| u64::from(message.src.0))
    }

    /// Sorts messages by start, stably.
    pub(super) fn by_start(self) -> Self {
        self.reordered(|message| message.start.as_ps())
    }

    fn reordered(self, key: impl Fn(&NormalMessage) -> u64) -> Self {
        let mut order: Vec<usize> = (0..self.messages.len()).collect();
        order.sort_by_key(|&index| key(&self.messages[index]));
        let mut others: Vec<usize> = (0..self.computations.len()).collect();
        others.sort_by_key(|&index| self.computations[index].host);
        let place = |order: &[usize]| {
            let mut place = vec![0; order.len()];
            order.iter().enumerate().for_each(|(new, &old)| place[old] = new);
            place
        };
        let (messages, computations) = (place(&order), place(&others));
        let event = |event: &Event| match *event {
            Event::Delivered(index) => Event::Delivered(messages[index]),
            Event::Completed(index) => Event::Completed(messages[index]),
            Event::Ended(index) => Event::Ended(computations[index]),
        };
        let after = |after: &BTreeSet<Event>| after.iter().map(event).collect();
        let form = Self {
            messages: order
                .iter()
                .map(|&index| &self.messages[index])
                .map(|it| NormalMessage { after: after(&it.after), ..it.clone() })
                .collect(),
            computations: others
                .iter()
                .map(|&index| &self.computations[index])
                .map(|it| Computation { after: after(&it.after), ..it.clone() })
                .collect(),
        };
        form.with_streams_in_order()
    }

    fn with_streams_in_order(mut self) -> Self {
        let mut streams: BTreeMap<(HostId, HostId), BTreeMap<u32, u32>> = BTreeMap::new();
        for message in &mut self.messages {
            let known = streams.entry((message.src, message.dst)).or_default();
            let next = known.len() as u32;
            message.stream = *known.entry(message.stream).or_insert(next);
        }
        self
    }

    /// Fails if two hosts share several streams.
    pub(super) fn expect_one_stream(&self) -> Result<(), NotWritten> {
        let other = self.messages.iter().find(|message| message.stream > 0);
        other.map_or(Ok(()), |it| Err(NotWritten::Streams(it.src, it.dst)))
    }

    /// Fails if a task depends on an event at another host.
    pub(super) fn expect_local(&self) -> Result<(), NotWritten> {
        let host_of = |event: &Event| match *event {
            Event::Delivered(index) => self.messages[index].dst,
            Event::Completed(index) => self.messages[index].src,
            Event::Ended(index) => self.computations[index].host,
        };
        let messages = self.messages.iter().map(|it| (it.src, &it.after));
        let mut all = messages.chain(self.computations.iter().map(|it| (it.host, &it.after)));
        let other = all.find(|(host, after)| after.iter().any(|event| host_of(event) != *host));
        other.map_or(Ok(()), |(host, _)| Err(NotWritten::RemoteDependency(host)))
    }
}

/// Returns the lanes with several delays.
fn shared_lanes(workload: &Workload) -> BTreeSet<(HostId, Lane)> {
    let (mut once, mut shared) = (BTreeSet::new(), BTreeSet::new());
    let delays = workload.tasks().skip(workload.messages.len());
    for (task, lane) in delays.filter_map(|task| Some((task, workload.lane(task)?))) {
        let lane = (workload.host_of(task), lane);
        if !once.insert(lane) {
            shared.insert(lane);
        }
    }
    shared
}

/// Returns the events that each task waits for. Delays without a number pass on their own events.
fn events(
    workload: &Workload,
    numbers: &BTreeMap<TaskId, usize>,
) -> Result<Vec<BTreeSet<Event>>, NotWritten> {
    let mut events = vec![BTreeSet::new(); workload.task_count()];
    let mut open: Vec<u32> = workload.tasks().map(|task| workload.dependency_count(task)).collect();
    let mut ready: VecDeque<TaskId> =
        workload.tasks().filter(|task| open[task.index()] == 0).collect();
    let mut count = 0;
    while let Some(task) = ready.pop_front() {
        for &after in workload.dependents_of(task) {
            let passed = match (workload.message(task), numbers.get(&task)) {
                (Some(message), _) => BTreeSet::from([if message.dst == workload.host_of(after) {
                    Event::Delivered(task.index())
                } else {
                    Event::Completed(task.index())
                }]),
                (None, Some(&number)) => BTreeSet::from([Event::Ended(number)]),
                (None, None) => events[task.index()].clone(),
            };
            count += passed.len();
            if count > MAX_EVENTS {
                return Err(NotWritten::TooMany);
            }
            events[after.index()].extend(passed);
            open[after.index()] -= 1;
            if open[after.index()] == 0 {
                ready.push_back(after);
            }
        }
    }
    Ok(events)
}
