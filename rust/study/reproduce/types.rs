//! Tests every key of a study with a value of every TOML type. Rejected values must give a readable
//! error with the line and the key.

use std::path::Path;

use serde_json::Value;

use super::{Scale, Study, StudyError, schema};
use crate::scenario::{Position, ScenarioError};

#[path = "../../tests/support/wrong.rs"]
mod wrong;

use wrong::{HUGE, values, word_of_the_program};

/// Sections with their required keys.
const SECTIONS: [(&str, &str, &[&str]); 7] = [
    ("", "", &["title = \"t\"", "work = \"w\""]),
    ("run", "[[run]]", &["name = \"r\"", "over.policy = [\"ecmp\", \"spray\"]"]),
    ("quick", "[run.quick]", &[]),
    (
        "claim",
        "[[claim]]",
        &[
            "text = \"c\"",
            "origin = \"paper\"",
            "run = \"r\"",
            "metric = \"cct_us\"",
            "along = \"policy\"",
            "order = [\"ecmp\", \"spray\"]",
        ],
    ),
    (
        "table",
        "[[table]]",
        &["title = \"t\"", "run = \"r\"", "metric = \"cct_us\"", "rows = \"policy\""],
    ),
    (
        "series",
        "[[series]]",
        &[
            "title = \"t\"",
            "run = \"r\"",
            "metric = \"record.path_changes\"",
            "columns = \"policy\"",
        ],
    ),
    ("why", "[[why]]", &["set = { seed = 2 }"]),
];

/// Returns the keys of a section with their schemas.
fn keys(section: &str) -> Vec<(String, Value)> {
    let root = schema();
    let table = match section {
        "" => &root,
        "quick" => &root["properties"]["run"]["items"]["properties"]["quick"],
        list => &root["properties"][list]["items"],
    };
    let keys = table["properties"].as_object().unwrap_or_else(|| panic!("{section}: {table}"));
    keys.iter().map(|(key, schema)| (key.clone(), schema.clone())).collect()
}

/// Returns a study with a value for a key of a section, and the line of the key.
fn with(section: &str, key: &str, value: &str) -> (String, usize) {
    let mut lines: Vec<String> = Vec::new();
    let mut found = 0;
    for (name, heading, needed) in SECTIONS {
        if name != section && !["", "run"].contains(&name) {
            continue;
        }
        // A section that is itself the value has no other lines.
        if section.is_empty() && name == key {
            continue;
        }
        lines.extend((!heading.is_empty()).then(|| heading.to_owned()));
        let is_other = |line: &&&str| {
            name != section || line.split([' ', '.']).next().is_none_or(|own| own != key)
        };
        lines.extend(needed.iter().filter(is_other).map(|line| (*line).to_owned()));
        if name == section {
            lines.push(format!("{key} = {value}"));
            found = lines.len();
        }
    }
    (lines.join("\n") + "\n", found)
}

/// Returns the error of a text, if it has one.
fn parse_error(text: &str) -> Option<ScenarioError> {
    match Study::parse(text, Path::new("s.toml"), Scale::Quick) {
        Ok(_) => None,
        Err(StudyError::Text(error)) => Some(error),
        Err(other) => panic!("{other}\n{text}"),
    }
}

/// Returns true if a schema allows a value of that type.
fn allows(schema: &Value, value: &str) -> bool {
    let value = format!("it = {value}").parse::<toml::Table>();
    let Ok(value) = value.map(|table| table["it"].clone()) else { return false };
    fn fits(schema: &Value, value: &toml::Value) -> bool {
        for several in ["anyOf", "oneOf"] {
            if let Some(choices) = schema[several].as_array() {
                return choices.iter().any(|schema| fits(schema, value));
            }
        }
        if let Some(names) = schema["enum"].as_array() {
            return names
                .iter()
                .any(|name| name.as_str().is_some_and(|it| value.as_str() == Some(it)));
        }
        if let Some(name) = schema["const"].as_str() {
            return value.as_str() == Some(name);
        }
        let of_type = |name: &str| match name {
            "string" => value.is_str(),
            "integer" => value.is_integer(),
            "number" => value.is_integer() || value.is_float(),
            "boolean" => value.is_bool(),
            "array" => value.as_array().is_some_and(|items| {
                items.iter().all(|item| schema["items"].is_null() || fits(&schema["items"], item))
            }),
            "object" => value.is_table(),
            _ => false,
        };
        match &schema["type"] {
            Value::String(name) => of_type(name),
            Value::Array(names) => names.iter().filter_map(Value::as_str).any(of_type),
            _ => true,
        }
    }
    fits(schema, &value)
}

