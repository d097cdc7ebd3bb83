//! Link-level retry (LLR): neighbours retransmit corrupted frames, so transports see no corruption.
//!
//! Source: Ultra Ethernet specification 1.0.1, section 5.1, according to public notes. Frames are
//! numbered in their preambles. The receiver answers a corrupted frame with one NACK and discards
//! the frames that follow. The sender then retransmits in order from there (go-back-N). Ordered
//! sets of 8 bytes carry acknowledgements between frames. More than `replays` consecutive replays
//! of one frame end the link's protection.
//!
//! Modelled \[inferred\]: a corrupted frame occupies the wire for the frame and a round trip,
//! including the frames that follow in vain. A round trip is twice the propagation delay plus the
//! acknowledgement spacing. Then the frame is retransmitted. Acknowledgements take their share of
//! every wire, whether or not the other direction carries traffic. PFC frames are never corrupted.
//! A frame that used up its replays is sent once more without protection. LLR repairs only
//! corrupted frames (`kind = "loss"`), not queue drops or links that are down.

use crate::units::{BitRate, Bytes, Span};

/// Link-level retry on every link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LlrConfig {
    /// Bytes on the wire between two acknowledgements.
    pub ack_spacing: Bytes,
    /// Consecutive replays of one frame that a link survives; `None` for no limit.
    pub replays: Option<u32>,
    /// Treatment of frames after the protection has ended.
    pub afterwards: AfterProtection,
}

/// Treatment of frames after the protection of a link has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AfterProtection {
    /// Frames are sent without protection.
    #[default]
    Unprotected,
    /// Frames are discarded.
    Discard,
}

/// Length of an ordered set, in bytes.
const ORDERED_SET: u64 = 8;

/// Replays after which a link counts as broken even without a limit: no frame gets through.
pub(super) const UNLIMITED_REPLAYS: u32 = 100_000;

impl LlrConfig {
    /// Returns the part of a link's rate that acknowledgements leave to frames.
    pub fn remaining_rate(&self, rate: BitRate) -> BitRate {
        let spacing = u128::from(self.ack_spacing.get());
        let left = u128::from(rate.as_bps()) * spacing / (spacing + u128::from(ORDERED_SET));
        // At least 1 bit/s: transmission times divide by the rate.
        BitRate::from_bps(u64::try_from(left).unwrap_or(u64::MAX).max(1))
    }

    /// Returns the time from the last bit of a corrupted frame to the first bit of its replay.
    pub fn round_trip(&self, rate: BitRate, delay: Span) -> Span {
        delay + delay + rate.time_for(self.ack_spacing)
    }
}
