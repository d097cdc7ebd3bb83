//! A flow on its way: what is left of it, and since when it has its rate.

use super::timing::{Size, Tail};
use super::waiting::Share;
use crate::endpoint::FluidFlow;
use crate::sharing::Use;
use crate::units::{Span, Time};

/// Times are rounded up to the picosecond, but not for the sake of a rounding error.
const FORGIVEN_PS: f64 = 1e-3;

/// A flow that is being sent, or whose last packet is on its way.
#[derive(Debug)]
pub(super) struct Transfer {
    pub(super) flow: FluidFlow,
    pub(super) size: Size,
    pub(super) tail: Tail,
    pub(super) state: State,
    /// Distinguishes its events from those that its present state has replaced.
    pub(super) version: u32,
    /// Bytes on the wire that have not been sent, at `since`.
    left: f64,
    /// Bytes that had not been sent when it came to its present way.
    left_before: f64,
    /// Bytes per picosecond.
    pub(super) rate: f64,
    since: Time,
    /// When it came to its present way.
    pub(super) came: Time,
    /// The link that limits it, and the bytes that may wait there because of it.
    pub(super) waits: Share,
}

/// Where a flow is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// It has no way to its receiver.
    Stalled,
    /// It shares links, by its index there; so many of its uses are for data.
    Sending { index: u32, data_uses: u32 },
    /// All of it has been sent.
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
            came: now,
            waits: None,
            size,
        }
    }

    /// Takes note of what has been sent until now, and goes on at another rate.
    pub(super) fn set_rate(&mut self, now: Time, rate: f64) {
        self.left = self.left_at(now);
        (self.rate, self.since) = (rate, now);
        self.version += 1;
    }

    /// Takes note of what has been sent until now, and stops; the bytes since it came to the way
    /// that it leaves.
    pub(super) fn leave(&mut self, now: Time) -> f64 {
        self.set_rate(now, 0.0);
        let moved = self.left_before - self.left;
        self.left_before = self.left;
        moved
    }

    /// Bytes that have not been sent at `now`.
    pub(super) fn left_at(&self, now: Time) -> f64 {
        let passed = now.since(self.since).as_ps() as f64;
        (self.left - self.rate * passed).max(0.0)
    }

    /// When all of it will have been sent; `None` if it is not being sent.
    pub(super) fn end(&self) -> Option<Time> {
        if self.rate <= 0.0 {
            return None;
        }
        let ps = (self.left / self.rate - FORGIVEN_PS).ceil().max(0.0);
        // A rate that is nearly nothing ends beyond every time limit.
        let end = self.since.saturating_add(Span::from_ps(ps as u64));
        (end < Time::NEVER).then_some(end)
    }

    /// The bytes without gaps on each link for `moved` bytes of the flow, in the order of its uses.
    pub(super) fn carried(&self, nth: u32, data_uses: u32, of: Use, moved: f64) -> f64 {
        let without_gaps =
            if nth < data_uses { self.size.without_gaps } else { self.size.acks_without_gaps };
        moved * of.share * without_gaps
    }
}
