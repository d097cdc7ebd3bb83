//! Errors of building a collective.

use thiserror::Error;

use super::MAX_MESSAGES;
use crate::ids::HostId;
use crate::units::Bytes;

/// Reason why a collective cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CollectiveError {
    /// No collective has this name.
    #[error("unknown collective '{name}'; expected one of {known}")]
    Unknown {
        /// The given name.
        name: String,
        /// The known names, separated by commas.
        known: String,
    },
    /// There are fewer than two ranks.
    #[error("a collective needs at least 2 ranks, found {ranks}")]
    TooFewRanks {
        /// Number of ranks in the plan: 0 or 1.
        ranks: usize,
    },
    /// Two ranks have the same host.
    #[error("{host} is both rank {first} and rank {second}; each rank needs its own host")]
    HostTwice {
        /// The duplicate host.
        host: HostId,
        /// The first rank on that host.
        first: usize,
        /// The next rank on that host.
        second: usize,
    },
    /// Ranks have no bytes to send.
    #[error("0 bytes per rank; expected at least 1B")]
    NoBytes,
    /// The vector has no channels or no chunks.
    #[error("0 {what}; expected at least 1")]
    ZeroCount {
        /// Name of the count: `channels`, `chunks`, `outstanding messages` or `ranks per server`.
        what: &'static str,
    },
    /// The ranks cannot be divided into groups of this size.
    #[error(
        "{ranks} ranks cannot be divided into groups of {group}; a hierarchical algorithm needs at \
         least 2 groups of at least 2 ranks, all of the same size"
    )]
    InvalidGroup {
        /// Number of ranks to divide into groups.
        ranks: usize,
        /// Requested ranks per group.
        group: usize,
    },
    /// The ranks cannot be divided into servers of this size.
    #[error(
        "{ranks} ranks cannot be divided into servers of {size}; expected a divisor of {ranks}"
    )]
    InvalidRotation {
        /// Number of ranks of the plan.
        ranks: usize,
        /// Requested ranks per server.
        size: u32,
    },
    /// The total number of bytes exceeds 64 bits.
    #[error("{ranks} ranks with {bytes} each exceed 2^64 bytes, the limit of a workload")]
    TooManyBytes {
        /// Number of ranks of the plan.
        ranks: usize,
        /// Bytes per rank.
        bytes: Bytes,
    },
    /// There are more messages than [`MAX_MESSAGES`].
    #[error("{ranks} ranks send {messages} messages; the limit is {MAX_MESSAGES} (2^28)")]
    TooManyMessages {
        /// Number of ranks of the plan.
        ranks: usize,
        /// Number of messages over all channels and chunks.
        messages: u128,
    },
}
