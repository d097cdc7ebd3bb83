//! Reads a section whose keys depend on its kind: one group of keys at a time, until none is left.

mod keys;

use serde::de::DeserializeOwned;
use toml::{Table, Value as TomlValue};

use super::context::Context;
use super::error::ScenarioError;
use super::located::{Key, Located};
use super::section::{Group, Section, Value};
use super::source::Source;
use crate::balance::Parameters;
use crate::values::{self, Reason};

/// A section whose keys may be partly read.
#[derive(Debug)]
pub struct SectionReader<'s> {
    source: &'s Source,
    key: Key,
    table: Table,
    /// All keys requested so far, which are the known ones.
    known: Vec<&'static str>,
}

/// A kind of a section. Dispatch, messages and the reference are generated from a table of these.
#[derive(Debug)]
pub(crate) struct Kind<S: 'static> {
    pub name: &'static str,
    /// One-line description.
    pub summary: &'static str,
    /// Keys that only this kind has.
    pub groups: &'static [Group],
    pub read: fn(&mut SectionReader<'_>) -> Result<S, ScenarioError>,
}

/// The keys of a kind: one section, or several that are read together.
pub(crate) trait Keys: Sized {
    /// Key groups of the sections.
    const GROUPS: &'static [Group];

    /// Reads the keys.
    ///
    /// # Errors
    /// Fails for a value of the wrong type.
    fn read(reader: &mut SectionReader<'_>) -> Result<Self, ScenarioError>;
}

impl<S: Section> Keys for S {
    const GROUPS: &'static [Group] = &[Group::of::<S>()];

    fn read(reader: &mut SectionReader<'_>) -> Result<Self, ScenarioError> {
        reader.take()
    }
}

impl<S> Kind<S> {
    /// Returns the name, or the description of a placeholder such as `<collective>`.
    fn in_a_sentence(&self) -> String {
        let stands_for = self.name.strip_prefix('<').and_then(|name| name.strip_suffix('>'));
        stands_for.map_or_else(|| self.name.to_owned(), |what| format!("a {what}"))
    }

    /// Returns the names of the kind's own keys.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.groups.iter().flat_map(|group| group.names).copied()
    }
}

impl<'s> SectionReader<'s> {
    /// Reads a whole file.
    pub fn new(source: &'s Source) -> Self {
        Self { source, key: Key::ROOT, table: source.document(), known: Vec::new() }
    }

    /// Returns the key of the section that is being read.
    pub(crate) const fn key(&self) -> &Key {
        &self.key
    }

