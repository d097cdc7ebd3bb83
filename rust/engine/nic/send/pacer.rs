//! Pacing: when a queue pair may send its next packet.

use crate::units::{BitRate, Span, Time};

/// Bits per byte times picoseconds per second.
const PS_BITS: u64 = 8_000_000_000_000;

/// Spaces the packets of one queue pair by its rate. Fractions of a picosecond are carried from
/// packet to packet, so rates are exact over time.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::nic) struct Pacer {
    next: Time,
    /// Fraction of a picosecond, in units of 1/rate.
    remainder: u64,
}

impl Pacer {
    /// Returns when the next packet may start.
    pub(in crate::nic) fn next(&self) -> Time {
        self.next
    }

    /// Delays the next packet at least until `time`.
    pub(in crate::nic) fn hold_until(&mut self, time: Time) {
        self.next = self.next.max(time);
    }

    /// Moves the next packet to `time` and drops the fraction of a picosecond.
    pub(in crate::nic) fn move_to(&mut self, time: Time) {
        *self = Self { next: time, remainder: 0 };
    }

    /// Accounts for a packet of `bytes` on the wire that starts at `now`. The pause until the next
    /// one is rounded down to a multiple of `unit`. A queue pair that waited longer than its rate
    /// requires does not burst afterwards.
    pub(in crate::nic) fn handle_sent(&mut self, now: Time, bytes: u32, rate: BitRate, unit: Span) {
        // The fraction is kept only if this packet starts exactly when the last one planned it. It
        // is in units of 1/rate, so after a change of the rate it is no longer exact, and the
        // minimum keeps it below one picosecond.
        let carried = if now == self.next { self.remainder.min(rate.as_bps() - 1) } else { 0 };
        let numerator = u64::from(bytes) * PS_BITS + carried;
        self.remainder = numerator % rate.as_bps();
        let mut pause = numerator / rate.as_bps();
        if unit.as_ps() > 1 {
            (pause, self.remainder) = (pause - pause % unit.as_ps(), 0);
        }
        self.next = Time::from_ps(now.as_ps() + pause);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_no_picosecond_divides_is_exact_over_time() {
        let rate = BitRate::from_bps(7_000_000_001);
        let (mut pacer, mut now) = (Pacer::default(), Time::ZERO);
        let packets = 1_000_000;
        for _ in 0..packets {
            pacer.handle_sent(now, 1_048, rate, Span::from_ps(1));
            now = pacer.next();
        }
        let exact = u128::from(packets * 1_048u64) * u128::from(PS_BITS) / 7_000_000_001;
        assert_eq!(u128::from(now.as_ps()), exact);
    }

    #[test]
    fn lost_time_is_not_made_up() {
        let rate = BitRate::from_gbps(8);
        let mut pacer = Pacer::default();
        pacer.handle_sent(Time::from_ps(500), 1, rate, Span::from_ps(1));
        assert_eq!(pacer.next(), Time::from_ps(1_500));
    }

    #[test]
    fn pauses_are_rounded_down_to_whole_units() {
        let (mut pacer, unit) = (Pacer::default(), Span::from_ns(1));
        pacer.handle_sent(Time::ZERO, 1_048, BitRate::from_gbps(100), unit);
        assert_eq!(pacer.next(), Time::from_ps(83_000));
        pacer.move_to(Time::from_ps(7));
        assert_eq!(pacer.next(), Time::from_ps(7));
    }

    #[test]
    fn the_remainder_of_a_faster_rate_is_limited_at_a_slower_one() {
        let mut pacer = Pacer::default();
        // 7.992e15 / 7,000,000,001 = 1,141,714.286: nearly two billion units of 1/rate remain.
        pacer.handle_sent(Time::ZERO, 999, BitRate::from_bps(7_000_000_001), Span::from_ps(1));
        assert_eq!(pacer.next(), Time::from_ps(1_141_714));
        pacer.handle_sent(pacer.next(), 1_000, BitRate::from_gbps(1), Span::from_ps(1));
        assert_eq!(pacer.next(), Time::from_ps(1_141_714 + 8_000_000));
    }
}
