//! Errors of flow files.

use thiserror::Error;

use super::MAX_FLOWS;
use crate::units::DecimalError;

/// An error in a flow file, with its position.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{line}: {fault}")]
pub struct FlowFileError {
    /// Name of the file.
    pub file: String,
    /// Line of the error, from 1.
    pub line: usize,
    /// The error, and what is expected instead.
    pub fault: FlowFault,
}

/// An error in a flow file, and what is expected instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FlowFault {
    /// The first line is not one whole number.
    #[error(
        "'{text}' is not the number of flows; write it alone in the first line, for example 16 (a \
         topology file is given by --topology, or by path in [topology])"
    )]
    Count {
        /// The first line, as written.
        text: String,
    },
    /// The file announces no flows.
    #[error("0 flows are announced; expected at least 1")]
    NoFlows,
    /// The file has fewer flows than announced.
    #[error("{announced} flows are announced, but the file ends after {found} of them")]
    TooFewLines {
        /// Number of flows in the first line.
        announced: u64,
        /// Number of flows in the file.
        found: usize,
    },
    /// There are more flows than [`MAX_FLOWS`].
    #[error("too many flows; the limit is {MAX_FLOWS} (2^28)")]
    TooManyFlows,
    /// A line has the wrong number of columns.
    #[error(
        "'{text}' has {found} columns; a flow has 6 (src dst priority dst_port bytes start_s) or 5 \
         (src dst priority bytes start_s)"
    )]
    Columns {
        /// The line, as written.
        text: String,
        /// Number of columns on the line.
        found: usize,
    },
    /// A line and the first flow are of different dialects.
    #[error("'{text}' has {found} columns, but the flows above it have {expected}; all must agree")]
    Dialect {
        /// The line, as written.
        text: String,
        /// Number of columns on the line.
        found: usize,
        /// Number of columns of the first flow.
        expected: usize,
    },
    /// A column is not a whole number, or is out of range.
    #[error("'{token}' is not a {column}; write a whole number from 0 to {largest}")]
    Number {
        /// Name of the column.
        column: &'static str,
        /// The value as given.
        token: String,
        /// The largest allowed value.
        largest: u64,
    },
    /// A line is in the dialect of ns3-rdma.
    #[error(
        "'{text}' is not a flow of the HPCC family (src dst priority dst_port bytes start_s) but \
         looks like one of ns3-rdma (src dst priority packets start_s stop_s); write bytes, and a \
         port up to {last}", last = super::LAST_PORT
    )]
    Packets {
        /// The line, as written.
        text: String,
    },
    /// Sender and receiver are the same node.
    #[error("a flow from node {node} to itself; src and dst must differ")]
    ToItself {
        /// Id of the node at both ends.
        node: u32,
    },
    /// A flow has no bytes.
    #[error("a flow of 0 bytes; expected at least 1")]
    NoBytes,
    /// A start time is invalid.
    #[error(
        "'{token}' is not a start: {reason}; write seconds from 0 to 18446744, at most 12 \
         decimals, for example 2.000000001"
    )]
    Start {
        /// The value as given.
        token: String,
        /// Why it is invalid.
        reason: DecimalError,
    },
    /// The total size of the flows exceeds 64 bits.
    #[error("with these {bytes} bytes the flows exceed 2^64 bytes, the limit of a workload")]
    TooManyBytes {
        /// Bytes of the flow in this line.
        bytes: u64,
    },
    /// A node is not a host.
    #[error("{column} {node} is {what}; write the id of a host of the topology")]
    NotAHost {
        /// Name of the column.
        column: &'static str,
        /// Id of the node, as written.
        node: u32,
        /// The kind of the node.
        what: String,
    },
}
