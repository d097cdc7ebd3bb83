//! GOAL schedules: each rank's sends, receives and computation, and what requires what.
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
//! Rank i is host i. `calc` takes nanoseconds, as LogGOPSim counts. A `send` is over when its
//! sender knows that it has arrived, a `recv` when the message is there and what it requires is
//! over; they meet by pair and tag, in order of the file, whatever length the receive has room
//! for. `requires` waits for the end of an operation, `irequires` for its begin. All messages
//! between two ranks share a queue pair. \[inferred\] Calculations of one `cpu` (0 where it is not
//! said) take turns, as in LogGOPSim (`nexto` of a host and processor): of those that are ready
//! the first in the file goes first; with [`Compute::Parallel`], only dependencies order them.
//! `nic` is read and changes nothing: a host has one. Receives from any source (`-1`) are refused:
//! which message they take depends on the network, and here what waits for what is known before.

mod error;
mod scan;

use std::collections::BTreeMap;

use super::graph::{Graph, GraphFault, Task, at_least_a_byte};
use super::{Compute, Lane, Message, Workload};
use crate::ids::HostId;
use crate::units::{Span, Time};
pub use error::{GoalError, GoalFault};
use scan::{Kind, Line, Operation, Scanner};

/// Most ranks of a schedule: 2^24.
const MAX_RANKS: u32 = 1 << 24;

/// A schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// How many ranks it is for.
    pub ranks: u32,
    /// What they do.
    pub workload: Workload,
    /// What is not as the schedule has it.
    pub warnings: Vec<String>,
}

/// Reads a schedule; `file` is what errors call it.
///
/// # Errors
/// The first fault, with its line.
pub fn read(text: &str, file: &str, compute: Compute) -> Result<Schedule, GoalError> {
    let at = |(line, fault)| GoalError { file: file.to_owned(), line, fault };
    let mut reader = Reader { compute, ..Reader::default() };
    let mut scanner = Scanner::new(text);
    while let Some((line, what)) = scanner.next_line().map_err(at)? {
        reader.take(line, what).map_err(|fault| at((line, fault)))?;
    }
    reader.finish(scanner.last_line()).map_err(at)
}

/// A fault and its line.
type Placed = (usize, GoalFault);

/// Sends or receives of a pair and tag, in order: the line and the task of each.
type Meeting = BTreeMap<(u32, u32, u32), Vec<(usize, Task)>>;

/// A schedule in the making.
#[derive(Debug, Default)]
struct Reader {
    compute: Compute,
    ranks: Option<u32>,
    /// The rank whose braces are open, and the line where they are.
    open: Option<(u32, usize)>,
    /// Ranks that have been read.
    seen: BTreeMap<u32, usize>,
    labels: BTreeMap<String, usize>,
    operations: Vec<Begun>,
    requirements: Vec<Requirement>,
    graph: Graph,
    sends: Meeting,
    receives: Meeting,
    /// Line and task of every operation.
    lines: Vec<(usize, Task)>,
    other_nic: bool,
}

/// An operation of the open rank.
#[derive(Debug, Clone, Copy)]
struct Begun {
    task: Task,
    /// What tells that it has begun, if somebody asked.
    gate: Option<Task>,
}

#[derive(Debug)]
struct Requirement {
    line: usize,
    after: String,
    before: String,
    kind: Kind,
}

impl Reader {
    fn take(&mut self, line: usize, what: Line<'_>) -> Result<(), GoalFault> {
        match what {
            Line::Ranks(ranks) => {
                let sound = u32::try_from(ranks).ok().filter(|n| (1..=MAX_RANKS).contains(n));
                self.ranks = Some(sound.ok_or(GoalFault::Ranks(ranks))?);
            }
            Line::Open(rank) => self.open(line, rank)?,
            Line::Close => {
                self.open.take().ok_or(GoalFault::NothingOpen)?;
                self.connect()?;
            }
            Line::Operation(label, operation) => self.begin(line, (label, operation))?,
            Line::Requires { after, before, kind } => {
                self.open.ok_or(GoalFault::NothingOpen)?;
                let (after, before) = (after.to_owned(), before.to_owned());
                self.requirements.push(Requirement { line, after, before, kind });
            }
        }
        Ok(())
    }

    fn open(&mut self, line: usize, rank: u64) -> Result<(), GoalFault> {
        if let Some((rank, line)) = self.open {
            return Err(GoalFault::StillOpen { rank, line });
        }
        let rank = self.rank(rank)?;
        if let Some(&first) = self.seen.get(&rank) {
            return Err(GoalFault::RankTwice { rank, first });
        }
        self.seen.insert(rank, line);
        self.open = Some((rank, line));
        Ok(())
    }

