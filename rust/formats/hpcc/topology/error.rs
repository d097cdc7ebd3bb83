//! Errors of topology files of the HPCC family.

use thiserror::Error;

use crate::topology::TopologyError;
use crate::units::UnitError;

/// An error in a topology file, with its position.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{file}{}: {fault}", line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct HpccTopologyError {
    /// The file, as the caller named it.
    pub file: String,
    /// Line of the error, from 1; `None` for an error of the whole graph.
    pub line: Option<usize>,
    /// The error, boxed to keep results small.
    pub fault: Box<HpccTopologyFault>,
}

/// An error in a topology file, and what is expected instead.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum HpccTopologyFault {
    /// The file has no first line.
    #[error("the file is empty; expected a first line 'nodes switches links', for example '6 2 5'")]
    Empty,
    /// The first line fits no known dialect.
    #[error(
        "'{text}' has {tokens} values; expected a first line 'nodes switches links' [t1 t2 \
         pod_tors all_tors], 'nodes switches tors links' [capacity capacity], or 'nodes \
         gpus_per_server nvswitches switches links gpu_type ...'"
    )]
    FirstLine {
        /// The first line as written.
        text: String,
        /// Number of values on the line.
        tokens: usize,
    },
    /// A count is not a whole number.
    #[error("'{token}' is not a number of {what}; write a whole number")]
    InvalidCount {
        /// The value as given.
        token: String,
        /// The things to count: `nodes`, `switches`, `NVSwitches`, `accelerators of a server` or
        /// `links`.
        what: &'static str,
    },
    /// A count exceeds its limit.
    #[error("{count} {what} are too many; the limit is {limit}")]
    TooMany {
        /// The elements that are too many: nodes, switches or links.
        what: &'static str,
        /// The number in the first line.
        count: u64,
        /// The largest allowed number.
        limit: u64,
    },
    /// More switches than nodes are announced.
    #[error("{switches} switches of {nodes} nodes: the nodes include the switches and the hosts")]
    MoreSwitchesThanNodes {
        /// Switches announced in the first line.
        switches: u64,
        /// Nodes announced in the first line, hosts and switches.
        nodes: u64,
    },
    /// The line of switch ids is missing, or differs in length from the announced number.
    #[error(
        "found {found} switch ids; line 1 announces {announced} switches, on one line or several"
    )]
    SwitchIds {
        /// Number of ids up to this line.
        found: u64,
        /// Switches announced in the first line.
        announced: u64,
    },
    /// A switch id is listed twice.
    #[error("switch {node} is listed twice; switch ids must be unique")]
    SwitchTwice {
        /// Id of the switch.
        node: u32,
    },
    /// There are fewer link lines than announced.
    #[error("{announced} links are announced in line 1; found only {found} link lines")]
    MissingLinks {
        /// Links announced in the first line.
        announced: u64,
        /// Number of lines that are not blank.
        found: usize,
    },
    /// A link line does not have five values.
    #[error(
        "'{text}' has {tokens} values; a link is 'a b rate delay error_rate', for example \
         '0 4 100Gbps 1us 0'"
    )]
    LinkTokens {
        /// The link line as written.
        text: String,
        /// Number of values on the line.
        tokens: usize,
    },
    /// An id is not a number, or not the id of a node.
    #[error("unknown node '{token}'; ids are whole numbers from 0 to {}", nodes.saturating_sub(1))]
    UnknownNode {
        /// The value as given.
        token: String,
        /// Nodes announced in the first line; ids are below this number.
        nodes: u64,
    },
    /// Both ends of a link are the same node.
    #[error("the link connects node {node} to itself; its ends must differ")]
    LinkToItself {
        /// The node id, as the file has it.
        node: u32,
    },
    /// A rate cannot be parsed.
    #[error("rate: {source}; a bare number means bits per second")]
    Rate {
        /// The error of the value.
        source: UnitError,
    },
    /// A rate is zero.
    #[error("rate '{token}' is zero; write for example '100Gbps'")]
    RateZero {
        /// The value as given.
        token: String,
    },
    /// A delay cannot be parsed.
    #[error("delay: {source}")]
    Delay {
        /// The error of the value.
        source: UnitError,
    },
    /// A delay is so long that sums of delays could overflow.
    #[error("delay '{token}' is too long; expected at most 100000s, for example '1us'")]
    DelayTooLong {
        /// The value as given.
        token: String,
    },
    /// An error rate is not a probability.
    #[error("invalid error rate '{token}'; expected a probability from 0 to 1")]
    ErrorRate {
        /// The value as given.
        token: String,
    },
    /// A host is on no link line.
    #[error("host node {node} has no link; expected exactly 1")]
    HostWithoutLink {
        /// Id of the node.
        node: u64,
    },
    /// A switch inside servers has links that such a switch cannot have.
    #[error(
        "line 1 announces {count} switches inside servers of {gpus} accelerators (those with the \
         lowest ids); switch {switch} {what}, but each must connect the accelerators of one \
         server, all at one rate"
    )]
    Server {
        /// Number of switches inside servers in the first line.
        count: u64,
        /// Accelerators per server.
        gpus: u32,
        /// Id of the switch.
        switch: u32,
        /// Description of the switch's error.
        what: &'static str,
    },
    /// The lines are valid, but the graph is not a valid topology.
    #[error("{0}")]
    Graph(TopologyError),
}
