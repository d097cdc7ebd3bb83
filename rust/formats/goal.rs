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
//! `calc` takes nanoseconds, as in LogGOPSim. A `send` completes when its acknowledgement arrives,
//! a `recv` when the message is delivered and its requirements are complete. They are matched by
//! pair and tag, in order of the file, and must have the same size. Receives from any source (`-1`)
//! of a rank and tag are matched in order of the file with the messages of that tag in order of
//! their arrival; as which message is first depends on the network, all of them have the same size,
//! and the tag has no other receives there. `requires` depends on the end of an operation,
//! `irequires` on its start. All messages between two hosts share a queue pair. \[inferred\]
//! Calculations of one `cpu` (default 0) run one at a time, as in LogGOPSim (`nexto` of a host and
//! processor): of those that are ready the first in the file runs first; with
//! [`Compute::Parallel`], only dependencies order them. [`Layout`] has the host of a rank and a
//! `nic`.

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

/// Maximum number of ranks of a schedule, and of its hosts: 2^24.
const MAX_RANKS: u32 = 1 << 24;

/// What the ranks of a schedule are.
///
/// Source: ATLAHS, whose first schedules (V1) have a rank for each node and the GPU as `nic`
/// (`--unique-nic` of its generator), and whose later ones (V2, spcl/atlahs#18) a rank for each
/// GPU. No version is written in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// V2: a rank is a GPU with a NIC of its own, rank i is host i, and `nic` changes nothing.
    Gpu,
    /// V1: a rank is a node, and host `rank x NICs + nic` is one of its NICs. A send goes to the
    /// `nic` of the receive that matches it. \[inferred\]
    NodeNic,
}

/// How a schedule is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Whether calculations run one at a time.
    pub compute: Compute,
    /// What the ranks are; by default nodes if some `nic` is above 0, and else GPUs.
    pub layout: Option<Layout>,
}

/// A GOAL schedule as a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// Number of ranks that `num_ranks` announces.
    pub ranks: u32,
    /// Number of hosts: NICs of all ranks.
    pub hosts: u32,
    /// Their messages and calculations.
    pub workload: Workload,
    /// What was decided about the schedule beyond what is written.
    pub warnings: Vec<String>,
}

/// Parses the text of a schedule; `file` is its name in errors.
///
/// # Errors
/// Fails with the first fault and its line.
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

/// A fault with its line.
type LineFault = (usize, GoalFault);

/// An operation of a file, whose ranks are valid.
#[derive(Debug, Clone, Copy)]
struct FileOperation {
    line: usize,
    rank: u32,
    operation: GoalOperation,
}

/// An operation of a file that waits for another of the same rank; both by index.
#[derive(Debug, Clone, Copy)]
struct Wait {
    before: usize,
    after: usize,
    event: RequiredEvent,
}

/// The operations of a rank, and what they wait for.
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

/// The contents of the lines read so far.
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

    /// Ends the open rank: labels may be used before they are defined.
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

    /// The contents after the `last` line.
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
