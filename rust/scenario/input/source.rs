//! The text of a scenario, and the position of each key.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Fault, ScenarioError};
use super::located::Key;
use super::message::{fault_of, out_of_range, syntax_reason};
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
        let mut entries = BTreeMap::new();
        let parsed = DeTable::parse(&text)
            .map(|table| collect_table(table.get_ref(), &Key::ROOT, &mut entries));
        let refused = parsed.err();
        let is_too_much = entries.len() > MOST_ENTRIES;
        let starts = text.match_indices('\n').map(|(end, _)| end + 1);
        let lines = std::iter::once(0).chain(starts).collect();
        let (length, set) = (text.len(), Vec::new());
        let source = Self { subject, file, text, length, set, lines, entries };
        refused.map_or(Ok(()), |error| Err(source.not_toml(&error)))?;
        if is_too_much {
            let reason = format!("more than {MOST_ENTRIES} keys and items of lists, the most");
            return Err(ScenarioError::new(source.whole(), Fault::Syntax { reason }));
        }
        Ok(source)
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
        let mut entries = BTreeMap::new();
        collect_table(&self.merged()?, &Key::ROOT, &mut entries);
        self.entries = entries;
        Ok(self)
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
    pub(crate) fn document(&self) -> DeTable<'_> {
        self.merged().expect("keys were set when the text was read")
    }

    /// The fault of a value that serde rejects.
    pub(crate) fn refusal(&self, error: &toml::de::Error) -> ScenarioError {
        let span = error.span().unwrap_or(0..0);
        let text = self.text.get(span.clone()).unwrap_or_default();
        // To serde a date is a map too: the text tells them apart.
        let is_date = DeValue::parse(text).is_ok_and(|it| it.get_ref().is_datetime());
        let found = if is_date { "date" } else { "table" };
        let message = match error.message() {
            "integer number overflowed" => out_of_range(text),
            other => other.replacen(": map,", &format!(": {found},"), 1),
        };
        let fault = fault_of(self.key_at(&span), &message);
        // An unknown key is shown itself; otherwise its value is shown.
        ScenarioError::new(self.at(&span), fault)
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

    /// The innermost key whose name or value `range` is in; empty at the top.
    fn key_at(&self, range: &TextRange) -> &str {
        let inside = |outer: &TextRange| outer.start <= range.start && range.end <= outer.end;
        let mut found = ("", usize::MAX);
        for (path, entry) in &self.entries {
            for outer in [&entry.name, &entry.value] {
                // What the command line sets stands where its sections do, which come first.
                if inside(outer) && outer.len() <= found.1 {
                    found = (path, outer.len());
                }
            }
        }
        found.0
    }
}

fn collect_table(table: &DeTable<'_>, above: &Key, entries: &mut BTreeMap<String, Entry>) {
    for (name, value) in table {
        if entries.len() > MOST_ENTRIES {
            return;
        }
        let key = above.child(name.get_ref());
        let entry = Entry { name: name.span(), value: value.span() };
        entries.insert(key.path().to_owned(), entry);
        collect_value(value, &key, entries);
    }
}

fn collect_value(value: &Spanned<DeValue<'_>>, key: &Key, entries: &mut BTreeMap<String, Entry>) {
    match value.get_ref() {
        DeValue::Table(table) => collect_table(table, key, entries),
        DeValue::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                if entries.len() > MOST_ENTRIES {
                    return;
                }
                let key = key.item(index);
                let entry = Entry { name: item.span(), value: item.span() };
                entries.insert(key.path().to_owned(), entry);
                collect_value(item, &key, entries);
            }
        }
        _ => {}
    }
}
