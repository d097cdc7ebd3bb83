//! Deserialization of TOML values. Errors are structured: the path of the value and the reason.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error, Expected, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, Visitor,
};
use toml::{Table, Value};

/// Deserializes a value. Its tables may have only the keys that `T` has.
///
/// # Errors
/// An unknown key or name, a value of the wrong type, or a value that `T` itself rejects.
pub fn read<T: DeserializeOwned>(value: Value) -> Result<T, ValueError> {
    T::deserialize(Reader(value))
}

/// A value that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}{}{reason}", if path.is_empty() { "" } else { ": " })]
pub struct ValueError {
    /// Path of the value, relative to the one passed to [`read`]: `ecn.kmin`, or empty.
    pub path: String,
    /// Reason of the error.
    pub reason: Reason,
}

/// Reason why a value cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The value is a table with a key that does not exist.
    #[error("unknown key '{key}'; expected one of {}", known.join(", "))]
    UnknownKey {
        /// The key, as written.
        key: String,
        /// The valid keys.
        known: &'static [&'static str],
    },
    /// The value is a name that does not exist.
    #[error("unknown name '{name}'; expected one of {}", known.join(", "))]
    UnknownName {
        /// The name, as written.
        name: String,
        /// The valid names.
        known: &'static [&'static str],
    },
    /// A table is expected instead of this value: `integer 3`.
    #[error("invalid type: {_0}, expected a table")]
    NoTable(String),
    /// One table is expected instead of a list of tables.
    #[error("invalid type: list, expected one table")]
    Tables,
    /// Any other reason, in words.
    #[error("{_0}")]
    Invalid(String),
}

impl ValueError {
    /// Prefixes the path with a key, or with an index such as `[0]`.
    pub(crate) fn below(self, key: &str) -> Self {
        let dot = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        Self { path: format!("{key}{dot}{}", self.path), ..self }
    }
}

impl From<Reason> for ValueError {
    fn from(reason: Reason) -> Self {
        Self { path: String::new(), reason }
    }
}

impl Error for ValueError {
    fn custom<T: fmt::Display>(reason: T) -> Self {
        Reason::Invalid(reason.to_string()).into()
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::custom(format!(
            "invalid type: {}, expected {}",
            in_words(found),
            expected_in_toml(expected)
        ))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::custom(format!(
            "invalid value: {}, expected {}",
            in_words(found),
            expected_in_toml(expected)
        ))
    }

    fn unknown_variant(name: &str, known: &'static [&'static str]) -> Self {
        Reason::UnknownName { name: name.to_owned(), known }.into()
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Self {
        Reason::UnknownKey { key: key.to_owned(), known }.into()
    }
}

/// Returns the table in `value`.
///
/// # Errors
/// If `value` is not a table.
pub fn table(value: Value) -> Result<Table, Reason> {
    match value {
        Value::Table(table) => Ok(table),
        value if are_tables(&value) => Err(Reason::Tables),
        other => Err(Reason::NoTable(describe(&other))),
    }
}

/// Returns true for a list of tables, as written by `[[name]]`.
fn are_tables(value: &Value) -> bool {
    let Value::Array(items) = value else { return false };
    !items.is_empty() && items.iter().all(Value::is_table)
}

/// Describes a value by its type and content: `integer 3`, `list`.
pub fn describe(value: &Value) -> String {
    in_words(unexpected(value))
}

fn unexpected(value: &Value) -> Unexpected<'_> {
    match value {
        Value::String(text) => Unexpected::Str(text),
        Value::Integer(number) => Unexpected::Signed(*number),
        Value::Float(number) => Unexpected::Float(*number),
        Value::Boolean(value) => Unexpected::Bool(*value),
        Value::Datetime(_) => Unexpected::Other("date"),
        Value::Array(_) => Unexpected::Seq,
        Value::Table(_) => Unexpected::Map,
    }
}

fn in_words(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Map => "table".to_owned(),
        Unexpected::Seq => "list".to_owned(),
        Unexpected::Str(text) => format!("string {text:?}"),
        other => other.to_string().replace('`', ""),
    }
}

/// Translates an expectation from Rust's terms to TOML's.
fn expected_in_toml(expected: &dyn Expected) -> String {
    let expected = expected.to_string();
    let words = match expected.as_str() {
        "u64" => "a whole number from 0 to 9223372036854775807",
        "u32" => "a whole number from 0 to 4294967295",
        "u16" => "a whole number from 0 to 65535",
        "u8" => "a whole number from 0 to 255",
        "i8" => "a whole number from -128 to 127",
        "usize" => "a whole number from 0 on",
        "a nonzero u32" => "a whole number from 1 to 4294967295",
        "a nonzero u16" => "a whole number from 1 to 65535",
        "f64" => "a number",
        "a boolean" => "true or false",
        "a string" => "a quoted string",
        "a sequence" => "a list",
        "a map" => "a table",
        "any valid TOML value" => "a number, a quoted string, true, false, a list or a table",
        own => own,
    };
    words.to_owned()
}

