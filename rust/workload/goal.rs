//! GOAL schedules: the sends, receives and computation of each rank, and their dependencies.
//!
//! Source: Hoefler, Siebert and Lumsdaine, "Group Operation Assembly Language" (ICPP 2009), in the
//! text form of LogGOPSim and ATLAHS:
//!
//! ```text
//! num_ranks 2
//! rank 0 {
//! l1: calc 100
//! l2: send 10b to 1 tag 3
//! l2 requires l1
//! }
//! rank 1 { ... recv 10b from 0 tag 3 ... }
//! ```
//!
//! Rank i is host i. `calc` takes nanoseconds, as in LogGOPSim. A `send` completes when its
//! acknowledgement arrives, a `recv` when the message is delivered and its requirements are
//! complete. They are matched by pair and tag, in order of the file, whatever the length of the
//! receive. `requires` depends on the end of an operation, `irequires` on its start. All messages
//! between two ranks share a queue pair. \[inferred\] Calculations of one `cpu` (default 0) run
//! one at a time, as in LogGOPSim (`nexto` of a host and processor): of those that are ready the
//! first in the file runs first; with [`Compute::Parallel`], only dependencies order them. `nic`
//! is read and ignored: a host has one. Receives from any source (`-1`) are refused: the message
//! that they match depends on the network, and here dependencies are known in advance.

mod error;
mod scan;

use std::collections::BTreeMap;

use super::graph::{GraphFault, GraphTask, TaskGraph, at_least_a_byte};
use super::{Compute, Lane, Message, Workload};
use crate::ids::HostId;
use crate::units::{Span, Time};
pub use error::{GoalError, GoalFault};
use scan::{GoalOperation, RequiredEvent, Scanner, Statement};

/// Maximum number of ranks of a schedule: 2^24.
const MAX_RANKS: u32 = 1 << 24;

/// A GOAL schedule as a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// Number of ranks that `num_ranks` announces.
    pub ranks: u32,
    /// Their messages and calculations.
    pub workload: Workload,
    /// Differences from the schedule as written.
    pub warnings: Vec<String>,
}

/// Parses the text of a schedule; `file` is its name in errors.
///
/// # Errors
/// Fails with the first fault and its line.
pub fn read(text: &str, file: &str, compute: Compute) -> Result<Schedule, GoalError> {
    let at = |line, fault| GoalError { file: file.to_owned(), line, fault };
    let mut reader = GoalReader { compute, ..GoalReader::default() };
    let mut scanner = Scanner::new(text);
    while let Some((line, statement)) =
        scanner.next_line().map_err(|(line, fault)| at(line, fault))?
    {
        reader.read(line, statement).map_err(|fault| at(line, fault))?;
    }
    reader.finish(scanner.last_line()).map_err(|(line, fault)| at(line, fault))
}

/// A fault with its line.
type LineFault = (usize, GoalFault);

/// Sends or receives by sender, receiver and tag, in order: the line and the task of each.
type Matching = BTreeMap<(u32, u32, u32), Vec<(usize, GraphTask)>>;

/// The contents of the lines read so far.
#[derive(Debug, Default)]
struct GoalReader {
    compute: Compute,
    ranks: Option<u32>,
    /// The rank whose braces are open, and the line where they opened.
    open: Option<(u32, usize)>,
    /// The line of each rank read so far.
    rank_lines: BTreeMap<u32, usize>,
    /// The operation of each label of the open rank, as an index into `operations`.
    labels: BTreeMap<String, usize>,
    operations: Vec<OpenOperation>,
    requirements: Vec<Requirement>,
    graph: TaskGraph,
    sends: Matching,
    receives: Matching,
    /// Line and task of every operation.
    lines: Vec<(usize, GraphTask)>,
    other_nic: bool,
}

/// An operation of the open rank.
#[derive(Debug, Clone, Copy)]
struct OpenOperation {
    task: GraphTask,
    /// A delay of zero length that completes when the operation starts, if `irequires` needs it.
    start: Option<GraphTask>,
}

#[derive(Debug)]
struct Requirement {
    line: usize,
    after: String,
    before: String,
    event: RequiredEvent,
}

impl GoalReader {
    fn read(&mut self, line: usize, statement: Statement<'_>) -> Result<(), GoalFault> {
        match statement {
            Statement::Ranks(ranks) => {
                let valid = u32::try_from(ranks).ok().filter(|n| (1..=MAX_RANKS).contains(n));
                self.ranks = Some(valid.ok_or(GoalFault::Ranks(ranks))?);
            }
            Statement::Open(rank) => self.open(line, rank)?,
            Statement::Close => {
                let (rank, _) = self.open.take().ok_or(GoalFault::NothingOpen)?;
                self.add_requirements(HostId(rank))?;
            }
            Statement::Operation(label, operation) => self.add_operation(line, label, operation)?,
            Statement::Requires { after, before, event } => {
                self.open.ok_or(GoalFault::NothingOpen)?;
                let (after, before) = (after.to_owned(), before.to_owned());
                self.requirements.push(Requirement { line, after, before, event });
            }
        }
        Ok(())
    }

    fn open(&mut self, line: usize, rank: u64) -> Result<(), GoalFault> {
        if let Some((rank, line)) = self.open {
            return Err(GoalFault::StillOpen { rank, line });
        }
        let rank = self.rank(rank)?;
        if let Some(&first) = self.rank_lines.get(&rank) {
            return Err(GoalFault::RankTwice { rank, first });
        }
        self.rank_lines.insert(rank, line);
        self.open = Some((rank, line));
        Ok(())
    }

