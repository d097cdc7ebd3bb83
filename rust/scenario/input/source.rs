//! The text of a scenario, and the position of each key.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

use super::error::{Fault, ScenarioError};
use super::located::Key;
use super::message::{needs_quotes, out_of_range, syntax_reason};
use super::position::Position;
use super::settings::{self, Setting};

/// Bytes of the text.
type TextRange = Range<usize>;

/// The most keys and items of lists of a file: 1,000,000, some 200,000 failures. \[inferred\]
const MOST_ENTRIES: usize = 1_000_000;

/// What a text describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A run.
    Scenario,
    /// A set of runs.
    Study,
}

impl Subject {
    /// The whole text in a sentence.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Scenario => "a scenario",
            Self::Study => "a study",
        }
    }

    /// What is said of JSON in place of TOML.
    const fn of_json(self) -> &'static str {
        match self {
            Self::Scenario => "it is JSON; beside the summary.json of a run is its scenario.toml",
            Self::Study => "it is JSON; beside the results of a sweep is its study.toml",
        }
    }
}

/// The position of a key.
#[derive(Debug, Clone)]
struct Entry {
    name: TextRange,
    value: TextRange,
}

/// A key that the command line sets: where its name and its value stand in the text.
#[derive(Debug)]
struct SetKey {
    name: TextRange,
    value: TextRange,
}

/// A TOML text, and the positions of its keys. Keys that the command line sets follow the text of
/// the file.
#[derive(Debug)]
pub struct Source {
    subject: Subject,
    file: String,
    text: String,
    /// Bytes of the file; what follows is not its.
    length: usize,
    set: Vec<SetKey>,
    /// Where each line starts.
    lines: Vec<usize>,
    /// By path (`topology.leaves`, `failure[0].link`).
    entries: BTreeMap<String, Entry>,
    /// Its keys and values.
    table: Table,
}

impl Source {
    /// Reads the text of a scenario; errors name it `file`.
    pub(crate) fn read(text: String, file: String) -> Result<Self, ScenarioError> {
        Self::of(Subject::Scenario, text, file)
    }

    /// Reads `text`; errors name it `file`.
    ///
    /// # Errors
    /// It is not TOML, or too long.
    pub fn of(subject: Subject, text: String, file: String) -> Result<Self, ScenarioError> {
        let starts = text.match_indices('\n').map(|(end, _)| end + 1);
        let lines = std::iter::once(0).chain(starts).collect();
        let (length, set, entries, table) = (text.len(), Vec::new(), BTreeMap::new(), Table::new());
        let source = Self { subject, file, text, length, set, lines, entries, table };
        let Collected { entries, table } = {
            let parsed = DeTable::parse(&source.text);
            Collected::of(&source, parsed.map_err(|error| source.not_toml(&error))?.get_ref())?
        };
        Ok(Self { entries, table, ..source })
    }

    /// The same with keys that the command line sets in place of the file's.
    pub(crate) fn with(mut self, settings: &[Setting]) -> Result<Self, ScenarioError> {
        for Setting { key, value } in settings {
            let mut add = |text: &str| {
                self.text.push_str(text);
                self.text.len() - text.len()..self.text.len()
            };
            let set = SetKey { name: add(key), value: add(value) };
            self.set.push(set);
        }
        let Collected { entries, table } = Collected::of(&self, &self.merged()?)?;
        Ok(Self { entries, table, ..self })
    }

