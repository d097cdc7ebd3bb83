//! Reasons why a request cannot be carried out.

use super::matching::Key;
use crate::units::{Bytes, Time};

/// A request that cannot be carried out. It ends the run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The rank at the other end does not exist.
    #[error(
        "rank {rank} {verb} rank {peer} (tag {tag}, {bytes} B), which does not exist: expected 0 \
         to {last}"
    )]
    NoRank {
        /// The requesting rank.
        rank: u32,
        /// "sends to" or "receives from".
        verb: &'static str,
        /// The nonexistent rank.
        peer: i32,
        /// Tag of the message.
        tag: i32,
        /// Length of the message in bytes.
        bytes: u64,
        /// The highest valid rank.
        last: u32,
    },
    /// The length has the bit pattern of a negative number.
    #[error(
        "rank {rank} {verb} rank {peer} (tag {tag}) {bytes} B, which is negative as a 64-bit \
         integer: with --rendezvous-protocol=true, ASTRA-sim keeps lengths in 32 bits and \
         supports only messages below 2 GiB"
    )]
    Negative {
        /// The requesting rank.
        rank: u32,
        /// "sends to" or "receives from".
        verb: &'static str,
        /// The rank at the other end.
        peer: i32,
        /// Tag of the message.
        tag: i32,
        /// Length as it was given.
        bytes: u64,
    },
    /// The loss recovery does not carry messages of this length.
    #[error(
        "rank {} sends to rank {} (tag {}) {} B: with the loss recovery {recovery}, a message has \
         at most {limit}", key.src, key.dst, key.tag, key.bytes
    )]
    TooLong {
        /// The message.
        key: Key,
        /// Name of the loss recovery.
        recovery: &'static str,
        /// Maximum message length.
        limit: Bytes,
    },
    /// The message cannot be sent within the time limit.
    #[error(
        "rank {} sends to rank {} (tag {}) {} B, which takes longer than the time limit of \
         {limit} at its host's link rate: raise time_limit", key.src, key.dst, key.tag, key.bytes
    )]
    NoTime {
        /// The message.
        key: Key,
        /// Time limit of the scenario.
        limit: Time,
    },
    /// The ranks' program failed.
    #[error("{0}")]
    Program(String),
}
