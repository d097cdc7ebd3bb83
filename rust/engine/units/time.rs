//! Instants and spans of simulated time, in picoseconds.
//!
//! At any rate from 10 Gbps to 1.6 Tbps a byte takes a whole number of picoseconds, and 64 bits
//! hold 213 days.

use std::ops::{Add, AddAssign, Mul, Sub};

use super::text::{Quantity, quantity_text};

const UNITS: &[(&str, u64)] =
    &[("s", 1_000_000_000_000), ("ms", 1_000_000_000), ("us", 1_000_000), ("ns", 1_000), ("ps", 1)];

const SPAN: Quantity = Quantity {
    name: "a time",
    units: UNITS,
    unit_names: "s, ms, us, ns, ps",
    smallest: "picoseconds",
    largest: "18446744s (213 days)",
    example: "500ns",
};

/// An instant of simulated time: picoseconds since the start of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

/// A length of simulated time, in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// An instant later than every event.
    pub const NEVER: Self = Self(u64::MAX);

    /// Creates the instant `ps` picoseconds after the start.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Returns the picoseconds since the start.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Returns the nanoseconds since the start with decimals, for reports.
    pub fn as_ns_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// Returns the span since `earlier`. Panics if `earlier` is later than this instant.
    pub fn since(self, earlier: Self) -> Span {
        Span(self.0.checked_sub(earlier.0).expect("since() needs an earlier instant"))
    }

    /// Returns this instant plus `span`; [`Time::NEVER`] if the sum does not fit 64 bits.
    pub const fn saturating_add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Span {
    /// The empty span.
    pub const ZERO: Self = Self(0);
    /// The longest representable span.
    pub const MAX: Self = Self(u64::MAX);

    /// Creates a span of `ps` picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Creates a span of `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns * 1_000)
    }

    /// Creates a span of `us` microseconds.
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000_000)
    }

    /// Creates a span of `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms * 1_000_000_000)
    }

    /// Returns the length in picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Returns the length in nanoseconds with decimals, for reports.
    pub fn as_ns_f64(self) -> f64 {
        Time(self.0).as_ns_f64()
    }

    /// Returns this span minus `other`, or zero if `other` is longer.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add<Span> for Time {
    type Output = Self;
    // Without it, the release build keeps this as a call, twice per packet and hop: 8 % of the
    // instructions of a run.
    #[inline(always)]
    fn add(self, span: Span) -> Self {
        Self(self.0.checked_add(span.0).expect("simulated time beyond 213 days"))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.checked_add(other.0).expect("a span beyond 213 days"))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Span {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.checked_sub(other.0).expect("a span is never negative"))
    }
}

impl Mul<u64> for Span {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0.checked_mul(times).expect("a span beyond 213 days"))
    }
}

quantity_text!(Span, SPAN, UNITS);

impl std::fmt::Display for Time {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Span(self.0).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints_units() {
        for (text, ps) in [("1us", 1_000_000), ("0.001ms", 1_000_000), ("1.5 ns", 1_500), ("0s", 0)]
        {
            assert_eq!(text.parse::<Span>().unwrap().as_ps(), ps, "{text}");
        }
        assert_eq!(Span::from_ns(1_500).to_string(), "1500ns");
        assert_eq!(Span::from_ms(2).to_string(), "2ms");
    }

    #[test]
    fn an_invalid_time_names_the_error_and_an_example() {
        let message = |text: &str| text.parse::<Span>().unwrap_err().to_string();
        assert_eq!(
            message("500"),
            "'500' has no unit; write one of s, ms, us, ns, ps, for example '500ns'"
        );
        assert_eq!(
            message("fast"),
            "'fast' does not start with a number; write for example '500ns'"
        );
        assert_eq!(
            message("3 weeks"),
            "unknown unit 'weeks' in '3 weeks'; a time is written with one of s, ms, us, ns, ps"
        );
        assert_eq!(message("0.5ps"), "'0.5ps' is not a whole number of picoseconds");
        assert!(message("99999999999s").contains("too large"));
        assert!(message("-1s").contains("does not start with a number"));
    }
}