/// A value as a serde deserializer.
struct Reader(Value);

impl<'de> Deserializer<'de> for Reader {
    type Error = ValueError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        match self.0 {
            Value::String(text) => visitor.visit_string(text),
            Value::Integer(number) => visitor.visit_i64(number),
            Value::Float(number) => visitor.visit_f64(number),
            Value::Boolean(value) => visitor.visit_bool(value),
            Value::Datetime(_) => Err(Error::invalid_type(unexpected(&self.0), &visitor)),
            Value::Array(items) => visitor.visit_seq(Items { rest: items.into_iter().enumerate() }),
            Value::Table(table) => visitor.visit_map(Entries::of(table)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        match self.0 {
            Value::String(name) => visitor.visit_enum(name.into_deserializer()),
            other => {
                let found = describe(&other);
                let known = known.join("\", \"");
                Err(Error::custom(format!("invalid type: {found}, expected one of \"{known}\"")))
            }
        }
    }

    // A visitor of a table may also accept another value, such as `true` or a name.
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        match are_tables(&self.0) {
            true => Err(Reason::Tables.into()),
            false => self.deserialize_any(visitor),
        }
    }

    // A list is not a table: serde would read its items as the values of the keys in order.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        visitor.visit_map(Entries::of(table(self.0)?))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct identifier ignored_any
    }
}

/// Remaining entries of a table, and the value of the last key with its name.
struct Entries {
    rest: <Table as IntoIterator>::IntoIter,
    value: Option<(String, Value)>,
}

impl Entries {
    fn of(table: Table) -> Self {
        Self { rest: table.into_iter(), value: None }
    }
}

impl<'de> MapAccess<'de> for Entries {
    type Error = ValueError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ValueError> {
        self.value = self.rest.next();
        let Some((name, _)) = &self.value else { return Ok(None) };
        let name: StrDeserializer<'_, ValueError> = name.as_str().into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, ValueError> {
        let (name, value) = self.value.take().expect("a value follows its key");
        seed.deserialize(Reader(value)).map_err(|error| error.below(&name))
    }
}

/// Remaining items of a list, with their indices.
struct Items {
    rest: std::iter::Enumerate<std::vec::IntoIter<Value>>,
}

impl<'de> SeqAccess<'de> for Items {
    type Error = ValueError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ValueError> {
        let Some((index, item)) = self.rest.next() else { return Ok(None) };
        seed.deserialize(Reader(item)).map(Some).map_err(|error| error.below(&format!("[{index}]")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Link {
        rate: u16,
        #[serde(default)]
        kind: Option<Kind>,
    }

    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        Copper,
        Fibre,
    }

    fn links(text: &str) -> Result<Vec<Link>, String> {
        let table: Table = text.parse().unwrap();
        read(table["link"].clone()).map_err(|error| error.to_string())
    }

    #[test]
    fn values_are_read_as_their_types() {
        let read = links("link = [{ rate = 4 }, { kind = \"fibre\", rate = 5 }]").unwrap();
        let second = Link { rate: 5, kind: Some(Kind::Fibre) };
        assert_eq!(read, [Link { rate: 4, kind: None }, second]);
    }

    #[test]
    fn an_error_has_the_path_of_its_value_and_what_is_expected() {
        let error_for =
            |link: &str| links(&format!("link = [{{ rate = 4 }}, {link}]")).unwrap_err();
        assert_eq!(
            error_for("{ rate = -1 }"),
            "[1].rate: invalid value: integer -1, expected a whole number from 0 to 65535"
        );
        assert_eq!(error_for("{ rat = 1 }"), "[1]: unknown key 'rat'; expected one of rate, kind");
        assert_eq!(
            error_for("{ kind = \"radio\" }"),
            "[1].kind: unknown name 'radio'; expected one of copper, fibre"
        );
        let numbers = "[1].kind: invalid type: list, expected one of \"copper\", \"fibre\"";
        assert_eq!(error_for("{ kind = [3] }"), numbers);
        assert_eq!(error_for("1979-05-27"), "[1]: invalid type: date, expected a table");
        assert_eq!(error_for("[3]"), "[1]: invalid type: list, expected a table");
        assert_eq!(error_for("[{ rate = 3 }]"), "[1]: invalid type: list, expected one table");
        assert_eq!(links("link = 3").unwrap_err(), "invalid type: integer 3, expected a list");
    }
}
