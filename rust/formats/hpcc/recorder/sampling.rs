//! The times at which ConWeave's periodic monitors take samples.

use crate::units::{Span, Time};

/// Time beyond `FLOWGEN_STOP_TIME` during which uplinks and connections are sampled
/// (`periodic_monitoring` of ConWeave's `network-load-balance.cc`).
const BEYOND_STOP: Span = Span::from_ms(50);

/// Period of the check that every flow has completed (`stop_simulation_middle`).
const COMPLETION_CHECK: Span = Span::from_us(100);

/// Period at which notifications are counted (`cnp_monitor_bucket`).
const NOTIFICATION_BUCKET: Span = Span::from_us(100);

/// Returns the time at which the family notices that every flow has completed. The last flow
/// completes at `ended`, and flows start from `from` on.
pub(super) fn last_sample(from: Time, ended: Time) -> Time {
    let checks = ended.as_ps().saturating_sub(from.as_ps()).div_ceil(COMPLETION_CHECK.as_ps());
    from.saturating_add(Span::from_ps(checks.saturating_mul(COMPLETION_CHECK.as_ps())))
}

/// The schedule of a periodic monitor.
#[derive(Debug, Clone, Copy)]
pub(super) struct SamplingTimes {
    next: Time,
    until: Time,
    period: Span,
}

impl SamplingTimes {
    /// Creates the schedule of the uplink and connection monitors, not started; flows stop at
    /// `flows_stop`.
    pub(super) fn of_switches(flows_stop: Time, period: Span) -> Self {
        Self { next: Time::NEVER, until: flows_stop.saturating_add(BEYOND_STOP), period }
    }

    /// Creates the schedule of the notification monitor, not started.
    pub(super) fn of_notifications() -> Self {
        Self { next: Time::NEVER, until: Time::NEVER, period: NOTIFICATION_BUCKET }
    }

    /// Sets the time of the first sample.
    pub(super) fn start(&mut self, at: Time) {
        self.next = at;
    }

    /// Returns the time of the next sample; [`Time::NEVER`] before the start and after the last
    /// one.
    pub(super) fn next(&self) -> Time {
        self.next
    }

    /// Advances to the next sample.
    pub(super) fn advance(&mut self) {
        let next = self.next.saturating_add(self.period);
        self.next = if self.next < self.until { next } else { Time::NEVER };
    }

    /// Advances to the first sample after `event`, but at least to the next one.
    pub(super) fn advance_past(&mut self, event: Time) {
        self.advance();
        let last = event.min(self.until);
        if self.next <= last && self.next != Time::NEVER {
            let periods = last.since(self.next).as_ps() / self.period.as_ps();
            self.next += Span::from_ps(periods * self.period.as_ps());
            self.advance();
        }
    }
}
