//! When rates are computed again.
//!
//! Of few flows, whenever one begins or ends. Of many, that would take most of a run, and a change
//! may wait. Until then a flow that has begun has no rate, and what a flow that has ended leaves is
//! used by nobody. On a link whose flows take the time `T` each, waiting for `T / n` after each
//! change thus takes at most one part in `n` of the link, however many flows share it: the wait is
//! a part of the time of the flow that has begun or ended, and short flows among long ones are not
//! kept waiting by these.

use crate::units::{Span, Time};

/// Up to this many flows, rates are computed again at once when one of them begins or ends.
/// \[inferred\]
const AT_ONCE: usize = 1 << 10;
/// Of more flows, they are computed again at the latest after one in so many of the time of a flow
/// that has begun or ended \[inferred\].
const PARTS: u64 = 1 << 7;

/// When rates are computed again at the latest.
#[derive(Debug)]
pub(super) struct Due {
    at: Time,
}

impl Due {
    /// Nothing has changed.
    pub(super) const NEVER: Self = Self { at: Time::NEVER };

    /// The time, if anything has changed.
    pub(super) fn at(&self) -> Option<Time> {
        Some(self.at).filter(|at| *at < Time::NEVER)
    }

    /// A flow that takes so long has begun or ended at `now`, and others share the fabric with it.
    pub(super) fn note(&mut self, now: Time, takes: Span, others: usize) {
        let part = if others <= AT_ONCE { 0 } else { takes.as_ps() / PARTS };
        self.at = self.at.min(now.saturating_add(Span::from_ps(part)));
    }

    /// Something else has changed at `now`.
    pub(super) fn note_at_once(&mut self, now: Time) {
        self.at = now;
    }

    /// Whether rates are to be computed at `now`; then nothing has changed any more.
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
    fn of_many_flows_the_shortest_that_has_changed_says_how_long_that_may_wait() {
        let now = Time::from_ps(7);
        let [long, short] = [Span::from_us(128), Span::from_ns(1_280)];
        let mut due = Due::NEVER;
        assert_eq!((due.at(), due.take(now)), (None, false));
        due.note(now, long, AT_ONCE + 1);
        assert_eq!(due.at(), Some(now + Span::from_us(1)));
        due.note(now, short, AT_ONCE + 1);
        due.note(now, long, AT_ONCE + 1);
        assert_eq!(due.at(), Some(now + Span::from_ns(10)));
        assert!(!due.take(now + Span::from_ns(9)) && due.take(now + Span::from_ns(10)));
        assert_eq!(due.at(), None);
        due.note(now, long, AT_ONCE);
        assert!(due.take(now) && !due.take(now));
    }
}
