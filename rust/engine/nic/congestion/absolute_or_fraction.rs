//! Parameters given as an absolute quantity or as a fraction of a network property.

use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::units::{BitRate, Bytes, Fraction, Span};

/// An absolute quantity, `"40Mbps"`, or a fraction of a reference, `"1/2500"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AbsoluteOrFraction<T> {
    /// The quantity itself.
    Absolute(T),
    /// Fraction of the reference that the parameter names.
    Fraction(Fraction),
}

impl<T: Copy> AbsoluteOrFraction<T> {
    /// The whole reference.
    pub const WHOLE: Self = Self::Fraction(Fraction::ONE);

    /// The fraction `1 / below`; `below` must be above 0.
    pub(super) fn one_over(below: u32) -> Self {
        Self::Fraction(Fraction::new(1, below).expect("not zero"))
    }

    /// True if it is the whole reference.
    pub fn is_whole(&self) -> bool {
        matches!(self, Self::Fraction(fraction) if *fraction == Fraction::ONE)
    }
}

impl AbsoluteOrFraction<BitRate> {
    /// Returns the rate for the reference `whole`.
    pub(super) fn of(self, whole: BitRate) -> BitRate {
        match self {
            Self::Absolute(rate) => rate,
            Self::Fraction(fraction) => BitRate::from_bps(fraction.of(whole.as_bps())),
        }
    }
}

impl AbsoluteOrFraction<Bytes> {
    /// Returns the bytes for the reference `whole`, at least 1.
    pub fn of(self, whole: Bytes) -> Bytes {
        Bytes::new(match self {
            Self::Absolute(bytes) => bytes.get(),
            Self::Fraction(fraction) => fraction.of(whole.get()),
        })
        // A window of 0 bytes would never let a packet leave.
        .max(Bytes::new(1))
    }
}

impl AbsoluteOrFraction<Span> {
    /// Returns the span for the reference `whole`, at least 1 ns.
    pub fn of(self, whole: Span) -> Span {
        match self {
            Self::Absolute(span) => span,
            Self::Fraction(fraction) => Span::from_ps(fraction.of(whole.as_ps())),
        }
        // HPCC counts time in whole nanoseconds and divides by this span.
        .max(Span::from_ns(1))
    }
}

impl<T: Display> Display for AbsoluteOrFraction<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Absolute(quantity) => quantity.fmt(f),
            Self::Fraction(fraction) => fraction.fmt(f),
        }
    }
}

impl<T: Serialize> Serialize for AbsoluteOrFraction<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Absolute(quantity) => quantity.serialize(to),
            Self::Fraction(fraction) => fraction.serialize(to),
        }
    }
}

impl<'de, T: FromStr<Err: Display>> Deserialize<'de> for AbsoluteOrFraction<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        // Fractions have a slash and no unit, so the two notations cannot be confused.
        if let Ok(fraction) = text.parse() {
            return Ok(Self::Fraction(fraction));
        }
        text.parse().map(Self::Absolute).map_err(|error| {
            serde::de::Error::custom(format!(
                "{error}, or a fraction of the network's value: '1/2'"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_an_absolute_quantity_or_a_fraction() {
        let fraction = AbsoluteOrFraction::<BitRate>::one_over(2_500);
        assert_eq!(fraction.of(BitRate::from_gbps(100)), BitRate::from_bps(40_000_000));
        let given = AbsoluteOrFraction::Absolute(Bytes::new(9));
        assert_eq!((given.of(Bytes::new(1)), given.is_whole()), (Bytes::new(9), false));
        assert_eq!(AbsoluteOrFraction::<Span>::WHOLE.of(Span::from_us(7)), Span::from_us(7));
        assert!(AbsoluteOrFraction::<Span>::WHOLE.is_whole() && !fraction.is_whole());
        let read = |text: &str| {
            AbsoluteOrFraction::<Span>::deserialize(toml::Value::String(text.to_owned()))
        };
        assert_eq!(read("8us"), Ok(AbsoluteOrFraction::Absolute(Span::from_us(8))));
        assert_eq!(read("3/2"), Ok(AbsoluteOrFraction::Fraction(Fraction::new(3, 2).unwrap())));
        assert!(read("soon").unwrap_err().to_string().contains("or a fraction of"));
    }
}
