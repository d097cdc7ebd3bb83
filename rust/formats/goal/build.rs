//! Converts the operations of a file into messages and delays on hosts.

use std::collections::BTreeMap;

use super::error::GoalFault;
use super::matching::{Match, match_all};
use super::scan::{GoalOperation, RequiredEvent};
use super::{
    FileOperation, GoalFile, Layout, LineFault, MAX_RANKS, Options, RankSection, Schedule,
};
use crate::ids::HostId;
use crate::units::{Span, Time};
use crate::workload::graph::{GraphFault, GraphTask, TaskGraph, at_least_a_byte};
use crate::workload::{Compute, Labels, Lane, Message};

/// Builds the schedule of a file; `last` is the number of its last line.
pub(super) fn schedule(
    file: &GoalFile,
    options: Options,
    last: usize,
) -> Result<Schedule, LineFault> {
    let place = Place::of(file, options.layout)?;
    let matches = match_all(file)?;
    let mut builder = Builder {
        file,
        compute: options.compute,
        nics: place.nics,
        arrives_at: arrivals(file, &matches, place.nics)?,
        graph: TaskGraph::default(),
        tasks: Vec::with_capacity(file.operations.len()),
        starts: BTreeMap::new(),
        sent: BTreeMap::new(),
    };
    file.sections.iter().for_each(|section| builder.add_rank(section));
    matches.iter().for_each(|found| builder.add_match(found));
    let Builder { mut graph, tasks, .. } = builder;
    // With several NICs, messages of a rank are not at the host that computes.
    graph.labels = (place.nics == 1).then(Labels::default);
    let workload = graph.finish().map_err(|fault| match fault {
        GraphFault::TooManyTasks => (last, GoalFault::TooMuch("2^28 operations")),
        GraphFault::TooManyBytes => (last, GoalFault::TooMuch("2^64 bytes in all")),
        GraphFault::Cycle(stuck) => {
            let waits = |task: &GraphTask| stuck.binary_search(task).is_ok();
            let first = tasks.iter().position(waits);
            (first.map_or(last, |index| file.operations[index].line), GoalFault::Cycle)
        }
    })?;
    let hosts = file.ranks * place.nics;
    let is_empty =
        |it: &&FileOperation| matches!(it.operation, GoalOperation::Send { bytes: 0, .. });
    let empty = file.operations.iter().filter(is_empty).count();
    let empty = (empty > 0).then(|| format!("{empty} sends of 0 bytes are sent as 1 byte"));
    let warnings = place.warnings.into_iter().chain(empty).collect();
    Ok(Schedule { ranks: file.ranks, hosts, workload, warnings })
}

/// The mapping of ranks to hosts.
struct Place {
    /// Hosts per rank.
    nics: u32,
    warnings: Vec<String>,
}

impl Place {
    fn of(file: &GoalFile, layout: Option<Layout>) -> Result<Self, LineFault> {
        let highest = file.operations.iter().rev().max_by_key(|it| it.operation.nic());
        let Some(highest) = highest.filter(|it| it.operation.nic() > 0) else {
            return Ok(Self { nics: 1, warnings: Vec::new() });
        };
        let (nic, line) = (highest.operation.nic(), highest.line);
        let nics = match layout.unwrap_or(Layout::NodeNic) {
            Layout::Gpu => 1,
            Layout::NodeNic => nic + 1,
        };
        let hosts = file.ranks.checked_mul(nics).filter(|&hosts| hosts <= MAX_RANKS);
        let hosts = hosts.ok_or((line, GoalFault::TooMuch("2^24 hosts, NICs of all ranks")))?;
        let warnings = match (layout, nics) {
            (Some(Layout::Gpu), _) => vec![format!(
                "line {line} has nic {nic}, which is ignored with layout = \"gpu\"; all messages \
                 of a rank share one NIC"
            )],
            (None, nics) => vec![format!(
                "line {line} has nic {nic}, so each of the {} ranks becomes a node with {nics} \
                 NICs ({hosts} hosts in total); write layout = \"node-nic\" to confirm, or layout \
                 = \"gpu\" if a rank is one host",
                file.ranks
            )],
            (Some(Layout::NodeNic), _) => Vec::new(),
        };
        Ok(Self { nics, warnings })
    }
}

