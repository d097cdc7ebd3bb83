//! The discounting rate estimator (DRE) of CONGA, section 3.2. Its register grows with each byte
//! and decays by a factor per period, so it is proportional to the rate of the link.

use super::{BitRate, Fraction, Span, Time};

/// Parameters shared by all estimators of a switch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    period: Span,
    factor: Fraction,
    /// Register of a permanently busy link, in bytes: rate × period / factor.
    full: u64,
}

impl Scale {
    pub(super) fn new(period: Span, factor: Fraction, rate: BitRate) -> Self {
        let bits = u128::from(rate.as_bps()) * u128::from(period.as_ps()) / 1_000_000_000_000;
        let bytes = bits / 8 * u128::from(factor.denominator()) / u128::from(factor.numerator());
        Self { period, factor, full: u64::try_from(bytes).unwrap_or(u64::MAX).max(1) }
    }
}

/// Register of one link.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Estimator {
    bytes: u64,
    /// Number of periods for which the register has decayed.
    periods: u64,
}

impl Estimator {
    /// Returns the register, decayed for every period that has ended by `now`.
    fn at(self, now: Time, scale: &Scale) -> u64 {
        let mut bytes = self.bytes;
        for _ in self.periods..now.as_ps() / scale.period.as_ps() {
            // Reached within a bounded number of periods, however long the link was idle.
            if bytes == 0 {
                break;
            }
            // At least one byte decays, so that the register reaches 0.
            bytes -= scale.factor.of(bytes).max(1);
        }
        bytes
    }

    /// Adds the bytes of a packet.
    pub(super) fn add(&mut self, now: Time, wire_bytes: u16, scale: &Scale) {
        self.bytes = self.at(now, scale) + u64::from(wire_bytes);
        self.periods = now.as_ps() / scale.period.as_ps();
    }

    /// Returns the utilisation of the link in eighths, at most 7 (3 bits).
    #[inline]
    pub(super) fn level(self, now: Time, scale: &Scale) -> u8 {
        let eighths = self.at(now, scale).saturating_mul(8) / scale.full;
        eighths.min(7) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The scale of 400 Gbps, 50 us and 1/5: 12.5 MB in 250 us.
    fn scale() -> Scale {
        let factor = Fraction::new(1, 5).unwrap();
        Scale::new(Span::from_us(50), factor, BitRate::from_gbps(400))
    }

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    #[test]
    fn the_register_loses_a_fifth_per_period() {
        let (scale, mut estimator) = (scale(), Estimator::default());
        assert_eq!(scale.full, 12_500_000);
        for _ in 0..1_000 {
            estimator.add(us(10), 10_000, &scale);
        }
        let at = |time| estimator.at(time, &scale);
        assert_eq!(at(Time::from_ps(49_999_999)), 10_000_000);
        assert_eq!(
            [50, 99, 100, 150].map(|time| at(us(time))),
            [8_000_000, 8_000_000, 6_400_000, 5_120_000]
        );
        assert_eq!(at(us(1_000_000)), 0);
        assert_eq!([10, 50, 100, 150].map(|time| estimator.level(us(time), &scale)), [6, 5, 4, 3]);
    }

    #[test]
    fn the_level_of_steady_traffic_is_its_share_of_the_rate() {
        for (part, eighths) in [(1, 0), (4, 3), (8, 7)] {
            let (scale, mut estimator) = (scale(), Estimator::default());
            // `part` eighths of 400 Gbps: packets of 6,250 bytes take 125 ns each.
            let mut now = Time::ZERO;
            while now < us(3_000) {
                estimator.add(now, 6_250, &scale);
                now += Span::from_ns(125 * 8 / part);
            }
            // The register is above its mean just before the end of a period, and below it just
            // after.
            let level = estimator.level(us(3_000), &scale);
            assert!(level == eighths || level + 1 == eighths, "{part} eighths: {level}");
        }
    }

    #[test]
    fn a_register_that_decays_twice_as_fast_is_full_with_half_of_the_bytes() {
        let full = |tenths| {
            let factor = Fraction::new(tenths, 10).unwrap();
            Scale::new(Span::from_us(50), factor, BitRate::from_gbps(400)).full
        };
        assert_eq!([2, 4, 10].map(full), [12_500_000, 6_250_000, 2_500_000]);
    }
}
