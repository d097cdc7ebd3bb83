//! Errors of Chakra traces.

use thiserror::Error;

use crate::collective::CollectiveError;

/// An error in a trace and its position: the file and the rank. An error in a node also has the
/// node's id and the offset of its first byte (in the unpacked file).
#[derive(Debug, Error)]
#[error("{file}: rank {rank}{}{}: {fault}", position(", node", node), position(", byte", offset))]
pub struct ChakraError {
    /// Name of the rank's file.
    pub file: String,
    /// The rank whose trace has the error.
    pub rank: u32,
    /// Id of the node.
    pub node: Option<u64>,
    /// Offset of the node in the file, in bytes.
    pub offset: Option<u64>,
    /// The error, and what is expected instead.
    #[source]
    pub fault: ChakraFault,
}

fn position(what: &str, number: &Option<u64>) -> String {
    number.map_or_else(String::new, |number| format!("{what} {number}"))
}

/// An error in a rank's file, with the node if it concerns one.
#[derive(Debug)]
pub(super) struct NodeFault {
    pub node: Option<u64>,
    /// Offset in the file of the node, or of the unreadable message.
    pub offset: Option<u64>,
    pub fault: ChakraFault,
}

impl NodeFault {
    /// Returns an error of the file as a whole.
    pub(super) fn of_file(fault: ChakraFault) -> Self {
        Self { node: None, offset: None, fault }
    }

    /// Returns an error of the message at `offset`, which is not a valid node.
    pub(super) fn of_message(offset: u64, fault: ChakraFault) -> Self {
        Self { node: None, offset: Some(offset), fault }
    }

    /// Returns an error of a node.
    pub(super) fn of_node(node: u64, offset: u64, fault: ChakraFault) -> Self {
        Self { node: Some(node), offset: Some(offset), fault }
    }

    /// Attaches the rank that the error belongs to.
    pub(super) fn of_rank(self, rank: u32) -> RankFault {
        RankFault { rank, fault: self }
    }

    /// Returns the error to report for the file called `file`.
    pub(super) fn in_file(self, file: String, rank: u32) -> ChakraError {
        let Self { node, offset, fault } = self;
        ChakraError { file, rank, node, offset, fault }
    }
}

/// An error and the rank whose file has it.
#[derive(Debug)]
pub(super) struct RankFault {
    pub rank: u32,
    pub fault: NodeFault,
}