    /// Returns the context of the section's faults.
    pub(crate) fn context(&self) -> Context<'s> {
        Context::of(self.source)
    }

    /// Reads the keys of `S`.
    pub(crate) fn take<S: Section>(&mut self) -> Result<S, ScenarioError> {
        self.known.extend(S::NAMES);
        self.take_unlisted()
    }

    /// Removes a key that does not apply from the known keys that messages list.
    pub(crate) fn unlist(&mut self, name: &str) {
        self.known.retain(|known| *known != name);
    }

    /// Reads the keys of `S` without listing them in messages, so that they can be rejected.
    pub(crate) fn take_unlisted<S: Section>(&mut self) -> Result<S, ScenarioError> {
        let taken = S::NAMES.iter().filter_map(|name| self.table.remove_entry(*name));
        let table = taken.collect();
        let mut section: S = self.read(&self.key, TomlValue::Table(table))?;
        section.locate(&self.key);
        Ok(section)
    }

    /// Reads the keys of `S`; fails for any other.
    pub(crate) fn take_all<S: Section>(mut self) -> Result<S, ScenarioError> {
        let section = self.take()?;
        self.finish()?;
        Ok(section)
    }

    /// Reads one key, which is `default` if absent.
    pub(crate) fn take_key<T: DeserializeOwned + Value>(
        &mut self,
        name: &'static str,
        default: T,
    ) -> Result<Located<T>, ScenarioError> {
        self.known.push(name);
        let key = self.key.child(name);
        let given = self.table.remove(name).map(|value| self.read(&key, value)).transpose()?;
        let mut value = Located::new(given.unwrap_or(default));
        value.locate(&key);
        Ok(value)
    }

    /// Returns an empty section of that name.
    pub(crate) fn empty(&self, name: &str) -> Self {
        let (source, key) = (self.source, self.key.child(name));
        Self { source, key, table: Table::new(), known: Vec::new() }
    }

    /// Reads the section of that name, or returns an empty one.
    pub fn section_or_empty(&mut self, name: &'static str) -> Result<Self, ScenarioError> {
        Ok(self.section(name)?.unwrap_or_else(|| self.empty(name)))
    }

    /// Reads the section of that name, if present.
    pub(crate) fn section(&mut self, name: &'static str) -> Result<Option<Self>, ScenarioError> {
        self.known.push(name);
        let value = self.table.remove(name);
        value.map(|value| self.below(self.key.child(name), value)).transpose()
    }

    /// Reads the sections of a list, such as `[[failure]]`.
    pub fn sections(&mut self, name: &'static str) -> Result<Vec<Self>, ScenarioError> {
        self.known.push(name);
        let Some(value) = self.table.remove(name) else { return Ok(Vec::new()) };
        let key = self.key.child(name);
        let TomlValue::Array(items) = value else {
            let expected = format!(
                "a list of tables: write [[{key}]], with two pairs of brackets, above each"
            );
            return Err(self.wrong_type(&key, &value, &expected));
        };
        let items = items.into_iter().enumerate();
        items.map(|(index, item)| self.below(key.item(index), item)).collect()
    }

    /// Reads one section, or a list of them.
    pub(crate) fn one_or_more(&mut self, name: &'static str) -> Result<Vec<Self>, ScenarioError> {
        match self.table.get(name) {
            Some(TomlValue::Array(_)) => self.sections(name),
            _ => Ok(self.section(name)?.into_iter().collect()),
        }
    }

    /// Takes all remaining keys, as parameters of a preset.
    pub(crate) fn rest(&mut self) -> Located<Parameters> {
        Located::of(std::mem::take(&mut self.table), self.key.clone())
    }

    /// Fails if a key remains that the section does not have.
    pub fn finish(self) -> Result<(), ScenarioError> {
        self.next().map_or(Ok(()), |key| Err(self.unknown_key(&key, None)))
    }

    /// Fails if a key remains. The message says which of `kinds`, if any, has it.
    pub(crate) fn finish_kind<S>(self, kind: &str, kinds: &[Kind<S>]) -> Result<(), ScenarioError> {
        let Some(wrong) = self.next() else { return Ok(()) };
        let section = &self.key;
        let others = kinds.iter().filter(|other| other.names().any(|name| name == wrong));
        let others: Vec<String> = others.map(Kind::in_a_sentence).collect();
        if others.is_empty() {
            return Err(self.unknown_key(&wrong, Some(kind)));
        }
        let own = self.known.iter().filter(|key| **key != "kind").copied().collect::<Vec<_>>();
        let because = format!(
            "{section}.kind = {kind} takes {}; {wrong} is for kind = {}",
            own.join(", "),
            others.join(", ")
        );
        Err(self.context().misplaced(&section.child(&wrong), because))
    }

    /// Returns the first remaining key.
    fn next(&self) -> Option<String> {
        self.table.keys().next().cloned()
    }

    /// Returns the fault of an unknown key, suggesting a similar one that applies.
    fn unknown_key(&self, name: &str, kind: Option<&str>) -> ScenarioError {
        self.context().unknown_key(&self.key, name, &self.known, kind)
    }

    fn read<T: DeserializeOwned>(&self, key: &Key, value: TomlValue) -> Result<T, ScenarioError> {
        values::read(value).map_err(|error| self.context().unreadable(key, error, &[]))
    }

    /// Returns the section of a key with that value.
    fn below(&self, key: Key, value: TomlValue) -> Result<Self, ScenarioError> {
        let expected = match value.as_str().filter(|_| key.path() == "policy") {
            Some(name) => format!("a table: write [policy] and below it name = {name:?}"),
            None => format!("a table: write {} and its keys below it", key.heading()),
        };
        match values::table(value) {
            Ok(table) => Ok(Self { source: self.source, key, table, known: Vec::new() }),
            Err(Reason::NoTable(found)) => Err(self.context().wrong_type(&key, &found, &expected)),
            Err(reason) => Err(self.context().unreadable(&key, reason.into(), &[])),
        }
    }

    fn wrong_type(&self, key: &Key, value: &TomlValue, expected: &str) -> ScenarioError {
        self.context().wrong_type(key, &values::describe(value), expected)
    }
}
