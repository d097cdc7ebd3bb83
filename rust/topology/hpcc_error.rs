//! What can be wrong with a topology file of the HPCC family.

use thiserror::Error;

use super::TopologyError;
use crate::units::UnitError;

/// A fault in a topology file, with its place.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{file}{}: {fault}", line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct HpccTopologyError {
    /// The file, as the caller named it.
    pub file: String,
    /// The line, from 1; `None` if the fault is of the graph as a whole.
    pub line: Option<usize>,
    /// What is wrong there.
    pub fault: Box<HpccTopologyFault>,
}

/// What is wrong, and what would be right.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum HpccTopologyFault {
    /// No first line.
    #[error("the file is empty; its first line should be 'nodes switches links', as in '6 2 5'")]
    Empty,
    /// A first line of no known dialect.
    #[error(
        "'{text}' has {tokens} values, which fits no dialect: 'nodes switches links' [t1 t2 \
         pod_tors all_tors], 'nodes switches tors links' [capacity capacity], or 'nodes \
         gpus_per_server nvswitches switches links gpu_type ...'"
    )]
    FirstLine {
        /// The line.
        text: String,
        /// Values on it.
        tokens: usize,
    },
    /// A count that is none.
    #[error("'{token}' is no number of {what}; write a whole number")]
    NoCount {
        /// What was given.
        token: String,
        /// What should be counted.
        what: &'static str,
    },
    /// More than any machine holds.
    #[error("{count} {what} are too many: this version reads up to {limit}")]
    TooMany {
        /// What there would be too much of.
        what: &'static str,
        /// How many are announced.
        count: u64,
        /// How many there may be.
        limit: u64,
    },
    /// More switches than nodes.
    #[error("{switches} switches of {nodes} nodes: the nodes include the switches and the hosts")]
    MoreSwitchesThanNodes {
        /// Switches announced.
        switches: u64,
        /// Nodes announced.
        nodes: u64,
    },
    /// No line of switch ids, or one with another number of them.
    #[error("{found} switch ids, but {announced} switches are announced in line 1")]
    SwitchIds {
        /// Ids on the line.
        found: usize,
        /// Switches announced.
        announced: u64,
    },
    /// A switch listed twice.
    #[error("switch {node} is listed twice; each switch needs an id of its own")]
    SwitchTwice {
        /// Its id.
        node: u32,
    },
    /// Fewer lines than links are announced.
    #[error("{announced} links are announced in line 1, but only {found} lines hold any")]
    MissingLinks {
        /// Links announced.
        announced: u64,
        /// Lines that are not blank.
        found: usize,
    },
    /// A link line of another number of values.
    #[error(
        "'{text}' has {tokens} values; a link is 'a b rate delay error_rate', as in '0 4 100Gbps 1us 0'"
    )]
    LinkTokens {
        /// The line.
        text: String,
        /// Values on it.
        tokens: usize,
    },
    /// An id that is none or of no node.
    #[error("'{token}' is no node: ids are whole numbers from 0 to {}", nodes.saturating_sub(1))]
    NoNode {
        /// What was given.
        token: String,
        /// Nodes announced.
        nodes: u64,
    },
    /// A link from a node to itself.
    #[error("the link connects node {node} with itself: its ends must differ")]
    LinkToItself {
        /// The node.
        node: u32,
    },
    /// A rate that is none.
    #[error("rate: {source}; a bare number means bits per second")]
    Rate {
        /// What is wrong with it.
        source: UnitError,
    },
    /// A rate of zero.
    #[error("the rate '{token}' carries nothing; write for example '100Gbps'")]
    RateZero {
        /// What was given.
        token: String,
    },
    /// A delay that is none.
    #[error("delay: {source}")]
    Delay {
        /// What is wrong with it.
        source: UnitError,
    },
    /// A delay that the clock cannot hold a few times.
    #[error("the delay '{token}' is too long; it must be at most 100000s, for example '1us'")]
    DelayTooLong {
        /// What was given.
        token: String,
    },
    /// An error rate that is no probability.
    #[error("'{token}' is no error rate; write a probability from 0 to 1, 0 for none")]
    ErrorRate {
        /// What was given.
        token: String,
    },
    /// A host that is on no link line.
    #[error("node {node} is no switch and has no link: every host needs exactly one")]
    HostWithoutLink {
        /// Its id.
        node: u64,
    },
    /// Sound lines that make no fabric.
    #[error("{0}")]
    Graph(TopologyError),
}
