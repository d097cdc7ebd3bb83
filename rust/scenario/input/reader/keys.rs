//! Keys without a declaration: values that serde reads one by one, for files that are no scenarios.

use serde::de::DeserializeOwned;
use toml::de::{DeInteger, DeValue};
use toml::{Spanned, Table, Value};

use super::SectionReader;
use crate::input::error::{Fault, ScenarioError};
use crate::input::located::Key;
use crate::input::message::out_of_range;
use crate::input::section::names;

impl<'s> SectionReader<'s> {
    /// The value of a key, if the section has it.
    ///
    /// # Errors
    /// It is of another type.
    pub fn optional<T: DeserializeOwned>(
        &mut self,
        name: &'static str,
    ) -> Result<Option<T>, ScenarioError> {
        let Some(value) = self.value(name) else { return Ok(None) };
        if value.get_ref().as_integer().is_some_and(is_beyond_reading) {
            self.fits(&self.key().child(name), &value)?;
        }
        self.read(value).map(Some)
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

    /// The value of a key that is one of several names.
    ///
    /// # Errors
    /// It is no text, or another name.
    pub fn named<T: DeserializeOwned>(
        &mut self,
        name: &'static str,
    ) -> Result<Option<T>, ScenarioError> {
        let Some(value) = self.value(name) else { return Ok(None) };
        if value.get_ref().is_str() {
            return self.read(value).map(Some);
        }
        let known: Vec<String> = names::<T>().iter().map(|name| format!("\"{name}\"")).collect();
        let expected = format!("one of {}", known.join(", "));
        Err(self.wrong_type(self.key().child(name), &value, &expected))
    }

    /// The value of a key that is a number, whole or not.
    ///
    /// # Errors
    /// It is no number, or beyond TOML's whole numbers.
    pub fn number(&mut self, name: &'static str) -> Result<Option<f64>, ScenarioError> {
        let Some(value) = self.value(name) else { return Ok(None) };
        self.fits(&self.key().child(name), &value)?;
        self.read(value).map(Some)
    }

    /// The value of a key that is a number or a text.
    ///
    /// # Errors
    /// It is neither, or beyond TOML's whole numbers.
    pub fn number_or_text(&mut self, name: &'static str) -> Result<Option<Value>, ScenarioError> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let key = self.key().child(name);
        match value.get_ref() {
            DeValue::Integer(_) | DeValue::Float(_) | DeValue::String(_) => {
                self.any(&key, value).map(Some)
            }
            _ => Err(self.wrong_type(key, &value, "a number, or a text in quotes")),
        }
    }

    /// The value of a key that is a list of any values.
    ///
    /// # Errors
    /// It is no list, or has a value that TOML has no room for.
    pub fn list(&mut self, name: &'static str) -> Result<Option<Vec<Value>>, ScenarioError> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let key = self.key().child(name);
        if !value.get_ref().is_array() {
            return Err(self.wrong_type(key, &value, "a list: [ ... ]"));
        }
        self.any(&key, value).map(|value| value.as_array().cloned())
    }

    /// The value of a key that is a table with any keys.
    ///
    /// # Errors
    /// It is no table, or has a value that TOML has no room for.
    pub fn table(&mut self, name: &'static str) -> Result<Option<Table>, ScenarioError> {
        let Some(value) = self.value(name) else { return Ok(None) };
        self.any_table(self.key().child(name), value).map(Some)
    }

    /// The value of a key that is a list of tables with any keys.
    ///
    /// # Errors
    /// It is no list of tables, or has a value that TOML has no room for.
    pub fn tables(&mut self, name: &'static str) -> Result<Option<Vec<Table>>, ScenarioError> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let key = self.key().child(name);
        let DeValue::Array(items) = value.get_ref() else {
            let expected = format!("a list of tables: {name} = [{{ ... }}, {{ ... }}]");
            return Err(self.wrong_type(key, &value, &expected));
        };
        let items = items.iter().cloned().enumerate();
        let tables = items.map(|(index, item)| self.any_table(key.item(index), item));
        tables.collect::<Result<_, _>>().map(Some)
    }

    fn value(&mut self, name: &'static str) -> Option<Spanned<DeValue<'s>>> {
        self.known.push(name);
        self.table.remove(name)
    }

    fn any_table(&self, key: Key, value: Spanned<DeValue<'_>>) -> Result<Table, ScenarioError> {
        if !value.get_ref().is_table() {
            let name = key.path().rsplit('.').next().unwrap_or_default();
            let expected = match name.split_once('[') {
                Some(_) => "a table: { ... }".to_owned(),
                None => format!("a table: {name} = {{ ... }}"),
            };
            return Err(self.wrong_type(key, &value, &expected));
        }
        self.fits(&key, &value)?;
        self.read(value)
    }

    fn any(&self, key: &Key, value: Spanned<DeValue<'_>>) -> Result<Value, ScenarioError> {
        self.fits(key, &value)?;
        self.read(value)
    }

    /// Refuses whole numbers that TOML's values have no room for.
    fn fits(&self, key: &Key, value: &Spanned<DeValue<'_>>) -> Result<(), ScenarioError> {
        match value.get_ref() {
            DeValue::Integer(number) if !has_room(number) => {
                let reason = out_of_range(number.as_str());
                let fault = Fault::BadValue { key: key.to_string(), reason };
                Err(self.context().fault(key, fault))
            }
            DeValue::Array(items) => {
                let mut items = items.iter().enumerate();
                items.try_for_each(|(index, item)| self.fits(&key.item(index), item))
            }
            DeValue::Table(table) => {
                let mut keys = table.iter();
                keys.try_for_each(|(name, value)| self.fits(&key.child(name.get_ref()), value))
            }
            _ => Ok(()),
        }
    }
}

fn has_room(number: &DeInteger<'_>) -> bool {
    i64::from_str_radix(number.as_str(), number.radix()).is_ok()
}

/// True of whole numbers of which serde's messages say neither the key nor what is expected.
fn is_beyond_reading(number: &DeInteger<'_>) -> bool {
    i128::from_str_radix(number.as_str(), number.radix()).is_err()
}
