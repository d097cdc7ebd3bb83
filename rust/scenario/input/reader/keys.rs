//! Reads undeclared keys one by one, for files other than scenarios.

use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::SectionReader;
use crate::input::error::ScenarioError;
use crate::input::located::Key;

impl SectionReader<'_> {
    /// Reads a key, if the section has it.
    ///
    /// # Errors
    /// Fails if the value has another type.
    pub fn optional<T: DeserializeOwned>(
        &mut self,
        name: &'static str,
    ) -> Result<Option<T>, ScenarioError> {
        let Some((key, value)) = self.value(name) else { return Ok(None) };
        self.read(&key, value).map(Some)
    }

    /// Reads a key that has no default.
    ///
    /// # Errors
    /// Fails if the key is missing or has another type.
    pub fn required<T: DeserializeOwned>(
        &mut self,
        name: &'static str,
        example: &str,
    ) -> Result<T, ScenarioError> {
        let value = self.optional(name)?;
        value.ok_or_else(|| self.without_default(name, example))
    }

    /// Returns the fault of a missing key that has no default.
    pub fn without_default(&self, name: &str, example: &str) -> ScenarioError {
        self.context().missing(&self.key().child(name), "it has no default", example)
    }

    /// Reads a key whose value is a number or text.
    ///
    /// # Errors
    /// Fails for any other type.
    pub fn number_or_text(&mut self, name: &'static str) -> Result<Option<Value>, ScenarioError> {
        match self.value(name) {
            Some((_, value @ (Value::Integer(_) | Value::Float(_) | Value::String(_)))) => {
                Ok(Some(value))
            }
            Some((key, other)) => {
                Err(self.wrong_type(&key, &other, "a number, or a quoted string"))
            }
            None => Ok(None),
        }
    }

    /// Reads a key whose value is a list.
    ///
    /// # Errors
    /// Fails if it is not a list.
    pub fn list(&mut self, name: &'static str) -> Result<Option<Vec<Value>>, ScenarioError> {
        match self.value(name) {
            Some((_, Value::Array(items))) => Ok(Some(items)),
            Some((key, other)) => Err(self.wrong_type(&key, &other, "a list: [ ... ]")),
            None => Ok(None),
        }
    }

    /// Reads a key whose value is a table with arbitrary keys.
    ///
    /// # Errors
    /// Fails if it is not a table.
    pub fn table(&mut self, name: &'static str) -> Result<Option<Table>, ScenarioError> {
        let Some((key, value)) = self.value(name) else { return Ok(None) };
        self.any_table(&key, value, &format!("a table: {name} = {{ ... }}")).map(Some)
    }

    /// Reads a key whose value is a list of tables with arbitrary keys.
    ///
    /// # Errors
    /// Fails if it is not a list of tables.
    pub fn tables(&mut self, name: &'static str) -> Result<Option<Vec<Table>>, ScenarioError> {
        let Some((key, value)) = self.value(name) else { return Ok(None) };
        let Value::Array(items) = value else {
            let expected = format!("a list of tables: {name} = [{{ ... }}, {{ ... }}]");
            return Err(self.wrong_type(&key, &value, &expected));
        };
        let items = items.into_iter().enumerate();
        let tables =
            items.map(|(index, item)| self.any_table(&key.item(index), item, "a table: { ... }"));
        tables.collect::<Result<_, _>>().map(Some)
    }

    fn value(&mut self, name: &'static str) -> Option<(Key, Value)> {
        self.known.push(name);
        self.table.remove(name).map(|value| (self.key().child(name), value))
    }

    fn any_table(&self, key: &Key, value: Value, expected: &str) -> Result<Table, ScenarioError> {
        match value {
            Value::Table(table) => Ok(table),
            other => Err(self.wrong_type(key, &other, expected)),
        }
    }
}
