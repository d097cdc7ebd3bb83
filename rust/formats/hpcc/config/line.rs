//! A line of `config.txt`, its errors, and the formats of values.

use thiserror::Error;

use super::keys;
use crate::units::{BitRate, Bytes, Fraction, Span, Time, decimal};

/// An error in a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// A key without a value.
    #[error("{file}:{line}: {key} has no value; expected {expected}")]
    Missing {
        /// Name of the configuration file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// The key that begins the line.
        key: String,
        /// The form of a valid value, with an example.
        expected: &'static str,
    },
    /// The file is not a configuration.
    #[error(
        "{file}: this is a workload of ASTRA-sim 1.0 or SimAI (a policy, here {policy}, the \
         number of layers, and one line per layer), which is not supported; use Chakra traces \
         (kind = \"chakra\"), SimCCL flows (kind = \"simccl\") or kind = \"training\""
    )]
    Workload {
        /// Name of the file.
        file: String,
        /// Its first word.
        policy: String,
    },
    /// A key of ns3-rdma.
    #[error(
        "{file}:{line}: {key} is a key of ns3-rdma, whose flow files (src dst priority packets \
         start_s stop_s) are not supported; write src dst priority dst_port bytes start_s, and \
         remove the line"
    )]
    Parent {
        /// Name of the configuration file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// The key.
        key: String,
    },
    /// An attribute of ns-3 that is not read.
    #[error("{file}:{line}: attribute {key} is not supported; remove the line to run without it")]
    Attribute {
        /// Name of the configuration file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// The attribute.
        key: String,
    },
    /// A value that is malformed or out of range.
    #[error("{file}:{line}: {key}: invalid value '{value}'; expected {expected}")]
    Value {
        /// Name of the configuration file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// The key that begins the line.
        key: String,
        /// The value, as written.
        value: String,
        /// The form of a valid value, with an example.
        expected: &'static str,
    },
}

/// A key with its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// The name of the file in error messages.
    pub(super) file: &'a str,
    /// The line's number, counted from 1.
    pub(super) number: usize,
    pub(super) key: &'a str,
    pub(super) values: Vec<&'a str>,
}

impl<'a> Line<'a> {
    /// Iterates over the lines that hold a key.
    pub(super) fn all(text: &'a str, file: &'a str) -> impl Iterator<Item = Self> {
        (1..).zip(text.lines()).filter_map(move |(number, text)| {
            let comment = text.find(['#', '{']).unwrap_or(text.len());
            let mut tokens = text[..comment].split_whitespace();
            let key = tokens.next()?;
            Some(Self { file, number, key, values: tokens.collect() })
        })
    }

    /// Replaces an ns-3 attribute by the key that it stands for, and its flags by numbers. Returns
    /// other lines unchanged.
    ///
    /// # Errors
    /// [`ConfigError::Attribute`] if the attribute is not read here.
    pub(super) fn without_attribute(self) -> Result<Self, ConfigError> {
        let Some(attribute) = self.key.strip_prefix("ns3::") else { return Ok(self) };
        let key = keys::of_attribute(attribute).ok_or_else(|| ConfigError::Attribute {
            file: self.file.to_owned(),
            line: self.number,
            key: self.key.to_owned(),
        })?;
        let value = |value: &'a str| match value {
            "true" => "1",
            "false" => "0",
            _ => value,
        };
        Ok(Self { key, values: self.values.into_iter().map(value).collect(), ..self })
    }

    /// Returns the first value.
    ///
    /// # Errors
    /// [`ConfigError::Missing`] with `expected` if the key has no value.
    pub(super) fn first(&self, expected: &'static str) -> Result<&'a str, ConfigError> {
        self.values.first().copied().ok_or_else(|| ConfigError::Missing {
            file: self.file.to_owned(),
            line: self.number,
            key: self.key.to_owned(),
            expected,
        })
    }

    /// Returns the error for the invalid `value`.
    pub(super) fn invalid(&self, value: &str, expected: &'static str) -> ConfigError {
        ConfigError::Value {
            file: self.file.to_owned(),
            line: self.number,
            key: self.key.to_owned(),
            value: value.to_owned(),
            expected,
        }
    }

    /// Parses the first value by `parse`, which returns `None` for an invalid one.
    pub(super) fn parsed<T>(
        &self,
        expected: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, ConfigError> {
        let text = self.first(expected)?;
        parse(text).ok_or_else(|| self.invalid(text, expected))
    }

    /// Parses a map of the form `count rate value rate value ...`, the rates in bits per second.
    pub(super) fn map<T>(
        &self,
        expected: &'static str,
        parse: fn(&str) -> Option<T>,
    ) -> Result<Vec<(BitRate, T)>, ConfigError> {
        let count: Option<usize> = self.first(expected)?.parse().ok();
        let tokens = count
            .and_then(|count| count.checked_mul(2))
            .and_then(|count| self.values[1..].get(..count))
            .ok_or_else(|| self.invalid(&self.values.join(" "), expected))?;
        let pair = |pair: &[&str]| {
            let rate = decimal(pair[0], 0).map_err(|_| self.invalid(pair[0], expected))?;
            let value = parse(pair[1]).ok_or_else(|| self.invalid(pair[1], expected))?;
            Ok((BitRate::from_bps(rate), value))
        };
        let pairs = tokens.chunks_exact(2).map(pair).collect::<Result<Vec<_>, _>>()?;
        let is_known = |index: usize| pairs[..index].iter().any(|it| it.0 == pairs[index].0);
        match (0..pairs.len()).find(|&index| is_known(index)) {
            Some(index) => Err(self.invalid(tokens[2 * index], "each rate once")),
            None => Ok(pairs),
        }
    }
}

/// Parses a flag: `0` is false, `1` is true, everything else is invalid.
pub(super) fn flag(text: &str) -> Option<bool> {
    match text {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

/// Parses microseconds, more than 0, with up to 6 decimals.
pub(super) fn microseconds(text: &str) -> Option<Span> {
    decimal(text, 6).ok().filter(|&ps| ps > 0).map(Span::from_ps)
}

/// Parses seconds since the start of the simulation, with up to 12 decimals.
pub(super) fn instant(text: &str) -> Option<Time> {
    decimal(text, 12).ok().map(Time::from_ps)
}

/// Parses a bit rate. A number without a unit is in bits per second, as in ns-3's `DataRate`.
pub(super) fn rate(text: &str) -> Option<BitRate> {
    decimal(text, 0).ok().map(BitRate::from_bps).or_else(|| text.parse().ok())
}

/// Parses a probability or weight from 0 to 1.
pub(super) fn fraction(text: &str) -> Option<Fraction> {
    text.parse().ok().filter(|fraction: &Fraction| fraction.numerator() <= fraction.denominator())
}

/// Parses KB of 1000 bytes.
pub(super) fn kilobytes(text: &str) -> Option<Bytes> {
    decimal(text, 3).ok().map(Bytes::new)
}
