//! Text of a scenario, with the position of each key.

use toml::Table;
use toml::de::DeTable;

use super::document::{Collector, Entries, Entry, Rejected, TextRange};
use super::error::{Fault, ScenarioError};
use super::located::Key;
use super::message::syntax_reason;
use super::position::Position;
use super::settings::Setting;

/// Kind of document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A run.
    Scenario,
    /// A set of runs.
    Study,
}

impl Subject {
    /// Returns the name of the document in a sentence.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Scenario => "a scenario",
            Self::Study => "a study",
        }
    }

    /// Returns the hint for JSON input, which is not TOML.
    const fn json_hint(self) -> &'static str {
        match self {
            Self::Scenario => {
                "it is JSON, not TOML; the scenario is in scenario.toml next to summary.json"
            }
            Self::Study => {
                "it is JSON, not TOML; the study is in study.toml next to the results of a sweep"
            }
        }
    }
}

/// A TOML text with the positions of its keys.
#[derive(Debug)]
pub struct Source {
    subject: Subject,
    file: String,
    text: String,
    /// Byte offset at which each line starts.
    lines: Vec<usize>,
    /// Keys set on the command line.
    settings: Vec<Setting>,
    entries: Entries,
    /// Keys and values, including those set on the command line.
    table: Table,
}

impl Source {
    /// Parses the text of a scenario; errors call it `file`.
    pub(crate) fn read(text: String, file: String) -> Result<Self, ScenarioError> {
        Self::of(Subject::Scenario, text, file)
    }

    /// Parses `text`; errors call it `file`.
    ///
    /// # Errors
    /// Fails if the text is not TOML or is too long.
    pub fn of(subject: Subject, text: String, file: String) -> Result<Self, ScenarioError> {
        let starts = text.match_indices('\n').map(|(end, _)| end + 1);
        let lines = std::iter::once(0).chain(starts).collect();
        let (settings, mut entries, table) = (Vec::new(), Entries::new(), Table::new());
        let source = Self { subject, file, text, lines, settings, entries: Entries::new(), table };
        let table = {
            let parsed = DeTable::parse(&source.text).map_err(|error| source.not_toml(&error))?;
            let mut collector = Collector { entries: &mut entries, setting: None };
            let table = collector.table(parsed.get_ref(), &Key::ROOT);
            table.map_err(|rejected| source.error_of(rejected))?
        };
        Ok(Self { entries, table, ..source })
    }

    /// Applies settings from the command line over the file's keys.
    pub(crate) fn with(mut self, settings: &[Setting]) -> Result<Self, ScenarioError> {
        for (index, setting) in settings.iter().enumerate() {
            let set = setting.apply(&mut self.table, &mut self.entries, index);
            set.map_err(|rejected| ScenarioError::new(setting.position(), *rejected.fault))?;
        }
        self.settings = settings.to_vec();
        Ok(self)
    }

    /// Returns its keys and values.
    pub(crate) fn document(&self) -> Table {
        self.table.clone()
    }

    /// Returns the kind of document.
    pub(super) const fn subject(&self) -> Subject {
        self.subject
    }

    /// True if the document has that section or key.
    pub fn has(&self, key: &Key) -> bool {
        self.entries.contains_key(key.path())
    }

    /// Returns a remark if the text has no keys although it should (`expect_keys`).
    pub(crate) fn remarks(&self, expect_keys: bool) -> Vec<String> {
        let empty = || format!("{}: the file has no keys; all values are defaults", self.file);
        Vec::from_iter((expect_keys && self.entries.is_empty()).then(empty))
    }

    /// Returns the line number of a key, from 1.
    pub(crate) fn line_of(&self, path: &str) -> Option<usize> {
        match self.entries.get(path)? {
            Entry::File { name, .. } => Some(self.line_and_column(name.start).0),
            Entry::Set(_) => None,
        }
    }

    /// True if the command line sets the key or a section around it.
    pub(crate) fn is_set(&self, path: &str) -> bool {
        matches!(self.entries.get(path), Some(Entry::Set(_)))
    }

    /// Returns the text of a key's value.
    pub(crate) fn value_text(&self, key: &Key) -> Option<&str> {
        match self.entries.get(key.path())? {
            Entry::File { value, .. } => self.text.get(value.clone()),
            Entry::Set(index) => Some(&self.settings[*index].value),
        }
    }

    /// Returns the position of a key's value, or of the innermost enclosing section.
    pub fn position_of_value(&self, key: &Key) -> Position {
        let path = key.path();
        match self.entries.get(path) {
            Some(Entry::File { value, .. }) => self.at(value),
            Some(Entry::Set(index)) => self.settings[*index].position(),
            // Mark the section's header, not its whole content.
            None => {
                match path.rsplit_once('.').filter(|(above, _)| self.entries.contains_key(*above)) {
                    Some((section, _)) => self.position_of_name(&Key::ROOT.child(section)),
                    None => self.whole(),
                }
            }
        }
    }

    /// Returns the position of a key's name, or of the innermost enclosing section.
    pub(crate) fn position_of_name(&self, key: &Key) -> Position {
        match self.entries.get(key.path()) {
            Some(Entry::File { name, .. }) => self.at(name),
            _ => self.position_of_value(key),
        }
    }

    fn error_of(&self, rejected: Rejected) -> ScenarioError {
        let Rejected { range, fault } = rejected;
        let position = range.map_or_else(|| self.whole(), |range| self.at(&range));
        ScenarioError::new(position, *fault)
    }

    fn not_toml(&self, error: &toml::de::Error) -> ScenarioError {
        let position = error.span().map_or_else(|| self.whole(), |span| self.at(&span));
        let reason = match self.text.trim_start().starts_with('{') {
            true => self.subject.json_hint().to_owned(),
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
        let (line, column) = self.line_and_column(range.start);
        let start = self.lines[line - 1];
        let text = self.text[start..].lines().next().unwrap_or_default().to_owned();
        let within = |offset: usize| offset.saturating_sub(start).min(text.len());
        let marked = within(range.start)..within(range.end);
        Position::Line { file: self.file.clone(), line, column, text, marked }
    }

    fn line_and_column(&self, offset: usize) -> (usize, usize) {
        // An offset inside a character counts as the end of the text.
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let line = self.lines.partition_point(|&start| start <= before.len());
        let column = before[self.lines[line - 1]..].chars().count() + 1;
        (line, column)
    }
}
