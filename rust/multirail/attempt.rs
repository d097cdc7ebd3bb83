//! Attempts at the chunks of an operation, and what a rail delivers.

use super::numbers::Range;
use crate::units::Bytes;

/// Identifies one attempt at one chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct AttemptId {
    /// Index of the operation within the run.
    pub operation: u32,
    /// Index of the chunk within the operation.
    pub chunk: u32,
    /// The epoch in which the attempt was issued; later for each repetition.
    pub epoch: u64,
}

/// An attempt at summing a chunk over all ranks on one rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Attempt {
    /// Id of the attempt.
    pub id: AttemptId,
    /// The elements of the chunk.
    pub range: Range,
}

/// The final sums of some elements of a chunk at one rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sums {
    /// The attempt that produced them.
    pub attempt: AttemptId,
    /// The rank that has them.
    pub rank: u32,
    /// Their elements.
    pub range: Range,
    /// The sums.
    pub numbers: Vec<i64>,
}

/// What a rail delivers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RailDelivery {
    /// A rank has final sums.
    Sums(Sums),
    /// A control message has arrived.
    Control(Control),
}

/// A control message between two ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Control {
    /// The sending rank.
    pub from: u32,
    /// The receiving rank.
    pub to: u32,
    /// Length of the message.
    pub bytes: Bytes,
    /// An id of the message that the sender chooses.
    pub cookie: u64,
}