    /// The keys and values of the file, and those that the command line sets.
    fn merged(&self) -> Result<DeTable<'_>, ScenarioError> {
        let file = DeTable::parse(&self.text[..self.length]);
        let mut table = file.expect("the text was parsed when it was read").into_inner();
        for SetKey { name, value } in &self.set {
            let (key, text) = (&self.text[name.clone()], &self.text[value.clone()]);
            settings::apply(&mut table, key, text, value).map_err(|reason| {
                ScenarioError::new(self.at(value), Fault::BadValue { key: key.to_owned(), reason })
            })?;
        }
        Ok(table)
    }

    /// Its keys and values.
    pub(crate) fn document(&self) -> Table {
        self.table.clone()
    }

    /// What it describes.
    pub(super) const fn subject(&self) -> Subject {
        self.subject
    }

    /// True if the file has such a section or key.
    pub fn has(&self, key: &Key) -> bool {
        self.entries.contains_key(key.path())
    }

    /// What a user should know of the text: that it says nothing, if it should and does not.
    pub(crate) fn remarks(&self, should_speak: bool) -> Vec<String> {
        let empty = || format!("{}: the file has no keys: all are defaults", self.file);
        Vec::from_iter((should_speak && self.entries.is_empty()).then(empty))
    }

    /// The line of the key with that path, from 1.
    pub(crate) fn line_of(&self, path: &str) -> Option<usize> {
        let entry = self.entries.get(path)?;
        (entry.name.start < self.length || self.set.is_empty())
            .then(|| self.line_and_column(entry.name.start).0)
    }

    /// True if the command line sets the key with that path, or a section around it.
    pub(crate) fn is_set(&self, path: &str) -> bool {
        let is_set = |entry: &Entry| self.set.iter().any(|set| set.value == entry.value);
        self.entries.get(path).is_some_and(is_set)
    }

    /// The text of the value of a key.
    pub(crate) fn value_text(&self, key: &Key) -> Option<&str> {
        self.text.get(self.entries.get(key.path())?.value.clone())
    }

    /// The position of a key's value, or of the innermost section around it.
    pub fn position_of_value(&self, key: &Key) -> Position {
        let path = key.path();
        if let Some(entry) = self.entries.get(path) {
            return self.at(&entry.value);
        }
        // Of a section, its header is shown and not its whole content.
        let section = path.rsplit_once('.').and_then(|(section, _)| self.entries.get(section));
        section.map_or_else(|| self.whole(), |section| self.at(&section.name))
    }

    /// The position of a key's name, or of the innermost section around it.
    pub(crate) fn position_of_name(&self, key: &Key) -> Position {
        match self.entries.get(key.path()) {
            Some(entry) => self.at(&entry.name),
            None => self.position_of_value(key),
        }
    }

    fn not_toml(&self, error: &toml::de::Error) -> ScenarioError {
        let position = error.span().map_or_else(|| self.whole(), |span| self.at(&span));
        let reason = match self.text.trim_start().starts_with('{') {
            true => self.subject.of_json().to_owned(),
            false => {
                let span = error.span().unwrap_or_default();
                syntax_reason(error.message(), self.text.get(span).unwrap_or_default())
            }
        };
        ScenarioError::new(position, Fault::Syntax { reason })
    }

    fn whole(&self) -> Position {
        Position::File { file: self.file.clone() }
    }

    fn at(&self, range: &TextRange) -> Position {
        if let Some(set) = self.set.iter().find(|set| set.value == *range) {
            let text = |range: &TextRange| self.text[range.clone()].to_owned();
            return Position::Setting { key: text(&set.name), value: text(&set.value) };
        }
        let start = range.start.min(self.text.len());
        let (line, column) = self.line_and_column(start);
        let text = self.text[self.lines[line - 1]..].lines().next().unwrap_or("").to_owned();
        let rest = text.chars().count().saturating_sub(column - 1);
        let meant = self
            .text
            .get(start..range.end)
            .map_or(1, |meant| meant.lines().next().unwrap_or("").chars().count());
        Position::Line { file: self.file.clone(), line, column, width: meant.min(rest), text }
    }

    fn line_and_column(&self, offset: usize) -> (usize, usize) {
        // An offset within a character is treated as the end of the text.
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let line = self.lines.partition_point(|&start| start <= before.len());
        let column = before[self.lines[line - 1]..].chars().count() + 1;
        (line, column)
    }
}

/// The keys and values of a document, and where they stand.
struct Collected {
    entries: BTreeMap<String, Entry>,
    table: Table,
}

impl Collected {
    /// Of a document whose faults `source` locates.
    fn of(source: &Source, document: &DeTable<'_>) -> Result<Self, ScenarioError> {
        let mut collector = Collector { source, entries: BTreeMap::new() };
        let table = collector.table(document, &Key::ROOT)?;
        Ok(Self { entries: collector.entries, table })
    }
}

/// Collects keys and values while it walks through them.
struct Collector<'s> {
    source: &'s Source,
    entries: BTreeMap<String, Entry>,
}

impl Collector<'_> {
    fn table(&mut self, table: &DeTable<'_>, above: &Key) -> Result<Table, ScenarioError> {
        let values = table.iter().map(|(name, value)| {
            let key = above.child(name.get_ref());
            Ok((name.get_ref().to_string(), self.entry(key, name.span(), value)?))
        });
        values.collect()
    }

    /// The value of a key, or of an item of a list, whose name stands at `name`.
    fn entry(
        &mut self,
        key: Key,
        name: TextRange,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Value, ScenarioError> {
        if self.entries.len() >= MOST_ENTRIES {
            let reason = format!("more than {MOST_ENTRIES} keys and items of lists, the most");
            return Err(ScenarioError::new(self.source.whole(), Fault::Syntax { reason }));
        }
        self.entries.insert(key.path().to_owned(), Entry { name, value: value.span() });
        let plain = match value.get_ref() {
            DeValue::Table(table) => return self.table(table, &key).map(Value::Table),
            DeValue::Array(items) => {
                let items = items.iter().enumerate();
                let items =
                    items.map(|(index, item)| self.entry(key.item(index), item.span(), item));
                return items.collect::<Result<_, _>>().map(Value::Array);
            }
            plain => plain_value(plain, &self.source.text[value.span()]),
        };
        let fault = |reason| Fault::BadValue { key: key.to_string(), reason };
        plain.map_err(|reason| ScenarioError::new(self.source.at(&value.span()), fault(reason)))
    }
}

/// A value without values inside, whose text is `text`.
///
/// # Errors
/// Fails for a number that has a unit, or that TOML has no room for.
fn plain_value(value: &DeValue<'_>, text: &str) -> Result<Value, String> {
    match value {
        number if settings::has_unit(number) => Err(needs_quotes(text)),
        DeValue::String(text) => Ok(Value::String(text.to_string())),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map(Value::Integer)
            .map_err(|_| out_of_range(number)),
        DeValue::Float(number) => match number.as_str().parse::<f64>() {
            Ok(value) if value.is_infinite() && !text.contains("inf") => {
                Err(format!("{text} is too large; the largest number is {:e}", f64::MAX))
            }
            Ok(value) => Ok(Value::Float(value)),
            Err(_) => Err(needs_quotes(text)),
        },
        DeValue::Boolean(value) => Ok(Value::Boolean(*value)),
        DeValue::Datetime(date) => Ok(Value::Datetime(*date)),
        DeValue::Array(_) | DeValue::Table(_) => unreachable!("they have values inside"),
    }
}
