//! The JSON Schema of scenarios, with which editors complete and check keys.
//!
//! It is generated from the same declarations as the reference. It describes where each key may
//! appear and how its value is written. `evenkeel check` validates combinations of values.

use serde_json::{Map, Value, json};

use super::catalogue::{Part, parts};
use super::input::section::{Form, KeyDescription};

/// Sections that may also be a list: `[record]` and `[[record]]`.
const ONE_OR_MORE: [&str; 1] = ["record"];

/// Returns the schema as JSON.
pub fn schema() -> Value {
    let mut root = Map::new();
    for part in parts() {
        if part.name.is_empty() {
            root.extend(properties(&part));
            continue;
        }
        let section = root.entry(part.name).or_insert_with(|| section(&part));
        let table = if part.is_list { &mut section["items"] } else { section };
        let known = table["properties"].as_object_mut().expect("a section has properties");
        for (name, new) in properties(&part) {
            match known.get_mut(&name) {
                Some(old) if *old != new => *old = either(old.take(), new),
                Some(_) => {}
                None => drop(known.insert(name, new)),
            }
        }
    }
    for name in ONE_OR_MORE {
        let one = root[name].take();
        root[name] = json!({ "anyOf": [one, { "type": "array", "items": one }] });
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A scenario of evenkeel",
        "type": "object",
        "properties": root,
        "additionalProperties": false,
    })
}

/// Returns a section without properties. The parameters of a policy depend on its name.
fn section(part: &Part) -> Value {
    let is_open = part.name == "policy";
    let table = json!({ "type": "object", "properties": {}, "additionalProperties": is_open });
    if part.is_list { json!({ "type": "array", "items": table }) } else { table }
}

fn either(old: Value, new: Value) -> Value {
    let mut choices = match old.get("anyOf") {
        Some(Value::Array(choices)) if old.as_object().is_some_and(|it| it.len() == 1) => {
            choices.clone()
        }
        _ => vec![old],
    };
    choices.push(new);
    json!({ "anyOf": choices })
}

fn properties(part: &Part) -> Map<String, Value> {
    let only = if part.only.is_empty() { String::new() } else { format!(" Only {}.", part.only) };
    part.keys.iter().map(|key| (key.name.to_owned(), property(key, &only))).collect()
}

fn property(key: &KeyDescription, only: &str) -> Value {
    let mut property = value(&key.form);
    let summary = key.summary.replace("\\[inferred\\]", "[inferred]").replace('`', "");
    let default = key.default.trim_matches('`').to_owned();
    let description = format!("{summary}{only} Default: {}", default.replace('`', ""));
    property["description"] = description.trim_end_matches(" Default: ").into();
    if let Ok(Value::Object(table)) = toml::from_str::<Value>(&format!("it = {default}"))
        && key.default.starts_with('`')
    {
        property["default"] = table["it"].clone();
    }
    property
}

/// Returns the schema of a value from its notation.
fn value(form: &Form) -> Value {
    if !form.keys.is_empty() {
        let part = Part { name: "", only: String::new(), is_list: false, keys: form.keys.clone() };
        let table = json!({
            "type": "object", "properties": properties(&part), "additionalProperties": false,
        });
        return match form.text.as_str() {
            "table" => table,
            other => json!({ "anyOf": [alternatives(other), table] }),
        };
    }
    alternatives(&form.text)
}

/// Returns the schema of a notation that has no nested keys.
fn alternatives(form: &str) -> Value {
    let names: Vec<&str> = form.split('`').skip(1).step_by(2).collect();
    let quoted = || names.iter().filter_map(|name| name.strip_prefix('"')?.strip_suffix('"'));
    let is_names = form.split('`').step_by(2).all(|between| matches!(between, "" | ", "));
    let text = || json!({ "type": "string" });
    match form {
        "whole number" => json!({ "type": "integer", "minimum": 0 }),
        "`true` or `false`" => json!({ "type": "boolean" }),
        "text" => text(),
        "list of whole numbers" => {
            json!({ "type": "array", "items": { "type": "integer", "minimum": 0 } })
        }
        "table" => json!({ "type": "object" }),
        "table of names" => json!({ "type": "object", "additionalProperties": text() }),
        _ if is_names && quoted().count() == names.len() => {
            json!({ "enum": quoted().collect::<Vec<_>>() })
        }
        _ => {
            let mut types = vec!["string"];
            types.extend(form.contains("`true`").then_some("boolean"));
            types.extend(form.contains("a table").then_some("object"));
            types.extend(form.contains("list").then_some("array"));
            json!({ "type": types })
        }
    }
}
