//! Context in which sections are resolved: the text for error positions, and shared checks.

use std::fmt::Display;
use std::path::Path;

use super::error::{Fault, ScenarioError, nearest};
use super::located::{Key, Located};
use super::message::{table_expected, without_indices};
use super::position::Position;
use super::source::Source;
pub(crate) use crate::nic::parameters::LONGEST_SPAN;
use crate::text_file::read_text;
use crate::units::{Bytes, Fraction, Span};
use crate::values::{Reason, ValueError};

/// Longest packet: its length field has 16 bits.
pub(crate) const MAX_PACKET: Bytes = Bytes::new(65_535);

/// Text and folder of a scenario, for errors and for paths.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// Text of the scenario, in which faults are located.
    source: &'a Source,
    /// Folder that paths in the scenario are relative to.
    folder: &'a Path,
}

/// Shortest valid span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtLeast {
    /// Any span, including zero.
    Zero,
    /// Any span longer than zero.
    OnePicosecond,
}

/// A name to look up among known ones.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lookup<'a> {
    /// Kind of name.
    pub what: &'static str,
    pub name: &'a str,
    pub known: &'a [&'a str],
}

impl<'a> Context<'a> {
    /// Returns the context of a text that names no other file.
    pub fn of(source: &'a Source) -> Self {
        Self::in_folder(source, Path::new(""))
    }

    /// Returns the context of a text whose paths are relative to `folder`.
    pub(crate) const fn in_folder(source: &'a Source, folder: &'a Path) -> Self {
        Self { source, folder }
    }

    /// Returns the folder that paths in the scenario are relative to.
    pub(crate) const fn folder(&self) -> &'a Path {
        self.folder
    }
}

/// Faults at a key.
impl Context<'_> {
    /// Returns `fault` at the position of the key.
    pub fn fault(&self, key: &Key, fault: Fault) -> ScenarioError {
        // For an invalid key, the position is that of its name; otherwise of its value.
        let position = match fault {
            _ if key.is_overridden() => Position::CommandLine,
            Fault::UnknownKey { .. } | Fault::Misplaced { .. } => self.source.position_of_name(key),
            _ => self.source.position_of_value(key),
        };
        ScenarioError::new(position, fault)
    }

    /// Returns the fault of an invalid value, shown as written, or as computed if it is a default.
    pub(crate) fn invalid<T: Display>(
        &self,
        value: &Located<T>,
        expected: impl Into<String>,
    ) -> ScenarioError {
        self.invalid_as(value.key(), self.shown(value), expected)
    }

    /// Returns the fault of an invalid value, shown as `value`.
    pub fn invalid_as(
        &self,
        key: &Key,
        value: impl Into<String>,
        expected: impl Into<String>,
    ) -> ScenarioError {
        let (value, expected) = (value.into(), expected.into());
        self.fault(key, Fault::Invalid { key: key.to_string(), value, expected })
    }

    /// Returns a value as written, or as computed if it is a default.
    pub(crate) fn shown<T: Display>(&self, value: &Located<T>) -> String {
        self.as_written(value.key()).unwrap_or_else(|| value.to_string())
    }

    /// Returns the value of a key as written in the file, unless it is overridden.
    pub(crate) fn as_written(&self, key: &Key) -> Option<String> {
        let text = self.source.value_text(key).filter(|_| !key.is_overridden());
        text.map(|text| text.trim_matches('"').to_owned())
    }

    /// Returns a warning about a key's name, prefixed with its position.
    pub(crate) fn warning(&self, key: &Key, warning: &str) -> String {
        format!("{}: {}: {warning}", self.source.position_of_name(key), key.path())
    }

    /// True if the file or an override sets the key.
    pub(crate) fn is_given(&self, key: &Key) -> bool {
        self.source.has(key) || key.is_overridden()
    }

    /// Returns the fault of a key that does not apply.
    pub(crate) fn misplaced(&self, key: &Key, because: impl Into<String>) -> ScenarioError {
        self.fault(key, Fault::Misplaced { key: key.to_string(), because: because.into() })
    }

    /// Returns the fault of a value that this version does not support.
    pub(crate) fn unsupported(
        &self,
        key: &Key,
        value: impl Display,
        supported: impl Into<String>,
    ) -> ScenarioError {
        let (value, supported) = (value.to_string(), supported.into());
        self.fault(key, Fault::Unsupported { key: key.to_string(), value, supported })
    }

    /// Returns the fault of a missing required key.
    pub fn missing(
        &self,
        key: &Key,
        because: impl Into<String>,
        example: impl Into<String>,
    ) -> ScenarioError {
        let (because, example) = (because.into(), example.into());
        self.fault(key, Fault::Missing { key: key.to_string(), because, example })
    }

    /// Returns the fault of an unreadable value at `above` or below it. Its table also has the keys
    /// in `more`.
    pub(crate) fn unreadable(
        &self,
        above: &Key,
        error: ValueError,
        more: &[&str],
    ) -> ScenarioError {
        let key = above.below(&error.path);
        match error.reason {
            Reason::UnknownKey { key: name, known } => {
                self.unknown_key(&key, &name, &[more, known].concat(), None)
            }
            Reason::UnknownName { name, known } => {
                self.unknown(&key, Lookup { what: "value", name: &name, known })
            }
            Reason::NoTable(found) => self.wrong_type(&key, &found, &table_expected(key.path())),
            Reason::Tables => self.one_pair(&key),
            Reason::Invalid(reason) if key.path() == "policy.name" => {
                self.bad_value(&key, format!("{reason}; `evenkeel list policies` lists them"))
            }
            Reason::Invalid(reason) => self.bad_value(&key, reason),
        }
    }

    /// Returns the fault of a value that has the wrong type, lacks its unit or exceeds its range.
    pub(crate) fn bad_value(&self, key: &Key, reason: String) -> ScenarioError {
        self.fault(key, Fault::BadValue { key: key.to_string(), reason })
    }

    /// Returns the fault of a value of type `found` where `expected` is required.
    pub(crate) fn wrong_type(&self, key: &Key, found: &str, expected: &str) -> ScenarioError {
        self.bad_value(key, format!("invalid type: {found}, expected {expected}"))
    }

    /// Returns the fault of a list of tables, `[[name]]`, where one table is expected.
    pub(crate) fn one_pair(&self, key: &Key) -> ScenarioError {
        let name = without_indices(key.path());
        let expected = format!("one table: write [{name}], with one pair of brackets");
        self.wrong_type(key, "list", &expected)
    }

    /// Returns the fault of a key that the section (or its `kind`) does not have.
    pub(crate) fn unknown_key(
        &self,
        section: &Key,
        name: &str,
        known: &[&str],
        kind: Option<&str>,
    ) -> ScenarioError {
        let nearest = nearest(name, known.iter().copied());
        let (key, known) = (name.to_owned(), known.join(", "));
        let title = match (section.path(), kind) {
            ("", _) => self.source.subject().name().to_owned(),
            (path, None) => format!("[{path}]"),
            (path, Some(kind)) => format!("[{path}] with kind = {kind}"),
        };
        let fault = Fault::UnknownKey { section: title, key, nearest, known };
        self.fault(&section.child(name), fault)
    }

    /// Returns the fault of an unknown name at `key`.
    pub(crate) fn unknown(&self, key: &Key, lookup: Lookup<'_>) -> ScenarioError {
        let Lookup { what, name, known } = lookup;
        let nearest = nearest(name, known.iter().copied());
        let (name, known) = (name.to_owned(), known.join(", "));
        self.fault(key, Fault::UnknownName { key: key.to_string(), what, name, nearest, known })
    }
}

