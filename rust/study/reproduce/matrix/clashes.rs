//! Rejects keys that a section sets twice, so that one of the values would never be used.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::{Axis, Case, Rejection, RunSection};

/// Rejects two axes that set the same key. Axes from index `crossed` on vary together.
pub(super) fn reject_shared_keys(axes: &[Axis], crossed: usize) -> Result<(), Rejection> {
    let paths: Vec<BTreeSet<String>> = axes.iter().map(Axis::paths).collect();
    for (index, axis) in axes.iter().enumerate() {
        for (other, before) in axes[..index].iter().zip(&paths) {
            let all = paths[index].iter().flat_map(|path| before.iter().map(move |it| (path, it)));
            let Some((path, _)) = all.into_iter().find(|(a, b)| overlap(a, b)) else { continue };
            let list = if index < crossed { "over" } else { "zip" };
            let reason = format!(
                "it sets {path}, which {} also sets: the later axis would win in every run; use \
                 one of them",
                other.key
            );
            return Err(Rejection::new(format!("{list}.{}", axis.key), reason));
        }
    }
    Ok(())
}

/// Rejects a key of `set` that every case of an axis sets too, so its value is never used.
pub(super) fn reject_unused(section: &RunSection, axes: &[Axis]) -> Result<(), Rejection> {
    let mut set = BTreeSet::new();
    section.set.iter().for_each(|(key, value)| leaves(key, value, &mut set));
    for path in &set {
        let sets = |case: &Case| case.set.iter().any(|(key, _)| is_below(path, key));
        if let Some(axis) = axes.iter().find(|axis| axis.cases.iter().all(sets)) {
            let reason = format!("{} also sets it in every run; use one of them", axis.key);
            return Err(Rejection::new(format!("set.{path}"), reason));
        }
    }
    Ok(())
}

/// Returns true if an axis sets a key that `keys` change.
pub(super) fn are_varied(axes: &[Axis], keys: &Table) -> bool {
    let mut changed = BTreeSet::new();
    keys.iter().for_each(|(key, value)| leaves(key, value, &mut changed));
    let mut varied = axes.iter().flat_map(Axis::paths);
    varied.any(|path| changed.iter().any(|key| overlap(key, &path)))
}

/// Returns true if setting one key changes the other.
pub(in crate::reproduce) fn overlap(a: &str, b: &str) -> bool {
    is_below(a, b) || is_below(b, a)
}

/// Returns true if the key `long` is `short` or is inside it.
fn is_below(long: &str, short: &str) -> bool {
    long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Collects the keys that a value sets, starting at `key`.
pub(super) fn leaves(key: &str, value: &Value, to: &mut BTreeSet<String>) {
    match value {
        Value::Table(table) if !table.is_empty() => {
            table.iter().for_each(|(name, value)| leaves(&format!("{key}.{name}"), value, to));
        }
        _ => drop(to.insert(key.to_owned())),
    }
}
