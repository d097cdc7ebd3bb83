//! Values of a scenario together with their keys.

use std::fmt;
use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::message::without_indices;

/// A key of a scenario, as its full path: `topology.leaves`, `failure[0].link`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Key {
    path: String,
    overridden: bool,
}

impl Key {
    /// The file itself, root of all keys.
    pub const ROOT: Self = Self { path: String::new(), overridden: false };

    /// Returns the full path including sections; empty for the file itself.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// True if the command line sets the value.
    pub(crate) const fn is_overridden(&self) -> bool {
        self.overridden
    }

    /// Returns the heading of the section: `[run.quick]` for `run[0].quick`, and `[[run]]` for
    /// `run[0]`.
    pub(super) fn heading(&self) -> String {
        let names = without_indices(&self.path);
        if self.path.ends_with(']') { format!("[[{names}]]") } else { format!("[{names}]") }
    }

    /// Returns the child key `name`.
    pub fn child(&self, name: &str) -> Self {
        let dot = if self.path.is_empty() { "" } else { "." };
        Self { path: format!("{}{dot}{name}", self.path), overridden: self.overridden }
    }

    /// Returns the key at `path` below this one: `kmin`, `[0].link`, or empty for the key itself.
    pub(crate) fn below(&self, path: &str) -> Self {
        match path {
            "" => self.clone(),
            item if item.starts_with('[') => {
                Self { path: format!("{}{item}", self.path), overridden: self.overridden }
            }
            name => self.child(name),
        }
    }

    /// Returns the list item at that index.
    pub(crate) fn item(&self, index: usize) -> Self {
        Self { path: format!("{}[{index}]", self.path), overridden: self.overridden }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)
    }
}

/// A value of a scenario with its key, from the file or a default. Comparisons ignore the key.
#[derive(Debug, Clone, Default)]
pub struct Located<T> {
    value: T,
    key: Key,
}

impl<T> Located<T> {
    /// Wraps a value without a key.
    pub const fn new(value: T) -> Self {
        Self { value, key: Key::ROOT }
    }

    /// Wraps a value with its key.
    pub(crate) const fn of(value: T, key: Key) -> Self {
        Self { value, key }
    }

    /// Returns the key of the value.
    pub const fn key(&self) -> &Key {
        &self.key
    }

    /// Returns another value with the same key.
    pub(crate) fn with<U>(&self, value: U) -> Located<U> {
        Located { value, key: self.key.clone() }
    }

    /// Returns a value with the child key `name`.
    pub(crate) fn with_child<U>(&self, name: &str, value: U) -> Located<U> {
        Located { value, key: self.key.child(name) }
    }

    /// Replaces the value with one from the command line.
    pub(crate) fn override_with(&mut self, value: T) {
        self.value = value;
        self.key.overridden = true;
    }

    /// Sets the key, but keeps the mark of an override.
    pub(crate) fn set_key(&mut self, key: &Key) {
        self.key = Key { overridden: self.key.overridden, ..key.clone() };
    }
}

impl<T: Clone> Located<Option<T>> {
    /// Returns the value, if set.
    pub(crate) fn given(&self) -> Option<Located<T>> {
        self.value.as_ref().map(|value| self.with(value.clone()))
    }

    /// Returns the value, setting it to `default` first if it is missing.
    pub(crate) fn fill(&mut self, default: T) -> Located<T> {
        let value = self.value.get_or_insert(default).clone();
        self.with(value)
    }

    /// Replaces a value such as `auto` by what it stands for.
    pub(crate) fn stand_for(&mut self, value: T) {
        self.value = Some(value);
    }
}

impl<T> Deref for Located<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Located<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T> From<T> for Located<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: PartialEq> PartialEq for Located<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Located<T> {}

impl<T: fmt::Display> fmt::Display for Located<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<T: Serialize> Serialize for Located<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(to)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Located<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::deserialize(from).map(Self::from)
    }
}
