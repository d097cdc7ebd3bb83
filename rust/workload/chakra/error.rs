//! What can be wrong with traces, and where.

use thiserror::Error;

use crate::collective::CollectiveError;

/// A fault and its place: the file, the rank, and where there is one the node and the byte at
/// which it begins (of what was packed, unpacked).
#[derive(Debug, Error)]
#[error("{file}: rank {rank}{}{}: {fault}", of(", node", node), of(", byte", offset))]
pub struct ChakraError {
    /// The rank's file.
    pub file: String,
    /// The rank.
    pub rank: u32,
    /// The node's id.
    pub node: Option<u64>,
    /// Where it begins in the file.
    pub offset: Option<u64>,
    /// What, and what would be right.
    #[source]
    pub fault: ChakraFault,
}

fn of(what: &str, number: &Option<u64>) -> String {
    number.map_or_else(String::new, |number| format!("{what} {number}"))
}

/// What can be wrong with a trace.
#[derive(Debug, Error)]
pub enum ChakraFault {
    /// The file cannot be read on.
    #[error("cannot be read: {0}")]
    Unreadable(std::io::Error),
    /// There is no file of this rank.
    #[error("missing: ranks are numbered from 0 without a gap, each with a file of its own")]
    MissingRank,
    /// The file ends within a message.
    #[error("the file is cut off: {wanted} bytes should follow, but {found} do")]
    Truncated {
        /// How long the message should be.
        wanted: u64,
        /// How much of it there is.
        found: u64,
    },
    /// A length that is none.
    #[error(
        "corrupt: the length of a message is not a varint of at most 2^28; a Chakra trace is a \
         stream of protobuf messages, each behind its length"
    )]
    Length,
    /// Bytes that are no protobuf message of the schema.
    #[error("corrupt: not a message of schema 0.0.4 or 1.0: {0}")]
    Protobuf(prost::DecodeError),
    /// Not even metadata.
    #[error("empty: a trace begins with its metadata")]
    Empty,
    /// Two nodes of one id.
    #[error("a second node of this id{}", place_of(.first))]
    SameId {
        /// Where the first one begins, if that is still known.
        first: Option<u64>,
    },
    /// A kind of node that the schema does not have.
    #[error("type {0} is none; there are 1 (metadata) to 7 (collective)")]
    Kind(i32),
    /// An attribute that is needed.
    #[error("attribute {0} is missing")]
    Missing(&'static str),
    /// An attribute of the wrong type or size.
    #[error("attribute {name} is not {right}")]
    Attribute {
        /// Which.
        name: &'static str,
        /// What would be right.
        right: &'static str,
    },
    /// A collective that nobody here knows.
    #[error("comm_type {0} is none; there are 0 (all-reduce) to 9 (barrier)")]
    UnknownCollective(i128),
    /// A collective over some dimensions of a logical topology that the trace does not give.
    #[error(
        "involved_dim leaves out dimensions of a logical topology, which the trace does not give; \
         say its sizes, dimensions = [8, 4] with the one first that varies fastest from rank to \
         rank, or name the group of ranks by pg_name"
    )]
    Dimensions,
    /// A time that no clock counts.
    #[error("a duration of {0} us; the longest is 100000000000 (100,000 s)")]
    Duration(u64),
    /// A dependency on nothing.
    #[error("depends on node {on}, which is not in the trace{}", hint(.dependency))]
    Dangling {
        /// What it depends on.
        on: u64,
        /// How it does.
        dependency: Dependency,
    },
    /// A circle.
    #[error("waits for itself, by way of node {by}{}", hint(.dependency))]
    Cyclic {
        /// The node that it waits for directly.
        by: u64,
        /// How it waits for it.
        dependency: Dependency,
    },
    /// A circle over several ranks.
    #[error(
        "never begins: it waits for other ranks, which wait for this one (sends, receives and \
         collectives are in an order that cannot be)"
    )]
    Deadlock,
    /// A peer that is no rank.
    #[error("{name} = {peer}, but ranks are 0 to {last}")]
    Peer {
        /// Which attribute.
        name: &'static str,
        /// What it holds.
        peer: i128,
        /// The last rank.
        last: u32,
    },
    /// A send to oneself.
    #[error("{0} is the rank itself")]
    Itself(&'static str),
    /// A send without its receive, or the other way round.
    #[error("no {other} of rank {peer} with tag {tag} matches this {this}")]
    Unmatched {
        /// What this is.
        this: &'static str,
        /// What is missing.
        other: &'static str,
        /// The rank that should have it.
        peer: u32,
        /// The tag of both.
        tag: u32,
    },
    /// A receive of another length than its send.
    #[error("receives {here} bytes, but node {node} of rank {peer} sends {there}")]
    OtherLength {
        /// What it expects.
        here: u64,
        /// What is sent.
        there: u64,
        /// The sender.
        peer: u32,
        /// The send.
        node: u64,
    },
    /// A collective in which a rank takes no part.
    #[error("rank {missing} takes no part in this, the collective number {number} of {group}")]
    Absent {
        /// Who does not.
        missing: u32,
        /// Which of the group's, from 1.
        number: usize,
        /// The group.
        group: String,
    },
    /// Ranks that are in different collectives at the same place in the order of their group.
    #[error("{0}")]
    Disagreement(String),
    /// A collective that the algorithm cannot do.
    #[error("{0}")]
    Collective(Box<CollectiveError>),
    /// What it waits for is too far ahead.
    #[error(
        "waits for node {on}, which is not among the {ahead} nodes that are read ahead; give more \
         (window), or read the trace as a whole (streaming = false)"
    )]
    TooFarAhead {
        /// What it waits for.
        on: u64,
        /// How many nodes of the rank are held.
        ahead: usize,
    },
    /// It waits for others that nobody has got to.
    #[error(
        "waits for what other ranks do later than they can be read ahead to, with {ahead} nodes \
         of this one; give more (window), or read the trace as a whole (streaming = false)"
    )]
    OutOfReach {
        /// How many nodes of the rank are held.
        ahead: usize,
    },
    /// A file that was another when it was looked through.
    #[error("the file is not what it was when the run began")]
    Changed,
    /// More than a machine holds.
    #[error("too much: {0}")]
    TooMuch(&'static str),
}

/// The two kinds of dependencies of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dependency {
    /// Of `ctrl_deps`.
    Control,
    /// Of `data_deps`.
    Data,
}

fn place_of(first: &Option<u64>) -> String {
    first.map_or_else(String::new, |first| format!("; the first begins at byte {first}"))
}

fn hint(dependency: &Dependency) -> &'static str {
    match dependency {
        Dependency::Control => {
            " (a control dependency; dependencies = \"data\" leaves those out, which traces of \
             PyTorch may need)"
        }
        Dependency::Data => " (a data dependency)",
    }
}
