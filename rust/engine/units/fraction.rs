//! Exact fractions of whole numbers: probabilities, factors, oversubscription.

use super::UnitError;

/// A non-negative fraction, written as `1/5`, `0.2` or `3` and not reduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fraction {
    numerator: u32,
    denominator: u32,
}

impl Fraction {
    /// The fraction 0.
    pub const ZERO: Self = Self { numerator: 0, denominator: 1 };
    /// The fraction 1.
    pub const ONE: Self = Self { numerator: 1, denominator: 1 };

    /// Returns `numerator / denominator`; `None` if the denominator is zero.
    pub const fn new(numerator: u32, denominator: u32) -> Option<Self> {
        if denominator == 0 { None } else { Some(Self { numerator, denominator }) }
    }

    /// Returns the numerator as written, not reduced.
    pub const fn numerator(self) -> u32 {
        self.numerator
    }

    /// Returns the denominator as written, never zero.
    pub const fn denominator(self) -> u32 {
        self.denominator
    }

    /// Returns this fraction of `whole`, rounded down; `u64::MAX` if the result does not fit 64
    /// bits.
    pub fn of(self, whole: u64) -> u64 {
        // Fast path: a 64-bit division is several times faster than a 128-bit one.
        if let Some(part) = whole.checked_mul(u64::from(self.numerator)) {
            return part / u64::from(self.denominator);
        }
        // The product has at most 96 bits, so only the division rounds.
        let part = u128::from(whole) * u128::from(self.numerator) / u128::from(self.denominator);
        u64::try_from(part).unwrap_or(u64::MAX)
    }

    /// Returns true if `self <= other`.
    pub fn is_at_most(self, other: Self) -> bool {
        let product = |a: u32, b: u32| u64::from(a) * u64::from(b);
        product(self.numerator, other.denominator) <= product(other.numerator, self.denominator)
    }

    /// Returns the nearest floating-point value, for control laws and reports.
    pub fn as_f64(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }
}

impl std::str::FromStr for Fraction {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let invalid = || UnitError::InvalidFraction { text: text.into() };
        let parsed = if let Some((above, below)) = text.split_once('/') {
            let above = above.trim().parse().map_err(|_| invalid())?;
            Self::new(above, below.trim().parse().map_err(|_| invalid())?)
        } else {
            let (whole, decimals) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
            let denominator = u32::try_from(decimals.len()).ok().and_then(|n| 10u32.checked_pow(n));
            let numerator = format!("{whole}{decimals}").parse().map_err(|_| invalid())?;
            Self::new(numerator, denominator.ok_or_else(invalid)?)
        };
        parsed.ok_or_else(invalid)
    }
}

impl std::fmt::Display for Fraction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.numerator, self.denominator)
    }
}

impl serde::Serialize for Fraction {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Fraction {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct TextOrNumber;
        impl serde::de::Visitor<'_> for TextOrNumber {
            type Value = Fraction;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a fraction, for example \"1/5\" or 0.2")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Fraction, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Fraction, E> {
                // The shortest decimal form of this number is what the user typed.
                self.visit_str(&number.to_string())
            }
            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Fraction, E> {
                self.visit_str(&number.to_string())
            }
            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Fraction, E> {
                self.visit_str(&number.to_string())
            }
        }
        from.deserialize_any(TextOrNumber)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_decimals_and_whole_numbers_are_read() {
        let read = |text: &str| text.parse::<Fraction>().unwrap();
        assert_eq!(read("1/5").of(100), 20);
        assert_eq!(read("0.25").of(100), 25);
        assert_eq!(read("2").of(100), 200);
        assert_eq!(read("1/5").to_string(), "1/5");
        for bad in ["1/0", "a/b", "", "-1", "1/2/3", "0.00000000001"] {
            assert!(bad.parse::<Fraction>().is_err(), "{bad}");
        }
    }

    #[test]
    fn numbers_of_a_file_are_the_decimals_that_were_typed() {
        #[derive(serde::Deserialize)]
        struct Section {
            share: Fraction,
        }
        let read = |text: &str| toml::from_str::<Section>(&format!("share = {text}"));
        for (text, expected) in [("0.05", "0.05"), ("0.2", "1/5"), ("2", "2"), ("\"1/3\"", "1/3")] {
            let expected: Fraction = expected.parse().unwrap();
            let share = read(text).unwrap().share;
            assert_eq!(share.of(3_000), expected.of(3_000), "{text}");
        }
        for bad in ["-0.5", "nan", "true", "1e-12"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_product_beyond_64_bits_saturates() {
        let most = Fraction::new(u32::MAX, 1).unwrap();
        assert_eq!((most.of(1 << 31), most.of(1 << 33)), ((1 << 63) - (1 << 31), u64::MAX));
    }
}
