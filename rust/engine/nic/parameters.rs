//! Parameters of congestion controls and loss recoveries: reading them from scenario keys and
//! checking their ranges.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::balance::Parameters;
use crate::units::{BitRate, Bytes, Fraction, Span};
use crate::values::{self, ValueError};

/// The longest span that a parameter may have: 100,000 s. A sum of a few of them and the time
/// limit then fits into 64 bits of picoseconds.
pub const LONGEST_SPAN: Span = Span::from_ms(100_000_000);

/// The configuration of a congestion control or loss recovery. Each field is a scenario key;
/// unknown keys are rejected.
pub trait Configuration: Copy + Default + Serialize + DeserializeOwned + 'static {
    /// Name in scenarios.
    const NAME: &'static str;
    /// One-line description of its behavior.
    const SUMMARY: &'static str;
    /// Its source: title, year, section.
    const SOURCE: &'static str;
    /// Keys that reported parameters omit where their value is the default of the configuration
    /// and of the preset.
    const OPTIONAL: &'static [&'static str] = &[];

    /// Checks the ranges that the types of the fields do not already guarantee.
    ///
    /// # Errors
    /// Returns the first value that is out of range.
    fn check(&self) -> Result<(), InvalidValue> {
        Ok(())
    }
}

/// A value that is out of range.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{key} = {value} is invalid: {expected}")]
pub struct InvalidValue {
    /// The key of the value.
    pub key: &'static str,
    /// The value as it is written in a scenario.
    pub value: String,
    /// The range that it must be in.
    pub expected: String,
}

/// An error in the given parameters.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParameterError {
    /// An unknown key, or a value of the wrong type.
    #[error("{error}")]
    Malformed {
        /// The key and its error.
        error: ValueError,
        /// Further valid keys that are not fields of the configuration.
        extra_keys: &'static [&'static str],
    },
    /// `preset` is not a string.
    #[error("preset: {value} is not a string; use for example \"{example}\"")]
    PresetType {
        /// The given value as TOML.
        value: String,
        /// An existing preset.
        example: &'static str,
    },
    /// No preset has this name.
    #[error("preset '{name}' is unknown; known presets: {}", known.join(", "))]
    UnknownPreset {
        /// The given name.
        name: String,
        /// All presets of the control.
        known: Vec<&'static str>,
    },
    /// A value that is out of range.
    #[error(transparent)]
    Invalid(#[from] InvalidValue),
}

/// A configured value with all of its parameters, including those left at their defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct Configured<T> {
    /// The configuration; its values are in range.
    pub value: T,
    /// Every key with its value, defaults included. They reproduce the same configuration.
    /// [`Configuration::OPTIONAL`] keys may be omitted.
    pub parameters: Parameters,
}

impl<T> Configured<T> {
    /// Converts the configuration with `make` and keeps the parameters.
    pub(super) fn map<U>(self, make: impl FnOnce(T) -> U) -> Configured<U> {
        Configured { value: make(self.value), parameters: self.parameters }
    }
}

/// Reads a configuration from `given`, with the values of `base` for omitted keys. The last
/// argument lists keys that the caller has already removed from `given`. They only appear in error
/// messages.
pub(super) fn overridden<C: Configuration>(
    base: &C,
    given: &Parameters,
    extra_keys: &'static [&'static str],
) -> Result<Configured<C>, ParameterError> {
    let of_base = table(base);
    let mut all = of_base.clone();
    // Merging tables, not structs, lets `read` report unknown keys and wrong types by name.
    all.extend(given.clone());
    let value: C = values::read(all.into())
        .map_err(|error| ParameterError::Malformed { error, extra_keys })?;
    value.check()?;
    // Serialized from the value that was read: the result has every key in its canonical form.
    let mut parameters = table(&value);
    let defaults = table(&C::default());
    // A preset with another value would replace an omitted default.
    parameters.retain(|key, value| {
        let is_default = |of: &Parameters| of.get(key) == Some(&*value);
        !(C::OPTIONAL.contains(&key) && is_default(&defaults) && is_default(&of_base))
    });
    Ok(Configured { value, parameters })
}