/// Readers and checks of values, whose faults point at their keys.
impl Context<'_> {
    /// Reads a file, with its name for errors.
    pub(crate) fn read(&self, path: &Located<String>) -> Result<FileText, ScenarioError> {
        self.path(path)?;
        let whole = self.folder.join(path.as_str());
        let name = whole.display().to_string();
        match read_text(&whole) {
            Ok(text) => Ok(FileText { name, text }),
            Err(reason) => Err(self.fault(path.key(), Fault::Unreadable { path: name, reason })),
        }
    }

    /// Fails for an empty path.
    pub(crate) fn path(&self, path: &Located<String>) -> Result<(), ScenarioError> {
        match path.is_empty() {
            true => Err(self.invalid_as(path.key(), "\"\"", "expected the path of a file")),
            false => Ok(()),
        }
    }

    /// Returns `count`; fails for zero.
    pub(crate) fn positive(&self, count: &Located<u32>) -> Result<u32, ScenarioError> {
        if **count == 0 {
            return Err(self.invalid(count, "it must be at least 1"));
        }
        Ok(**count)
    }

    /// Returns `span`; fails if it is too short or too long.
    pub(crate) fn span(
        &self,
        span: &Located<Span>,
        at_least: AtLeast,
    ) -> Result<Span, ScenarioError> {
        if **span == Span::ZERO && at_least == AtLeast::OnePicosecond {
            return Err(self.invalid(span, "it must be longer than zero"));
        }
        if **span > LONGEST_SPAN {
            return Err(self.invalid(span, format!("it must be at most {LONGEST_SPAN}")));
        }
        Ok(**span)
    }

    /// Fails for a name that is blank or contains characters that break a table row.
    pub(crate) fn name(&self, name: &Located<String>) -> Result<(), ScenarioError> {
        let expected = match name.as_str() {
            blank if blank.trim().is_empty() => "a name must not be blank",
            text if text.contains(char::is_control) => {
                "a name must not have control characters, such as line breaks"
            }
            _ => return Ok(()),
        };
        Err(self.invalid_as(name.key(), format!("{:?}", name.as_str()), expected))
    }

    /// Returns `bytes`; fails unless it is between `least` and the longest packet.
    pub(crate) fn wire_bytes(
        &self,
        bytes: &Located<Bytes>,
        least: Bytes,
    ) -> Result<Bytes, ScenarioError> {
        if **bytes < least || **bytes > MAX_PACKET {
            let expected = format!("it must be from {least} to {}B", MAX_PACKET.get());
            return Err(self.invalid(bytes, expected));
        }
        Ok(**bytes)
    }

    /// Returns `share`; fails if it is above 1.
    pub(crate) fn at_most_one(&self, share: &Located<Fraction>) -> Result<Fraction, ScenarioError> {
        if share.numerator() > share.denominator() {
            return Err(self.invalid(share, "it must be at most 1, for example '1/5'"));
        }
        Ok(**share)
    }
}

/// Content of a file that a scenario names.
#[derive(Debug)]
pub(crate) struct FileText {
    /// Name of the file, for errors.
    pub name: String,
    pub text: String,
}
