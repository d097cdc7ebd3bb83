//! Pacing: when a queue pair may send its next packet.

use crate::units::{BitRate, Time};

/// Bits in a byte times picoseconds in a second.
const PS_BITS: u64 = 8_000_000_000_000;

/// Spaces the packets of one queue pair by its rate. It carries what is less than a picosecond
/// from packet to packet, so that rates are exact over time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pacer {
    next: Time,
    /// Of a picosecond, in units of 1/rate.
    remainder: u64,
}

impl Pacer {
    /// When the next packet may start.
    pub(super) fn next(&self) -> Time {
        self.next
    }

    /// No packet starts before `time`.
    pub(super) fn hold_until(&mut self, time: Time) {
        self.next = self.next.max(time);
    }

    /// A packet of `bytes` on the wire starts at `now`. There is no catching up: a queue pair
    /// that was kept waiting longer than its rate asks for does not burst afterwards.
    pub(super) fn handle_sent(&mut self, now: Time, bytes: u32, rate: BitRate) {
        // The fraction is worth keeping only if this packet starts exactly when the last one
        // planned it. It counts in units of 1/rate: after a change of the rate it is not exact any
        // more, and the minimum keeps it below one picosecond.
        let carried = if now == self.next { self.remainder.min(rate.as_bps() - 1) } else { 0 };
        let numerator = u64::from(bytes) * PS_BITS + carried;
        self.remainder = numerator % rate.as_bps();
        self.next = Time::from_ps(now.as_ps() + numerator / rate.as_bps());
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
            pacer.handle_sent(now, 1_048, rate);
            now = pacer.next();
        }
        let exact = u128::from(packets * 1_048u64) * u128::from(PS_BITS) / 7_000_000_001;
        assert_eq!(u128::from(now.as_ps()), exact);
    }

    #[test]
    fn time_lost_is_not_made_up() {
        let rate = BitRate::from_gbps(8);
        let mut pacer = Pacer::default();
        pacer.handle_sent(Time::from_ps(500), 1, rate);
        assert_eq!(pacer.next(), Time::from_ps(1_500));
    }
}
