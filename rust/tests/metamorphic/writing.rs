//! The way in which a scenario is written must not matter.

use evenkeel::units::{BitRate, Bytes, Span};
use toml::{Table, Value};

use super::draft::Draft;
use super::outcome::equal;
use super::relation::{Case, CheckResult, Failure, Relation, defined, require, resolved, seen};

pub(super) const RELATIONS: &[Relation] = &[
    Relation {
        name: "resolved-again",
        says: "A scenario printed with all its defaults is the same scenario.",
        fault: "one of its keys is changed",
        check: |case| rewritten(case, |draft| Ok(Draft::new(&resolved(draft)?.render()))),
    },
    Relation {
        name: "units",
        says: "The unit in which a size, a time or a rate is written does not matter.",
        fault: "one of its keys is changed",
        check: |case| {
            rewritten(case, |draft| {
                let mut draft = draft.clone();
                draft.0.iter_mut().for_each(|(_, value)| in_small_units(value));
                Ok(draft)
            })
        },
    },
    Relation {
        name: "key-order",
        says: "The order of sections and of their keys does not matter.",
        fault: "one of its keys is changed",
        check: |case| rewritten(case, |draft| Ok(Draft(backwards(&draft.0)))),
    },
    Relation {
        name: "one-job",
        says: "One job is the same as a workload.",
        fault: "one of its keys is changed",
        check: |case| {
            rewritten(&of_one_workload(case), |draft| {
                let mut draft = draft.clone();
                let workload = defined(draft.0.remove("workload"))?;
                draft.0.insert("job".to_owned(), Value::Array(vec![workload]));
                Ok(draft)
            })
        },
    },
    Relation {
        name: "all-hosts",
        says: "A list of all hosts is the same as none.",
        fault: "one of its keys is changed",
        check: |case| {
            rewritten(&of_one_workload(case), |draft| {
                let hosts = resolved(draft)?.topology.host_count();
                let mut draft = draft.clone();
                require(draft.get("workload").is_some())?;
                draft.set("workload.hosts", format!("0..{hosts}"));
                Ok(draft)
            })
        },
    },
    Relation {
        name: "one-class",
        says: "One traffic class is the same as none.",
        fault: "one of its keys is changed",
        check: one_class,
    },
    Relation {
        name: "one-plane",
        says: "One plane is the same as none.",
        fault: "one of its keys is changed",
        check: |case| as_kind(case, "kind = 'multi-plane'\nplanes = 1"),
    },
    Relation {
        name: "one-rail",
        says: "A rail-optimised fabric of one rail is a leaf-spine.",
        fault: "one of its keys is changed",
        check: |case| as_kind(case, "kind = 'rail-optimized'\nrails = 1"),
    },
    Relation {
        name: "two-tiers",
        says: "A fat-tree of two tiers is a leaf-spine.",
        fault: "one of its keys is changed",
        check: two_tiers,
    },
];

/// Injects the fault into a scenario: longer messages.
fn spoil(draft: &mut Draft) {
    let longer = |table: &mut Table| {
        let bytes = table.get("bytes").and_then(Value::as_str).and_then(|it| it.parse().ok());
        let bytes: Bytes = bytes.unwrap_or(Bytes::new(16_000_000));
        table.insert("bytes".to_owned(), Value::String(format!("{}B", bytes.get() + 1_000)));
    };
    if let Some(jobs) = draft.0.get_mut("job").and_then(Value::as_array_mut) {
        jobs.iter_mut().filter_map(Value::as_table_mut).for_each(longer);
    } else if let Some(workload) = draft.0.get_mut("workload").and_then(Value::as_table_mut) {
        longer(workload);
    }
}

/// Returns the scenario with a single workload.
fn of_one_workload(case: &Case) -> Case {
    let mut draft = case.draft.clone();
    draft.one_workload();
    Case { draft, is_faulty: case.is_faulty }
}

