//! A flow in progress: the bytes that remain, its rate, and since when it has that rate.

use super::queue_estimate::QueuedShare;
use super::timing::{Size, Tail};
use crate::endpoint::FluidFlow;
use crate::sharing::Use;
use crate::units::{Span, Time};

/// Tolerance before times are rounded up to a picosecond, so that a rounding error does not add
/// one.
const TOLERANCE_PS: f64 = 1e-3;

/// A flow that is being sent, or whose last packet is in flight.
#[derive(Debug)]
pub(super) struct Transfer {
    pub(super) flow: FluidFlow,
    pub(super) size: Size,
    pub(super) tail: Tail,
    pub(super) state: State,
    /// Incremented at each state change; events with an older version are stale.
    pub(super) version: u32,
    /// Bytes on the wire that remained to be sent at `since`.
    left: f64,
    /// Bytes that remained to be sent when the flow moved to its current path.
    left_before: f64,
    /// Current rate in bytes per picosecond.
    pub(super) rate: f64,
    since: Time,
    /// When the flow moved to its current path.
    pub(super) on_path_since: Time,
    /// The link that limits the flow, and the bytes that may queue there because of it.
    pub(super) queued: QueuedShare,
}

/// The state of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// No path to its receiver exists.
    Stalled,
    /// The flow shares links: its index in `sharing`, and the number of its uses that carry data.
    Sending { index: u32, data_uses: u32 },
    /// All bytes have been sent.
    Sent,
}

impl Transfer {
    pub(super) fn new(now: Time, flow: FluidFlow, size: Size, tail: Tail) -> Self {
        Self {
            flow,
            tail,
            state: State::Stalled,
            version: 0,
            left: size.data,
            left_before: size.data,
            rate: 0.0,
            since: now,
            on_path_since: now,
            queued: None,
            size,
        }
    }

    /// Accounts for the bytes sent until `now`, and continues at a new rate.
    pub(super) fn set_rate(&mut self, now: Time, rate: f64) {
        self.left = self.left_at(now);
        (self.rate, self.since) = (rate, now);
        self.version += 1;
    }

    /// Stops the flow at `now`. Returns the bytes sent since it moved to its current path.
    pub(super) fn leave(&mut self, now: Time) -> f64 {
        self.set_rate(now, 0.0);
        let moved = self.left_before - self.left;
        self.left_before = self.left;
        moved
    }

    /// Returns the bytes that remain to be sent at `now`.
    pub(super) fn left_at(&self, now: Time) -> f64 {
        let passed = now.since(self.since).as_ps() as f64;
        (self.left - self.rate * passed).max(0.0)
    }

    /// Returns when the last byte will have been sent; `None` if the flow is not being sent.
    pub(super) fn end(&self) -> Option<Time> {
        if self.rate <= 0.0 {
            return None;
        }
        let ps = (self.left / self.rate - TOLERANCE_PS).ceil().max(0.0);
        // At a rate close to zero the end lies beyond every time limit.
        let end = self.since.saturating_add(Span::from_ps(ps as u64));
        (end < Time::NEVER).then_some(end)
    }

    /// Returns the bytes without gaps that the `nth` use carries for `moved` bytes of the flow.
    pub(super) fn carried(&self, nth: u32, data_uses: u32, of: Use, moved: f64) -> f64 {
        let without_gaps =
            if nth < data_uses { self.size.without_gaps } else { self.size.acks_without_gaps };
        moved * of.share * without_gaps
    }
}
