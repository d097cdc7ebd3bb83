//! Collectives and traffic patterns as written in the file.

use serde::{Deserialize, Serialize};

use super::recorded::StreamingName;
use crate::input::section::{named, section};
use crate::units::{Bytes, Span};
use crate::workload::StepAfter;

/// The default payload of a rank or a flow.
pub(crate) const DEFAULT_BYTES: Bytes = Bytes::new(16_000_000);

/// The event of a message that starts the steps of other ranks that depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepAfterName {
    /// Its receiver has all of it.
    #[default]
    Delivery,
    /// Its sender has the last acknowledgement, as in simulators that couple ASTRA-sim with ns-3.
    Acknowledgement,
}

named! { StepAfterName }

impl From<StepAfterName> for StepAfter {
    fn from(name: StepAfterName) -> Self {
        match name {
            StepAfterName::Delivery => Self::Delivery,
            StepAfterName::Acknowledgement => Self::Acknowledgement,
        }
    }
}

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
        group?: u32 = "topology.scale_up.gpus, or 8",
        /// The time for which a rank computes between a message that it receives and the one that
        /// depends on it.
        gap: Span = Span::ZERO,
        /// When a rank that waits for a message goes on: when it has all of the message, or when
        /// the sender has the last acknowledgement.
        step_after: StepAfterName = StepAfterName::default(),
        /// The most by which the start of each message is delayed, drawn by the seed.
        start_jitter: Span = Span::ZERO,
        /// All-to-all: the most messages of a channel and chunk that a rank has outstanding. Each
        /// message after these starts when the one that many before it has completed.
        outstanding?: u32 = "all",
        /// Whether messages are generated during the run, as ranks reach them: for rings,
        /// pipelines, and all-to-alls with `outstanding`; `auto` does so for more than 4,194,304
        /// messages.
        streaming?: StreamingName = "auto",
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
