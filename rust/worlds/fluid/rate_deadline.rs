//! Decides when rates are recomputed.
//!
//! With few flows, rates are recomputed at every start and end. With many, that would dominate the
//! run time, so the recomputation is deferred. Until then a new flow has no rate, and the bandwidth
//! of a finished flow stays unused.
//!
//! Consider a link whose flows each take the time `T`. A delay of `T / n` after each change wastes
//! at most `1 / n` of the link, however many flows share it. The delay is a fraction of the
//! duration of the flow that started or ended, so long flows do not delay short ones.

use crate::units::{Span, Time};

/// Up to this number of flows, rates are recomputed immediately at every start and end.
/// \[inferred\]
const IMMEDIATE_FLOWS: usize = 1 << 10;
/// With more flows, the recomputation is deferred by at most `1 / DEFERRAL_DIVISOR` of the duration
/// of the flow that started or ended \[inferred\].
const DEFERRAL_DIVISOR: u64 = 1 << 7;

/// The latest time of the next recomputation of rates.
#[derive(Debug)]
pub(super) struct RateDeadline {
    at: Time,
}

impl RateDeadline {
    /// No recomputation is pending.
    pub(super) const NEVER: Self = Self { at: Time::NEVER };

    /// Returns the time of the pending recomputation, if there is one.
    pub(super) fn at(&self) -> Option<Time> {
        Some(self.at).filter(|at| *at < Time::NEVER)
    }

    /// Defers the recomputation after a flow of duration `takes` started or ended at `now`, while
    /// `others` flows are active.
    pub(super) fn defer(&mut self, now: Time, takes: Span, others: usize) {
        let part = if others <= IMMEDIATE_FLOWS { 0 } else { takes.as_ps() / DEFERRAL_DIVISOR };
        self.at = self.at.min(now.saturating_add(Span::from_ps(part)));
    }

    /// Requests a recomputation at `now`, for any other change.
    pub(super) fn request_now(&mut self, now: Time) {
        self.at = now;
    }

    /// Returns true if a recomputation is due at `now`, and clears it.
    pub(super) fn take(&mut self, now: Time) -> bool {
        let is_due = self.at <= now;
        if is_due {
            *self = Self::NEVER;
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_changed_flow_limits_the_deferral() {
        let now = Time::from_ps(7);
        let [long, short] = [Span::from_us(128), Span::from_ns(1_280)];
        let mut deadline = RateDeadline::NEVER;
        assert_eq!((deadline.at(), deadline.take(now)), (None, false));
        deadline.defer(now, long, IMMEDIATE_FLOWS + 1);
        assert_eq!(deadline.at(), Some(now + Span::from_us(1)));
        deadline.defer(now, short, IMMEDIATE_FLOWS + 1);
        deadline.defer(now, long, IMMEDIATE_FLOWS + 1);
        assert_eq!(deadline.at(), Some(now + Span::from_ns(10)));
        assert!(!deadline.take(now + Span::from_ns(9)) && deadline.take(now + Span::from_ns(10)));
        assert_eq!(deadline.at(), None);
        deadline.defer(now, long, IMMEDIATE_FLOWS);
        assert!(deadline.take(now) && !deadline.take(now));
    }
}
