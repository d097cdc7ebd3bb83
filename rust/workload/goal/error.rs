//! What can be wrong with a schedule, and where.

use thiserror::Error;

/// A fault of a schedule and where it is.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{line}: {fault}")]
pub struct GoalError {
    /// The file.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub fault: GoalFault,
}

/// What can be wrong with a schedule.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GoalFault {
    /// Something else than the grammar has.
    #[error("'{found}' stands where there should be {expected}")]
    Unexpected {
        /// What is there.
        found: String,
        /// What would be right.
        expected: &'static str,
    },
    /// A line that ends early.
    #[error("the end of the line stands where there should be {expected}")]
    Ends {
        /// What would be right.
        expected: &'static str,
    },
    /// A number that nobody counts to.
    #[error("{number} is too large; the most is {most}")]
    TooLarge {
        /// The number.
        number: String,
        /// What would still do.
        most: u64,
    },
    /// A comment without end.
    #[error("'/*' has no '*/'")]
    Comment,
    /// No number of ranks.
    #[error("num_ranks is missing; write for example 'num_ranks 16' in the first line")]
    NoRanks,
    /// A number of ranks that cannot be.
    #[error("num_ranks {0}; it must be 1 to 16777216")]
    Ranks(u64),
    /// A rank that there is not.
    #[error("there is no rank {rank}; ranks are 0 to {last}")]
    Rank {
        /// What was given.
        rank: u64,
        /// The last that there is.
        last: u32,
    },
    /// A rank that is there twice.
    #[error("a second rank {rank}; the first is in line {first}")]
    RankTwice {
        /// Which.
        rank: u32,
        /// Where the first one is.
        first: usize,
    },
    /// A rank within another, or the end of the file.
    #[error("rank {rank}, whose '{{' is in line {line}, has no '}}'")]
    StillOpen {
        /// Which.
        rank: u32,
        /// Where it begins.
        line: usize,
    },
    /// Something of a rank outside of all.
    #[error("outside of 'rank N {{' and '}}'")]
    NothingOpen,
    /// A wildcard.
    #[error("-1 (any) is not available; name the rank or the tag")]
    Any,
    /// A message to oneself.
    #[error("rank {0} and itself: a message needs two ranks")]
    ToItself(u32),
    /// A label that is there twice.
    #[error("a second label '{0}' in this rank; each needs a name of its own")]
    LabelTwice(String),
    /// A label that is not there.
    #[error("no label '{label}' in this rank, but line {line} names it")]
    Label {
        /// Which.
        label: String,
        /// Who names it.
        line: usize,
    },
    /// A send that nobody receives.
    #[error("rank {dst} has no receive from {src} with tag {tag} for this")]
    NoReceive {
        /// Who should receive.
        dst: u32,
        /// Who sends.
        src: u32,
        /// The tag of both.
        tag: u32,
    },
    /// A receive that nobody sends for.
    #[error("rank {src} has no send to {dst} with tag {tag} for this")]
    NoSend {
        /// Who should send.
        src: u32,
        /// Who receives.
        dst: u32,
        /// The tag of both.
        tag: u32,
    },
    /// A circle.
    #[error("never begins: it waits for itself, by way of others")]
    Circle,
    /// More than a machine holds.
    #[error("more than {0}, which is the most that can be counted")]
    TooMuch(&'static str),
}
