//! Collectives and traffic patterns as written in the file.

use crate::scenario::input::section::section;
use crate::units::{Bytes, Span};

/// The default payload of a rank or a flow.
pub(in crate::scenario) const DEFAULT_BYTES: Bytes = Bytes::new(16_000_000);

section! {
    /// The keys of a collective.
    pub struct CollectiveSection {
        /// Payload of each rank.
        bytes?: Bytes = "16 MB; 8 B for a barrier",
        /// The algorithm, if the kind does not name it.
        algorithm?: String = "the first of the kind",
        /// The number of hosts: the first ones of `hosts`.
        ranks?: u32 = "all",
        /// Channels among which the vector is divided, each with queue pairs of its own.
        channels: u32 = 1,
        /// Chunks of each channel that follow each other.
        chunks: u32 = 1,
        /// Hierarchical collectives: the number of neighbouring ranks in a machine.
        group?: u32 = "8",
        /// The time for which a rank computes between a message that it receives and the one that
        /// depends on it.
        gap: Span = Span::ZERO,
        /// The most by which the start of each message is delayed, drawn by the seed.
        start_jitter: Span = Span::ZERO,
    }
}

section! {
    /// `kind = "permutation"`.
    pub struct PermutationSection {
        /// Payload of each flow.
        bytes: Bytes = DEFAULT_BYTES,
        /// The most by which the start of each message is delayed, drawn by the seed.
        start_jitter: Span = Span::ZERO,
    }
}

section! {
    /// `kind = "shift"`.
    pub struct ShiftSection {
        /// Payload of each flow.
        bytes: Bytes = DEFAULT_BYTES,
        /// Host i sends to host i + shift.
        shift: u32 = 1,
        /// The most by which the start of each message is delayed, drawn by the seed.
        start_jitter: Span = Span::ZERO,
    }
}

section! {
    /// `kind = "incast"`.
    pub struct IncastSection {
        /// Payload of each flow.
        bytes: Bytes = DEFAULT_BYTES,
        /// How many hosts send to one.
        fan_in: u32 = 8,
        /// The most by which the start of each message is delayed, drawn by the seed.
        start_jitter: Span = Span::ZERO,
    }
}
