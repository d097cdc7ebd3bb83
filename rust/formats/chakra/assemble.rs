//! Assembles the nodes of all ranks into one workload: matches sends with receives, and expands
//! collectives into messages between their members.

use super::error::{ChakraFault, NodeFault, RankFault};
use super::expand::expand;
use super::groups::{Call, FirstCall, RankGroups, disagreement};
use super::node::{MatchKey, NodeAction};
use super::trace::RankTrace;
use crate::collective::Algorithms;
use crate::ids::HostId;
use crate::units::{Span, Time};
use crate::workload::graph::{GraphFault, GraphTask, MAX_TASKS, TaskGraph, at_least_a_byte};
use crate::workload::{DelayKind, Message, Workload};

/// First stream of collectives. Each group has its own stream (and so its own queue pairs), as
/// NCCL's communicators have: this number plus the index of the group. The stream of a send is its
/// tag. \[inferred\]
pub(super) const COLLECTIVE_STREAMS: u32 = 1 << 31;

/// A node, given by its rank and its index in the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct NodeIndex {
    rank: u32,
    index: u32,
}

/// The tasks of a node: the one that carries its dependencies, and the one that its dependents wait
/// for. They differ only for collectives.
#[derive(Debug, Clone, Copy)]
struct NodeTasks {
    start: GraphTask,
    end: GraphTask,
}

struct Assembler<'a> {
    traces: &'a [RankTrace],
    groups: &'a RankGroups,
    graph: TaskGraph,
    /// The tasks of each node, by rank and index.
    tasks: Vec<Vec<NodeTasks>>,
}

/// Builds the workload of all traces; rank i is host i.
pub(super) fn assemble(
    traces: &[RankTrace],
    groups: &RankGroups,
    algorithms: &Algorithms,
) -> Result<Workload, RankFault> {
    let mut assembler =
        Assembler { traces, groups, graph: TaskGraph::default(), tasks: Vec::new() };
    for (rank, trace) in (0u32..).zip(traces) {
        let tasks = trace.nodes.iter().map(|node| assembler.add_tasks(rank, node.action)).collect();
        assembler.tasks.push(tasks);
    }
    assembler.add_dependencies();
    assembler.match_receives()?;
    assembler.add_collectives(algorithms)?;
    assembler.finish()
}

impl<'a> Assembler<'a> {
    fn fault(&self, NodeIndex { rank, index }: NodeIndex, fault: ChakraFault) -> RankFault {
        let node = &self.traces[rank as usize].nodes[index as usize];
        NodeFault::of_node(node.id, node.offset, fault).of_rank(rank)
    }

    fn action(&self, NodeIndex { rank, index }: NodeIndex) -> NodeAction {
        self.traces[rank as usize].nodes[index as usize].action
    }

    fn tasks(&self, NodeIndex { rank, index }: NodeIndex) -> NodeTasks {
        self.tasks[rank as usize][index as usize]
    }

    /// Adds the tasks of a node.
    fn add_tasks(&mut self, rank: u32, action: NodeAction) -> NodeTasks {
        let host = HostId(rank);
        let start = match action {
            NodeAction::Delay { span, lane } => self.graph.delay_on_lane(lane, host, span),
            NodeAction::Send { peer, tag, bytes } => self.graph.message(Message {
                src: host,
                dst: HostId(peer),
                bytes: at_least_a_byte(bytes),
                stream: tag,
                start: Time::ZERO,
            }),
            NodeAction::Receive { .. } | NodeAction::Collective(_) => {
                self.graph.delay(host, Span::ZERO)
            }
        };
        let end = match action {
            NodeAction::Collective(_) => self.graph.delay(host, Span::ZERO),
            _ => start,
        };
        NodeTasks { start, end }
    }

    /// Adds the dependencies within each rank.
    fn add_dependencies(&mut self) {
        for (trace, tasks) in self.traces.iter().zip(&self.tasks) {
            for (index, node) in (0u32..).zip(&trace.nodes) {
                let start = tasks[index as usize].start;
                let receives = matches!(node.action, NodeAction::Receive { .. });
                for &(on, _) in trace.dependencies(index) {
                    let sends = matches!(trace.nodes[on as usize].action, NodeAction::Send { .. });
                    if !(receives && sends) {
                        self.graph.wait(tasks[on as usize].end, start);
                        continue;
                    }
                    // The receive is posted when the send starts, so it gets the dependencies of
                    // the send.
                    for &(earlier, _) in trace.dependencies(on) {
                        self.graph.wait(tasks[earlier as usize].end, start);
                    }
                }
            }
        }
    }