    fn rank(&self, rank: u64) -> Result<u32, GoalFault> {
        let ranks = self.ranks.ok_or(GoalFault::NoRanks)?;
        let sound = u32::try_from(rank).ok().filter(|&rank| rank < ranks);
        sound.ok_or(GoalFault::Rank { rank, last: ranks - 1 })
    }

    fn begin(
        &mut self,
        line: usize,
        (label, operation): (Option<&str>, Operation),
    ) -> Result<(), GoalFault> {
        let (rank, _) = self.open.ok_or(GoalFault::NothingOpen)?;
        self.other_nic |= operation.nic() > 0;
        let host = HostId(rank);
        let task = match operation {
            Operation::Calc { ns, cpu } => {
                let lane = (self.compute == Compute::Serial).then_some(Lane(cpu));
                self.graph.delay_of(lane, (host, Span::from_ns(ns)))
            }
            Operation::Send { bytes, peer, tag, .. } => {
                let peer = self.peer(rank, peer)?;
                let bytes = at_least_a_byte(bytes);
                let message =
                    Message { src: host, dst: HostId(peer), bytes, stream: 0, start: Time::ZERO };
                let task = self.graph.message(message);
                self.sends.entry((rank, peer, tag)).or_default().push((line, task));
                task
            }
            Operation::Receive { peer, tag, .. } => {
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
        self.operations.push(Begun { task, gate: None });
        self.lines.push((line, task));
        Ok(())
    }

    fn peer(&self, rank: u32, peer: u64) -> Result<u32, GoalFault> {
        let peer = self.rank(peer)?;
        if peer == rank { Err(GoalFault::ToItself(rank)) } else { Ok(peer) }
    }

    /// At the end of a rank: what its operations require of each other.
    fn connect(&mut self) -> Result<(), GoalFault> {
        let host = HostId(self.seen.iter().max_by_key(|(_, line)| **line).map_or(0, |it| *it.0));
        let mut waits: Vec<(usize, usize, Kind)> = Vec::new();
        for requirement in std::mem::take(&mut self.requirements) {
            let find = |label: &String| {
                let unknown = || GoalFault::Label { label: label.clone(), line: requirement.line };
                self.labels.get(label).copied().ok_or_else(unknown)
            };
            waits.push((find(&requirement.after)?, find(&requirement.before)?, requirement.kind));
        }
        for &(_, before, kind) in &waits {
            let operation = &mut self.operations[before];
            if kind == Kind::Begin && operation.gate.is_none() {
                let gate = self.graph.delay(host, Span::ZERO);
                self.graph.wait(gate, operation.task);
                operation.gate = Some(gate);
            }
        }
        for (after, before, kind) in waits {
            let (after, before) = (self.operations[after], self.operations[before]);
            let begin = after.gate.unwrap_or(after.task);
            match kind {
                Kind::End => self.graph.wait(before.task, begin),
                Kind::Begin => self.graph.wait(before.gate.unwrap_or(before.task), begin),
            }
        }
        self.labels.clear();
        self.operations.clear();
        Ok(())
    }

    fn finish(mut self, last: usize) -> Result<Schedule, Placed> {
        if let Some((rank, line)) = self.open {
            return Err((last, GoalFault::StillOpen { rank, line }));
        }
        let ranks = self.ranks.ok_or((last, GoalFault::NoRanks))?;
        self.meet()?;
        let lines = self.lines;
        let workload = self.graph.finish().map_err(|fault| match fault {
            GraphFault::TooManyTasks => (last, GoalFault::TooMuch("2^28 operations")),
            GraphFault::TooManyBytes => (last, GoalFault::TooMuch("2^64 bytes in all")),
            GraphFault::Circle(stuck) => {
                let waits = |&&(_, task): &&(usize, Task)| stuck.binary_search(&task).is_ok();
                (lines.iter().find(waits).map_or(last, |it| it.0), GoalFault::Circle)
            }
        })?;
        let mut warnings = Vec::new();
        if self.other_nic {
            warnings.push("the schedule names several NICs a rank; a host here has one".to_owned());
        }
        Ok(Schedule { ranks, workload, warnings })
    }

    /// Each receive waits for its message.
    fn meet(&mut self) -> Result<(), Placed> {
        for (&(src, dst, tag), sends) in &self.sends {
            let none = Vec::new();
            let receives = self.receives.get(&(src, dst, tag)).unwrap_or(&none);
            for (place, &(line, message)) in sends.iter().enumerate() {
                let Some(&(_, end)) = receives.get(place) else {
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
mod tests {
    use super::*;
    use crate::ids::MessageId;
    use crate::units::Bytes;

    const TWO: &str = "num_ranks 2 // a comment\n\nrank 0 {\nl1: calc 100 cpu 1\n/* l9: calc 7\n \
                       */ l2: send 10b to 1 tag 3 cpu 0 nic 0\nl2 requires l1\nl3: calc 5\n\
                       l3 irequires l2\n}\nrank 1 {\nrecv 10b from 0 tag 3\n}\n";

    fn says(text: &str) -> String {
        read(text, "s.goal", Compute::Serial).unwrap_err().to_string()
    }

    #[test]
    fn a_schedule_is_messages_and_delays() {
        let schedule = read(TWO, "s.goal", Compute::Serial).unwrap();
        let workload = schedule.workload;
        assert_eq!((schedule.ranks, workload.messages.len()), (2, 1));
        assert_eq!(workload.messages[0].bytes, Bytes::new(10));
        // 1 is the calculation, 2 the third operation, 3 the begin of the send, 4 the receive.
        let spans: Vec<Span> = workload.delays.iter().map(|delay| delay.span).collect();
        let none = Span::ZERO;
        assert_eq!(spans, [Span::from_ns(100), Span::from_ns(5), none, none]);
        // The calculations are of processors 1 and 0.
        assert_eq!(workload.lanes, [Some(Lane(1)), Some(Lane(0)), None, None]);
        let parallel = read(TWO, "s.goal", Compute::Parallel).unwrap().workload;
        assert!(parallel.lanes.is_empty());
        assert_eq!(workload.dependents_of(MessageId(1)), [MessageId(3)]);
        assert_eq!(workload.dependents_of(MessageId(3)), [MessageId(0), MessageId(2)]);
        assert_eq!(workload.dependents_of(MessageId(0)), [MessageId(4)]);
    }

    #[test]
    fn messages_of_a_pair_and_tag_meet_in_order() {
        let text = "num_ranks 2\nrank 1 {\na: recv 1b from 0\nb: recv 2b from 0\n}\nrank 0 {\n\
                    send 1b to 1\nsend 2b to 1\n}\n";
        let workload = read(text, "s.goal", Compute::Serial).unwrap().workload;
        assert_eq!(workload.dependents_of(MessageId(0)), [MessageId(2)]);
        assert_eq!(workload.dependents_of(MessageId(1)), [MessageId(3)]);
    }

    #[test]
    fn each_fault_names_its_line_and_what_would_be_right() {
        for (text, expected) in [
            ("", "s.goal:1: num_ranks is missing"),
            ("rank 0 {\n", "s.goal:1: num_ranks is missing"),
            ("num_ranks 0\n", "s.goal:1: num_ranks 0; it must be 1 to 16777216"),
            ("num_ranks 2\nrank 2 {\n", "s.goal:2: there is no rank 2; ranks are 0 to 1"),
            ("num_ranks 2\nrank 0 {\n", "s.goal:2: rank 0, whose '{' is in line 2, has no '}'"),
            ("num_ranks 2\n}\n", "s.goal:2: outside of 'rank N {' and '}'"),
            ("num_ranks 2\nrank 0 {\nput 5b to 1\n", "s.goal:3: 'put' stands where"),
            ("num_ranks 2\nrank 0 {\nsend 5 to 1\n", "s.goal:3: 'to' stands where"),
            ("num_ranks 2\nrank 0 {\nsend 5b to\n", "s.goal:3: the end of the line stands where"),
            ("num_ranks 2\nrank 0 {\nrecv 5b from -1\n", "s.goal:3: -1 (any) is not available"),
            ("num_ranks 2\nrank 0 {\nsend 5b to 0\n", "s.goal:3: rank 0 and itself"),
            ("num_ranks 2\nrank 0 {\na: calc 1\na: calc 2\n", "s.goal:4: a second label 'a'"),
            ("num_ranks 2\nrank 0 {\na: calc 1\na requires b\n}\n", "s.goal:5: no label 'b'"),
            ("num_ranks 2\nrank 0 {\nsend 5b to 1\n}\n", "s.goal:3: rank 1 has no receive from"),
            ("num_ranks 2\nrank 0 {\nrecv 5b from 1\n}\n", "s.goal:3: rank 1 has no send to"),
            (
                "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb requires a\n}\n",
                "s.goal:3: never begins",
            ),
            ("num_ranks 1\nrank 0 {\ncalc 99999999999999999999\n}\n", "s.goal:3: 99999999999999"),
            ("num_ranks 1\nrank 0 {\n}\nrank 0 {\n}\n", "s.goal:4: a second rank 0"),
            ("num_ranks 1 /* to\nthe end", "s.goal:1: '/*' has no '*/'"),
        ] {
            let text = says(text);
            assert!(text.starts_with(expected), "'{text}' should be '{expected}'");
        }
    }
}
