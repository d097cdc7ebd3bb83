//! The text of a scenario, and where in it each key stands.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::scenario::file::ScenarioFile;
use crate::scenario::input::error::{Fault, Place, ScenarioError, nearest};

/// A text that is TOML, and the places of its keys.
#[derive(Debug)]
pub(in crate::scenario) struct Source {
    file: String,
    text: String,
    /// By path (`topology.leaves`, `failure[0].link`): where the key and its value stand.
    places: BTreeMap<String, (Range<usize>, Range<usize>)>,
}

impl Source {
    /// Reads `text`; errors name it `file`.
    pub(in crate::scenario) fn read(text: String, file: String) -> Result<Self, ScenarioError> {
        let mut source = Self { file, text, places: BTreeMap::new() };
        let mut places = BTreeMap::new();
        match DeTable::parse(&source.text) {
            Ok(table) => collect(table.get_ref(), "", &mut places),
            Err(error) => {
                let place = error.span().map_or_else(|| source.whole(), |span| source.at(span));
                let fault = Fault::Syntax { reason: error.message().replace('\n', ", ") };
                return Err(ScenarioError { place: Box::new(place), fault: Box::new(fault) });
            }
        }
        source.places = places;
        Ok(source)
    }

    /// The keys and values as typed.
    pub(in crate::scenario) fn typed(&self) -> Result<ScenarioFile, ScenarioError> {
        self.typed_as()
    }

    /// The same for a file of another kind.
    pub(in crate::scenario) fn typed_as<T: DeserializeOwned>(&self) -> Result<T, ScenarioError> {
        let document = toml::Deserializer::parse(&self.text);
        document.and_then(T::deserialize).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            let key = self.key_at(&span);
            let fault = from_serde(&key, error.message());
            // A key that does not exist is shown itself; otherwise its value is.
            ScenarioError { place: Box::new(self.at(span)), fault: Box::new(fault) }
        })
    }

    /// The keys directly below a section, as full paths.
    pub(in crate::scenario) fn keys_below(&self, section: &str) -> impl Iterator<Item = &str> {
        let prefix = format!("{section}.");
        self.places.keys().filter(move |key| key.starts_with(&prefix)).map(String::as_str)
    }

    /// True if there is such a section or key.
    pub(in crate::scenario) fn has(&self, key: &str) -> bool {
        self.places.contains_key(key)
    }

    /// The line of a key, from 1.
    pub(in crate::scenario) fn line_of(&self, key: &str) -> Option<usize> {
        let (place, _) = self.places.get(key)?;
        Some(self.line_and_column(place.start).0)
    }

    /// What is written as the value of a key.
    pub(in crate::scenario) fn value_text(&self, key: &str) -> Option<&str> {
        let (_, value) = self.places.get(key)?;
        self.text.get(value.clone())
    }

    /// Where the value of a key stands, or the closest section around it.
    pub(in crate::scenario) fn place_of(&self, key: &str) -> Place {
        if let Some((_, value)) = self.places.get(key) {
            return self.at(value.clone());
        }
        let Some((section, _)) = key.rsplit_once('.') else {
            return self.whole();
        };
        // Of a section, its header is shown and not its whole content.
        self.places.get(section).map_or_else(|| self.whole(), |(name, _)| self.at(name.clone()))
    }

    /// Where a key stands, or the closest section around it.
    pub(in crate::scenario) fn place_of_key(&self, key: &str) -> Place {
        let place = self.places.get(key).map(|(name, _)| self.at(name.clone()));
        place.unwrap_or_else(|| self.place_of(key))
    }

    fn whole(&self) -> Place {
        Place::File { file: self.file.clone() }
    }

    fn at(&self, span: Range<usize>) -> Place {
        let start = span.start.min(self.text.len());
        let (line, column) = self.line_and_column(start);
        let text = self.text.lines().nth(line - 1).unwrap_or("").to_owned();
        let rest = text.chars().count().saturating_sub(column - 1);
        let meant = self
            .text
            .get(start..span.end)
            .map_or(1, |meant| meant.lines().next().unwrap_or("").chars().count());
        Place::Line { file: self.file.clone(), line, column, width: meant.min(rest), text }
    }

    fn line_and_column(&self, offset: usize) -> (usize, usize) {
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (line, column)
    }

    /// The innermost key whose name or value `span` is in; empty at the top.
    fn key_at(&self, span: &Range<usize>) -> String {
        let inside = |place: &Range<usize>| place.start <= span.start && span.end <= place.end;
        let mut found = ("", usize::MAX);
        for (key, (name, value)) in &self.places {
            for place in [name, value] {
                if inside(place) && place.len() < found.1 {
                    found = (key, place.len());
                }
            }
        }
        found.0.to_owned()
    }
}

