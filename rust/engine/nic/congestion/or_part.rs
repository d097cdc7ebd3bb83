//! Parameters that are written as a quantity, or as a part of what the network has of it.

use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::units::{BitRate, Bytes, Fraction, Span};

/// A quantity, `"40Mbps"`, or a part of another one, `"1/2500"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrPart<T> {
    /// The quantity.
    Given(T),
    /// This part of what its parameter says.
    Part(Fraction),
}

impl<T: Copy> OrPart<T> {
    /// All of it.
    pub const WHOLE: Self = Self::Part(Fraction::ONE);

    /// One part of `below`, which is more than 0.
    pub(super) fn one_of(below: u32) -> Self {
        Self::Part(Fraction::new(1, below).expect("not zero"))
    }

    /// Whether it is all of the other quantity.
    pub fn is_whole(&self) -> bool {
        matches!(self, Self::Part(part) if *part == Fraction::ONE)
    }
}

impl OrPart<BitRate> {
    /// The rate where the other one is `whole`.
    pub(super) fn of(self, whole: BitRate) -> BitRate {
        match self {
            Self::Given(rate) => rate,
            Self::Part(part) => BitRate::from_bps(part.of(whole.as_bps())),
        }
    }
}

impl OrPart<Bytes> {
    /// The bytes where the others are `whole`, at least 1.
    pub fn of(self, whole: Bytes) -> Bytes {
        Bytes::new(match self {
            Self::Given(bytes) => bytes.get(),
            Self::Part(part) => part.of(whole.get()),
        })
        .max(Bytes::new(1))
    }
}

impl OrPart<Span> {
    /// The span where the other one is `whole`, at least 1 ns.
    pub fn of(self, whole: Span) -> Span {
        match self {
            Self::Given(span) => span,
            Self::Part(part) => Span::from_ps(part.of(whole.as_ps())),
        }
        .max(Span::from_ns(1))
    }
}

impl<T: Display> Display for OrPart<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Given(quantity) => quantity.fmt(f),
            Self::Part(part) => part.fmt(f),
        }
    }
}

impl<T: Serialize> Serialize for OrPart<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Given(quantity) => quantity.serialize(to),
            Self::Part(part) => part.serialize(to),
        }
    }
}

impl<'de, T: FromStr<Err: Display>> Deserialize<'de> for OrPart<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        if let Ok(part) = text.parse() {
            return Ok(Self::Part(part));
        }
        text.parse().map(Self::Given).map_err(|error| {
            serde::de::Error::custom(format!("{error}, or a part of what the network has: '1/2'"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantity_or_a_part_of_another_one() {
        let part = OrPart::<BitRate>::one_of(2_500);
        assert_eq!(part.of(BitRate::from_gbps(100)), BitRate::from_bps(40_000_000));
        let given = OrPart::Given(Bytes::new(9));
        assert_eq!((given.of(Bytes::new(1)), given.is_whole()), (Bytes::new(9), false));
        assert_eq!(OrPart::<Span>::WHOLE.of(Span::from_us(7)), Span::from_us(7));
        assert!(OrPart::<Span>::WHOLE.is_whole() && !part.is_whole());
        let read = |text: &str| OrPart::<Span>::deserialize(toml::Value::String(text.to_owned()));
        assert_eq!(read("8us"), Ok(OrPart::Given(Span::from_us(8))));
        assert_eq!(read("3/2"), Ok(OrPart::Part(Fraction::new(3, 2).unwrap())));
        assert!(read("soon").unwrap_err().to_string().contains("or a part of"));
    }
}
