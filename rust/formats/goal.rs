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
//! `calc` takes nanoseconds, as in LogGOPSim. A `send` completes when its acknowledgement arrives.
//! A `recv` completes when the message is delivered and its requirements are complete. Sends and
//! receives are matched by pair of ranks and tag, in order of the file; their sizes must be equal.
//! Receives of a rank and tag from any source (`-1`) match messages of that tag in order of
//! arrival. The network determines that order, so all of these messages must have the same size,
//! and the tag must have no other receives at that rank. `requires` depends on the end of an
//! operation, `irequires` on its start. All messages between two hosts share a queue pair.
//! \[inferred\] Calculations on the same `cpu` (default 0) run one at a time, as in LogGOPSim
//! (`nexto` of a host and processor): of those that are ready, the first in the file runs first.
//! With [`Compute::Parallel`], only dependencies order them. [`Layout`] maps a rank and a `nic` to
//! a host.

mod build;
mod error;
mod matching;
mod scan;
mod write;

use serde::{Deserialize, Serialize};

use std::collections::BTreeMap;
use std::ops::Range;

use crate::workload::{Compute, Workload};
pub use error::{GoalError, GoalFault};
use scan::{GoalOperation, RequiredEvent, Scanner, Statement};
pub use write::write;

/// Maximum number of ranks of a schedule, and of hosts: 2^24.
const MAX_RANKS: u32 = 1 << 24;

/// The meaning of a rank in a schedule.
///
/// Source: ATLAHS. In its first schedules (V1), a rank is a node and `nic` is the GPU
/// (`--unique-nic` of its generator). In later ones (V2, spcl/atlahs#18), each GPU is a rank. A
/// file does not state its version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// V2: a rank is a GPU with its own NIC, rank i is host i, and `nic` is ignored.
    Gpu,
    /// V1: a rank is a node, and host `rank x NICs + nic` is one of its NICs. A send goes to the
    /// `nic` of its matching receive. \[inferred\]
    NodeNic,
}

/// Options for reading a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Whether calculations on the same processor run one at a time.
    pub compute: Compute,
    /// The meaning of ranks. By default, nodes if any `nic` is above 0, else GPUs.
    pub layout: Option<Layout>,
}

/// A GOAL schedule as a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// Number of ranks that `num_ranks` announces.
    pub ranks: u32,
    /// Number of hosts, which is the number of NICs of all ranks.
    pub hosts: u32,
    /// The messages and calculations.
    pub workload: Workload,
    /// Notes on decisions that the file leaves open.
    pub warnings: Vec<String>,
}

/// Parses the text of a schedule; `file` is its name in errors.
///
/// # Errors
/// Fails with the first error and its line.
pub fn read(text: &str, file: &str, options: Options) -> Result<Schedule, GoalError> {
    let at = |line, fault| GoalError { file: file.to_owned(), line, fault };
    let mut reader = GoalReader::default();
    let mut scanner = Scanner::new(text);
    while let Some((line, statement)) =
        scanner.next_line().map_err(|(line, fault)| at(line, fault))?
    {
        reader.read(line, statement).map_err(|fault| at(line, fault))?;
    }
    let last = scanner.last_line();
    let read = reader.finish(last).map_err(|(line, fault)| at(line, fault))?;
    build::schedule(&read, options, last).map_err(|(line, fault)| at(line, fault))
}

/// An error with its line.
type LineFault = (usize, GoalFault);

/// An operation of a file; its ranks are valid.
#[derive(Debug, Clone, Copy)]
struct FileOperation {
    line: usize,
    rank: u32,
    operation: GoalOperation,
}

/// A dependency of one operation on another of the same rank, both by index.
#[derive(Debug, Clone, Copy)]
struct Wait {
    before: usize,
    after: usize,
    event: RequiredEvent,
}

/// The operations of a rank and their dependencies.
#[derive(Debug)]
struct RankSection {
    operations: Range<usize>,
    waits: Range<usize>,
}

/// The contents of a file.
#[derive(Debug, Default)]
struct GoalFile {
    ranks: u32,
    sections: Vec<RankSection>,
    operations: Vec<FileOperation>,
    waits: Vec<Wait>,
}

/// A reader that accumulates the contents of the lines read so far.
#[derive(Debug, Default)]
struct GoalReader {
    ranks: Option<u32>,
    /// The rank whose braces are open.
    open: Option<OpenRank>,
    /// The line of each rank read so far.
    rank_lines: BTreeMap<u32, usize>,
    /// The operation of each label of the open rank.
    labels: BTreeMap<String, usize>,
    requirements: Vec<Requirement>,
    file: GoalFile,
}

/// A rank whose braces are open: the line where they opened, and its first operation.
#[derive(Debug, Clone, Copy)]
struct OpenRank {
    rank: u32,
    line: usize,
    first: usize,
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
                let valid = valid.ok_or(GoalFault::Ranks(ranks))?;
                if let Some(first) = self.ranks.replace(valid) {
                    return Err(GoalFault::RanksTwice(first));
                }
            }
            Statement::Open(rank) => self.open(line, rank)?,
            Statement::Close => {
                let open = self.open.take().ok_or(GoalFault::NothingOpen)?;
                self.close(open)?;
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
        if let Some(OpenRank { rank, line, .. }) = self.open {
            return Err(GoalFault::StillOpen { rank, line });
        }
        let rank = self.rank(rank)?;
        if let Some(&first) = self.rank_lines.get(&rank) {
            return Err(GoalFault::RankTwice { rank, first });
        }
        self.rank_lines.insert(rank, line);
        self.open = Some(OpenRank { rank, line, first: self.file.operations.len() });
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
        let OpenRank { rank, .. } = self.open.ok_or(GoalFault::NothingOpen)?;
        let peer = match operation {
            GoalOperation::Calc { .. } => None,
            GoalOperation::Send { peer, .. } => Some(peer),
            GoalOperation::Receive { peer, .. } => peer,
        };
        if peer.map(|peer| self.rank(peer.into())).transpose()? == Some(rank) {
            return Err(GoalFault::ToItself(rank));
        }
        if let Some(label) = label
            && self.labels.insert(label.to_owned(), self.file.operations.len()).is_some()
        {
            return Err(GoalFault::LabelTwice(label.to_owned()));
        }
        self.file.operations.push(FileOperation { line, rank, operation });
        Ok(())
    }

    /// Ends the open rank and resolves its labels, which may be used before their definition.
    fn close(&mut self, open: OpenRank) -> Result<(), GoalFault> {
        let first = self.file.waits.len();
        for requirement in std::mem::take(&mut self.requirements) {
            let find = |label: &String| {
                let unknown = || GoalFault::Label { label: label.clone(), line: requirement.line };
                self.labels.get(label).copied().ok_or_else(unknown)
            };
            let (after, before) = (find(&requirement.after)?, find(&requirement.before)?);
            self.file.waits.push(Wait { before, after, event: requirement.event });
        }
        let operations = open.first..self.file.operations.len();
        self.file.sections.push(RankSection { operations, waits: first..self.file.waits.len() });
        self.labels.clear();
        Ok(())
    }

    /// Returns the contents once the `last` line has been read.
    fn finish(self, last: usize) -> Result<GoalFile, LineFault> {
        if let Some(OpenRank { rank, line, .. }) = self.open {
            return Err((last, GoalFault::StillOpen { rank, line }));
        }
        let ranks = self.ranks.ok_or((last, GoalFault::NoRanks))?;
        Ok(GoalFile { ranks, ..self.file })
    }
}

#[cfg(test)]
mod tests;
