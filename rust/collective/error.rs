//! Why a plan is no collective.

use thiserror::Error;

use super::MAX_MESSAGES;
use crate::ids::HostId;
use crate::units::Bytes;

/// Why a plan is no collective.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CollectiveError {
    /// No collective of that name.
    #[error("no collective is called '{name}'; there are {known}")]
    Unknown {
        /// What was given.
        name: String,
        /// Those that exist.
        known: String,
    },
    /// Nobody to talk to.
    #[error("a collective needs at least 2 ranks; there are {ranks}")]
    TooFewRanks {
        /// How many there are.
        ranks: usize,
    },
    /// One host for two ranks.
    #[error("{host} is rank {first} and rank {second}; each rank needs a host of its own")]
    HostTwice {
        /// The host.
        host: HostId,
        /// The first rank that it is.
        first: usize,
        /// The next one.
        second: usize,
    },
    /// Nothing to send.
    #[error("0 bytes per rank: there is nothing to send; the least is 1B")]
    NoBytes,
    /// No channel or no chunk.
    #[error("0 {what}: the vector needs at least 1")]
    NoParts {
        /// `channels` or `chunks`.
        what: &'static str,
    },
    /// Groups that do not fit.
    #[error(
        "groups of {group} among {ranks} ranks; a hierarchical algorithm needs groups of at least \
         2 that divide the ranks, and at least 2 of them"
    )]
    Groups {
        /// How many ranks there are.
        ranks: usize,
        /// How many are to be a group.
        group: usize,
    },
    /// More bytes than can be counted.
    #[error("{ranks} ranks with {bytes} each send more than the 2^64 bytes that can be counted")]
    TooManyBytes {
        /// How many there are.
        ranks: usize,
        /// What each holds.
        bytes: Bytes,
    },
    /// More messages than a machine holds.
    #[error(
        "{ranks} ranks send {messages} messages; the most is {MAX_MESSAGES} (2^28), so take fewer \
         ranks"
    )]
    TooManyMessages {
        /// How many there are.
        ranks: usize,
        /// What they would send.
        messages: u128,
    },
}