    /// Makes each receive depend on its message. Sends and receives of the same pair and tag match
    /// in the order of their files.
    fn match_receives(&mut self) -> Result<(), RankFault> {
        let mut sends: Vec<(MatchKey, NodeIndex)> = Vec::new();
        let mut receives: Vec<(MatchKey, NodeIndex)> = Vec::new();
        for (rank, trace) in (0u32..).zip(self.traces) {
            for (index, node) in (0u32..).zip(&trace.nodes) {
                let at = NodeIndex { rank, index };
                match node.action {
                    NodeAction::Send { peer, .. } if peer == rank => {
                        return Err(self.fault(at, ChakraFault::Itself("comm_dst")));
                    }
                    NodeAction::Receive { peer, .. } if peer == rank => {
                        return Err(self.fault(at, ChakraFault::Itself("comm_src")));
                    }
                    NodeAction::Send { peer, tag, .. } => {
                        sends.push((MatchKey { src: rank, dst: peer, tag }, at));
                    }
                    NodeAction::Receive { peer, tag, .. } => {
                        receives.push((MatchKey { src: peer, dst: rank, tag }, at));
                    }
                    NodeAction::Delay { .. } | NodeAction::Collective(_) => {}
                }
            }
        }
        sends.sort_unstable();
        receives.sort_unstable();
        let mut receives = receives.iter().peekable();
        for &(key, send) in &sends {
            let receive = receives.next_if(|(of, _)| *of == key);
            // Both lists are sorted, so the smaller key of the two has no counterpart.
            let Some(&(_, receive)) = receive else {
                let smaller = receives.next().filter(|(of, _)| *of < key);
                return Err(match smaller {
                    Some(&(key, receive)) => self.unmatched(key, receive, "receive"),
                    None => self.unmatched(key, send, "send"),
                });
            };
            self.pair(send, receive)?;
        }
        receives.next().map_or(Ok(()), |&(key, at)| Err(self.unmatched(key, at, "receive")))
    }

    fn unmatched(&self, key: MatchKey, at: NodeIndex, this: &'static str) -> RankFault {
        let (other, peer) = if this == "send" { ("receive", key.dst) } else { ("send", key.src) };
        self.fault(at, ChakraFault::Unmatched { this, other, peer, tag: key.tag })
    }

    /// Makes a receive depend on the message of its send.
    fn pair(&mut self, send: NodeIndex, receive: NodeIndex) -> Result<(), RankFault> {
        if let (
            NodeAction::Send { bytes: there, .. },
            NodeAction::Receive { bytes: Some(here), .. },
        ) = (self.action(send), self.action(receive))
            && here != there
        {
            let node = self.traces[send.rank as usize].nodes[send.index as usize].id;
            let fault = ChakraFault::OtherLength { here, there, peer: send.rank, node };
            return Err(self.fault(receive, fault));
        }
        let (message, end) = (self.tasks(send).end, self.tasks(receive).end);
        self.graph.wait(message, end);
        Ok(())
    }

    /// Finds the members of each collective and adds its messages.
    fn add_collectives(&mut self, algorithms: &Algorithms) -> Result<(), RankFault> {
        // Calls by group and rank. Calls with the same index at all members of a group are one
        // collective.
        let mut calls: Vec<Vec<Vec<u32>>> = Vec::new();
        for (rank, trace) in self.traces.iter().enumerate() {
            for (index, node) in (0u32..).zip(&trace.nodes) {
                let NodeAction::Collective(call) = node.action else { continue };
                let group = call.group as usize;
                calls.resize_with(calls.len().max(group + 1), || {
                    vec![Vec::new(); self.traces.len()]
                });
                calls[group][rank].push(index);
            }
        }
        for (group, by_rank) in (0u32..).zip(&calls) {
            let count = by_rank.iter().map(Vec::len).max().unwrap_or(0);
            let is_member = |&(_, calls): &(u32, &Vec<u32>)| group == 0 || !calls.is_empty();
            let members: Vec<(u32, &Vec<u32>)> = (0u32..).zip(by_rank).filter(is_member).collect();
            for number in 0..count {
                let nodes = self.nodes_of(group, number, &members)?;
                self.add_collective(&nodes, algorithms)?;
            }
        }
        Ok(())
    }

