//! Bit rates and transmission times.

use super::text::{Quantity, quantity_text};
use super::{Bytes, Fraction, Span};

const UNITS: &[(&str, u64)] = &[
    ("Tbps", 1_000_000_000_000),
    ("Gbps", 1_000_000_000),
    ("Mbps", 1_000_000),
    ("Kbps", 1_000),
    ("bps", 1),
];

const RATE: Quantity = Quantity {
    name: "a bit rate",
    units: &[
        ("Tbps", 1_000_000_000_000),
        ("Gbps", 1_000_000_000),
        ("Mbps", 1_000_000),
        ("Kbps", 1_000),
        ("kbps", 1_000),
        ("bps", 1),
        ("Tb/s", 1_000_000_000_000),
        ("Gb/s", 1_000_000_000),
        ("Mb/s", 1_000_000),
        ("Kb/s", 1_000),
        ("b/s", 1),
    ],
    unit_names: "bps, Kbps, Mbps, Gbps, Tbps",
    smallest: "bits per second",
    largest: "18446744Tbps",
    example: "400Gbps",
};

/// Picoseconds per second times bits per byte: `bytes * PS_BITS / bps` is picoseconds.
const PS_BITS: u128 = 8_000_000_000_000;

/// A bit rate, in bits per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct BitRate(u64);

impl BitRate {
    /// The largest rate, faster than any port.
    pub const MAX: Self = Self(u64::MAX);

    /// Creates a rate of `bps` bits per second.
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }

    /// Creates a rate of `gbps` gigabits (10^9 bits) per second.
    pub const fn from_gbps(gbps: u64) -> Self {
        Self(gbps * 1_000_000_000)
    }

    /// Returns the rate in bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Returns the transmission time of `bytes` at this rate, rounded up to the next picosecond.
    ///
    /// Panics if the rate is zero or the time is longer than 213 days.
    pub fn time_for(self, bytes: Bytes) -> Span {
        assert!(self.0 > 0, "nothing is ever sent at a rate of zero");
        // Rounded up, so that no wire exceeds its rate. Amounts below 2.3 MB fit 64-bit arithmetic,
        // whose division is several times faster than that of 128 bits.
        if let Some(bits) = bytes.get().checked_mul(PS_BITS as u64) {
            return Span::from_ps(bits.div_ceil(self.0));
        }
        let ps = (u128::from(bytes.get()) * PS_BITS).div_ceil(u128::from(self.0));
        Span::from_ps(u64::try_from(ps).expect("a transmission beyond 213 days"))
    }

    /// Returns the bytes transmitted in `span` at this rate, rounded down.
    pub fn bytes_in(self, span: Span) -> Bytes {
        let bytes = u128::from(span.as_ps()) * u128::from(self.0) / PS_BITS;
        Bytes::new(u64::try_from(bytes).expect("bytes beyond 64 bits"))
    }

    /// Returns this rate times `fraction`, rounded down.
    pub fn scaled(self, fraction: Fraction) -> Self {
        Self(fraction.of(self.0))
    }
}

quantity_text!(BitRate, RATE, UNITS);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_exact_from_10_gbps_to_1600_gbps() {
        for (gbps, ps) in [(10, 800), (25, 320), (100, 80), (400, 20), (800, 10), (1600, 5)] {
            assert_eq!(BitRate::from_gbps(gbps).time_for(Bytes::new(1)), Span::from_ps(ps));
        }
    }

    #[test]
    fn times_are_rounded_up_and_bytes_down() {
        let odd = BitRate::from_gbps(3);
        assert_eq!(odd.time_for(Bytes::new(1)), Span::from_ps(2_667));
        assert_eq!(odd.bytes_in(Span::from_ps(2_666)), Bytes::ZERO);
        assert_eq!(odd.bytes_in(Span::from_ps(2_667)), Bytes::new(1));
    }

    #[test]
    fn reads_and_prints_units() {
        assert_eq!("100Gbps".parse::<BitRate>().unwrap(), BitRate::from_gbps(100));
        assert_eq!("40Mb/s".parse::<BitRate>().unwrap(), BitRate::from_bps(40_000_000));
        assert_eq!(BitRate::from_gbps(1_600).to_string(), "1600Gbps");
        let error = "400".parse::<BitRate>().unwrap_err().to_string();
        assert!(error.starts_with("'400' has no unit; write one of bps"), "{error}");
    }
}
