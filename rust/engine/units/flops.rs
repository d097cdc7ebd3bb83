//! Computing speeds.

use super::Span;
use super::text::{Quantity, quantity_text};

const UNITS: &[(&str, u64)] = &[
    ("Pflops", 1_000_000_000_000_000),
    ("Tflops", 1_000_000_000_000),
    ("Gflops", 1_000_000_000),
    ("flops", 1),
];

const FLOPS: Quantity = Quantity {
    name: "a computing speed",
    units: &[
        ("Pflops", 1_000_000_000_000_000),
        ("Tflops", 1_000_000_000_000),
        ("Gflops", 1_000_000_000),
        ("flops", 1),
        ("Pflop/s", 1_000_000_000_000_000),
        ("Tflop/s", 1_000_000_000_000),
        ("Gflop/s", 1_000_000_000),
        ("flop/s", 1),
    ],
    unit_names: "flops, Gflops, Tflops, Pflops",
    smallest: "operations per second",
    largest: "18446Pflops",
    example: "400Tflops",
};

/// A computing speed, in floating-point operations per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Flops(u64);

impl Flops {
    /// Creates a speed of `tera` times 10^12 operations per second.
    pub const fn from_tera(tera: u64) -> Self {
        Self(tera * 1_000_000_000_000)
    }

    /// Returns the time that `operations` take, rounded up to the next picosecond. Returns
    /// [`Span::MAX`] if it does not fit or the speed is zero.
    pub fn time_for(self, operations: u128) -> Span {
        let ps = operations
            .checked_mul(1_000_000_000_000)
            // Rounding up, as for transmissions: nothing ends before its work is done.
            .and_then(|scaled| scaled.checked_add(u128::from(self.0).saturating_sub(1)))
            .and_then(|scaled| scaled.checked_div(self.0.into()));
        Span::from_ps(ps.and_then(|ps| u64::try_from(ps).ok()).unwrap_or(u64::MAX))
    }
}

quantity_text!(Flops, FLOPS, UNITS);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_up_and_never_wrap() {
        let flops = Flops::from_tera(400);
        assert_eq!(flops.time_for(400_000_000), Span::from_us(1));
        assert_eq!(flops.time_for(401), Span::from_ps(2));
        assert_eq!(flops.time_for(u128::MAX), Span::from_ps(u64::MAX));
        assert_eq!(Flops(0).time_for(1), Span::from_ps(u64::MAX));
    }

    #[test]
    fn reads_and_prints_units() {
        assert_eq!("0.5Pflops".parse::<Flops>().unwrap().to_string(), "500Tflops");
        assert_eq!("312Tflop/s".parse::<Flops>().unwrap(), Flops::from_tera(312));
        let error = "400".parse::<Flops>().unwrap_err().to_string();
        assert!(error.starts_with("'400' has no unit; write one of flops"), "{error}");
    }
}
