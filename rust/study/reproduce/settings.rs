//! Sets keys of a scenario, and finds the key of the study that set a key of a run's scenario.

use toml::{Table, Value};

use super::Scale;
use super::error::Rejection;
use super::matrix::{Combination, Group};

/// Sets keys of a scenario; they may be dotted.
pub(super) fn apply(scenario: &mut Table, keys: &Table) -> Result<(), Rejection> {
    keys.iter().try_for_each(|(key, value)| set(scenario, key, value))
}

/// Sets a dotted key. A table is merged into the existing one; any other value replaces it. A
/// number is an index into a list: `job.0.bytes`.
pub(super) fn set(scenario: &mut Table, key: &str, value: &Value) -> Result<(), Rejection> {
    let (first, rest) =
        key.split_once('.').map_or((key, None), |(first, rest)| (first, Some(rest)));
    match (rest, value) {
        (None, Value::Table(inner)) => {
            let place = scenario.entry(first).or_insert_with(|| Value::Table(Table::new()));
            match place {
                Value::Table(table) => {
                    apply(table, inner).map_err(|rejection| rejection.below(first))
                }
                other => {
                    *other = value.clone();
                    Ok(())
                }
            }
        }
        (None, _) => {
            scenario.insert(first.to_owned(), value.clone());
            Ok(())
        }
        (Some(rest), _) => {
            let place = scenario.entry(first).or_insert_with(|| Value::Table(Table::new()));
            match place {
                Value::Table(table) => {
                    set(table, rest, value).map_err(|rejection| rejection.below(first))
                }
                Value::Array(items) => set_item(items, key, value),
                _ => {
                    let reason = format!("'{first}' is not a section of the scenario");
                    Err(Rejection::new(key, reason))
                }
            }
        }
    }
}

/// Sets a key of a list element. `key` is the name of the list, an index and the rest.
fn set_item(items: &mut [Value], key: &str, value: &Value) -> Result<(), Rejection> {
    let mut parts = key.splitn(3, '.');
    let (list, index) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let item = index.parse::<usize>().ok().and_then(|index| items.get_mut(index));
    match (item.and_then(Value::as_table_mut), parts.next()) {
        (Some(item), Some(rest)) => {
            set(item, rest, value).map_err(|rejection| rejection.below(&format!("{list}.{index}")))
        }
        _ => {
            let reason = "expected the index of an element and its key, as in `job.0.bytes`";
            Err(Rejection::new(key, reason))
        }
    }
}

/// Removes plain values where a dotted key needs a section.
pub(super) fn make_sections(scenario: &mut Table, key: &str) {
    let Some((first, rest)) = key.split_once('.') else { return };
    match scenario.get_mut(first) {
        Some(Value::Table(section)) => make_sections(section, rest),
        Some(Value::Array(items)) => {
            let Some((index, rest)) = rest.split_once('.') else { return };
            let item = index.parse::<usize>().ok().and_then(|index| items.get_mut(index));
            if let Some(Value::Table(item)) = item {
                make_sections(item, rest);
            }
        }
        Some(_) => drop(scenario.remove(first)),
        None => {}
    }
}

impl Group {
    /// Returns the keys of the study that may set a key of a combination's scenario, the effective
    /// one first. Later settings take precedence, then keys closer to `key`.
    pub(super) fn origins(&self, combination: &Combination, key: &str) -> Vec<String> {
        let run = format!("run[{}]", self.index);
        let mut origins = Vec::new();
        for (index, &case) in combination.iter().enumerate().rev() {
            let axis = &self.axes[index];
            let list = if index < self.axes.len() - self.zipped { "over" } else { "zip" };
            let place = format!("{run}.{list}.{}", axis.key);
            let item = axis.index_in_list(case).map(|index| format!("{place}[{index}]"));
            for set in axis.cases[case].keys().filter(|set| is_at_or_above(set, key)) {
                origins.extend(item.iter().map(|item| format!("{item}.set.{set}")));
                origins.extend(item.clone());
                origins.push(place.clone());
            }
        }
        let quick = (self.scale == Scale::Quick).then(|| format!("{run}.quick.set"));
        let tables: Vec<String> =
            quick.into_iter().chain([format!("{run}.set"), "scenario".to_owned()]).collect();
        let mut above = key;
        while !above.is_empty() {
            let dotted = with_dots(above);
            for table in &tables {
                origins.extend([above, &dotted].map(|path| format!("{table}.{path}")));
            }
            above = above.rfind(['.', '[']).map_or("", |end| &above[..end]);
        }
        origins.push(run);
        origins
    }
}

/// Converts `job[0].bytes` to `job.0.bytes`.
fn with_dots(key: &str) -> String {
    key.replace('[', ".").replace(']', "")
}

/// Returns true if `set` is `key` or a section that contains it.
pub(super) fn is_at_or_above(set: &str, key: &str) -> bool {
    let (set, key) = (with_dots(set), with_dots(key));
    key.strip_prefix(&set).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
