//! Writes a workload as traces: per rank, a file of sends, receives and computation.

use std::io::{self, Write};

use thiserror::Error;

use super::node::{DURATION_PS, LANE};
use super::schema::{Attribute, AttributeValue, GlobalMetadata, Node, kind};
use crate::ids::{HostId, TaskId};
use crate::units::{Span, Time};
use crate::workload::{Lane, Message, Workload};

/// Version of the schema.
const VERSION: &str = "0.0.4";

/// The reason why a workload cannot be written as traces.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotATrace {
    /// A task depends on a delay at another host, but in a trace only messages cross ranks.
    #[error(
        "a task of {after} depends on a delay of {host}, but a trace node depends only on nodes \
         of its own rank; remove `start` from a [[job]] with `after`, or write the workload \
         without `step_after = \"acknowledgement\"` and read its traces with it"
    )]
    RemoteDependency {
        /// Host of the task.
        after: HostId,
        /// Host of the delay.
        host: HostId,
    },
    /// A delay starts when only some of its dependencies are met.
    #[error(
        "{host} waits for the first of several messages (a receive from any source, or a \
         multishot trigger), but a trace node waits for all of its dependencies"
    )]
    Some {
        /// Host of the delay.
        host: HostId,
    },
}

/// A workload, ready to be written rank by rank. Rank i is host i.
#[derive(Debug)]
pub struct Traces<'a> {
    workload: &'a Workload,
    /// The nodes of each rank; each node comes after its dependencies.
    of_rank: Vec<Vec<TaskNode>>,
    /// Offsets: task `t` has `dependencies[first_dependency[t]..first_dependency[t + 1]]`.
    first_dependency: Vec<u32>,
    dependencies: Vec<TaskId>,
}

/// A task's node in the trace of one rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct TaskNode {
    task: TaskId,
    role: NodeRole,
}

/// The purpose of a node for its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NodeRole {
    /// A delay, or the computation before a message.
    Compute,
    Send,
    Receive,
}

impl NodeRole {
    /// Returns the id of the node, unique within its rank. The low two bits are the role.
    const fn id(self, task: TaskId) -> u64 {
        (task.0 as u64) << 2 | self as u64
    }
}

/// Returns the id of the node that delays a message until its start time.
const fn start_id(task: TaskId) -> u64 {
    (task.0 as u64) << 2 | 3
}

impl<'a> Traces<'a> {
    /// Converts `workload` into traces, for the ranks up to the last host that takes part in it.
    ///
    /// # Errors
    /// Fails if a task depends on a delay of another host, or only on some of several tasks.
    pub fn of(workload: &'a Workload) -> Result<Self, NotATrace> {
        if let Some((&task, _)) = workload.starts_after.first_key_value() {
            return Err(NotATrace::Some { host: workload.host_of(task) });
        }
        let hosts = workload.messages.iter().map(|message| message.src.max(message.dst));
        let last = hosts.chain(workload.delays.iter().map(|delay| delay.host)).max();
        let ranks = last.map_or(0, |last| last.index() + 1);
        let tasks = workload.messages.len() + workload.delays.len();
        let mut traces = Self {
            workload,
            of_rank: vec![Vec::new(); ranks],
            first_dependency: vec![0; tasks + 1],
            dependencies: vec![TaskId::default(); workload.dependents.len()],
        };
        for &task in &workload.dependents {
            traces.first_dependency[task.index() + 1] += 1;
        }
        for task in 1..=tasks {
            traces.first_dependency[task] += traces.first_dependency[task - 1];
        }
        let mut next = traces.first_dependency.clone();
        for task in (0..tasks as u32).map(TaskId) {
            for &dependent in workload.dependents_of(task) {
                let (host, after) = (workload.host_of(task), workload.host_of(dependent));
                if workload.delay(task).is_some() && host != after {
                    return Err(NotATrace::RemoteDependency { after, host });
                }
                traces.dependencies[next[dependent.index()] as usize] = task;
                next[dependent.index()] += 1;
            }
        }
        traces.add_nodes();
        Ok(traces)
    }

    /// Adds the nodes of all tasks to their ranks in order of ids, except that dependencies come
    /// before their dependents. A replay then never has to read ahead.
    fn add_nodes(&mut self) {
        let tasks = self.first_dependency.len() as u32 - 1;
        let mut visited = vec![false; tasks as usize];
        // The path of a depth-first search: tasks with the index of their next dependency.
        let mut path: Vec<(TaskId, u32)> = Vec::new();
        for task in (0..tasks).map(TaskId) {
            if !std::mem::replace(&mut visited[task.index()], true) {
                path.push((task, self.first_dependency[task.index()]));
            }
            while let Some((task, next)) = path.last_mut() {
                let (task, index) = (*task, *next);
                if index == self.first_dependency[task.index() + 1] {
                    self.add_task(task);
                    path.pop();
                    continue;
                }
                *next += 1;
                let dependency = self.dependencies[index as usize];
                if !std::mem::replace(&mut visited[dependency.index()], true) {
                    path.push((dependency, self.first_dependency[dependency.index()]));
                }
            }
        }
    }

