//! What every section needs to become sound: the text to point into, and the checks they share.

use std::fmt::Display;
use std::path::Path;

use crate::scenario::Overrides;
use crate::scenario::input::error::{Fault, Place, ScenarioError};
use crate::scenario::input::source::Source;
use crate::units::{Bytes, Fraction, Span};

/// No span of a scenario may be longer than this: 100,000 s, so that sums of a few of them and
/// of the time limit stay within 64 bits of picoseconds.
pub(in crate::scenario) const LONGEST_SPAN: Span = Span::from_ms(100_000_000);

/// Nothing on the wire is longer: the length field of a packet has 16 bits.
pub(in crate::scenario) const LONGEST_PACKET: Bytes = Bytes::new(65_535);

/// Where a scenario is from.
#[derive(Debug, Clone, Copy)]
pub(in crate::scenario) struct Context<'a> {
    /// Its text.
    pub source: &'a Source,
    /// What overrides it.
    pub overrides: &'a Overrides,
    /// What paths in it are relative to.
    pub folder: &'a Path,
}

/// Which spans are right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::scenario) enum AtLeast {
    /// Zero is allowed.
    Zero,
    /// Zero makes no sense.
    OnePicosecond,
}

impl Context<'_> {
    /// `fault`, at the place of `key`.
    pub(in crate::scenario) fn fault(&self, key: &str, fault: Fault) -> ScenarioError {
        let overridden = self.is_overridden(key);
        // Where the key itself is wrong, it is shown; otherwise its value is.
        let place = match fault {
            _ if overridden => Place::CommandLine,
            Fault::UnknownKey { .. } | Fault::Misplaced { .. } => self.source.place_of_key(key),
            _ => self.source.place_of(key),
        };
        ScenarioError { place: Box::new(place), fault: Box::new(fault) }
    }

    /// A value that makes no sense; shown as it was typed, or as `value` where it was not.
    pub(in crate::scenario) fn senseless(
        &self,
        key: &str,
        value: impl Display,
        right: impl Into<String>,
    ) -> ScenarioError {
        let (key_text, value) = (key.to_owned(), self.shown(key, value));
        self.fault(key, Fault::Senseless { key: key_text, value, right: right.into() })
    }

    /// A value that makes no sense for what it stands for, which is shown in its place.
    pub(in crate::scenario) fn senseless_as(
        &self,
        key: &str,
        value: String,
        right: String,
    ) -> ScenarioError {
        self.fault(key, Fault::Senseless { key: key.to_owned(), value, right })
    }

    /// The value of `key` as it was typed, or `value` where it was not.
    pub(in crate::scenario) fn shown(&self, key: &str, value: impl Display) -> String {
        match self.source.value_text(key) {
            Some(typed) if !self.is_overridden(key) => typed.trim_matches('"').to_owned(),
            _ => value.to_string(),
        }
    }

    /// True if the command line sets `key`.
    pub(in crate::scenario) fn is_overridden(&self, key: &str) -> bool {
        match key {
            "policy.name" => self.overrides.policy.is_some(),
            "seed" => self.overrides.seed.is_some(),
            _ => false,
        }
    }

    /// A feature that does not exist yet.
    pub(in crate::scenario) fn unavailable(
        &self,
        key: &str,
        value: impl Display,
        available: impl Into<String>,
    ) -> ScenarioError {
        let (key_text, value) = (key.to_owned(), value.to_string());
        self.fault(key, Fault::Unavailable { key: key_text, value, available: available.into() })
    }

    /// A key that is needed and not there.
    pub(in crate::scenario) fn missing(
        &self,
        key: &str,
        because: String,
        example: &str,
    ) -> ScenarioError {
        let example = example.to_owned();
        self.fault(key, Fault::Missing { key: key.to_owned(), because, example })
    }

    /// The text of a file that `key` names, and the file's name for errors.
    pub(in crate::scenario) fn read(
        &self,
        key: &str,
        path: &str,
    ) -> Result<(String, String), ScenarioError> {
        let path = self.folder.join(path);
        let file = path.display().to_string();
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok((text, file)),
            Err(reason) => Err(self.fault(key, Fault::Unreadable { path: file, reason })),
        }
    }

    /// Refuses keys of a section that do not apply to its kind.
    pub(in crate::scenario) fn only(
        &self,
        section: &str,
        kind: &str,
        keys: &[&str],
    ) -> Result<(), ScenarioError> {
        self.only_beside(section, kind, (keys, &[]))
    }

    /// The same; the keys that come second apply to all kinds.
    pub(in crate::scenario) fn only_beside(
        &self,
        section: &str,
        kind: &str,
        (keys, common): (&[&str], &[&str]),
    ) -> Result<(), ScenarioError> {
        for path in self.source.keys_below(section) {
            let key = &path[section.len() + 1..];
            if key == "kind"
                || key.contains(['.', '['])
                || keys.contains(&key)
                || common.contains(&key)
            {
                continue;
            }
            let because = format!("{section}.kind = {kind} takes {}", keys.join(", "));
            return Err(self.fault(path, Fault::Misplaced { key: path.to_owned(), because }));
        }
        Ok(())
    }

    /// `count`, which must not be zero.
    pub(in crate::scenario) fn positive(
        &self,
        key: &str,
        count: u32,
    ) -> Result<u32, ScenarioError> {
        if count == 0 {
            return Err(self.senseless(key, count, "it must be at least 1"));
        }
        Ok(count)
    }

    /// `span`, neither too short nor too long.
    pub(in crate::scenario) fn span(
        &self,
        key: &str,
        span: Span,
        at_least: AtLeast,
    ) -> Result<Span, ScenarioError> {
        if span == Span::ZERO && at_least == AtLeast::OnePicosecond {
            return Err(self.senseless(key, span, "it must be longer than nothing"));
        }
        if span > LONGEST_SPAN {
            return Err(self.senseless(key, span, format!("it must be at most {LONGEST_SPAN}")));
        }
        Ok(span)
    }

    /// `bytes`, at least `least` and at most a packet.
    pub(in crate::scenario) fn wire_bytes(
        &self,
        key: &str,
        bytes: Bytes,
        least: Bytes,
    ) -> Result<Bytes, ScenarioError> {
        if bytes < least || bytes > LONGEST_PACKET {
            let right = format!("it must be from {least} to {}B", LONGEST_PACKET.get());
            return Err(self.senseless(key, bytes, right));
        }
        Ok(bytes)
    }

    /// `fraction`, which must not be more than the whole.
    pub(in crate::scenario) fn part(
        &self,
        key: &str,
        part: Fraction,
    ) -> Result<Fraction, ScenarioError> {
        if part.numerator() > part.denominator() {
            return Err(self.senseless(key, part, "it must be at most 1, for example '1/5'"));
        }
        Ok(part)
    }
}
