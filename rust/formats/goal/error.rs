//! Errors of GOAL schedules.

use thiserror::Error;

/// An error in a schedule, with its position.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{line}: {fault}")]
pub struct GoalError {
    /// Name of the file.
    pub file: String,
    /// Line of the error, from 1.
    pub line: usize,
    /// The error, and what is expected instead.
    pub fault: GoalFault,
}

/// An error in a schedule, and what is expected instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GoalFault {
    /// A word does not fit the grammar.
    #[error("expected {expected}, found '{found}'")]
    Unexpected {
        /// The word as given.
        found: String,
        /// The form that the grammar expects here.
        expected: &'static str,
    },
    /// A line ends early.
    #[error("expected {expected}, found the end of the line")]
    Ends {
        /// The form that the grammar expects here.
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
    /// The number of ranks is given twice.
    #[error("duplicate num_ranks; it was already set to {0}")]
    RanksTwice(u32),
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
        /// Line of its opening brace.
        line: usize,
    },
    /// An operation or a requirement is outside of every rank.
    #[error("this line is outside 'rank N {{' and '}}'")]
    NothingOpen,
    /// A wildcard where none is allowed.
    #[error("-1 (any) is only valid as the source of a recv; expected a number from 0")]
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
    /// A rank receives from any source, and has fewer receives than there are sends to it.
    #[error(
        "rank {dst} receives tag {tag} from any source, but has fewer such receives than there \
         are sends of this tag to it"
    )]
    NoReceiveFromAny {
        /// The rank that should receive.
        dst: u32,
        /// The tag of the send.
        tag: u32,
    },
    /// A receive from any source is left without a send.
    #[error("no send to rank {dst} with tag {tag} is left for this receive from any source")]
    NoSendFromAny {
        /// The rank that receives.
        dst: u32,
        /// The tag of the receive.
        tag: u32,
    },
    /// A rank receives a tag both from any source and from a given one.
    #[error(
        "rank {dst} receives tag {tag} from any source here and from a given rank in line \
         {other}; use different tags, or give all of them a source, or none"
    )]
    AnyAmongOthers {
        /// The rank that receives.
        dst: u32,
        /// The tag of both.
        tag: u32,
        /// Line of the receive from a given rank.
        other: usize,
    },
    /// A rank has too many receives from any source.
    #[error(
        "rank {dst} receives tag {tag} more than {max} times from any source; use other tags for \
         some of these messages and receives"
    )]
    TooManyFromAny {
        /// The rank that receives.
        dst: u32,
        /// The tag of the receives.
        tag: u32,
        /// The largest allowed number.
        max: usize,
    },
    /// Receives from any source of one rank and tag are at different NICs.
    #[error(
        "nic {other}, but an earlier receive of this tag from any source has nic {first}; use the \
         same nic, or different tags"
    )]
    NicsOfAny {
        /// NIC of the first such receive.
        first: u32,
        /// NIC of this one.
        other: u32,
    },
    /// A send and a receive that match have different sizes.
    #[error(
        "{found} B, but the send in line {send_line} that may be matched with it has {bytes} B; a \
         send and its receive must have the same size"
    )]
    Sizes {
        /// Bytes of the operation in this line.
        found: u64,
        /// Bytes of the send.
        bytes: u64,
        /// Line of the send.
        send_line: usize,
    },
    /// The dependencies have a cycle.
    #[error("this operation never starts: it depends on itself through others")]
    Cycle,
    /// A limit is exceeded.
    #[error("the schedule exceeds the limit of {0}")]
    TooMuch(&'static str),
}