/// Compares a scenario with a rewritten text of it.
fn rewritten(case: &Case, write: fn(&Draft) -> Result<Draft, Failure>) -> CheckResult {
    let setup = resolved(&case.draft)?.setup();
    let other = write(&case.draft)?;
    compare(case, &seen(&setup), other)
}

fn compare(
    case: &Case,
    expected: &super::outcome::ComparableOutcome,
    mut other: Draft,
) -> CheckResult {
    if case.is_faulty {
        spoil(&mut other);
    }
    let Some(scenario) = other.scenario() else {
        return Err(Failure::Broken(format!("it is invalid as\n{}", other.text())));
    };
    equal(expected, &seen(&scenario.setup()))
}

/// Rewrites quantities in their smallest units.
fn in_small_units(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Ok(span) = text.parse::<Span>() {
                *text = format!("{}ps", span.as_ps());
            } else if let Ok(rate) = text.parse::<BitRate>() {
                *text = format!("{}bps", rate.as_bps());
            } else if let Ok(bytes) = text.parse::<Bytes>() {
                *text = format!("{}B", bytes.get());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(in_small_units),
        Value::Table(table) => table.iter_mut().for_each(|(_, item)| in_small_units(item)),
        _ => {}
    }
}

/// Reverses the keys of a table and of its nested tables.
fn backwards(table: &Table) -> Table {
    let inner = |value: &Value| match value {
        Value::Table(table) => Value::Table(backwards(table)),
        Value::Array(items) => {
            let item =
                |item: &Value| item.as_table().map_or(item.clone(), |it| backwards(it).into());
            Value::Array(items.iter().map(item).collect())
        }
        other => other.clone(),
    };
    table.iter().rev().map(|(key, value)| (key.clone(), inner(value))).collect()
}

fn one_class(case: &Case) -> CheckResult {
    let mut draft = case.draft.clone();
    draft.leaf_spine().one_workload().remove("switch.cbfc");
    draft.set("switch.trim", false).set("transport.ack_priority", true);
    // Headroom is reserved per class.
    draft.remove("switch.pfc");
    let setup = resolved(&draft)?.setup();
    let mut other = draft.clone();
    other.push("class", "name = 'a'");
    other.set("workload.class", "a");
    compare(case, &seen(&setup), other)
}

/// Compares a leaf-spine with the same fabric defined as another kind.
fn as_kind(case: &Case, keys: &str) -> CheckResult {
    let mut draft = case.draft.clone();
    draft.leaf_spine().remove("failure");
    // MRC's queue pairs choose paths by plane.
    let setup = resolved(&draft)?.setup();
    let mut other = draft.clone();
    other.remove("topology.kind");
    let extra = Draft::new(keys);
    extra.0.into_iter().for_each(|(key, value)| {
        other.set(&format!("topology.{key}"), value);
    });
    if other.name("topology.kind") == "rail-optimized" {
        let [leaves, hosts] = [("leaves", 16), ("hosts_per_leaf", 16)]
            .map(|(key, default)| draft.count(&format!("topology.{key}"), default));
        other.remove("topology.leaves").remove("topology.hosts_per_leaf");
        other.set("topology.units", leaves).set("topology.servers", hosts);
    }
    compare(case, &seen(&setup), other)
}

fn two_tiers(case: &Case) -> CheckResult {
    let mut draft = case.draft.clone();
    draft.leaf_spine().remove("failure").remove("topology.parallel_links").short(30_000);
    for (key, value) in [("leaves", 4), ("spines", 2), ("hosts_per_leaf", 2)] {
        draft.set(&format!("topology.{key}"), value);
    }
    // A fat-tree has as many uplinks as downlinks if their rates are equal.
    draft.set("topology.host_rate", "100Gbps").set("topology.fabric_rate", "100Gbps");
    let setup = resolved(&draft)?.setup();
    let mut other = draft.clone();
    for key in ["leaves", "spines", "hosts_per_leaf"] {
        other.remove(&format!("topology.{key}"));
    }
    other.set("topology.kind", "fat-tree").set("topology.tiers", 2).set("topology.k", 4);
    compare(case, &seen(&setup), other)
}