    /// Returns the nodes of collective `number` of a group, by member; fails if their calls
    /// disagree.
    fn nodes_of(
        &self,
        group: u32,
        number: usize,
        members: &[(u32, &Vec<u32>)],
    ) -> Result<Vec<NodeIndex>, RankFault> {
        let node = |&(rank, calls): &(u32, &Vec<u32>)| {
            Some(NodeIndex { rank, index: *calls.get(number)? })
        };
        let nodes: Vec<NodeIndex> = members.iter().filter_map(node).collect();
        let first = nodes[0];
        if let Some(absent) = members.iter().find(|member| node(member).is_none()) {
            let group = self.groups.name(group);
            let fault = ChakraFault::Absent { missing: absent.0, number: number + 1, group };
            return Err(self.fault(first, fault));
        }
        let id = self.traces[first.rank as usize].nodes[first.index as usize].id;
        let first = FirstCall { call: self.call(first), rank: first.rank, node: id };
        for &node in &nodes {
            if let Some(fault) = disagreement(self.call(node), first, self.groups) {
                return Err(self.fault(node, fault));
            }
        }
        Ok(nodes)
    }

    fn call(&self, node: NodeIndex) -> Call {
        match self.action(node) {
            NodeAction::Collective(call) => call,
            _ => unreachable!("only nodes of collectives have calls"),
        }
    }

    /// Adds the messages of a collective between the starts and the ends of its nodes.
    fn add_collective(
        &mut self,
        nodes: &[NodeIndex],
        algorithms: &Algorithms,
    ) -> Result<(), RankFault> {
        let call = self.call(nodes[0]);
        let tasks: Vec<NodeTasks> = nodes.iter().map(|&node| self.tasks(node)).collect();
        if let [NodeIndex { rank, .. }] = *nodes {
            let index = self.graph.counts().1;
            let labels = self.graph.labels.get_or_insert_default();
            labels.begin(index, DelayKind::Communication);
            labels.begin(index + 1, DelayKind::Computation(None));
            let recorded = self.graph.delay(HostId(rank), call.recorded);
            self.graph.wait(tasks[0].start, recorded);
            self.graph.wait(recorded, tasks[0].end);
            return Ok(());
        }
        let hosts: Vec<HostId> = nodes.iter().map(|node| HostId(node.rank)).collect();
        let mut messages = expand(call.operation, call.bytes, &hosts, algorithms)
            .map_err(|error| self.fault(nodes[0], ChakraFault::Collective(Box::new(error))))?;
        if self.graph.larger_count() + messages.messages.len() > MAX_TASKS {
            return Err(self.fault(nodes[0], too_many()));
        }
        messages.messages.iter_mut().for_each(|it| it.stream = COLLECTIVE_STREAMS | call.group);
        let first = self.graph.extend(&messages);
        for each in &tasks {
            self.graph.wait(each.start, each.end);
        }
        let member = |host: HostId| tasks[hosts.binary_search(&host).expect("ranks ascend")];
        for (index, message) in messages.messages.iter().enumerate() {
            let task = TaskGraph::nth_message(first + index);
            self.graph.wait(member(message.src).start, task);
            self.graph.wait(task, member(message.src).end);
            self.graph.wait(task, member(message.dst).end);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Workload, RankFault> {
        let of_all = |fault| NodeFault::of_file(fault).of_rank(0);
        self.graph.labels.get_or_insert_default();
        let stuck = match std::mem::take(&mut self.graph).finish() {
            Ok(workload) => return Ok(workload),
            Err(GraphFault::TooManyTasks) => return Err(of_all(too_many())),
            Err(GraphFault::TooManyBytes) => return Err(of_all(too_many_bytes())),
            Err(GraphFault::Cycle(stuck)) => stuck,
        };
        let waits = |task: GraphTask| stuck.binary_search(&task).is_ok();
        for (rank, tasks) in (0u32..).zip(&self.tasks) {
            let first = tasks.iter().position(|it| waits(it.start) || waits(it.end));
            if let Some(index) = first {
                let node = NodeIndex { rank, index: index as u32 };
                return Err(self.fault(node, ChakraFault::Deadlock));
            }
        }
        unreachable!("every cycle contains a node: the messages of collectives have none")
    }
}

fn too_many() -> ChakraFault {
    ChakraFault::TooMuch("more than 2^28 messages, or more than 2^28 delays")
}

pub(super) fn too_many_bytes() -> ChakraFault {
    ChakraFault::TooMuch("more than 2^64 bytes in total")
}
