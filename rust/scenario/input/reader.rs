//! Reading a section whose keys depend on its kind: group by group, each by serde, until no key is
//! left.

mod keys;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::context::Context;
use super::error::{Fault, ScenarioError, nearest};
use super::located::{Key, Located};
use super::message::{table_expected, without_indices};
use super::section::{Group, KeyDescription, Section, TABLE, Value};
use super::source::Source;
use crate::balance::Parameters;

/// A section, of which some keys may already have been read.
#[derive(Debug)]
pub struct SectionReader<'s> {
    source: &'s Source,
    key: Key,
    table: DeTable<'s>,
    /// The known keys: all that have been requested.
    known: Vec<&'static str>,
}

/// A kind of a section: a line of a table that its dispatch, its messages and the reference of the
/// format are made from.
#[derive(Debug)]
pub(crate) struct Kind<S: 'static> {
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// The keys of its own.
    pub groups: &'static [Group],
    pub read: fn(&mut SectionReader<'_>) -> Result<S, ScenarioError>,
}

impl<S> Kind<S> {
    /// Its name; what it stands for where it stands for several names, as `<collective>` does.
    fn in_a_sentence(&self) -> String {
        let stands_for = self.name.strip_prefix('<').and_then(|name| name.strip_suffix('>'));
        stands_for.map_or_else(|| self.name.to_owned(), |what| format!("a {what}"))
    }

    /// The names of the keys of its own.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.groups.iter().flat_map(|group| group.names).copied()
    }
}

impl<'s> SectionReader<'s> {
    /// All of a file.
    pub fn new(source: &'s Source) -> Self {
        Self { source, key: Key::ROOT, table: source.document(), known: Vec::new() }
    }

    /// The key of the section that is being read.
    pub(crate) const fn key(&self) -> &Key {
        &self.key
    }