/// An error in a trace, and what is expected instead.
#[derive(Debug, Error)]
pub enum ChakraFault {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(std::io::Error),
    /// The rank has no file.
    #[error("missing file; each rank needs its own, numbered from 0")]
    MissingRank,
    /// The file ends within a message.
    #[error("the file is truncated: expected {wanted} more bytes, found {found}")]
    Truncated {
        /// Length of the message.
        wanted: u64,
        /// Bytes of the message that are in the file.
        found: u64,
    },
    /// The length of a message is invalid.
    #[error(
        "corrupt: the length of a message is not a varint of at most 2^28; a Chakra trace is a \
         stream of protobuf messages, each preceded by its length"
    )]
    Length,
    /// A message does not fit the schema.
    #[error("corrupt: not a message of schema 0.0.4 or 1.0: {0}")]
    Protobuf(prost::DecodeError),
    /// The file has no metadata.
    #[error("empty; a trace starts with its metadata")]
    Empty,
    /// Two nodes have the same id.
    #[error("duplicate node id{}", first_offset(.first))]
    SameId {
        /// Offset of the first node, if it is known.
        first: Option<u64>,
    },
    /// A node has a type that is not in the schema.
    #[error("unknown type {0}; expected 1 (metadata) to 7 (collective)")]
    Kind(i32),
    /// A required attribute is missing.
    #[error("attribute {0} is missing")]
    Missing(&'static str),
    /// An attribute has an invalid type or value.
    #[error("attribute {name} is not {expected}")]
    Attribute {
        /// Name of the attribute.
        name: &'static str,
        /// The type or range that the attribute must have.
        expected: &'static str,
    },
    /// A collective node has a size but no operation.
    #[error(
        "a collective has comm_size but no comm_type; add comm_type, 0 (all-reduce) to 9 \
         (barrier), or remove comm_size if the node is only the host's call of a collective"
    )]
    NoCollective,
    /// A collective has an operation that is not in the schema.
    #[error("unknown comm_type {0}; expected 0 (all-reduce) to 9 (barrier)")]
    UnknownCollective(i128),
    /// A collective spans dimensions of a logical topology whose sizes are unknown.
    #[error(
        "involved_dim leaves out dimensions of a logical topology that the trace does not \
         describe; give its sizes, fastest-varying first (dimensions = [8, 4]), or name the group \
         of ranks with pg_name"
    )]
    Dimensions,
    /// A duration is too long.
    #[error("a duration of {0} us is too long; expected at most 100000000000 us (100,000 s)")]
    Duration(u64),
    /// A node depends on one that does not exist.
    #[error("depends on node {on}, which is not in the trace{}", hint(.dependency))]
    Dangling {
        /// Id of the missing node.
        on: u64,
        /// Kind of the dependency.
        dependency: Dependency,
    },
    /// The dependencies of a rank have a cycle.
    #[error("depends on itself through node {by}{}", hint(.dependency))]
    Cyclic {
        /// The direct dependency on the cycle.
        by: u64,
        /// Kind of this dependency.
        dependency: Dependency,
    },
    /// The dependencies of several ranks have a cycle.
    #[error(
        "never starts: it waits for other ranks, which wait for this one (a deadlock of sends, \
         receives and collectives)"
    )]
    Deadlock,
    /// A peer is not a rank.
    #[error("{name} = {peer} is out of range; ranks are 0 to {last}")]
    Peer {
        /// Name of the attribute.
        name: &'static str,
        /// The rank that the attribute gives.
        peer: i128,
        /// The highest rank of the traces.
        last: u32,
    },
    /// Sender and receiver are the same rank.
    #[error("{0} is the rank itself")]
    Itself(&'static str),
    /// A send has no matching receive, or a receive no matching send.
    #[error("no {other} of rank {peer} with tag {tag} matches this {this}")]
    Unmatched {
        /// `send` or `receive`: the kind of this node.
        this: &'static str,
        /// The kind of the missing node.
        other: &'static str,
        /// The rank that should have it.
        peer: u32,
        /// The tag of both.
        tag: u32,
    },
    /// A receive and its send have different sizes.
    #[error("receives {here} bytes, but node {node} of rank {peer} sends {there}")]
    OtherLength {
        /// Bytes of the receive.
        here: u64,
        /// Bytes of the send.
        there: u64,
        /// The rank that sends.
        peer: u32,
        /// Id of the send.
        node: u64,
    },
    /// A rank of a group calls fewer collectives than others.
    #[error("rank {missing} does not participate in collective {number} of {group}")]
    Absent {
        /// The rank that does not take part.
        missing: u32,
        /// Index of the collective among those of the group, from 1.
        number: usize,
        /// Name of the group: all ranks, or the group's name in the trace.
        group: String,
    },
    /// Ranks have different collectives at the same index of their group.
    #[error("{0}")]
    Disagreement(String),
    /// The algorithm does not support the collective.
    #[error("{0}")]
    Collective(Box<CollectiveError>),
    /// A dependency lies beyond the nodes that are read ahead.
    #[error(
        "depends on node {on}, which is beyond the {ahead} nodes that are read ahead; increase \
         window, or read the whole trace (streaming = false)"
    )]
    TooFarAhead {
        /// The node that it depends on.
        on: u64,
        /// Number of nodes of the rank that are held.
        ahead: usize,
    },
    /// Nodes of other ranks that this one waits for lie beyond the nodes that are read ahead.
    #[error(
        "waits for nodes of other ranks beyond the {ahead} nodes that are read ahead; increase \
         window, or read the whole trace (streaming = false)"
    )]
    OutOfReach {
        /// Number of nodes of the rank that are held.
        ahead: usize,
    },
    /// The file has changed since it was surveyed.
    #[error("the file has changed since the start of the run")]
    Changed,
    /// A limit is exceeded.
    #[error("the limit is exceeded: {0}")]
    TooMuch(&'static str),
}

/// The kinds of dependencies of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dependency {
    /// A control dependency, from `ctrl_deps`.
    Control,
    /// A data dependency, from `data_deps`.
    Data,
}

fn first_offset(first: &Option<u64>) -> String {
    first.map_or_else(String::new, |first| format!("; the first is at byte {first}"))
}

fn hint(dependency: &Dependency) -> &'static str {
    match dependency {
        Dependency::Control => {
            " (a control dependency; dependencies = \"data\" ignores those, which traces of \
             PyTorch may need)"
        }
        Dependency::Data => " (a data dependency)",
    }
}
