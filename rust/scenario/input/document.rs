//! Keys and values of a parsed text, with their positions.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::de::{DeInteger, DeTable, DeValue};
use toml::{Spanned, Table, Value};

use super::error::Fault;
use super::located::Key;
use super::message::needs_quotes;

/// Most keys and list items in a file: 1,000,000, enough for some 200,000 failures. \[inferred\]
const MAX_ENTRIES: usize = 1_000_000;

/// Byte range in the text.
pub(super) type TextRange = Range<usize>;

/// Position of a key.
#[derive(Debug, Clone)]
pub(super) enum Entry {
    /// In the file.
    File { name: TextRange, value: TextRange },
    /// Set on the command line: the index of the setting.
    Set(usize),
}

/// Positions of keys by path: `topology.leaves`, `failure[0].link`.
pub(super) type Entries = BTreeMap<String, Entry>;

/// A rejected value.
pub(super) struct Rejected {
    /// Byte range of its text; `None` for the whole text.
    pub range: Option<TextRange>,
    pub fault: Box<Fault>,
}

/// Collects the values of a text and the position of each key.
pub(super) struct Collector<'e> {
    pub entries: &'e mut Entries,
    /// Index of the setting that the text belongs to; `None` for the file.
    pub setting: Option<usize>,
}

impl Collector<'_> {
    /// Returns the values of the table at `above`.
    pub(super) fn table(&mut self, table: &DeTable<'_>, above: &Key) -> Result<Table, Rejected> {
        let values = table.iter().map(|(name, value)| {
            let key = above.child(name.get_ref());
            Ok((name.get_ref().to_string(), self.entry(key, name.span(), value)?))
        });
        values.collect()
    }

    /// Returns the value of a key or list item whose name is at `name`.
    pub(super) fn entry(
        &mut self,
        key: Key,
        name: TextRange,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Value, Rejected> {
        if self.entries.len() >= MAX_ENTRIES {
            let reason = format!("more than {MAX_ENTRIES} keys and list items, the maximum");
            return Err(Rejected { range: None, fault: Box::new(Fault::Syntax { reason }) });
        }
        let in_file = Entry::File { name, value: value.span() };
        let entry = self.setting.map_or(in_file, Entry::Set);
        self.entries.insert(key.path().to_owned(), entry);
        let plain = match value.get_ref() {
            DeValue::Table(table) => return self.table(table, &key).map(Value::Table),
            DeValue::Array(items) => {
                let items = items.iter().enumerate();
                let items = items.map(|(index, it)| self.entry(key.item(index), it.span(), it));
                return items.collect::<Result<_, _>>().map(Value::Array);
            }
            DeValue::String(text) => Ok(Value::String(text.to_string())),
            DeValue::Boolean(value) => Ok(Value::Boolean(*value)),
            DeValue::Datetime(date) => Ok(Value::Datetime(*date)),
            DeValue::Integer(number) => whole_number(number),
            DeValue::Float(number) => float(number.as_str()),
        };
        plain.map_err(|reason| {
            let fault = Fault::BadValue { key: key.to_string(), reason };
            Rejected { range: Some(value.span()), fault: Box::new(fault) }
        })
    }
}

/// True for a number with letters after its digits, such as `1_000ns`, which is text. The parser
/// accepts it because it does not parse numbers.
pub(super) fn has_unit(value: &DeValue<'_>) -> bool {
    match value {
        DeValue::Integer(number) => {
            let digits = number.as_str().trim_start_matches(['+', '-']);
            digits.chars().any(|digit| !digit.is_digit(number.radix()))
        }
        DeValue::Float(number) => number.as_str().parse::<f64>().is_err(),
        _ => false,
    }
}

fn whole_number(number: &DeInteger<'_>) -> Result<Value, String> {
    let value = i64::from_str_radix(number.as_str(), number.radix());
    value.map(Value::Integer).map_err(|_| match number.as_str() {
        "" => format!("{number} has no digits; expected for example {number}10"),
        _ if has_unit(&DeValue::Integer(number.clone())) => needs_quotes(&number.to_string()),
        digits if digits.starts_with('-') => {
            format!("{number} is too small; the smallest whole number is {}", i64::MIN)
        }
        _ => format!("{number} is too large; the largest whole number is {}", i64::MAX),
    })
}

fn float(number: &str) -> Result<Value, String> {
    match number.parse::<f64>() {
        Ok(value) if value.is_infinite() && !number.contains("inf") => {
            Err(format!("{number} is too large; the largest number is {:e}", f64::MAX))
        }
        Ok(value) => Ok(Value::Float(value)),
        Err(_) => Err(needs_quotes(number)),
    }
}
