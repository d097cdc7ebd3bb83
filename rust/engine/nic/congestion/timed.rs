//! Shared by both forms of DCQCN: a current and a target rate, and timers evaluated lazily.

use super::floor;
use crate::nic::timer::{RateTimers, Timer};
use crate::units::{BitRate, Time};

/// A control with `N` timers that schedule no events. When the rate is next needed, the actions due
/// by then are applied in the order of their deadlines.
pub(super) trait LazyTimers<const N: usize> {
    fn timers(&mut self) -> &mut RateTimers<N>;

    /// The timers that [`LazyTimers::catch_up`] handles. If two are due at the same time, the first
    /// in this list goes first.
    fn order(&self) -> [Timer; 2];

    /// Applies the action of `timer`, which was due at `due` and is now stopped.
    fn handle_timer(&mut self, timer: Timer, due: Time);

    /// Applies the actions of all timers due by `now`.
    #[inline]
    fn catch_up(&mut self, now: Time) {
        let order = self.order();
        // Each timer is handled at its own deadline, not at `now`. It may set itself or another
        // timer to a time that has also passed; the loop then handles that one in order.
        while let Some((timer, due)) = self.timers().next(now, order) {
            self.handle_timer(timer, due);
        }
    }
}

/// The rates of DCQCN, in bits per second.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rates {
    /// Line rate of the port, the upper bound of the current rate.
    pub line: f64,
    /// Rc, the rate at which packets are sent.
    pub current: f64,
    /// Rt, which the current rate approaches.
    pub target: f64,
    /// The congestion estimate; a cut takes off half of it.
    pub alpha: f64,
}

impl Rates {
    /// Starts at line rate, before anything is known about congestion.
    pub(super) fn new(line_rate: BitRate, alpha: f64) -> Self {
        let line = line_rate.as_bps() as f64;
        Self { line, current: line, target: line, alpha }
    }

    /// The current rate in whole bits per second, rounded down.
    #[inline]
    pub(super) fn current(&self) -> BitRate {
        BitRate::from_bps(self.current as u64)
    }

    /// Cuts the current rate by half of alpha, not below `min_rate`.
    pub(super) fn cut(&mut self, min_rate: BitRate) {
        self.cut_by(2.0, min_rate);
    }

    /// Cuts the current rate by alpha over `divisor`, not below `min_rate`.
    pub(super) fn cut_by(&mut self, divisor: f64, min_rate: BitRate) {
        let floor = floor(min_rate, self.line);
        self.current = (self.current * (1.0 - self.alpha / divisor)).max(floor);
    }
}