    /// The context of its faults.
    pub(crate) fn context(&self) -> Context<'s> {
        Context::of(self.source)
    }

    /// Reads the keys of `S`.
    pub(crate) fn take<S: Section>(&mut self) -> Result<S, ScenarioError> {
        self.known.extend(S::NAMES);
        self.take_unlisted()
    }

    /// Removes a key from the known keys that messages list, because it does not apply.
    pub(crate) fn unlist(&mut self, name: &str) {
        self.known.retain(|known| *known != name);
    }

    /// Reads the keys of `S` without listing them in messages, so that they can be rejected.
    pub(crate) fn take_unlisted<S: Section>(&mut self) -> Result<S, ScenarioError> {
        let mut table = DeTable::new();
        for name in S::NAMES {
            if let Some((key, value)) = self.table.remove_entry(*name) {
                table.insert(key, value);
            }
        }
        let nests = |value: &DeValue<'_>| value.is_array() || value.is_table();
        if table.values().any(|value| nests(value.get_ref())) {
            self.refuse_lists(&table, S::keys(), &self.key)?;
        }
        let mut section: S = self.read(Spanned::new(0..0, DeValue::Table(table)))?;
        section.locate(&self.key);
        Ok(section)
    }

    /// Reads the keys of `S`, and fails for others.
    pub(crate) fn take_all<S: Section>(mut self) -> Result<S, ScenarioError> {
        let section = self.take()?;
        self.finish()?;
        Ok(section)
    }

    /// Reads one key, whose value is `default` if the section does not have it.
    pub(crate) fn take_key<T: DeserializeOwned + Value>(
        &mut self,
        name: &'static str,
        default: T,
    ) -> Result<Located<T>, ScenarioError> {
        self.known.push(name);
        let typed = self.table.remove(name).map(|value| self.read(value)).transpose()?;
        let mut value = Located::new(typed.unwrap_or(default));
        value.locate(&self.key.child(name));
        Ok(value)
    }

    /// The section of that name without any keys.
    pub(crate) fn empty(&self, name: &str) -> Self {
        let (source, key) = (self.source, self.key.child(name));
        Self { source, key, table: DeTable::new(), known: Vec::new() }
    }

    /// The section that a key holds, or one without any keys.
    pub fn section_or_empty(&mut self, name: &'static str) -> Result<Self, ScenarioError> {
        Ok(self.section(name)?.unwrap_or_else(|| self.empty(name)))
    }

    /// The section that a key holds, if it is there.
    pub(crate) fn section(&mut self, name: &'static str) -> Result<Option<Self>, ScenarioError> {
        self.known.push(name);
        let value = self.table.remove(name);
        value.map(|value| self.below(self.key.child(name), value)).transpose()
    }

    /// The sections of a list: `[[failure]]`.
    pub fn sections(&mut self, name: &'static str) -> Result<Vec<Self>, ScenarioError> {
        self.known.push(name);
        let Some(value) = self.table.remove(name) else { return Ok(Vec::new()) };
        let key = self.key.child(name);
        let DeValue::Array(items) = value.get_ref() else {
            let expected = format!(
                "a list of tables: write [[{key}]], with two pairs of brackets, above each"
            );
            return Err(self.wrong_type(key, &value, &expected));
        };
        let items = items.iter().cloned().enumerate();
        items.map(|(index, item)| self.below(key.item(index), item)).collect()
    }

    /// The one section that a key holds, or the sections of a list.
    pub(crate) fn one_or_more(&mut self, name: &'static str) -> Result<Vec<Self>, ScenarioError> {
        match self.table.get(name).map(Spanned::get_ref) {
            Some(DeValue::Array(_)) => self.sections(name),
            _ => Ok(self.section(name)?.into_iter().collect()),
        }
    }

    /// All keys that were not taken yet, as parameters of a preset.
    pub(crate) fn rest(&mut self) -> Result<Located<Parameters>, ScenarioError> {
        let table = std::mem::take(&mut self.table);
        let parameters: Parameters = self.read(Spanned::new(0..0, DeValue::Table(table)))?;
        let mut parameters = Located::new(parameters);
        parameters.locate(&self.key);
        Ok(parameters)
    }

    /// Fails for a remaining key, which the section does not have.
    pub fn finish(self) -> Result<(), ScenarioError> {
        let section = match self.key.path() {
            "" => self.source.subject().name().to_owned(),
            path => format!("[{path}]"),
        };
        self.next().map_or(Ok(()), |key| Err(self.unknown_key(&key, section)))
    }

    /// Fails for a remaining key, which is for another of `kinds` than `kind`, or for none.
    pub(crate) fn finish_kind<S>(self, kind: &str, kinds: &[Kind<S>]) -> Result<(), ScenarioError> {
        let Some(wrong) = self.next() else { return Ok(()) };
        let section = &self.key;
        let others = kinds.iter().filter(|other| other.names().any(|name| name == wrong));
        let others: Vec<String> = others.map(Kind::in_a_sentence).collect();
        if others.is_empty() {
            let section = format!("[{section}] with kind = {kind}");
            return Err(self.unknown_key(&wrong, section));
        }
        let own = self.known.iter().filter(|key| **key != "kind").copied().collect::<Vec<_>>();
        let because = format!(
            "{section}.kind = {kind} takes {}; {wrong} is for kind = {}",
            own.join(", "),
            others.join(", ")
        );
        Err(self.context().misplaced(&section.child(&wrong), because))
    }

    /// The first remaining key.
    fn next(&self) -> Option<String> {
        self.table.keys().next().map(|key| key.get_ref().to_string())
    }

    /// The fault of a key that the section does not have. It suggests a similar key that applies.
    fn unknown_key(&self, name: &str, section: String) -> ScenarioError {
        let nearest = nearest(name, self.known.iter().copied());
        let (key, known) = (name.to_owned(), self.known.join(", "));
        let fault = Fault::UnknownKey { section, key, nearest, known };
        self.context().fault(&self.key.child(name), fault)
    }

    fn read<T: DeserializeOwned>(&self, value: Spanned<DeValue<'_>>) -> Result<T, ScenarioError> {
        T::deserialize(ValueDeserializer::from(value)).map_err(|error| self.source.refusal(&error))
    }

    /// Fails for a list where `keys` have a table: serde reads one as the table's values in order.
    fn refuse_lists(
        &self,
        table: &DeTable<'_>,
        keys: Vec<KeyDescription>,
        above: &Key,
    ) -> Result<(), ScenarioError> {
        for KeyDescription { name, form, .. } in keys {
            let Some(value) = table.get(name) else { continue };
            let key = above.child(name);
            match value.get_ref() {
                _ if form.keys.is_empty() => {}
                DeValue::Table(inner) => self.refuse_lists(inner, form.keys, &key)?,
                DeValue::Array(items) if are_tables(items) => {
                    return Err(self.one_pair(key, value));
                }
                DeValue::Array(_) if form.text == TABLE => {
                    let expected = table_expected(key.path());
                    return Err(self.wrong_type(key, value, &expected));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The fault of `[[name]]` in place of `[name]`.
    fn one_pair(&self, key: Key, value: &Spanned<DeValue<'_>>) -> ScenarioError {
        let name = without_indices(key.path());
        let expected = format!("one table: write [{name}], with one pair of brackets");
        self.wrong_type(key, value, &expected)
    }

    fn below(&self, key: Key, value: Spanned<DeValue<'s>>) -> Result<Self, ScenarioError> {
        let heading = key.heading();
        match value.get_ref() {
            DeValue::Table(table) => {
                let (source, table) = (self.source, table.clone());
                Ok(Self { source, key, table, known: Vec::new() })
            }
            // A list of tables, and a value in place of a table: what to write instead.
            DeValue::Array(items) if are_tables(items) => Err(self.one_pair(key, &value)),
            DeValue::String(text) if key.to_string() == "policy" => {
                let expected = format!("a table: write [policy] and below it name = {text:?}");
                Err(self.wrong_type(key, &value, &expected))
            }
            _ => {
                let expected = format!("a table: write {heading} and its keys below it");
                Err(self.wrong_type(key, &value, &expected))
            }
        }
    }

    fn wrong_type(&self, key: Key, value: &Spanned<DeValue<'_>>, expected: &str) -> ScenarioError {
        let found = match value.get_ref() {
            DeValue::Datetime(_) => "date",
            DeValue::Array(_) => "list",
            other => other.type_str(),
        };
        let reason = format!("invalid type: {found}, expected {expected}");
        let fault = Fault::BadValue { key: key.to_string(), reason };
        self.context().fault(&key, fault)
    }
}

/// Whether a list is what `[[name]]` writes.
fn are_tables(items: &[Spanned<DeValue<'_>>]) -> bool {
    !items.is_empty() && items.iter().all(|item| item.get_ref().is_table())
}
