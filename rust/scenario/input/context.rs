//! The context of every section's resolution: the text for error positions, and the checks that
//! sections share.

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

/// The longest packet: its length field has 16 bits.
pub(crate) const LONGEST_PACKET: Bytes = Bytes::new(65_535);

/// The origin of a scenario.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The text of the scenario, in which faults are located.
    source: &'a Source,
    /// The folder to which paths in it are relative.
    folder: &'a Path,
}

/// The shortest span that is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtLeast {
    /// Any span, zero included.
    Zero,
    /// Any span longer than zero.
    OnePicosecond,
}

/// A name that was looked up among those that are known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lookup<'a> {
    /// The kind of name.
    pub what: &'static str,
    pub name: &'a str,
    pub known: &'a [&'a str],
}

impl<'a> Context<'a> {
    /// The context of a text that names no other file.
    pub fn of(source: &'a Source) -> Self {
        Self::in_folder(source, Path::new(""))
    }

    /// The context of a text whose paths are relative to `folder`.
    pub(crate) const fn in_folder(source: &'a Source, folder: &'a Path) -> Self {
        Self { source, folder }
    }

    /// The folder to which paths in the scenario are relative.
    pub(crate) const fn folder(&self) -> &'a Path {
        self.folder
    }
}

/// Faults at a key.
impl Context<'_> {
    /// `fault` at the position of the key.
    pub fn fault(&self, key: &Key, fault: Fault) -> ScenarioError {
        // An invalid key is shown itself; otherwise its value is shown.
        let position = match fault {
            _ if key.is_overridden() => Position::CommandLine,
            Fault::UnknownKey { .. } | Fault::Misplaced { .. } => self.source.position_of_name(key),
            _ => self.source.position_of_value(key),
        };
        ScenarioError::new(position, fault)
    }

    /// An invalid value; shown as written, or as computed if it is a default.
    pub(crate) fn invalid<T: Display>(
        &self,
        value: &Located<T>,
        expected: impl Into<String>,
    ) -> ScenarioError {
        self.invalid_as(value.key(), self.shown(value), expected)
    }

    /// An invalid value, shown as `value`.
    pub fn invalid_as(
        &self,
        key: &Key,
        value: impl Into<String>,
        expected: impl Into<String>,
    ) -> ScenarioError {
        let (value, expected) = (value.into(), expected.into());
        self.fault(key, Fault::Invalid { key: key.to_string(), value, expected })
    }

    /// A value as written, or as computed if it is a default.
    pub(crate) fn shown<T: Display>(&self, value: &Located<T>) -> String {
        self.typed(value.key()).unwrap_or_else(|| value.to_string())
    }

    /// The value of a key in the file, unless it is overridden.
    pub(crate) fn typed(&self, key: &Key) -> Option<String> {
        let typed = self.source.value_text(key).filter(|_| !key.is_overridden());
        typed.map(|typed| typed.trim_matches('"').to_owned())
    }

    /// A warning about the name of a key, after its place.
    pub(crate) fn warning(&self, key: &Key, warning: &str) -> String {
        format!("{}: {}: {warning}", self.source.position_of_name(key), key.path())
    }

    /// Whether the file or an override gives a value for a key.
    pub(crate) fn is_given(&self, key: &Key) -> bool {
        self.source.has(key) || key.is_overridden()
    }

    /// A key that does not apply.
    pub(crate) fn misplaced(&self, key: &Key, because: impl Into<String>) -> ScenarioError {
        self.fault(key, Fault::Misplaced { key: key.to_string(), because: because.into() })
    }

    /// A value that this version does not support.
    pub(crate) fn unsupported(
        &self,
        key: &Key,
        value: impl Display,
        supported: impl Into<String>,
    ) -> ScenarioError {
        let (value, supported) = (value.to_string(), supported.into());
        self.fault(key, Fault::Unsupported { key: key.to_string(), value, supported })
    }

    /// A required key that is missing.
    pub fn missing(
        &self,
        key: &Key,
        because: impl Into<String>,
        example: impl Into<String>,
    ) -> ScenarioError {
        let (because, example) = (because.into(), example.into());
        self.fault(key, Fault::Missing { key: key.to_string(), because, example })
    }

    /// A value at `above` or below it that cannot be read. Its table also has the keys of `more`.
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

    /// A value of the wrong type, without its unit, or beyond its type.
    pub(crate) fn bad_value(&self, key: &Key, reason: String) -> ScenarioError {
        self.fault(key, Fault::BadValue { key: key.to_string(), reason })
    }

    /// A value of the wrong type: `found`, where something else is expected.
    pub(crate) fn wrong_type(&self, key: &Key, found: &str, expected: &str) -> ScenarioError {
        self.bad_value(key, format!("invalid type: {found}, expected {expected}"))
    }

    /// A list of tables, `[[name]]`, where one table is expected.
    pub(crate) fn one_pair(&self, key: &Key) -> ScenarioError {
        let name = without_indices(key.path());
        let expected = format!("one table: write [{name}], with one pair of brackets");
        self.wrong_type(key, "list", &expected)
    }

    /// A key that its section, of that kind if any, does not have.
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

    /// A fault at `key`: a name that is not among the known ones.
    pub(crate) fn unknown(&self, key: &Key, lookup: Lookup<'_>) -> ScenarioError {
        let Lookup { what, name, known } = lookup;
        let nearest = nearest(name, known.iter().copied());
        let (name, known) = (name.to_owned(), known.join(", "));
        self.fault(key, Fault::UnknownName { key: key.to_string(), what, name, nearest, known })
    }
}

