//! Errors of GOAL schedules.

use thiserror::Error;

/// A fault of a schedule, with its position.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{line}: {fault}")]
pub struct GoalError {
    /// Name of the file.
    pub file: String,
    /// Line of the fault, from 1.
    pub line: usize,
    /// The fault, and what is expected instead.
    pub fault: GoalFault,
}

/// A fault of a schedule, and what is expected instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GoalFault {
    /// A word does not fit the grammar.
    #[error("expected {expected}, found '{found}'")]
    Unexpected {
        /// The word as given.
        found: String,
        /// What the grammar has here.
        expected: &'static str,
    },
    /// A line ends early.
    #[error("expected {expected}, found the end of the line")]
    Ends {
        /// What the grammar has here.
        expected: &'static str,
    },
    /// A number is out of range.
    #[error("{number} is too large; expected at most {max}")]
    TooLarge {
        /// The number as given.
        number: String,
        /// The largest allowed number.
        max: u64,
    },
    /// A comment is not closed.
    #[error("'/*' has no '*/'")]
    Comment,
    /// The number of ranks is missing.
    #[error("num_ranks is missing; write for example 'num_ranks 16' in the first line")]
    NoRanks,
    /// The number of ranks is out of range.
    #[error("num_ranks {0} is out of range; expected 1 to 16777216")]
    Ranks(u64),
    /// A rank does not exist.
    #[error("unknown rank {rank}; ranks are 0 to {last}")]
    Rank {
        /// The rank as given.
        rank: u64,
        /// The highest rank of the schedule.
        last: u32,
    },
    /// A rank occurs twice.
    #[error("duplicate rank {rank}; the first is in line {first}")]
    RankTwice {
        /// The rank that occurs twice.
        rank: u32,
        /// Line of its first occurrence.
        first: usize,
    },
    /// A rank is not closed before another one or the end of the file.
    #[error("rank {rank}, whose '{{' is in line {line}, has no '}}'")]
    StillOpen {
        /// The rank whose brace is open.
        rank: u32,
        /// Line where it opens.
        line: usize,
    },
    /// An operation or a requirement belongs to no rank.
    #[error("outside of 'rank N {{' and '}}'")]
    NothingOpen,
    /// A rank or a tag is a wildcard.
    #[error("-1 (any) is not available; write the rank or the tag")]
    Any,
    /// Sender and receiver are the same rank.
    #[error("a message from rank {0} to itself; its ranks must differ")]
    ToItself(u32),
    /// Two operations of a rank have the same label.
    #[error("duplicate label '{0}'; labels must be unique within a rank")]
    LabelTwice(String),
    /// A requirement names an unknown label.
    #[error("unknown label '{label}' in line {line}; this rank has no operation of that label")]
    Label {
        /// The unknown label, as written.
        label: String,
        /// Line of the requirement.
        line: usize,
    },
    /// A send has no matching receive.
    #[error("rank {dst} has no matching receive from {src} with tag {tag}")]
    NoReceive {
        /// The rank that should receive.
        dst: u32,
        /// The rank that sends.
        src: u32,
        /// The tag of the send.
        tag: u32,
    },
    /// A receive has no matching send.
    #[error("rank {src} has no matching send to {dst} with tag {tag}")]
    NoSend {
        /// The rank that should send.
        src: u32,
        /// The rank that receives.
        dst: u32,
        /// The tag of the receive.
        tag: u32,
    },
    /// The dependencies have a cycle.
    #[error("this operation never starts: it depends on itself through others")]
    Cycle,
    /// A limit is exceeded.
    #[error("the schedule exceeds the limit of {0}")]
    TooMuch(&'static str),
}