/// Returns every key with its value.
pub(super) fn table<C: Configuration>(config: &C) -> Parameters {
    Parameters::try_from(config).expect("a configuration is a table of plain values")
}

/// Returns an error with the `expected` range unless `holds`.
pub(super) fn require(
    key: &'static str,
    value: impl fmt::Display,
    holds: bool,
    expected: impl Into<String>,
) -> Result<(), InvalidValue> {
    if holds {
        return Ok(());
    }
    Err(InvalidValue { key, value: value.to_string(), expected: expected.into() })
}

/// Requires a timer's span to be above zero and at most [`LONGEST_SPAN`].
pub(super) fn timer(key: &'static str, span: Span) -> Result<(), InvalidValue> {
    // A timer of zero length would expire again and again at the same time.
    require(key, span, span > Span::ZERO, "it must be longer than zero")?;
    require(key, span, span <= LONGEST_SPAN, format!("it must be at most {LONGEST_SPAN}"))
}

/// Requires at least 1 bit per second.
pub(super) fn rate(key: &'static str, rate: BitRate) -> Result<(), InvalidValue> {
    require(key, rate, rate.as_bps() > 0, "it must be at least 1bps")
}

/// Requires at least 1 byte.
pub(super) fn bytes(key: &'static str, bytes: Bytes) -> Result<(), InvalidValue> {
    require(key, bytes, bytes > Bytes::ZERO, "it must be at least 1B")
}

/// Requires a fraction above 0.
pub(super) fn positive(key: &'static str, fraction: Fraction) -> Result<(), InvalidValue> {
    require(key, fraction, fraction.numerator() > 0, "it must be more than 0")
}

/// Requires a fraction of at most 1.
pub(super) fn at_most_one(key: &'static str, fraction: Fraction) -> Result<(), InvalidValue> {
    let holds = fraction.numerator() <= fraction.denominator();
    require(key, fraction, holds, "it must be at most 1, for example '1/5'")
}

/// Requires a fraction above 0 and at most 1.
pub(super) fn positive_at_most_one(
    key: &'static str,
    fraction: Fraction,
) -> Result<(), InvalidValue> {
    positive(key, fraction)?;
    at_most_one(key, fraction)
}

/// Defines a type for the names of a registry. Scenarios read and write it as a string.
macro_rules! registered_name {
    ($(#[$doc:meta])* $name:ident, $names:expr, $default:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name(&'static str);

        impl Default for $name {
            fn default() -> Self {
                Self($default)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(from)?;
                // Keep the registry's own `&'static str`, so that the type is `Copy`.
                match $names.iter().find(|&&name| name == text) {
                    Some(name) => Ok(Self(name)),
                    None => Err(serde::de::Error::unknown_variant(&text, $names)),
                }
            }
        }
    };
}

pub(super) use registered_name;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_value_and_its_valid_range() {
        let half = Fraction::new(1, 2).unwrap();
        let zero = Fraction::new(0, 1).unwrap();
        let double = Fraction::new(2, 1).unwrap();
        assert!(positive_at_most_one("g", half).is_ok() && at_most_one("cut", zero).is_ok());
        assert!(positive("target", double).is_ok() && timer("timer", LONGEST_SPAN).is_ok());
        let message = |result: Result<(), InvalidValue>| result.unwrap_err().to_string();
        assert_eq!(message(positive("g", zero)), "g = 0/1 is invalid: it must be more than 0");
        assert!(
            message(positive_at_most_one("g", double)).ends_with("at most 1, for example '1/5'")
        );
        assert!(message(timer("timer", Span::ZERO)).ends_with("it must be longer than zero"));
        assert!(message(timer("timer", Span::MAX)).contains("it must be at most"));
        assert!(message(rate("min_rate", BitRate::from_bps(0))).ends_with("at least 1bps"));
        assert!(message(bytes("byte_counter", Bytes::ZERO)).ends_with("at least 1B"));
    }
}
