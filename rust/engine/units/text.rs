//! Exact parsing of `number unit`: decimals never pass through a floating-point number.

use thiserror::Error;

/// Reason why a text is not a valid quantity.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UnitError {
    /// The text does not start with a number.
    #[error("'{text}' does not start with a number; write for example '{example}'")]
    NoNumber {
        /// The text as given.
        text: String,
        /// A valid text of this quantity: `400Gbps`.
        example: &'static str,
    },
    /// The text is a number without a unit.
    #[error("'{text}' has no unit; write one of {units}, for example '{example}'")]
    NoUnit {
        /// The text as given.
        text: String,
        /// The valid units, separated by commas.
        units: &'static str,
        /// A valid text of this quantity: `400Gbps`.
        example: &'static str,
    },
    /// The unit is not one of this quantity's.
    #[error("unknown unit '{unit}' in '{text}'; {quantity} is written with one of {units}")]
    UnknownUnit {
        /// The text as given.
        text: String,
        /// The part of the text after the number.
        unit: String,
        /// Name of the quantity.
        quantity: &'static str,
        /// The valid units, separated by commas.
        units: &'static str,
    },
    /// The value lies between two representable ones.
    #[error("'{text}' is not a whole number of {smallest}")]
    TooFine {
        /// The text as given.
        text: String,
        /// The smallest unit of the quantity.
        smallest: &'static str,
    },
    /// The value does not fit 64 bits.
    #[error("'{text}' is too large; {quantity} is at most {largest}")]
    TooLarge {
        /// The text as given.
        text: String,
        /// Name of the quantity.
        quantity: &'static str,
        /// The largest value, as text.
        largest: &'static str,
    },
    /// The text is not a fraction.
    #[error("'{text}' is not a fraction; write for example '1/5' or '0.2'")]
    InvalidFraction {
        /// The text as given.
        text: String,
    },
}

/// Name and units of a quantity, for parsing and for messages.
pub(super) struct Quantity {
    /// Name with its article, as in a sentence.
    pub name: &'static str,
    /// Accepted units with their size in the smallest unit.
    pub units: &'static [(&'static str, u64)],
    /// The units that messages list: those of `units` without aliases.
    pub unit_names: &'static str,
    /// The smallest unit in words.
    pub smallest: &'static str,
    pub largest: &'static str,
    pub example: &'static str,
}

impl Quantity {
    /// Parses `text` into a number of the smallest unit.
    pub(super) fn parse(&self, text: &str) -> Result<u64, UnitError> {
        let trimmed = text.trim();
        let split = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_');
        let (number, unit) = trimmed.split_at(split.unwrap_or(trimmed.len()));
        let unit = unit.trim();
        if !number.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(UnitError::NoNumber { text: text.into(), example: self.example });
        }
        if unit.is_empty() {
            return Err(UnitError::NoUnit {
                text: text.into(),
                units: self.unit_names,
                example: self.example,
            });
        }
        let Some(&(_, scale)) = self.units.iter().find(|(name, _)| *name == unit) else {
            return Err(UnitError::UnknownUnit {
                text: text.into(),
                unit: unit.into(),
                quantity: self.name,
                units: self.unit_names,
            });
        };
        self.scaled(text, number, scale)
    }

    /// Returns the decimal `number` times `scale`; `text` is quoted in errors.
    fn scaled(&self, text: &str, number: &str, scale: u64) -> Result<u64, UnitError> {
        let digits = number.replace('_', "");
        let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
        // Trailing zeros would only enlarge the denominator, which has to fit 128 bits.
        let fraction = fraction.trim_end_matches('0');
        let too_large = || UnitError::TooLarge {
            text: text.into(),
            quantity: self.name,
            largest: self.largest,
        };
        let no_number = || UnitError::NoNumber { text: text.into(), example: self.example };
        if fraction.contains('.') {
            return Err(no_number());
        }
        let whole: u128 = whole.parse().map_err(|_| too_large())?;
        let mut value = whole.checked_mul(u128::from(scale)).ok_or_else(too_large)?;
        if !fraction.is_empty() {
            let too_fine = || UnitError::TooFine { text: text.into(), smallest: self.smallest };
            let denominator = u32::try_from(fraction.len())
                .ok()
                .and_then(|places| 10u128.checked_pow(places))
                .ok_or_else(too_fine)?;
            let numerator: u128 = fraction.parse().map_err(|_| no_number())?;
            let scaled = numerator.checked_mul(u128::from(scale)).ok_or_else(too_fine)?;
            if !scaled.is_multiple_of(denominator) {
                return Err(too_fine());
            }
            value = value.checked_add(scaled / denominator).ok_or_else(too_large)?;
        }
        u64::try_from(value).map_err(|_| too_large())
    }
}

/// Prints `value`, in the smallest unit, as a whole number of the largest possible unit.
pub(super) fn print(
    f: &mut std::fmt::Formatter<'_>,
    value: u64,
    units: &[(&str, u64)],
) -> std::fmt::Result {
    let smallest = units.last().map_or("", |(name, _)| name);
    if value == 0 {
        return write!(f, "0{smallest}");
    }
    // The units are in descending order. The printed text is read back as the same value.
    let whole = units.iter().find(|(_, scale)| value.is_multiple_of(*scale));
    let (name, scale) = whole.copied().unwrap_or((smallest, 1));
    write!(f, "{}{name}", value / scale)
}

/// Implements `FromStr`, `Display` and, through text, serde for a quantity newtype.
macro_rules! quantity_text {
    ($type:ty, $quantity:expr, $print_units:expr) => {
        impl std::str::FromStr for $type {
            type Err = $crate::units::UnitError;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $quantity.parse(text).map(Self)
            }
        }
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $crate::units::text::print(f, self.0, $print_units)
            }
        }
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $crate::units::text::from_text(from, $quantity.example)
            }
        }
    };
}
pub(super) use quantity_text;

/// Deserialises a quantity from text. For a bare number, the error shows the expected form.
pub(super) fn from_text<'de, D, T>(from: D, example: &'static str) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: std::str::FromStr<Err = UnitError>,
{
    struct Text<T>(&'static str, std::marker::PhantomData<T>);
    impl<T: std::str::FromStr<Err = UnitError>> serde::de::Visitor<'_> for Text<T> {
        type Value = T;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "a string with its unit, for example \"{}\"", self.0)
        }
        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(E::custom)
        }
    }
    from.deserialize_str(Text(example, std::marker::PhantomData))
}
