//! Any workload as traces: a file a rank, of sends, receives and computation.

use std::io::{self, Write};

use thiserror::Error;

use super::node::{DURATION_PS, LANE};
use super::schema::{Attribute, GlobalMetadata, Node, Value, kind};
use crate::ids::{HostId, MessageId};
use crate::units::{Span, Time};
use crate::workload::{Lane, Workload};

/// The schema that is written.
const VERSION: &str = "0.0.4";

/// Why a workload cannot be written as traces.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotATrace {
    /// Something waits for what another host computes; in a trace only messages pass news.
    #[error(
        "{after} waits for a delay of {host}, which is another host: a trace has dependencies \
         within a rank alone"
    )]
    Elsewhere {
        /// Where what waits is.
        after: HostId,
        /// Where what it waits for is.
        host: HostId,
    },
}

/// A workload, ready to be written rank by rank. Rank i is host i.
#[derive(Debug)]
pub struct Traces<'a> {
    workload: &'a Workload,
    /// By rank, what it does, whatever is waited for before who waits for it.
    of_rank: Vec<Vec<Part>>,
    /// `first_before[t]..first_before[t + 1]` are the places in `before` of what `t` waits for.
    first_before: Vec<u32>,
    before: Vec<MessageId>,
}

/// A task as a rank sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    task: MessageId,
    side: Side,
}

/// Which nodes of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    /// Its computation, before it is sent or in its place.
    Compute,
    /// Its send.
    Send,
    /// Its receive.
    Receive,
}

impl Side {
    /// The id of a node of its own in each rank: the first two bits say which.
    const fn id(self, task: MessageId) -> u64 {
        (task.0 as u64) << 2 | self as u64
    }
}

/// The id of the node that puts off a message to its start.
const fn start_id(task: MessageId) -> u64 {
    (task.0 as u64) << 2 | 3
}

impl<'a> Traces<'a> {
    /// `workload` on as many ranks as the last host needs that has a part in it.
    ///
    /// # Errors
    /// A dependency that a trace cannot have.
    pub fn of(workload: &'a Workload) -> Result<Self, NotATrace> {
        let hosts = workload.messages.iter().map(|message| message.src.max(message.dst));
        let last = hosts.chain(workload.delays.iter().map(|delay| delay.host)).max();
        let ranks = last.map_or(0, |last| last.index() + 1);
        let tasks = workload.messages.len() + workload.delays.len();
        let mut traces = Self {
            workload,
            of_rank: vec![Vec::new(); ranks],
            first_before: vec![0; tasks + 1],
            before: vec![MessageId::default(); workload.dependents.len()],
        };
        for &task in &workload.dependents {
            traces.first_before[task.index() + 1] += 1;
        }
        for place in 1..=tasks {
            traces.first_before[place] += traces.first_before[place - 1];
        }
        let mut next = traces.first_before.clone();
        for task in (0..tasks as u32).map(MessageId) {
            for &after in workload.dependents_of(task) {
                let (host, place) = (workload.host_of(task), workload.host_of(after));
                if workload.delay(task).is_some() && host != place {
                    return Err(NotATrace::Elsewhere { after: place, host });
                }
                traces.before[next[after.index()] as usize] = task;
                next[after.index()] += 1;
            }
        }
        traces.deal_all();
        Ok(traces)
    }

    /// Gives all tasks to their ranks, in order of their numbers but for what they wait for, which
    /// comes before them: who reads the traces while they are replayed need not look ahead.
    fn deal_all(&mut self) {
        let tasks = self.first_before.len() as u32 - 1;
        let mut seen = vec![false; tasks as usize];
        // Tasks on the way down, each with how much of what it waits for was looked at.
        let mut way: Vec<(MessageId, u32)> = Vec::new();
        for task in (0..tasks).map(MessageId) {
            if !std::mem::replace(&mut seen[task.index()], true) {
                way.push((task, self.first_before[task.index()]));
            }
            while let Some((task, looked)) = way.last_mut() {
                let (task, place) = (*task, *looked);
                if place == self.first_before[task.index() + 1] {
                    self.deal(task);
                    way.pop();
                    continue;
                }
                *looked += 1;
                let before = self.before[place as usize];
                if !std::mem::replace(&mut seen[before.index()], true) {
                    way.push((before, self.first_before[before.index()]));
                }
            }
        }
    }

