//! Quick adapt: the reaction to heavy loss.

use super::{Marked, Nscc};
use crate::units::{Span, Time};

impl Nscc {
    /// Under heavy loss, sets the window to the bytes delivered in the last period. Returns true if
    /// the acknowledgement or NACK needs no other reaction.
    pub(super) fn quick_adapt(&mut self, now: Time, marked: Marked, delay: f64) -> bool {
        let state = &mut *self.state;
        let mut done = false;
        // These packets were in flight when the window fell: their marks belong to the old window.
        if marked == Marked::Yes && state.ignored < state.to_ignore {
            done = true;
        } else if state.period_end.is_none_or(|end| now > end) {
            let gate = state.law.quick_adapt_gate * state.law.largest(state.base_rtt);
            // The first period only counts: it has no earlier period to judge by.
            let beyond = delay > state.law.quick_adapt_delay;
            let wanted = state.period_end.is_some() && (state.quick_adapt_requested || beyond);
            if wanted && (state.achieved as f64) < gate {
                // At least one packet, so that the window never closes.
                let achieved = state.achieved.max(state.law.packet) as f64;
                // Quick adapt must not raise a window that is under a penalty.
                let limit = if state.saved.is_some() { self.window } else { f64::INFINITY };
                self.window = achieved.min(limit);
                (state.to_ignore, state.ignored) = (state.in_flight, 0);
                state.quick_adapt_requested = false;
                done = true;
            }
            // A new period begins whether or not the window was adapted.
            state.achieved = 0;
            let period = state.base_rtt.saturating_add(state.law.target as u64);
            state.period_end = Some(now.saturating_add(Span::from_ps(period)));
        }
        // Pending increases were earned with the old window.
        if done {
            (state.pending, state.received) = (0.0, 0);
        }
        done
    }
}
