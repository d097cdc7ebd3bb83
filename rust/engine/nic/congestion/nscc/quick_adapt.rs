//! Quick adapt, for windows of which hardly anything gets through.

use super::{Marked, Nscc};
use crate::units::{Span, Time};

impl Nscc {
    /// Where hardly anything gets through, the window becomes what did in the last period. True
    /// if the acknowledgement or NACK at hand is dealt with by that.
    pub(super) fn quick_adapt(&mut self, now: Time, marked: Marked, delay: f64) -> bool {
        let state = &mut *self.state;
        let mut done = false;
        // These packets were in flight when the window fell: their marks are of the old window.
        if marked == Marked::Yes && state.ignored < state.to_ignore {
            done = true;
        } else if state.period_end.is_none_or(|end| now > end) {
            let gate = state.law.quick_adapt_gate * state.law.largest(state.base_rtt);
            // The first period only counts: nothing is known yet of what got through before it.
            let beyond = delay > state.law.quick_adapt_delay;
            let wanted = state.period_end.is_some() && (state.called || beyond);
            if wanted && (state.achieved as f64) < gate {
                let achieved = state.achieved.max(state.law.packet) as f64;
                // Under a penalty nothing raises it.
                let most = if state.saved.is_some() { self.window } else { f64::INFINITY };
                self.window = achieved.min(most);
                (state.to_ignore, state.ignored) = (state.in_flight, 0);
                state.called = false;
                done = true;
            }
            state.achieved = 0;
            let period = state.base_rtt.saturating_add(state.law.target as u64);
            state.period_end = Some(now.saturating_add(Span::from_ps(period)));
        }
        if done {
            (state.pending, state.received) = (0.0, 0);
        }
        done
    }
}