    /// Gives a task to the ranks that it has a part in.
    fn deal(&mut self, task: MessageId) {
        let host = self.workload.host_of(task);
        let Some(message) = self.workload.messages.get(task.index()) else {
            self.of_rank[host.index()].push(Part { task, side: Side::Compute });
            return;
        };
        self.of_rank[host.index()].push(Part { task, side: Side::Send });
        self.of_rank[message.dst.index()].push(Part { task, side: Side::Receive });
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> u32 {
        self.of_rank.len() as u32
    }

    /// Writes the file of a rank.
    ///
    /// # Errors
    /// As `to` says them.
    pub fn write(&self, rank: u32, to: &mut dyn Write) -> io::Result<()> {
        let metadata = GlobalMetadata { version: VERSION.to_owned(), attributes: Vec::new() };
        put(to, &metadata)?;
        for part in &self.of_rank[rank as usize] {
            match part.side {
                Side::Compute => {
                    let span = self.workload.delay(part.task).map_or(Span::ZERO, |it| it.span);
                    let id = Side::Compute.id(part.task);
                    let lane = self.workload.lane(part.task);
                    put(to, &compute(id, (span, lane), self.waits(part.task)))?;
                }
                Side::Send => self.write_send(part.task, to)?,
                Side::Receive => {
                    let message = &self.workload.messages[part.task.index()];
                    let attributes = communication(
                        ("comm_src", message.src),
                        (message.bytes.get(), message.stream),
                    );
                    let (id, name) = (Side::Receive.id(part.task), format!("recv {}", part.task));
                    put(
                        to,
                        &Node { id, name, kind: kind::RECEIVE, attributes, ..Node::default() },
                    )?;
                }
            }
        }
        Ok(())
    }

    /// A send, after the computation that its sender does for it and not before its start.
    fn write_send(&self, task: MessageId, to: &mut dyn Write) -> io::Result<()> {
        let message = &self.workload.messages[task.index()];
        let mut waits = self.waits(task);
        if !waits.is_empty() && self.workload.gap > Span::ZERO {
            let id = Side::Compute.id(task);
            put(to, &compute(id, (self.workload.gap, None), waits))?;
            waits = vec![id];
        }
        if message.start > Time::ZERO {
            let span = message.start.since(Time::ZERO);
            put(to, &compute(start_id(task), (span, None), Vec::new()))?;
            waits.push(start_id(task));
        }
        let attributes =
            communication(("comm_dst", message.dst), (message.bytes.get(), message.stream));
        let send = Node {
            id: Side::Send.id(task),
            name: format!("send {task}"),
            kind: kind::SEND,
            data_dependencies: waits,
            attributes,
            ..Node::default()
        };
        put(to, &send)
    }

    /// The ids of the nodes that a task waits for in its rank.
    fn waits(&self, task: MessageId) -> Vec<u64> {
        let (from, upto) = (self.first_before[task.index()], self.first_before[task.index() + 1]);
        let host = self.workload.host_of(task);
        let id = |&before: &MessageId| match self.workload.messages.get(before.index()) {
            Some(message) if message.src == host => Side::Send.id(before),
            Some(_) => Side::Receive.id(before),
            None => Side::Compute.id(before),
        };
        self.before[from as usize..upto as usize].iter().map(id).collect()
    }
}

/// A compute node. Other programs see its duration in whole microseconds, rounded up; and they
/// may run what has no lane one after the other.
fn compute(id: u64, (span, lane): (Span, Option<Lane>), waits: Vec<u64>) -> Node {
    let lane = lane.map_or(0, |lane| u64::from(lane.0) + 1);
    Node {
        id,
        name: "compute".to_owned(),
        kind: kind::COMPUTE,
        data_dependencies: waits,
        duration_micros: span.as_ps().div_ceil(1_000_000),
        attributes: vec![
            is_cpu_op(),
            Attribute::uint64(DURATION_PS, span.as_ps()),
            Attribute::uint64(LANE, lane),
        ],
        ..Node::default()
    }
}

fn communication((peer, host): (&str, HostId), (bytes, stream): (u64, u32)) -> Vec<Attribute> {
    let integer =
        |name: &str, value| Attribute { name: name.to_owned(), value: Some(Value::Int32(value)) };
    vec![
        is_cpu_op(),
        Attribute::uint64("comm_size", bytes),
        integer(peer, host.0 as i32),
        Attribute { name: "comm_tag".to_owned(), value: Some(Value::Uint32(stream)) },
    ]
}

fn is_cpu_op() -> Attribute {
    Attribute { name: "is_cpu_op".to_owned(), value: Some(Value::Bool(false)) }
}

fn put(to: &mut dyn Write, message: &impl prost::Message) -> io::Result<()> {
    to.write_all(&message.encode_length_delimited_to_vec())
}
