//! Keys without a declaration: values that serde reads one by one, for files that are no scenarios.

use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::SectionReader;
use crate::input::error::ScenarioError;
use crate::input::located::Key;

impl SectionReader<'_> {
    /// The value of a key, if the section has it.
    ///
    /// # Errors
    /// It is of another type.
    pub fn optional<T: DeserializeOwned>(
        &mut self,
        name: &'static str,
    ) -> Result<Option<T>, ScenarioError> {
        let Some((key, value)) = self.value(name) else { return Ok(None) };
        self.read(&key, value).map(Some)
    }

    /// The value of a key that has no default.
    ///
    /// # Errors
    /// It is missing, or of another type.
    pub fn required<T: DeserializeOwned>(
        &mut self,
        name: &'static str,
        example: &str,
    ) -> Result<T, ScenarioError> {
        let value = self.optional(name)?;
        value.ok_or_else(|| self.without_default(name, example))
    }

    /// The fault of a key that is missing and has no default.
    pub fn without_default(&self, name: &str, example: &str) -> ScenarioError {
        self.context().missing(&self.key().child(name), "it has no default", example)
    }

    /// The value of a key that is a number or a text.
    ///
    /// # Errors
    /// It is neither.
    pub fn number_or_text(&mut self, name: &'static str) -> Result<Option<Value>, ScenarioError> {
        match self.value(name) {
            Some((_, value @ (Value::Integer(_) | Value::Float(_) | Value::String(_)))) => {
                Ok(Some(value))
            }
            Some((key, other)) => {
                Err(self.wrong_type(&key, &other, "a number, or a text in quotes"))
            }
            None => Ok(None),
        }
    }

    /// The value of a key that is a list of any values.
    ///
    /// # Errors
    /// It is no list.
    pub fn list(&mut self, name: &'static str) -> Result<Option<Vec<Value>>, ScenarioError> {
        match self.value(name) {
            Some((_, Value::Array(items))) => Ok(Some(items)),
            Some((key, other)) => Err(self.wrong_type(&key, &other, "a list: [ ... ]")),
            None => Ok(None),
        }
    }

    /// The value of a key that is a table with any keys.
    ///
    /// # Errors
    /// It is no table.
    pub fn table(&mut self, name: &'static str) -> Result<Option<Table>, ScenarioError> {
        let Some((key, value)) = self.value(name) else { return Ok(None) };
        self.any_table(&key, value, &format!("a table: {name} = {{ ... }}")).map(Some)
    }

    /// The value of a key that is a list of tables with any keys.
    ///
    /// # Errors
    /// It is no list of tables.
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
