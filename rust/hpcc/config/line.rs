//! A line of `config.txt` and what can be wrong with it.

use thiserror::Error;

use crate::units::{BitRate, Bytes, Fraction, Span, Time, decimal};

/// A fault of a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// A key alone.
    #[error("{file}:{line}: {key} has no value; {right}")]
    Missing {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// The key.
        key: String,
        /// What would be right.
        right: &'static str,
    },
    /// A value that cannot be.
    #[error("{file}:{line}: {key}: '{value}' is wrong; {right}")]
    Value {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// The key.
        key: String,
        /// What was given.
        value: String,
        /// What would be right.
        right: &'static str,
    },
}

/// A key with its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    pub file: &'a str,
    pub line: usize,
    pub key: &'a str,
    pub values: Vec<&'a str>,
}

impl<'a> Entry<'a> {
    /// Every line that holds a key.
    pub(super) fn all(text: &'a str, file: &'a str) -> impl Iterator<Item = Self> {
        (1..).zip(text.lines()).filter_map(move |(line, text)| {
            let comment = text.find(['#', '{']).unwrap_or(text.len());
            let mut tokens = text[..comment].split_whitespace();
            let key = tokens.next()?;
            Some(Self { file, line, key, values: tokens.collect() })
        })
    }

    /// The first value; `right` is what to write where there is none.
    pub(super) fn first(&self, right: &'static str) -> Result<&'a str, ConfigError> {
        self.values.first().copied().ok_or_else(|| ConfigError::Missing {
            file: self.file.to_owned(),
            line: self.line,
            key: self.key.to_owned(),
            right,
        })
    }

    /// The fault of `value`.
    pub(super) fn wrong(&self, value: &str, right: &'static str) -> ConfigError {
        ConfigError::Value {
            file: self.file.to_owned(),
            line: self.line,
            key: self.key.to_owned(),
            value: value.to_owned(),
            right,
        }
    }

    /// The first value by `parse`, which says `None` to what cannot be.
    pub(super) fn parsed<T>(
        &self,
        right: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, ConfigError> {
        let text = self.first(right)?;
        parse(text).ok_or_else(|| self.wrong(text, right))
    }

    /// `n rate value rate value ...`, the rates in bits per second.
    pub(super) fn map<T>(
        &self,
        right: &'static str,
        parse: fn(&str) -> Option<T>,
    ) -> Result<Vec<(BitRate, T)>, ConfigError> {
        let count: Option<usize> = self.first(right)?.parse().ok();
        let tokens = count
            .and_then(|count| count.checked_mul(2))
            .and_then(|count| self.values[1..].get(..count))
            .ok_or_else(|| self.wrong(&self.values.join(" "), right))?;
        let pair = |pair: &[&str]| {
            let rate = decimal(pair[0], 0).map_err(|_| self.wrong(pair[0], right))?;
            let value = parse(pair[1]).ok_or_else(|| self.wrong(pair[1], right))?;
            Ok((BitRate::from_bps(rate), value))
        };
        tokens.chunks_exact(2).map(pair).collect()
    }
}

/// `0` or `1`.
pub(super) fn switch(text: &str) -> Option<bool> {
    match text {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

/// Microseconds, not zero.
pub(super) fn microseconds(text: &str) -> Option<Span> {
    decimal(text, 6).ok().filter(|&ps| ps > 0).map(Span::from_ps)
}

/// Seconds since the start of the simulation.
pub(super) fn instant(text: &str) -> Option<Time> {
    decimal(text, 12).ok().map(Time::from_ps)
}

/// A bit rate; a number alone is bits per second, as in ns-3's `DataRate`.
pub(super) fn rate(text: &str) -> Option<BitRate> {
    decimal(text, 0).ok().map(BitRate::from_bps).or_else(|| text.parse().ok())
}

/// A probability or weight from 0 to 1.
pub(super) fn part(text: &str) -> Option<Fraction> {
    text.parse().ok().filter(|part: &Fraction| part.numerator() <= part.denominator())
}

/// KB of 1000 bytes.
pub(super) fn kilobytes(text: &str) -> Option<Bytes> {
    decimal(text, 3).ok().map(Bytes::new)
}