/// Reads and checks of values, whose faults point at their keys.
impl Context<'_> {
    /// The text of a file, and the file's name for errors.
    pub(crate) fn read(&self, path: &Located<String>) -> Result<FileText, ScenarioError> {
        self.path(path)?;
        let whole = self.folder.join(path.as_str());
        let name = whole.display().to_string();
        match read_text(&whole) {
            Ok(text) => Ok(FileText { name, text }),
            Err(reason) => Err(self.fault(path.key(), Fault::Unreadable { path: name, reason })),
        }
    }

    /// Fails for a path that names nothing.
    pub(crate) fn path(&self, path: &Located<String>) -> Result<(), ScenarioError> {
        match path.is_empty() {
            true => Err(self.invalid_as(path.key(), "\"\"", "expected the path of a file")),
            false => Ok(()),
        }
    }

    /// `count`, which must not be zero.
    pub(crate) fn positive(&self, count: &Located<u32>) -> Result<u32, ScenarioError> {
        if **count == 0 {
            return Err(self.invalid(count, "it must be at least 1"));
        }
        Ok(**count)
    }

    /// `span`, neither too short nor too long.
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

    /// `name`, which must not be blank, nor have characters that break a line of a table.
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

    /// `bytes`, at least `least` and at most a packet.
    pub(crate) fn wire_bytes(
        &self,
        bytes: &Located<Bytes>,
        least: Bytes,
    ) -> Result<Bytes, ScenarioError> {
        if **bytes < least || **bytes > LONGEST_PACKET {
            let expected = format!("it must be from {least} to {}B", LONGEST_PACKET.get());
            return Err(self.invalid(bytes, expected));
        }
        Ok(**bytes)
    }

    /// `share`, which must not be more than the whole.
    pub(crate) fn at_most_one(&self, share: &Located<Fraction>) -> Result<Fraction, ScenarioError> {
        if share.numerator() > share.denominator() {
            return Err(self.invalid(share, "it must be at most 1, for example '1/5'"));
        }
        Ok(**share)
    }
}

/// The content of a file that a scenario names.
#[derive(Debug)]
pub(crate) struct FileText {
    /// The file, for errors.
    pub name: String,
    pub text: String,
}
