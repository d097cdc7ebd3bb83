//! The queueing delay and its average.

use super::{Marked, State};
use crate::units::Span;

impl State {
    /// Returns the queueing delay of a round trip, in picoseconds. A shorter one becomes the new
    /// base.
    pub(super) fn delay(&mut self, rtt: Span) -> f64 {
        if self.law.learns_base_rtt {
            self.base_rtt = self.base_rtt.min(rtt.as_ps());
        }
        // Saturating: a base that is not learned is the longest path's; other paths are shorter.
        rtt.as_ps().saturating_sub(self.base_rtt) as f64
    }

    /// Updates the average delay. An unmarked packet with a long delay did not wait in a marking
    /// queue: it counts as a quarter of the base round trip.
    pub(super) fn average(&mut self, delay: f64, marked: Marked) {
        let elsewhere = marked == Marked::No && delay > self.law.target;
        let sample = if elsewhere { 0.25 * self.base_rtt as f64 } else { delay };
        self.average_delay += self.law.delay_gain * (sample - self.average_delay);
    }
}
