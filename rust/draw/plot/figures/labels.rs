//! Labels of runs in a figure: the properties that distinguish them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::results::RunFolder;

/// Values of keys, by their paths.
type Leaves = BTreeMap<String, String>;

/// Runs that differ only in their seeds.
pub(super) struct Group<'a> {
    pub(super) name: String,
    pub(super) runs: Vec<&'a RunFolder>,
}

/// Groups runs that differ only in their seeds, in the order in which they are given.
pub(super) fn groups<'a>(runs: &[&'a RunFolder]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for (run, name) in runs.iter().zip(of_groups(runs)) {
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.runs.push(run),
            None => groups.push(Group { name, runs: vec![run] }),
        }
    }
    groups
}

/// Returns for each run the policy, preceded by the scenario if there are several scenarios, and
/// followed by the values of the keys that differ.
fn of_groups(runs: &[&RunFolder]) -> Vec<String> {
    let leaves: Vec<Leaves> = runs.iter().map(|run| leaves(run)).collect();
    let keys = differing(runs, &leaves);
    let has_several = runs.iter().any(|run| run.scenario() != runs[0].scenario());
    let name = |(run, values): (&&RunFolder, &Leaves)| {
        let name = match has_several {
            true => format!("{}, {}", run.scenario(), run.policy()),
            false => run.policy().to_owned(),
        };
        let word = |key: &String| {
            let short = key.rsplit('.').next().unwrap_or(key);
            Some(format!(", {short} {}", values.get(key)?))
        };
        name + &keys.iter().filter_map(word).collect::<String>()
    };
    runs.iter().zip(&leaves).map(name).collect()
}

/// Returns for each run a label that distinguishes it from all others.
pub(super) fn of_runs(runs: &[&RunFolder]) -> Vec<String> {
    if let [run] = runs {
        return vec![format!("{}, {}", run.scenario(), run.policy())];
    }
    let groups = of_groups(runs);
    let label = |(run, name): (&&RunFolder, &String)| match groups
        .iter()
        .filter(|other| *other == name)
        .count()
    {
        0 | 1 => name.clone(),
        _ => format!("{name}, seed {}", run.seed()),
    };
    runs.iter().zip(&groups).map(label).collect()
}

/// Returns the keys of scenarios whose values distinguish runs of one scenario and one policy. A
/// key is left out if it distinguishes no more runs than those before it: defaults depend on other
/// keys.
fn differing(runs: &[&RunFolder], leaves: &[Leaves]) -> Vec<String> {
    let keys: BTreeSet<&String> = leaves.iter().flat_map(BTreeMap::keys).collect();
    let has_several = |key: &&String| leaves.iter().any(|it| it.get(*key) != leaves[0].get(*key));
    let mut keys: Vec<&String> = keys.into_iter().filter(has_several).collect();
    // Keys that users set before those that follow from them.
    let sections = ["topology", "workload", "job", "policy", "failure", "switch", "transport"];
    keys.sort_by_key(|key| {
        let section = key.split(['.', '[']).next().unwrap_or_default();
        sections.iter().position(|it| *it == section).unwrap_or(sections.len())
    });
    let mut found: Vec<String> = Vec::new();
    for key in keys {
        let splits = (0..runs.len()).any(|a| {
            (0..a).any(|b| {
                let is_alike = runs[a].scenario() == runs[b].scenario()
                    && runs[a].policy() == runs[b].policy()
                    && found.iter().all(|it| leaves[a].get(it) == leaves[b].get(it));
                is_alike && leaves[a].get(key) != leaves[b].get(key)
            })
        });
        if splits {
            found.push(key.clone());
        }
    }
    found
}

/// Returns the values of the scenario that a run is of, without its seed and its recordings.
fn leaves(run: &RunFolder) -> Leaves {
    let mut found = BTreeMap::new();
    if let Some(sections) = run.summary().get("resolved").and_then(Value::as_object) {
        for (name, section) in sections {
            if !["seed", "record", "schema_version"].contains(&name.as_str()) {
                collect(name, section, &mut found);
            }
        }
    }
    found
}

fn collect(path: &str, value: &Value, to: &mut Leaves) {
    match value {
        Value::Object(entries) => {
            entries.iter().for_each(|(key, value)| collect(&format!("{path}.{key}"), value, to));
        }
        Value::Array(items) => {
            let item = |(index, value)| (format!("{path}[{index}]"), value);
            items.iter().enumerate().map(item).for_each(|(path, value)| collect(&path, value, to));
        }
        Value::String(text) => {
            to.insert(path.to_owned(), text.clone());
        }
        other => {
            to.insert(path.to_owned(), other.to_string());
        }
    }
}