fn collect(
    table: &DeTable<'_>,
    above: &str,
    places: &mut BTreeMap<String, (Range<usize>, Range<usize>)>,
) {
    for (key, value) in table {
        let path = if above.is_empty() {
            key.get_ref().to_string()
        } else {
            format!("{above}.{}", key.get_ref())
        };
        places.insert(path.clone(), (key.span(), value.span()));
        collect_value(value, key.span(), &path, places);
    }
}

fn collect_value(
    value: &Spanned<DeValue<'_>>,
    key: Range<usize>,
    path: &str,
    places: &mut BTreeMap<String, (Range<usize>, Range<usize>)>,
) {
    match value.get_ref() {
        DeValue::Table(table) => collect(table, path, places),
        DeValue::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let path = format!("{path}[{index}]");
                places.insert(path.clone(), (item.span(), item.span()));
                collect_value(item, key.clone(), &path, places);
            }
        }
        _ => {}
    }
}

/// Makes one of our faults of what serde says about a key.
pub(in crate::scenario) fn from_serde(key: &str, message: &str) -> Fault {
    if let Some((unknown, known)) = unknown_name(message, "unknown field ") {
        let section = key.rsplit_once('.').map_or("", |(section, _)| section);
        return unknown_key(section, &unknown, &known);
    }
    if let Some((unknown, known)) = unknown_name(message, "unknown variant ") {
        return Fault::UnknownName {
            key: key.to_owned(),
            what: "value",
            nearest: nearest(&unknown, known.iter().map(String::as_str)),
            name: unknown,
            known: known.join(", "),
        };
    }
    Fault::BadValue { key: key.to_owned(), reason: humanised(message) }
}

/// The fault of a key that its section does not have.
pub(in crate::scenario) fn unknown_key(section: &str, key: &str, known: &[String]) -> Fault {
    let section = if section.is_empty() { "a scenario".into() } else { format!("[{section}]") };
    Fault::UnknownKey {
        section,
        key: key.to_owned(),
        nearest: nearest(key, known.iter().map(String::as_str)),
        known: if known.is_empty() { "no further keys".into() } else { known.join(", ") },
    }
}

/// The unknown name and the known ones, where `message` is serde's about an unknown name: it
/// gives them in backquotes, the unknown one first.
pub(in crate::scenario) fn unknown_name(
    message: &str,
    start: &str,
) -> Option<(String, Vec<String>)> {
    let rest = message.strip_prefix(start)?;
    let mut names = rest.split('`').skip(1).step_by(2).map(str::to_owned);
    Some((names.next()?, names.collect()))
}

/// serde's words for types, as words for people.
fn humanised(message: &str) -> String {
    let message = message.trim().replace('`', "");
    for (word, words) in [
        ("u64", "a whole number from 0 to 9223372036854775807"),
        ("u32", "a whole number from 0 to 4294967295"),
        ("u8", "a whole number from 0 to 255"),
        ("a boolean", "true or false"),
        ("a string", "a text in quotes"),
    ] {
        if let Some(start) = message.strip_suffix(&format!("expected {word}")) {
            return format!("{start}expected {words}");
        }
    }
    message
}
