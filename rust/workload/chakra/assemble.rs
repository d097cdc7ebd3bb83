//! From the nodes of all ranks to one workload: sends find their receives, collectives their
//! members and their messages.

use super::error::ChakraFault;
use super::expand::{Algorithms, expand, name};
use super::node::{Action, Call, Groups, Placed};
use super::trace::Trace;
use crate::ids::HostId;
use crate::units::{Span, Time};
use crate::workload::graph::{Graph, GraphFault, MAX_TASKS, Task, at_least_a_byte};
use crate::workload::{Message, Workload};

/// Messages of collectives have streams (so queue pairs) of their own, one a group, as NCCL's
/// communicators have: this and the group's number. Sends have their tags'. \[inferred\]
pub(super) const COLLECTIVE_STREAMS: u32 = 1 << 31;

/// A node: rank and place in its trace.
type Place = (u32, u32);

/// A fault and its rank.
type Fault = (u32, Placed);

/// The tasks of a node: the one that waits for what it waits for, and the one that ends it.
#[derive(Debug, Clone, Copy)]
struct Tasks {
    begin: Task,
    end: Task,
}

/// All ranks on their way to be one workload.
struct Layout<'a> {
    traces: &'a [Trace],
    groups: &'a Groups,
    graph: Graph,
    /// By rank and place.
    tasks: Vec<Vec<Tasks>>,
}

/// The workload of all traces; rank i is host i.
pub(super) fn lay_out(
    traces: &[Trace],
    groups: &Groups,
    algorithms: &Algorithms,
) -> Result<Workload, Fault> {
    let mut layout = Layout { traces, groups, graph: Graph::default(), tasks: Vec::new() };
    for (rank, trace) in (0u32..).zip(traces) {
        let tasks = trace.nodes.iter().map(|node| layout.begin(rank, node.action)).collect();
        layout.tasks.push(tasks);
    }
    layout.order();
    layout.match_receives()?;
    layout.join_collectives(algorithms)?;
    layout.finish()
}

impl<'a> Layout<'a> {
    fn fault(&self, (rank, place): Place, fault: ChakraFault) -> Fault {
        let node = &self.traces[rank as usize].nodes[place as usize];
        (rank, (Some(node.id), Some(node.offset), fault))
    }

    /// A node's own tasks.
    fn begin(&mut self, rank: u32, action: Action) -> Tasks {
        let host = HostId(rank);
        let begin = match action {
            Action::Delay { span, lane } => self.graph.delay_of(lane, (host, span)),
            Action::Send { peer, tag, bytes } => self.graph.message(Message {
                src: host,
                dst: HostId(peer),
                bytes: at_least_a_byte(bytes),
                stream: tag,
                start: Time::ZERO,
            }),
            Action::Receive { .. } | Action::Collective(_) => self.graph.delay(host, Span::ZERO),
        };
        let end = match action {
            Action::Collective(_) => self.graph.delay(host, Span::ZERO),
            _ => begin,
        };
        Tasks { begin, end }
    }

    /// What waits for what within each rank.
    fn order(&mut self) {
        for (trace, tasks) in self.traces.iter().zip(&self.tasks) {
            for (place, node) in (0u32..).zip(&trace.nodes) {
                let begin = tasks[place as usize].begin;
                let receives = matches!(node.action, Action::Receive { .. });
                for &(before, _) in trace.waits(place) {
                    let sends = matches!(trace.nodes[before as usize].action, Action::Send { .. });
                    if !(receives && sends) {
                        self.graph.wait(tasks[before as usize].end, begin);
                        continue;
                    }
                    // Posted when the send begins: when all that this waits for is over.
                    for &(earlier, _) in trace.waits(before) {
                        self.graph.wait(tasks[earlier as usize].end, begin);
                    }
                }
            }
        }
    }