/// Returns what is wrong with the error of a key in that line, or `None` if it is right.
fn complaint(error: &ScenarioError, section: &str, key: &str, line: usize) -> Option<String> {
    let message = error.to_string();
    let path = match section {
        "" => key.to_owned(),
        "quick" => format!("run[0].quick.{key}"),
        list => format!("{list}[0].{key}"),
    };
    let named = error.fault.key().unwrap_or_default();
    if let Some(word) = word_of_the_program(&error.fault.to_string()) {
        return Some(format!("the word '{word}': {message}"));
    }
    if !named.starts_with(&path) || !message.contains(&path) {
        return Some(format!("no {path}: {message}"));
    }
    match &*error.position {
        Position::Line { line: at, .. } if *at == line => None,
        _ => Some(format!("not in line {line}: {message}")),
    }
}

#[test]
fn every_wrong_value_of_every_key_has_a_readable_error_with_line_and_key() {
    let (mut wrong, mut tried, mut rejected) = (Vec::new(), 0, 0);
    for (section, ..) in SECTIONS {
        for (key, schema) in keys(section) {
            for value in values() {
                let (text, line) = with(section, &key, value);
                tried += 1;
                let found = match parse_error(&text) {
                    Some(error) => {
                        rejected += 1;
                        complaint(&error, section, &key, line)
                    }
                    None if allows(&schema, value) => None,
                    None => Some("it is accepted without an error".to_owned()),
                };
                wrong.extend(found.map(|what| format!("{section}: {key} = {value}: {what}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {rejected}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(tried > 800 && rejected > tried / 2, "{rejected} of {tried}");
}

#[test]
fn errors_for_huge_nested_numbers_name_their_keys() {
    for (section, key, before, after, path) in [
        ("", "scenario", "{ topology = { leaves = ", " } }", "scenario.topology.leaves"),
        ("run", "set", "{ \"topology.leaves\" = ", " }", "run[0].set.topology.leaves"),
        ("run", "over", "{ seed = [1, ", "] }", "run[0].over.seed[1]"),
        ("claim", "order", "[", "]", "claim[0].order[0]"),
        ("claim", "cells", "[{ at_least = ", " }]", "claim[0].cells[0].at_least"),
    ] {
        for huge in HUGE {
            let (text, line) = with(section, key, &format!("{before}{huge}{after}"));
            let message = parse_error(&text).unwrap_or_else(|| panic!("{text}")).to_string();
            let expected = if huge.starts_with('-') { "too small" } else { "too large" };
            assert!(message.starts_with(&format!("s.toml:{line}:")), "{message}");
            assert!(
                message.contains(&format!(": {path}: {huge} is {expected}; the ")),
                "{message}"
            );
        }
    }
}

#[test]
fn the_error_for_a_wrong_type_names_the_expected_type() {
    let run = "[[run]]\nname = \"r\"\n";
    for (text, expected) in [
        (
            format!("{run}quick = 3\n"),
            "s.toml:3:9: run[0].quick: invalid type: integer 3, expected a table: write \
             [run.quick] and its keys below it\n  |\n3 | quick = 3\n  |         ^",
        ),
        (
            format!("{run}rate = -1\n"),
            "s.toml:3:8: run[0].rate: invalid type: integer -1, expected one of \"scenario\", \
             \"rho-max\"\n",
        ),
        (
            format!("{run}rate = \"rho\"\n"),
            "s.toml:3:8: run[0].rate: unknown value 'rho'. Expected one of scenario, rho-max\n",
        ),
        (
            format!("{run}seeds = \"a\"\n"),
            "s.toml:3:9: run[0].seeds: invalid type: string \"a\", expected a whole number from 0 \
             to 4294967295\n",
        ),
        (
            format!("{run}seeds = 99999999999999999999\n"),
            "s.toml:3:9: run[0].seeds: 99999999999999999999 is too large; the largest whole number \
             is 9223372036854775807\n",
        ),
        (
            "[run]\nname = \"r\"\n".to_owned(),
            "s.toml:1:1: run: invalid type: table, expected a list of tables: write [[run]], with \
             two pairs of brackets, above each\n",
        ),
        (
            format!("{run}[[run.quick]]\n"),
            "run[0].quick: invalid type: list, expected one table: write [run.quick], with one \
             pair of brackets\n",
        ),
        (
            "[[run]]\nseeds = 2\n".to_owned(),
            "s.toml:1:1: run[0].name is missing: it has no default; write for example name = \
             \"all-to-all\"\n",
        ),
        (
            format!("{run}sets = {{}}\n"),
            "s.toml:3:1: [run[0]] has no key 'sets'; did you mean 'set'? Expected one of name, \
             set, over, zip, seeds, rate, quick\n",
        ),
        (
            "titel = \"t\"\n[[run]]\nname = \"r\"\n".to_owned(),
            "s.toml:1:1: a study has no key 'titel'; did you mean 'title'? Expected one of title, ",
        ),
        (format!("title = \"t\n{run}"), "s.toml:1:11: invalid TOML: "),
        (String::new(), "s.toml: run is missing: it has no default; write for example [[run]]"),
    ] {
        let message = parse_error(&text).unwrap_or_else(|| panic!("{text}")).to_string();
        assert!(message.contains(expected), "{message}\n{expected}");
    }
}
