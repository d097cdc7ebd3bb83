//! Errors of connection matrices.

use thiserror::Error;

/// An error in a connection matrix, with its position.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{line}: {fault}")]
pub struct MatrixError {
    /// Name of the file.
    pub file: String,
    /// Line of the error, from 1.
    pub line: usize,
    /// The error, and what is expected instead.
    pub fault: MatrixFault,
}

/// An error in a connection matrix, and what is expected instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MatrixFault {
    /// The number of nodes is missing.
    #[error("Nodes is missing; write for example 'Nodes 16' in the first line")]
    NoNodes,
    /// The number of nodes is 0.
    #[error("Nodes 0 is out of range; expected at least 1")]
    ZeroNodes,
    /// The number of nodes is given twice.
    #[error("duplicate Nodes; it was already set to {0}")]
    NodesTwice(u32),
    /// The first word of a line is unknown.
    #[error(
        "unknown word '{0}'; a line starts with Nodes, Connections, Triggers, Failures, SRC->DST, \
         trigger, failure, or # for a comment"
    )]
    Line(String),
    /// A word of a connection or a trigger is unknown.
    #[error(
        "unknown word '{0}'; a connection has id, msg, start, trigger, size, prio, \
         send_done_trigger and recv_done_trigger, a trigger has id, oneshot, multishot, barrier \
         and count"
    )]
    Word(String),
    /// A value is not a whole number, or is out of range.
    #[error("{word} '{found}' is not a whole number from 0 to {max}")]
    Number {
        /// The word before the value.
        word: String,
        /// The value as given.
        found: String,
        /// The largest allowed value.
        max: u64,
    },
    /// An id is 0.
    #[error("{0} 0 is out of range; ids start at 1")]
    Zero(String),
    /// A node does not exist.
    #[error("unknown node '{node}'; nodes are 0 to {}", nodes - 1)]
    Node {
        /// The node as given.
        node: String,
        /// Number of nodes that the file announces.
        nodes: u32,
    },
    /// Both ends of a connection are the same node.
    #[error("a connection from node {0} to itself; its nodes must differ")]
    ToItself(u32),
    /// A connection has both a start time and a trigger, or neither.
    #[error("a connection needs either 'start TIME' or 'trigger ID'")]
    Start,
    /// A connection has no size.
    #[error("size is missing; write for example 'size 2000000', in bytes")]
    NoSize,
    /// A connection has size 0, which in htsim means that it sends until the simulation ends.
    #[error("size 0 means an endless flow in htsim, which never completes; give a size in bytes")]
    Unbounded,
    /// Two connections have the same id.
    #[error(
        "duplicate connection id {id}; it is used in line {first} (write 'msg' after it for \
         another message of that connection)"
    )]
    IdTwice {
        /// The id that both connections have.
        id: u64,
        /// Line of the first connection.
        first: usize,
    },
    /// A message does not name its connection.
    #[error("msg without id; write 'id N msg' for a message of connection N")]
    MessageWithoutId,
    /// A message has other nodes than its connection.
    #[error(
        "connection id {id} is from node {src} to node {dst} in line {first}; expected the same \
         nodes for its messages"
    )]
    OtherEnds {
        /// The id of the connection.
        id: u64,
        /// Line of its first message.
        first: usize,
        /// Its sender.
        src: u32,
        /// Its receiver.
        dst: u32,
    },
    /// Two triggers have the same id.
    #[error("duplicate trigger id {id}; it is used in line {first}")]
    TriggerTwice {
        /// The id that both triggers have.
        id: u64,
        /// Line of the first trigger.
        first: usize,
    },
    /// A trigger lacks its id or kind, has several kinds, or has a count that its kind does not
    /// take.
    #[error(
        "invalid trigger; expected 'trigger id N oneshot', 'trigger id N multishot' or 'trigger \
         id N barrier count M'"
    )]
    Trigger,
    /// A connection names a trigger that does not exist.
    #[error("unknown trigger {0}; add a line 'trigger id {0} oneshot'")]
    NoTrigger(u64),
    /// A trigger is activated by too few or too many connections.
    #[error(
        "trigger {id} starts connections after {count} activations, but {found} connections \
         activate it; the numbers must be equal"
    )]
    Activations {
        /// Id of the trigger.
        id: u64,
        /// Number of activations that it needs.
        count: u64,
        /// Number of connections that activate it.
        found: usize,
    },
    /// A multishot trigger has too few activations.
    #[error(
        "trigger {id} starts one of its {starts} connections at each activation, but only {found} \
         connections activate it; the others never start"
    )]
    NeverStarted {
        /// Id of the trigger.
        id: u64,
        /// Number of connections that it starts.
        starts: usize,
        /// Number of connections that activate it.
        found: usize,
    },
    /// A word is repeated on a line, or a header line in the file.
    #[error("{0} is given twice; expected once")]
    Twice(String),
    /// A line continues where it should end.
    #[error("unexpected '{rest}' after '{word} N'; expected the end of the line")]
    Rest {
        /// The first word of the line.
        word: String,
        /// The first surplus word.
        rest: String,
    },
    /// The number of triggers differs from the announced one.
    #[error("{announced} triggers are announced, found {found}")]
    TriggerCount {
        /// Number of triggers that the file announces.
        announced: u64,
        /// Number of triggers in the file.
        found: u64,
    },
    /// The number of connections differs from the announced one.
    #[error("{announced} connections are announced, found {found}")]
    Count {
        /// Number of connections that the file announces.
        announced: u64,
        /// Number of connections in the file.
        found: u64,
    },
    /// A failure lacks a word, or has an unknown one.
    #[error("invalid failure; expected 'failure switch_type AGG switch_id N link_id M'")]
    Failure,
    /// A failure names a switch of another type.
    #[error(
        "switch_type '{0}' is not AGG: htsim fails only uplinks of aggregation switches; write \
         other failures as [[failure]] in the scenario"
    )]
    SwitchType(String),
    /// The number of failures differs from the announced one.
    #[error("{announced} failures are announced, found {found}")]
    FailureCount {
        /// Number of failures that the file announces.
        announced: u64,
        /// Number of failures in the file.
        found: u64,
    },
    /// The topology has no such aggregation switch.
    #[error(
        "unknown aggregation switch {switch}; the topology has {count} with uplinks to cores \
         (three tiers), numbered from 0 over all pods"
    )]
    NoSwitch {
        /// Number of the switch.
        switch: u32,
        /// Number of aggregation switches in the topology.
        count: usize,
    },
    /// The switch has no such uplink.
    #[error("unknown link_id {uplink}; '{switch}' has {count} uplinks, numbered from 0")]
    NoUplink {
        /// Number of the uplink.
        uplink: u32,
        /// Name of the switch.
        switch: String,
        /// Number of the switch's uplinks.
        count: usize,
    },
    /// The dependencies have a cycle.
    #[error("this connection never starts: its trigger depends on the connection itself")]
    Cycle,
    /// A limit is exceeded.
    #[error("the file exceeds the limit of {0}")]
    TooMuch(&'static str),
}
