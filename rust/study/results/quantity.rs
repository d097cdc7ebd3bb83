//! Values of swept keys as numbers with a dimension.

use crate::units::{BitRate, Bytes, Fraction, Span};

/// Dimension of a number, which determines the units that an axis can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dimension {
    /// A number without a unit.
    #[default]
    Number,
    /// A time, in nanoseconds.
    Time,
    /// A size, in bytes.
    Size,
    /// A rate, in bits per second.
    Rate,
    /// A number of packets.
    Packets,
}

/// A number with its dimension.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantity {
    /// Value in the unit of the dimension.
    pub value: f64,
    /// Dimension of the value.
    pub dimension: Dimension,
}

impl Quantity {
    /// Parses `8`, `0.2`, `1/5`, `"16MB"`, `10us` or `400Gbps`; `None` for other texts.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_matches('"');
        let of = |value: f64, dimension| value.is_finite().then_some(Self { value, dimension });
        if let Ok(number) = text.parse::<f64>() {
            return of(number, Dimension::Number);
        }
        if let Ok(size) = text.parse::<Bytes>() {
            return of(size.get() as f64, Dimension::Size);
        }
        if let Ok(span) = text.parse::<Span>() {
            return of(span.as_ns_f64(), Dimension::Time);
        }
        if let Ok(rate) = text.parse::<BitRate>() {
            return of(rate.as_bps() as f64, Dimension::Rate);
        }
        let fraction = text.contains('/').then(|| text.parse::<Fraction>().ok()).flatten()?;
        of(fraction.as_f64(), Dimension::Number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_keys_are_numbers_with_a_dimension() {
        for (text, value, dimension) in [
            ("8", 8.0, Dimension::Number),
            ("\"16MB\"", 16e6, Dimension::Size),
            ("10us", 10_000.0, Dimension::Time),
            ("400Gbps", 4e11, Dimension::Rate),
            ("1/5", 0.2, Dimension::Number),
        ] {
            assert_eq!(Quantity::parse(text), Some(Quantity { value, dimension }), "{text}");
        }
        for text in ["", "never", "ecmp", "104 packets (7B)", "inf"] {
            assert_eq!(Quantity::parse(text), None, "{text}");
        }
    }
}