/// Returns the receiving NIC of each send's message if ranks have several NICs.
fn arrivals(
    file: &GoalFile,
    matches: &[Match],
    nics: u32,
) -> Result<BTreeMap<usize, u32>, LineFault> {
    let mut arrivals = BTreeMap::new();
    if nics == 1 {
        return Ok(arrivals);
    }
    let nic = |index: usize| file.operations[index].operation.nic();
    for Match { sends, receives } in matches {
        let first = nic(receives[0]);
        if let Some(&other) = receives.iter().find(|&&receive| nic(receive) != first) {
            let fault = GoalFault::NicsOfAny { first, other: nic(other) };
            return Err((file.operations[other].line, fault));
        }
        arrivals.extend(sends.iter().map(|&send| (send, first)));
    }
    Ok(arrivals)
}

/// The tasks built so far.
struct Builder<'a> {
    file: &'a GoalFile,
    compute: Compute,
    /// Hosts per rank.
    nics: u32,
    /// The receiving NIC of each send's message; empty if ranks have one NIC.
    arrives_at: BTreeMap<usize, u32>,
    graph: TaskGraph,
    /// The task of each operation.
    tasks: Vec<GraphTask>,
    /// Zero-length delays that end when an operation starts, where `irequires` needs one.
    starts: BTreeMap<usize, GraphTask>,
    /// Zero-length delays that end when a send completes, where another host of its rank needs one.
    sent: BTreeMap<usize, GraphTask>,
}

impl Builder<'_> {
    fn add_rank(&mut self, section: &RankSection) {
        for index in section.operations.clone() {
            let task = self.task(index);
            self.tasks.push(task);
        }
        // All start tasks exist before any dependency is added: a dependency of an operation that
        // has a start task must go to that start task instead.
        let waits = &self.file.waits[section.waits.clone()];
        for wait in waits.iter().filter(|wait| wait.event == RequiredEvent::Start) {
            if !self.starts.contains_key(&wait.before) {
                let start = self.graph.delay(self.host_of(wait.before), Span::ZERO);
                self.graph.wait(start, self.tasks[wait.before]);
                self.starts.insert(wait.before, start);
            }
        }
        for wait in waits {
            let dependent = self.starts.get(&wait.after).copied();
            let dependent = dependent.unwrap_or(self.tasks[wait.after]);
            let dependency = match (wait.event, self.starts.get(&wait.before)) {
                (RequiredEvent::Start, Some(&start)) => start,
                _ => self.end(wait.before, self.host_of(wait.after)),
            };
            self.graph.wait(dependency, dependent);
        }
    }

    /// Adds the task of an operation and returns it.
    fn task(&mut self, index: usize) -> GraphTask {
        let (host, operation) = (self.host_of(index), self.file.operations[index].operation);
        match operation {
            GoalOperation::Calc { ns, cpu } => {
                let lane = (self.compute == Compute::Serial).then_some(Lane(cpu));
                self.graph.delay_on_lane(lane, host, Span::from_ns(ns))
            }
            GoalOperation::Receive { .. } => self.graph.delay(host, Span::ZERO),
            GoalOperation::Send { bytes, peer, .. } => {
                let nic = self.arrives_at.get(&index).copied().unwrap_or(0);
                let dst = HostId(peer * self.nics + nic);
                let bytes = at_least_a_byte(bytes);
                self.graph.message(Message { src: host, dst, bytes, stream: 0, start: Time::ZERO })
            }
        }
    }

    /// Returns the host of an operation. Calculations run on the host of the rank's first NIC.
    fn host_of(&self, index: usize) -> HostId {
        let it = &self.file.operations[index];
        let nic = if self.nics == 1 { 0 } else { it.operation.nic() };
        HostId(it.rank * self.nics + nic)
    }

    /// Returns the task that ends with an operation, for use as a dependency on `host`.
    fn end(&mut self, index: usize, host: HostId) -> GraphTask {
        let (own, task) = (self.host_of(index), self.tasks[index]);
        let is_send = matches!(self.file.operations[index].operation, GoalOperation::Send { .. });
        if !is_send || own == host {
            return task;
        }
        let graph = &mut self.graph;
        *self.sent.entry(index).or_insert_with(|| {
            let end = graph.delay(own, Span::ZERO);
            graph.wait(task, end);
            end
        })
    }

    /// Makes each receive depend on its message.
    fn add_match(&mut self, Match { sends, receives }: &Match) {
        if let (&[send], &[receive]) = (sends.as_slice(), receives.as_slice()) {
            self.graph.wait(self.tasks[send], self.tasks[receive]);
            return;
        }
        for (count, &receive) in (1..).zip(receives) {
            let arrival = self.graph.delay(self.host_of(receive), Span::ZERO);
            sends.iter().for_each(|&send| self.graph.wait(self.tasks[send], arrival));
            self.graph.start_after(arrival, count);
            self.graph.wait(arrival, self.tasks[receive]);
        }
    }
}
