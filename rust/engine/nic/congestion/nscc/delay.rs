//! The queueing delay and its average.

use super::{Marked, State};
use crate::units::Span;

impl State {
    /// Returns the queueing delay of a round trip in picoseconds, or the median of the newest ones
    /// with a window of these bytes. A shorter round trip becomes the new base.
    pub(super) fn delay(&mut self, rtt: Span, window: f64) -> f64 {
        if self.law.learns_base_rtt {
            self.base_rtt = self.base_rtt.min(rtt.as_ps());
        }
        // Saturating: a base that is not learned is the longest path's; other paths are shorter.
        let delay = rtt.as_ps().saturating_sub(self.base_rtt);
        if self.law.median == 1 {
            return delay as f64;
        }
        let half_window = (window / self.law.packet as f64 / 2.0) as usize;
        self.delays.with(Span::from_ps(delay), half_window.min(self.law.median as usize))
    }

    /// Updates the average delay. An unmarked packet with a long delay did not wait in a marking
    /// queue: it counts as a quarter of the base round trip.
    pub(super) fn average(&mut self, delay: f64, marked: Marked) {
        let elsewhere = marked == Marked::No && delay > self.law.target;
        let sample = if elsewhere { 0.25 * self.base_rtt as f64 } else { delay };
        self.average_delay += self.law.delay_gain * (sample - self.average_delay);
    }
}