    fn rank(&self, rank: u64) -> Result<u32, GoalFault> {
        let ranks = self.ranks.ok_or(GoalFault::NoRanks)?;
        let valid = u32::try_from(rank).ok().filter(|&rank| rank < ranks);
        valid.ok_or(GoalFault::Rank { rank, last: ranks - 1 })
    }

    fn add_operation(
        &mut self,
        line: usize,
        label: Option<&str>,
        operation: GoalOperation,
    ) -> Result<(), GoalFault> {
        let (rank, _) = self.open.ok_or(GoalFault::NothingOpen)?;
        self.other_nic |= operation.nic() > 0;
        let host = HostId(rank);
        let task = match operation {
            GoalOperation::Calc { ns, cpu } => {
                let lane = (self.compute == Compute::Serial).then_some(Lane(cpu));
                self.graph.delay_of(lane, host, Span::from_ns(ns))
            }
            GoalOperation::Send { bytes, peer, tag, .. } => {
                let peer = self.peer(rank, peer)?;
                let bytes = at_least_a_byte(bytes);
                let message =
                    Message { src: host, dst: HostId(peer), bytes, stream: 0, start: Time::ZERO };
                let task = self.graph.message(message);
                self.sends.entry((rank, peer, tag)).or_default().push((line, task));
                task
            }
            GoalOperation::Receive { peer, tag, .. } => {
                let peer = self.peer(rank, peer)?;
                let task = self.graph.delay(host, Span::ZERO);
                self.receives.entry((peer, rank, tag)).or_default().push((line, task));
                task
            }
        };
        if let Some(label) = label
            && self.labels.insert(label.to_owned(), self.operations.len()).is_some()
        {
            return Err(GoalFault::LabelTwice(label.to_owned()));
        }
        self.operations.push(OpenOperation { task, start: None });
        self.lines.push((line, task));
        Ok(())
    }

    fn peer(&self, rank: u32, peer: u64) -> Result<u32, GoalFault> {
        let peer = self.rank(peer)?;
        if peer == rank { Err(GoalFault::ToItself(rank)) } else { Ok(peer) }
    }

    /// Adds the dependencies between the operations of a rank, at its end: labels may be used
    /// before they are defined.
    fn add_requirements(&mut self, host: HostId) -> Result<(), GoalFault> {
        let mut waits: Vec<(usize, usize, RequiredEvent)> = Vec::new();
        for requirement in std::mem::take(&mut self.requirements) {
            let find = |label: &String| {
                let unknown = || GoalFault::Label { label: label.clone(), line: requirement.line };
                self.labels.get(label).copied().ok_or_else(unknown)
            };
            waits.push((find(&requirement.after)?, find(&requirement.before)?, requirement.event));
        }
        // All start tasks exist before any dependency is added: whatever an operation depends on,
        // its start task must depend on instead.
        for &(_, before, event) in &waits {
            let operation = &mut self.operations[before];
            if event == RequiredEvent::Start && operation.start.is_none() {
                let start = self.graph.delay(host, Span::ZERO);
                self.graph.wait(start, operation.task);
                operation.start = Some(start);
            }
        }
        for (after, before, event) in waits {
            let (after, before) = (self.operations[after], self.operations[before]);
            let dependent = after.start.unwrap_or(after.task);
            let dependency = match event {
                RequiredEvent::End => before.task,
                RequiredEvent::Start => before.start.unwrap_or(before.task),
            };
            self.graph.wait(dependency, dependent);
        }
        self.labels.clear();
        self.operations.clear();
        Ok(())
    }

    /// Builds the schedule after the `last` line.
    fn finish(mut self, last: usize) -> Result<Schedule, LineFault> {
        if let Some((rank, line)) = self.open {
            return Err((last, GoalFault::StillOpen { rank, line }));
        }
        let ranks = self.ranks.ok_or((last, GoalFault::NoRanks))?;
        self.match_receives()?;
        let lines = self.lines;
        let workload = self.graph.finish().map_err(|fault| match fault {
            GraphFault::TooManyTasks => (last, GoalFault::TooMuch("2^28 operations")),
            GraphFault::TooManyBytes => (last, GoalFault::TooMuch("2^64 bytes in all")),
            GraphFault::Cycle(stuck) => {
                let waits = |&&(_, task): &&(usize, GraphTask)| stuck.binary_search(&task).is_ok();
                (lines.iter().find(waits).map_or(last, |it| it.0), GoalFault::Cycle)
            }
        })?;
        let mut warnings = Vec::new();
        if self.other_nic {
            let warning = "the schedule uses several NICs per rank; a host here has one";
            warnings.push(warning.to_owned());
        }
        Ok(Schedule { ranks, workload, warnings })
    }

    /// Makes each receive depend on its message.
    fn match_receives(&mut self) -> Result<(), LineFault> {
        for (&(src, dst, tag), sends) in &self.sends {
            let none = Vec::new();
            let receives = self.receives.get(&(src, dst, tag)).unwrap_or(&none);
            for (index, &(line, message)) in sends.iter().enumerate() {
                let Some(&(_, end)) = receives.get(index) else {
                    return Err((line, GoalFault::NoReceive { dst, src, tag }));
                };
                self.graph.wait(message, end);
            }
        }
        for (&(src, dst, tag), receives) in &self.receives {
            let sends = self.sends.get(&(src, dst, tag)).map_or(0, Vec::len);
            if let Some(&(line, _)) = receives.get(sends) {
                return Err((line, GoalFault::NoSend { src, dst, tag }));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
