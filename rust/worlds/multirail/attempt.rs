//! Attempts at the chunks of an operation, and what a rail delivers.

use super::numbers::Range;
use crate::units::Bytes;

/// Identifies one attempt at one chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct AttemptId {
    /// Index of the operation within the run.
    pub(super) operation: u32,
    /// Index of the chunk within the operation.
    pub(super) chunk: u32,
    /// The epoch in which the attempt was issued; later for each repetition.
    pub(super) epoch: u64,
}

/// An attempt at summing a chunk over all ranks on one rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Attempt {
    /// Id of the attempt.
    pub(super) id: AttemptId,
    /// The elements of the chunk.
    pub(super) range: Range,
}

/// The final sums of some elements of a chunk at one rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sums {
    /// The attempt that produced them.
    pub(super) attempt: AttemptId,
    /// The rank that has them.
    pub(super) rank: u32,
    /// The elements of the vector that are summed.
    pub(super) range: Range,
    /// The sum of each element of `range`, in order.
    pub(super) numbers: Vec<i64>,
}

/// What a rail delivers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RailDelivery {
    /// A rank has final sums.
    Sums(Sums),
    /// A control message has arrived.
    Control(ControlMessage),
}

/// A control message between two ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ControlMessage {
    /// The rank that sends the message.
    pub(super) from: u32,
    /// The rank that receives the message.
    pub(super) to: u32,
    /// Length of the message.
    pub(super) bytes: Bytes,
    /// An id of the message that the sender chooses.
    pub(super) cookie: u64,
}