    /// Each receive waits for its message: sends and receives of the same pair and tag meet in
    /// the order of their files.
    fn match_receives(&mut self) -> Result<(), Fault> {
        let mut sends: Vec<((u32, u32, u32), Place)> = Vec::new();
        let mut receives: Vec<((u32, u32, u32), Place)> = Vec::new();
        for (rank, trace) in (0u32..).zip(self.traces) {
            for (place, node) in (0u32..).zip(&trace.nodes) {
                let place = (rank, place);
                match node.action {
                    Action::Send { peer, .. } if peer == rank => {
                        return Err(self.fault(place, ChakraFault::Itself("comm_dst")));
                    }
                    Action::Receive { peer, .. } if peer == rank => {
                        return Err(self.fault(place, ChakraFault::Itself("comm_src")));
                    }
                    Action::Send { peer, tag, .. } => sends.push(((rank, peer, tag), place)),
                    Action::Receive { peer, tag, .. } => receives.push(((peer, rank, tag), place)),
                    Action::Delay { .. } | Action::Collective(_) => {}
                }
            }
        }
        sends.sort_unstable();
        receives.sort_unstable();
        let mut pairs = receives.iter().peekable();
        for &(key, send) in &sends {
            let receive = pairs.next_if(|(of, _)| *of == key);
            // Sorted alike, the smaller of the two is the one that has nobody.
            let Some(&(_, receive)) = receive else {
                let early = pairs.next().filter(|(of, _)| *of < key);
                return Err(match early {
                    Some(&(of, place)) => self.unmatched(of, place, "receive"),
                    None => self.unmatched(key, send, "send"),
                });
            };
            self.join(send, receive)?;
        }
        pairs.next().map_or(Ok(()), |&(key, place)| Err(self.unmatched(key, place, "receive")))
    }

    fn unmatched(
        &self,
        (src, dst, tag): (u32, u32, u32),
        place: Place,
        this: &'static str,
    ) -> Fault {
        let (other, peer) = if this == "send" { ("receive", dst) } else { ("send", src) };
        self.fault(place, ChakraFault::Unmatched { this, other, peer, tag })
    }

    fn join(&mut self, send: Place, receive: Place) -> Result<(), Fault> {
        let node = |(rank, place): Place| &self.traces[rank as usize].nodes[place as usize];
        if let (Action::Send { bytes: there, .. }, Action::Receive { bytes: Some(here), .. }) =
            (node(send).action, node(receive).action)
            && here != there
        {
            let (peer, node) = (send.0, node(send).id);
            return Err(self.fault(receive, ChakraFault::OtherLength { here, there, peer, node }));
        }
        let task = |(rank, place): Place| self.tasks[rank as usize][place as usize];
        let (message, end) = (task(send).end, task(receive).end);
        self.graph.wait(message, end);
        Ok(())
    }

    /// Finds the members of each collective and lays it out.
    fn join_collectives(&mut self, algorithms: &Algorithms) -> Result<(), Fault> {
        // Each group's calls, by rank: what has the same place in the lists of its members is one
        // collective.
        let mut calls: Vec<Vec<Vec<u32>>> = Vec::new();
        for (rank, trace) in self.traces.iter().enumerate() {
            for (place, node) in (0u32..).zip(&trace.nodes) {
                let Action::Collective(call) = node.action else { continue };
                let group = call.group as usize;
                calls.resize_with(calls.len().max(group + 1), || {
                    vec![Vec::new(); self.traces.len()]
                });
                calls[group][rank].push(place);
            }
        }
        for (group, by_rank) in (0u32..).zip(&calls) {
            let count = by_rank.iter().map(Vec::len).max().unwrap_or(0);
            let is_member = |&(_, calls): &(u32, &Vec<u32>)| group == 0 || !calls.is_empty();
            let members: Vec<(u32, &Vec<u32>)> = (0u32..).zip(by_rank).filter(is_member).collect();
            for number in 0..count {
                let places = self.members_of(group, number, &members)?;
                self.expand(&places, algorithms)?;
            }
        }
        Ok(())
    }

