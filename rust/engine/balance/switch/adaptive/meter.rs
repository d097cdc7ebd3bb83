//! Utilisation of a port: the bytes that it has sent in the last window.

use std::collections::VecDeque;

use super::{Fraction, Span, Time};
use crate::units::BitRate;

/// Units of the measurement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    /// Length of the window.
    pub(super) window: Span,
    /// Ends of the first three levels, as fractions of the rate.
    pub(super) levels: [Fraction; 3],
}

/// Counts the bytes that leave through one port.
#[derive(Debug, Clone)]
pub(super) struct Meter {
    /// Bytes of all packets that the switch has forwarded to the port.
    joined: u64,
    /// Samples of (time, bytes sent so far): the last one before the window and all within it.
    samples: VecDeque<(Time, u64)>,
}

impl Meter {
    /// Creates the meter of a port that has sent nothing.
    pub(super) fn new() -> Self {
        Self { joined: 0, samples: [(Time::ZERO, 0)].into() }
    }

    /// Counts a packet that the switch forwards to the port.
    pub(super) fn add(&mut self, wire_bytes: u16) {
        self.joined += u64::from(wire_bytes);
    }

    /// Samples the port and returns its utilisation level in the window that ends now: the number
    /// of level ends reached. `waiting` is the number of bytes at the port, including the packet in
    /// transmission.
    pub(super) fn level(&mut self, now: Time, waiting: u64, rate: BitRate, scale: &Scale) -> u8 {
        let Scale { window, levels } = *scale;
        let sent = self.joined.saturating_sub(waiting);
        while self.samples.get(1).is_some_and(|&(time, _)| now.since(time) >= window) {
            self.samples.pop_front();
        }
        let (time, before) = self.samples[0];
        // If the port was not sampled when the window began, use its mean since the sample before.
        let span = now.since(time).max(window);
        self.samples.push_back((now, sent));
        let most = rate.bytes_in(span).get();
        let sent = sent.saturating_sub(before);
        levels.iter().map(|level| u8::from(sent >= level.of(most).max(1))).sum()
    }
}
