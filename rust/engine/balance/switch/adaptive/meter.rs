//! The utilisation of a port: what it has sent in the last window.

use std::collections::VecDeque;

use super::{Fraction, Span, Time};
use crate::units::BitRate;

/// How utilisation is measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    /// The time over which it is measured.
    pub(super) window: Span,
    /// The ends of the first three levels, as parts of the rate.
    pub(super) levels: [Fraction; 3],
}

/// Counts the bytes that leave by one port.
#[derive(Debug, Clone)]
pub(super) struct Meter {
    /// Bytes of all packets that the switch has forwarded to the port.
    joined: u64,
    /// When the port was looked at, and the bytes that it had sent by then: the last time before
    /// the window and all times in it.
    looks: VecDeque<(Time, u64)>,
}

impl Meter {
    /// The meter of a port that has sent nothing.
    pub(super) fn new() -> Self {
        Self { joined: 0, looks: [(Time::ZERO, 0)].into() }
    }

    /// Counts a packet that the switch forwards to the port.
    pub(super) fn add(&mut self, wire_bytes: u16) {
        self.joined += u64::from(wire_bytes);
    }

    /// The level of utilisation in the window that ends now: the number of levels' ends that it
    /// has reached. `waiting` are the bytes at the port, including the packet in transmission.
    pub(super) fn level(&mut self, now: Time, waiting: u64, rate: BitRate, scale: &Scale) -> u8 {
        let Scale { window, levels } = *scale;
        let sent = self.joined.saturating_sub(waiting);
        while self.looks.get(1).is_some_and(|&(time, _)| now.since(time) >= window) {
            self.looks.pop_front();
        }
        let (time, before) = self.looks[0];
        // A port that nobody looked at when the window began has its mean since the look before.
        let span = now.since(time).max(window);
        self.looks.push_back((now, sent));
        let most = rate.bytes_in(span).get();
        let sent = sent.saturating_sub(before);
        levels.iter().map(|level| u8::from(sent >= level.of(most).max(1))).sum()
    }
}
