//! Parameters of congestion controls and loss recoveries: from the keys that a scenario writes to
//! a configuration, and what can be wrong with them.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::balance::Parameters;
use crate::units::{BitRate, Bytes, Fraction, Span};
use crate::values::{self, ValueError};

/// The longest span that a parameter may have: 100,000 s, so that sums of a few of them and of
/// the time limit stay within 64 bits of picoseconds.
pub const LONGEST_SPAN: Span = Span::from_ms(100_000_000);

/// The configuration of a congestion control or loss recovery: each field is a key of a scenario,
/// and unknown keys are refused.
pub trait Configuration: Copy + Default + Serialize + DeserializeOwned + 'static {
    /// The name that scenarios use.
    const NAME: &'static str;
    /// What it does, in one line.
    const SUMMARY: &'static str;
    /// Where it is from: title, year, section.
    const SOURCE: &'static str;

    /// Checks each value for what its type cannot exclude.
    ///
    /// # Errors
    /// The first value that is out of range.
    fn check(&self) -> Result<(), InvalidValue> {
        Ok(())
    }
}

/// A value that is out of range.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{key} = {value} is invalid: {right}")]
pub struct InvalidValue {
    /// The key that has it.
    pub key: &'static str,
    /// The value, as a scenario writes it.
    pub value: String,
    /// What would be right.
    pub right: String,
}

/// What is wrong with parameters.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParameterError {
    /// An unknown key, or a value of the wrong type.
    #[error("{error}")]
    Malformed {
        /// The key, and what is wrong with it.
        error: ValueError,
        /// Keys that exist beside those of the configuration.
        beside: &'static [&'static str],
    },
    /// `preset` is not a text.
    #[error("preset: {value} is not a name; write for example \"{example}\"")]
    PresetType {
        /// The value that was given, as TOML spells it.
        value: String,
        /// A preset that exists.
        example: &'static str,
    },
    /// No preset has this name.
    #[error("preset '{name}' is unknown; there are {}", known.join(", "))]
    UnknownPreset {
        /// The name that was given.
        name: String,
        /// The names of all presets of the control.
        known: Vec<&'static str>,
    },
    /// A value that is out of range.
    #[error(transparent)]
    Invalid(#[from] InvalidValue),
}

/// What was configured, and all its parameters with their values: those that were left out too.
#[derive(Debug, Clone, PartialEq)]
pub struct Configured<T> {
    /// The configuration, whose values are in range.
    pub value: T,
    /// Every key with its value, defaults included: what configures the same again.
    pub parameters: Parameters,
}

impl<T> Configured<T> {
    /// The same parameters for something made from the configuration.
    pub(super) fn map<U>(self, make: impl FnOnce(T) -> U) -> Configured<U> {
        Configured { value: make(self.value), parameters: self.parameters }
    }
}

/// A configuration with the values of `base` for all keys that `given` leaves out. `beside` are
/// keys that the caller has taken out of `given`.
pub(super) fn overridden<C: Configuration>(
    base: &C,
    given: &Parameters,
    beside: &'static [&'static str],
) -> Result<Configured<C>, ParameterError> {
    let table = |config: &C| {
        Parameters::try_from(config).expect("a configuration is a table of plain values")
    };
    let mut all = table(base);
    all.extend(given.clone());
    let value: C =
        values::read(all.into()).map_err(|error| ParameterError::Malformed { error, beside })?;
    value.check()?;
    Ok(Configured { value, parameters: table(&value) })
}

/// Refuses `value` if it is not `right`.
pub(super) fn require(
    key: &'static str,
    value: impl fmt::Display,
    holds: bool,
    right: impl Into<String>,
) -> Result<(), InvalidValue> {
    if holds {
        return Ok(());
    }
    Err(InvalidValue { key, value: value.to_string(), right: right.into() })
}

/// A span that a timer runs for: longer than zero, at most [`LONGEST_SPAN`].
pub(super) fn timer(key: &'static str, span: Span) -> Result<(), InvalidValue> {
    require(key, span, span > Span::ZERO, "it must be longer than zero")?;
    require(key, span, span <= LONGEST_SPAN, format!("it must be at most {LONGEST_SPAN}"))
}

/// At least 1 bit per second.
pub(super) fn rate(key: &'static str, rate: BitRate) -> Result<(), InvalidValue> {
    require(key, rate, rate.as_bps() > 0, "it must be at least 1bps")
}

/// At least 1 byte.
pub(super) fn bytes(key: &'static str, bytes: Bytes) -> Result<(), InvalidValue> {
    require(key, bytes, bytes > Bytes::ZERO, "it must be at least 1B")
}

/// Refuses a fraction of 0.
pub(super) fn positive(key: &'static str, fraction: Fraction) -> Result<(), InvalidValue> {
    require(key, fraction, fraction.numerator() > 0, "it must be more than 0")
}

/// Refuses a fraction above 1.
pub(super) fn part(key: &'static str, part: Fraction) -> Result<(), InvalidValue> {
    let holds = part.numerator() <= part.denominator();
    require(key, part, holds, "it must be at most 1, for example '1/5'")
}

/// More than 0 and at most 1.
pub(super) fn positive_part(key: &'static str, fraction: Fraction) -> Result<(), InvalidValue> {
    positive(key, fraction)?;
    part(key, fraction)
}

/// Defines a type for the names of a registry, which scenarios read and write as a text.
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
    fn values_out_of_range_are_named_with_what_would_be_right() {
        let half = Fraction::new(1, 2).unwrap();
        let zero = Fraction::new(0, 1).unwrap();
        let double = Fraction::new(2, 1).unwrap();
        assert!(positive_part("g", half).is_ok() && part("cut", zero).is_ok());
        assert!(positive("target", double).is_ok() && timer("timer", LONGEST_SPAN).is_ok());
        let said = |result: Result<(), InvalidValue>| result.unwrap_err().to_string();
        assert_eq!(said(positive("g", zero)), "g = 0/1 is invalid: it must be more than 0");
        assert!(said(positive_part("g", double)).ends_with("at most 1, for example '1/5'"));
        assert!(said(timer("timer", Span::ZERO)).ends_with("it must be longer than zero"));
        assert!(said(timer("timer", Span::MAX)).contains("it must be at most"));
        assert!(said(rate("min_rate", BitRate::from_bps(0))).ends_with("at least 1bps"));
        assert!(said(bytes("byte_counter", Bytes::ZERO)).ends_with("at least 1B"));
    }
}
