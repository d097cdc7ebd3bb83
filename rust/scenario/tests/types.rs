//! Every key with a value of every TOML type: rejections have readable messages.

use std::path::Path;

use super::parse;
use super::wrong::{HUGE, values, word_of_the_program};
use crate::balance;
use crate::extent;
use crate::{Fault, KeyEntry, Overrides, Position, RailScenario, ScenarioError, catalogue};

/// Tables within sections.
const TABLES: [&str; 5] =
    ["topology.llr", "topology.scale_up", "switch.ecn", "switch.pfc", "transport.qp_cache"];

/// Returns the fault of a scenario, if it is rejected.
fn fault(text: &str) -> Option<ScenarioError> {
    match RailScenario::is_in_text(text) {
        true => RailScenario::parse(text.to_owned(), Path::new("test.toml"), &Overrides::default())
            .err(),
        false => parse(text).err(),
    }
}

/// Returns the message of a scenario, if it is rejected.
fn refusal(text: &str) -> Option<String> {
    fault(text).map(|error| error.fault.to_string())
}

/// Returns a scenario that sets a key on its last line. A section with kinds gets a kind that has
/// the key.
fn with(entry: &KeyEntry, value: &str) -> String {
    let (section, key) = entry.key.split_once('.').unwrap_or(("", &entry.key));
    let kind = entry.only.strip_prefix("kind = \"").and_then(|kind| kind.strip_suffix('"'));
    let kind = kind.map_or_else(String::new, |kind| {
        let name = if kind.starts_with('<') { "all-to-all" } else { kind };
        format!("kind = \"{name}\"\n")
    });
    let of_rails = is_of_rails(entry);
    let rails = if of_rails && section != "rail" { "[[rail]]\n" } else { "" };
    let small = "topology = { leaves = 2, spines = 2, hosts_per_leaf = 2 }\n";
    let fabric = if of_rails || section == "topology" { "" } else { small };
    let heading = match section {
        "" => String::new(),
        list if LISTS.contains(&list) => format!("[[{section}]]\n"),
        _ => format!("[{section}]\n"),
    };
    format!("{fabric}{rails}{heading}{kind}{key} = {value}\n")
}

/// True if the key belongs to scenarios with rails.
fn is_of_rails(entry: &KeyEntry) -> bool {
    let section = entry.key.split('.').next().unwrap_or_default();
    entry.only.contains("[[rail]]") || ["hosts", "rail", "handler"].contains(&section)
}

/// Sections that are lists of tables.
const LISTS: [&str; 4] = ["class", "job", "failure", "rail"];

/// True if no key with a value of that form accepts this one.
fn is_never_taken(form: &str, value: &str) -> bool {
    match value {
        huge if HUGE.contains(&huge) => true,
        "1979-05-27" => true,
        "[[]]" | "[{ other = 1 }]" | "{ other = 1 }" => true,
        "[]" | "[3]" | "[\"some text\"]" => !form.contains("list"),
        "true" => !form.contains("`true`"),
        "0.5" => form == "whole number",
        "\"some text\"" => ["whole number", "`true` or `false`", "table"].contains(&form),
        _ => false,
    }
}

/// Returns what is wrong with the fault of a key on the last line of a text; `None` if it is as it
/// should be.
fn complaint(text: &str, key: &str, form: &str, value: &str) -> Option<String> {
    let must = is_never_taken(form, value);
    let Some(error) = fault(text) else { return must.then(|| "it is taken in silence".to_owned()) };
    let said = error.to_string();
    if let Some(word) = word_of_the_program(&error.fault.to_string()) {
        return Some(format!("the word '{word}': {said}"));
    }
    let is_of_type = matches!(
        &*error.fault,
        Fault::BadValue { .. } | Fault::UnknownKey { .. } | Fault::UnknownName { .. }
    );
    if !must && !is_of_type {
        return None;
    }
    let (section, name) = key.split_once('.').unwrap_or(("", key));
    let path = if LISTS.contains(&section) { format!("{section}[0].{name}") } else { key.into() };
    if !error.fault.key().unwrap_or_default().starts_with(&path) || !said.contains(name) {
        return Some(format!("no {path}: {said}"));
    }
    match &*error.position {
        Position::Line { line, .. } if *line == text.lines().count() => None,
        _ => Some(format!("not in the last line: {said}")),
    }
}

fn expect_words_for_people(texts: impl Iterator<Item = String>) {
    let mut inside: Vec<String> = Vec::new();
    for text in texts {
        let said = refusal(&text).unwrap_or_default();
        if word_of_the_program(&said).is_some() {
            inside.push(format!("{}: {said}", text.trim_end().lines().last().unwrap_or_default()));
        }
    }
    assert!(inside.is_empty(), "{} messages:\n{}", inside.len(), inside.join("\n"));
}