    /// Adds the nodes of a task to the ranks that take part in it.
    fn add_task(&mut self, task: TaskId) {
        let host = self.workload.host_of(task);
        let Some(message) = self.workload.messages.get(task.index()) else {
            self.of_rank[host.index()].push(TaskNode { task, role: NodeRole::Compute });
            return;
        };
        self.of_rank[host.index()].push(TaskNode { task, role: NodeRole::Send });
        self.of_rank[message.dst.index()].push(TaskNode { task, role: NodeRole::Receive });
    }

    /// Returns the number of ranks; each has a trace.
    pub fn ranks(&self) -> u32 {
        self.of_rank.len() as u32
    }

    /// Writes the file of a rank.
    ///
    /// # Errors
    /// Fails if writing to `to` does.
    pub fn write(&self, rank: u32, to: &mut dyn Write) -> io::Result<()> {
        let metadata = GlobalMetadata { version: VERSION.to_owned(), attributes: Vec::new() };
        put(to, &metadata)?;
        for &TaskNode { task, role } in &self.of_rank[rank as usize] {
            match role {
                NodeRole::Compute => {
                    let span = self.workload.delay(task).map_or(Span::ZERO, |it| it.span);
                    let lane = self.workload.lane(task);
                    put(to, &compute(role.id(task), span, lane, self.dependency_ids(task)))?;
                }
                NodeRole::Send => self.write_send(task, to)?,
                NodeRole::Receive => {
                    let message = &self.workload.messages[task.index()];
                    let receive = Node {
                        id: role.id(task),
                        name: format!("recv {task}"),
                        kind: kind::RECEIVE,
                        attributes: communication("comm_src", message.src, message),
                        ..Node::default()
                    };
                    put(to, &receive)?;
                }
            }
        }
        Ok(())
    }

    /// Writes a send, after the compute nodes for the gap before it and for its start time.
    fn write_send(&self, task: TaskId, to: &mut dyn Write) -> io::Result<()> {
        let message = &self.workload.messages[task.index()];
        let mut dependencies = self.dependency_ids(task);
        if !dependencies.is_empty() && self.workload.gap > Span::ZERO {
            let id = NodeRole::Compute.id(task);
            put(to, &compute(id, self.workload.gap, None, dependencies))?;
            dependencies = vec![id];
        }
        if message.start > Time::ZERO {
            let span = message.start.since(Time::ZERO);
            put(to, &compute(start_id(task), span, None, Vec::new()))?;
            dependencies.push(start_id(task));
        }
        let send = Node {
            id: NodeRole::Send.id(task),
            name: format!("send {task}"),
            kind: kind::SEND,
            data_dependencies: dependencies,
            attributes: communication("comm_dst", message.dst, message),
            ..Node::default()
        };
        put(to, &send)
    }

    /// Returns the ids of the nodes that a task depends on, in the task's rank.
    fn dependency_ids(&self, task: TaskId) -> Vec<u64> {
        let [from, to] = [task.index(), task.index() + 1].map(|it| self.first_dependency[it]);
        let host = self.workload.host_of(task);
        let id = |&on: &TaskId| match self.workload.messages.get(on.index()) {
            Some(message) if message.src == host => NodeRole::Send.id(on),
            Some(_) => NodeRole::Receive.id(on),
            None => NodeRole::Compute.id(on),
        };
        self.dependencies[from as usize..to as usize].iter().map(id).collect()
    }
}

/// Builds a compute node. Other programs read its duration in whole microseconds, rounded up, and
/// may run nodes without a lane one at a time.
fn compute(id: u64, span: Span, lane: Option<Lane>, dependencies: Vec<u64>) -> Node {
    let lane = lane.map_or(0, |lane| u64::from(lane.0) + 1);
    Node {
        id,
        name: "compute".to_owned(),
        kind: kind::COMPUTE,
        data_dependencies: dependencies,
        duration_micros: span.as_ps().div_ceil(1_000_000),
        attributes: vec![
            is_cpu_op(),
            Attribute::uint64(DURATION_PS, span.as_ps()),
            Attribute::uint64(LANE, lane),
        ],
        ..Node::default()
    }
}

/// Returns the attributes of a send or a receive; the attribute `peer` names the other host.
fn communication(peer: &str, host: HostId, message: &Message) -> Vec<Attribute> {
    let attribute = |name: &str, value| Attribute { name: name.to_owned(), value: Some(value) };
    vec![
        is_cpu_op(),
        Attribute::uint64("comm_size", message.bytes.get()),
        attribute(peer, AttributeValue::Int32(host.0 as i32)),
        attribute("comm_tag", AttributeValue::Uint32(message.stream)),
    ]
}

fn is_cpu_op() -> Attribute {
    Attribute { name: "is_cpu_op".to_owned(), value: Some(AttributeValue::Bool(false)) }
}

fn put(to: &mut dyn Write, message: &impl prost::Message) -> io::Result<()> {
    to.write_all(&message.encode_length_delimited_to_vec())
}
