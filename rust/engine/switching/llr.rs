//! Link-level retry (LLR): neighbours repeat corrupted frames, and transports lose none.
//!
//! Source: Ultra Ethernet specification 1.0.1, section 5.1, by public notes on it: frames are
//! numbered in their preambles; the receiver answers a corrupted one with one NACK and discards
//! what follows; the sender sends everything from there again (go-back-N), in order. Ordered sets
//! of 8 bytes acknowledge between frames. More replays of a frame in a row than `replays` end the
//! protection of the link.
//!
//! Modelled \[inferred\]: the wire is busy with a corrupted frame, and with what follows in
//! vain, for the time of the frame and a round trip, which is twice the propagation and the
//! spacing of acknowledgements; then the frame is sent again. Acknowledgements take their share
//! of every wire, whether the other direction carries traffic or not. Frames of priority flow
//! control are never corrupted. A frame whose replays have run out goes once more without
//! protection. LLR repairs corrupted frames alone (`kind = "loss"`): not what queues drop, and
//! not links that are down.

use crate::units::{BitRate, Bytes, Span};

/// Link-level retry on every link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LlrConfig {
    /// Bytes on the wire between two acknowledgements.
    pub ack_spacing: Bytes,
    /// Replays of one frame in a row that a link survives; `None` without a limit.
    pub replays: Option<u32>,
    /// What happens to the frames of a link that does not survive.
    pub afterwards: Afterwards,
}

/// What happens to frames when the protection of a link has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Afterwards {
    /// They are sent without protection.
    #[default]
    Unprotected,
    /// They are discarded.
    Discard,
}

/// An ordered set, bytes.
const ORDERED_SET: u64 = 8;

/// Replays after which a link counts as broken even without a limit: nothing gets through it.
pub(super) const HOPELESS: u32 = 100_000;

impl LlrConfig {
    /// What acknowledgements leave of a link's rate.
    pub fn left_of(&self, rate: BitRate) -> BitRate {
        let spacing = u128::from(self.ack_spacing.get());
        let left = u128::from(rate.as_bps()) * spacing / (spacing + u128::from(ORDERED_SET));
        BitRate::from_bps(u64::try_from(left).unwrap_or(u64::MAX).max(1))
    }

    /// From a corrupted frame's last bit out to its first bit out again.
    pub fn round_trip(&self, rate: BitRate, delay: Span) -> Span {
        delay + delay + rate.time_for(self.ack_spacing)
    }
}