    /// The nodes of the `number`-th collective of a group, which must agree.
    fn members_of(
        &self,
        group: u32,
        number: usize,
        members: &[(u32, &Vec<u32>)],
    ) -> Result<Vec<Place>, Fault> {
        let at = |&(rank, calls): &(u32, &Vec<u32>)| Some((rank, *calls.get(number)?));
        let places: Vec<Place> = members.iter().filter_map(at).collect();
        let first = places[0];
        if let Some(absent) = members.iter().find(|member| at(member).is_none()) {
            let group = self.groups.name(group);
            let fault = ChakraFault::Absent { missing: absent.0, number: number + 1, group };
            return Err(self.fault(first, fault));
        }
        let there = (first.0, self.traces[first.0 as usize].nodes[first.1 as usize].id);
        for &place in &places {
            let fault = disagreement(self.call(place), (self.call(first), there), self.groups);
            if let Some(fault) = fault {
                return Err(self.fault(place, fault));
            }
        }
        Ok(places)
    }

    fn call(&self, (rank, place): Place) -> Call {
        match self.traces[rank as usize].nodes[place as usize].action {
            Action::Collective(call) => call,
            _ => unreachable!("only collectives are called"),
        }
    }

    /// Puts the messages of a collective between the beginnings and the ends of its nodes.
    fn expand(&mut self, places: &[Place], algorithms: &Algorithms) -> Result<(), Fault> {
        let call = self.call(places[0]);
        let tasks: Vec<Tasks> =
            places.iter().map(|&(rank, place)| self.tasks[rank as usize][place as usize]).collect();
        if let [(rank, _)] = *places {
            let alone = self.graph.delay(HostId(rank), call.recorded);
            self.graph.wait(tasks[0].begin, alone);
            self.graph.wait(alone, tasks[0].end);
            return Ok(());
        }
        let hosts: Vec<HostId> = places.iter().map(|&(rank, _)| HostId(rank)).collect();
        let mut messages = expand((call.operation, call.bytes), &hosts, algorithms)
            .map_err(|error| self.fault(places[0], ChakraFault::Collective(Box::new(error))))?;
        if self.graph.len() + messages.messages.len() > MAX_TASKS {
            return Err(self.fault(places[0], too_many()));
        }
        messages.messages.iter_mut().for_each(|it| it.stream = COLLECTIVE_STREAMS | call.group);
        let first = self.graph.extend(&messages);
        for each in &tasks {
            self.graph.wait(each.begin, each.end);
        }
        let member = |host: HostId| tasks[hosts.binary_search(&host).expect("ranks ascend")];
        for (place, message) in messages.messages.iter().enumerate() {
            let task = Graph::nth_message(first + place);
            self.graph.wait(member(message.src).begin, task);
            self.graph.wait(task, member(message.src).end);
            self.graph.wait(task, member(message.dst).end);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Workload, Fault> {
        let stuck = match std::mem::take(&mut self.graph).finish() {
            Ok(workload) => return Ok(workload),
            Err(GraphFault::TooManyTasks) => return Err((0, (None, None, too_many()))),
            Err(GraphFault::TooManyBytes) => return Err((0, (None, None, too_many_bytes()))),
            Err(GraphFault::Circle(stuck)) => stuck,
        };
        let waits = |task: Task| stuck.binary_search(&task).is_ok();
        for (rank, tasks) in (0u32..).zip(&self.tasks) {
            let first = tasks.iter().position(|it| waits(it.begin) || waits(it.end));
            if let Some(place) = first {
                return Err(self.fault((rank, place as u32), ChakraFault::Deadlock));
            }
        }
        unreachable!("every circle goes through a node: collectives alone have none")
    }
}

fn too_many() -> ChakraFault {
    ChakraFault::TooMuch("more than 2^28 messages, or as many delays")
}

pub(super) fn too_many_bytes() -> ChakraFault {
    ChakraFault::TooMuch("more bytes in all than 64 bits count")
}

/// What is wrong if a rank's call is not the other's, of that rank and node.
pub(super) fn disagreement(
    here: Call,
    (there, (peer, node)): (Call, (u32, u64)),
    groups: &Groups,
) -> Option<ChakraFault> {
    if (here.operation, here.bytes) == (there.operation, there.bytes) {
        return None;
    }
    let what = |call: Call| format!("{} of {} bytes", name(call.operation), call.bytes);
    let text = format!(
        "{}, but in node {node} of rank {peer}, which is at the same place in the order of {}, {}",
        what(here),
        groups.name(here.group),
        what(there)
    );
    Some(ChakraFault::Disagreement(text))
}
