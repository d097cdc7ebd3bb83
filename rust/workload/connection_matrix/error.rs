//! What can be wrong with a connection matrix, and where.

use thiserror::Error;

/// A fault of a connection matrix and where it is.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{line}: {fault}")]
pub struct MatrixError {
    /// The file.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub fault: MatrixFault,
}

/// What can be wrong with a connection matrix.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MatrixFault {
    /// No number of nodes.
    #[error("Nodes is missing; write for example 'Nodes 16' in the first line")]
    NoNodes,
    /// A second number of nodes.
    #[error("Nodes stands here a second time; it was {0}")]
    NodesTwice(u32),
    /// A line that is none.
    #[error(
        "'{0}' begins no line; there are Nodes, Connections, Triggers, SRC->DST and trigger, and \
         # for comments"
    )]
    Line(String),
    /// A word that is none.
    #[error(
        "'{0}' is no word here; a connection has id, start, trigger, size, prio, \
         send_done_trigger and recv_done_trigger, a trigger id, oneshot, multishot, barrier and \
         count"
    )]
    Word(String),
    /// What is no number, or too large a one.
    #[error("{word} '{found}' is not a whole number from 0 to {most}")]
    Number {
        /// What it belongs to.
        word: String,
        /// What is there.
        found: String,
        /// The most it can be.
        most: u64,
    },
    /// The id 0.
    #[error("{0} 0: 0 stands for none; ids begin at 1")]
    Zero(String),
    /// A node that there is not.
    #[error("'{node}' is no node; there are 0 to {}", nodes.max(&1) - 1)]
    Node {
        /// What was given.
        node: String,
        /// How many there are.
        nodes: u32,
    },
    /// A connection to itself.
    #[error("from node {0} to itself; a connection needs two nodes")]
    ToItself(u32),
    /// Both or none of the ways to start.
    #[error("a connection has either 'start PICOSECONDS' or 'trigger ID'")]
    Start,
    /// No size.
    #[error("size is missing; write for example 'size 2000000', in bytes")]
    NoSize,
    /// Two of one id.
    #[error("a second connection of id {id}; the first is in line {first}")]
    IdTwice {
        /// The id.
        id: u64,
        /// Where the first is.
        first: usize,
    },
    /// Two triggers of one id.
    #[error("a second trigger of id {id}; the first is in line {first}")]
    TriggerTwice {
        /// The id.
        id: u64,
        /// Where the first is.
        first: usize,
    },
    /// A trigger without its id or kind.
    #[error(
        "a trigger is 'trigger id N oneshot', 'trigger id N multishot' or 'trigger id N barrier \
         count M'"
    )]
    Trigger,
    /// A trigger that nobody describes.
    #[error("there is no trigger {0}; add a line 'trigger id {0} oneshot'")]
    NoTrigger(u64),
    /// A trigger that is pulled too seldom or too often.
    #[error(
        "trigger {id} starts connections when it is pulled for the {count}. time, but {pulls} \
         connections pull it; there must be as many"
    )]
    Pulls {
        /// Which.
        id: u64,
        /// How often it should be.
        count: u64,
        /// How often it is.
        pulls: usize,
    },
    /// Another number of connections than announced.
    #[error("{announced} connections are announced, but {found} are there")]
    Count {
        /// In the header.
        announced: u64,
        /// In the file.
        found: u64,
    },
    /// Failures of links.
    #[error("failures are not read from here; write them as [[failure]] into the scenario")]
    Failures,
    /// A circle.
    #[error("never starts: its trigger waits for itself")]
    Circle,
    /// More than a machine holds.
    #[error("more than {0}, which is the most that can be counted")]
    TooMuch(&'static str),
}