#[test]
fn every_wrong_value_of_every_key_has_its_line_its_key_and_words_for_people() {
    let keys = catalogue();
    assert!(keys.len() > 200, "{} keys", keys.len());
    assert!(keys.iter().any(|entry| entry.key == "class.weight"), "classes have keys");
    let mut wrong = Vec::new();
    // By default each key gets a share of the values, so that every kind of key meets every value.
    let share = if extent::is_long() { 1 } else { 8 };
    for (number, entry) in keys.iter().enumerate() {
        for value in values().skip(number % share).step_by(share) {
            let text = with(entry, value);
            let found = complaint(&text, &entry.key, &entry.form, value);
            wrong.extend(
                found.map(|what| format!("{} ({}) = {value}: {what}", entry.key, entry.only)),
            );
        }
    }
    assert!(wrong.is_empty(), "{} messages:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn sections_accept_neither_values_nor_other_lists() {
    let tables = ["topology", "switch", "transport", "policy", "workload", "record"];
    let of_rails = ["hosts", "handler"];
    let mut wrong = Vec::new();
    for name in tables.iter().chain(&LISTS).chain(&of_rails) {
        let rails = if of_rails.contains(name) { "[[rail]]\n" } else { "" };
        // A list of records is valid, and an empty list has no sections.
        let may_be = |value: &str| (LISTS.contains(name) || *name == "record") && value == "[]";
        for value in values().filter(|value| !may_be(value) && *value != "{}") {
            let text = format!("{name} = {value}\n{rails}");
            let Some(error) = fault(&text) else {
                wrong.push(format!("{name} = {value}: it is taken in silence"));
                continue;
            };
            let said = error.to_string();
            let is_placed = said.starts_with("test.toml:1:") && said.contains(name);
            let word = word_of_the_program(&error.fault.to_string());
            if !is_placed || word.is_some() {
                wrong.push(format!("{name} = {value}: {said}"));
            }
        }
    }
    let lists = tables.iter().filter(|name| **name != "record").chain(&TABLES);
    let shapes = lists.map(|name| (format!("[[{name}]]\n"), format!("[{name}]")));
    let shapes = shapes
        .chain(LISTS.iter().map(|name| (format!("[{name}]\nother = 1\n"), format!("[[{name}]]"))));
    for (text, expected) in shapes {
        let said = fault(&text).map_or_else(String::new, |error| error.to_string());
        let is_said =
            said.starts_with("test.toml:1:") && said.contains(&format!("write {expected}, with"));
        if !is_said {
            wrong.push(format!("{text}: {said}"));
        }
    }
    assert!(wrong.is_empty(), "{} messages:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn messages_about_policy_parameters_contain_no_rust_terms() {
    let texts = balance::presets().flat_map(|preset| {
        let policy = format!("[policy]\nname = \"{}\"\n", preset.name);
        let fabric = "[topology]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n";
        let resolved = parse(&format!("{fabric}{policy}")).map(|it| it.explain());
        let keys = resolved.into_iter().flatten().map(|it| it.key);
        let own = keys.filter_map(|key| Some(key.strip_prefix("policy.")?.to_owned()));
        let own: Vec<String> = own.filter(|key| key != "name").collect();
        own.into_iter()
            .flat_map(move |key| {
                let policy = policy.clone();
                let values = values();
                values.map(move |value| format!("{fabric}{policy}{key} = {value}\n"))
            })
            .collect::<Vec<_>>()
    });
    expect_words_for_people(texts);
}

#[test]
fn a_wrong_type_is_reported_with_what_to_write_instead() {
    let cases = [
        (
            "[switch]\necn = true",
            "switch.ecn: invalid type: boolean true, expected a table: ecn = \
          { ... }; `evenkeel explain switch.ecn` has its keys",
        ),
        (
            "[topology]\nforwarding_delay = 3",
            "topology.forwarding_delay: invalid type: integer 3, expected a string with its unit, \
             for example \"500ns\"",
        ),
        (
            "[[failure]]\nkind = 3",
            "failure[0].kind: invalid type: integer 3, expected one of \"down\", \"degrade\", \
          \"loss\", \"flap\"",
        ),
        (
            "[failure]\nlink = \"leaf0-spine0\"",
            "failure: invalid type: table, expected a list of \
          tables: write [[failure]], with two pairs of brackets, above each",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(refusal(text).as_deref(), Some(expected));
    }
    for [section, key] in
        [["transport", "qp_cache = 3"], ["topology", "scale_up = true"], ["topology", "llr = true"]]
    {
        let text = format!("[{section}]\n{key}");
        let said = refusal(&text).unwrap();
        assert!(said.contains("expected a table: "), "{text}: {said}");
    }
}
