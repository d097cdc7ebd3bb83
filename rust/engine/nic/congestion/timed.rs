//! What both forms of DCQCN share: a current and a target rate, and timers that nobody waits for.

use super::floor;
use crate::nic::timer::{RateTimers, Timer};
use crate::units::{BitRate, Time};

/// A control with `N` timers. They wake nobody: what they would have done by now is done when the
/// rate is next asked for, in the order in which they were due.
pub(super) trait Timed<const N: usize> {
    fn timers(&mut self) -> &mut RateTimers<N>;

    /// The timers that [`Timed::catch_up`] serves. Of two that are due at the same time the
    /// earlier one in this list is served first.
    fn order(&self) -> [Timer; 2];

    /// Does what `timer` does, which was due at `due` and is stopped now.
    fn handle_timer(&mut self, timer: Timer, due: Time);

    /// Does what the timers would have done by `now`.
    #[inline]
    fn catch_up(&mut self, now: Time) {
        let order = self.order();
        // Each timer is served at its own time, not at `now`: it may set itself, or another, to a
        // time that has passed too, and that one then comes in its turn.
        while let Some((timer, due)) = self.timers().next(now, order) {
            self.handle_timer(timer, due);
        }
    }
}

/// The rates of DCQCN, in bits per second.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rates {
    /// The rate that the current rate never exceeds: that of the port.
    pub line: f64,
    /// Rc, at which packets are sent.
    pub current: f64,
    /// Rt, which the current rate approaches.
    pub target: f64,
    /// The estimate of congestion: a cut takes half of it.
    pub alpha: f64,
}

impl Rates {
    /// Line rate, before anything is known of congestion.
    pub(super) fn new(line_rate: BitRate, alpha: f64) -> Self {
        let line = line_rate.as_bps() as f64;
        Self { line, current: line, target: line, alpha }
    }

    /// The current rate in whole bits per second, rounded down.
    #[inline]
    pub(super) fn current(&self) -> BitRate {
        BitRate::from_bps(self.current as u64)
    }

    /// Lowers the current rate by half of alpha, not below `min_rate`.
    pub(super) fn cut(&mut self, min_rate: BitRate) {
        let floor = floor(min_rate, self.line);
        self.current = (self.current * (1.0 - self.alpha / 2.0)).max(floor);
    }
}
