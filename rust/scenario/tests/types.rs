//! Every key with a value of every type of TOML: what is refused is refused in words for people.

use std::path::Path;

use super::parse;
use crate::balance;
use crate::scenario::{KeyEntry, Overrides, RailScenario, catalogue};

const VALUES: [&str; 11] = [
    "true",
    "-3",
    "3",
    "0.5",
    "\"\"",
    "\"some text\"",
    "1979-05-27",
    "[]",
    "[3]",
    "{ other = 1 }",
    "[{ other = 1 }]",
];

/// Words of the program's inside, and of the libraries that it reads files with.
const INSIDE: [&str; 10] = [
    "struct ",
    "wanted",
    "entity",
    "Section",
    "enum ",
    "variant",
    "deserialize",
    "a map",
    "__toml",
    "any valid",
];

/// The message of a scenario, if it is refused.
fn refusal(text: &str) -> Option<String> {
    let refused = match RailScenario::is_in_text(text) {
        true => RailScenario::parse(text.to_owned(), Path::new("test.toml"), &Overrides::default())
            .err(),
        false => parse(text).err(),
    };
    refused.map(|error| error.fault.to_string())
}

/// A scenario with a key: of a section with kinds, of one that has the key.
fn with(entry: &KeyEntry, value: &str) -> String {
    let (section, key) = entry.key.split_once('.').unwrap_or(("", &entry.key));
    let kind = entry.only.strip_prefix("kind = \"").and_then(|kind| kind.strip_suffix('"'));
    let kind = kind.map_or_else(String::new, |kind| {
        let name = if kind.starts_with('<') { "all-to-all" } else { kind };
        format!("kind = \"{name}\"\n")
    });
    let of_rails =
        entry.only.contains("[[rail]]") || ["hosts", "rail", "handler"].contains(&section);
    let rails = if of_rails && section != "rail" { "[[rail]]\n" } else { "" };
    let small = "[topology]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n";
    let fabric = if of_rails || section == "topology" { "" } else { small };
    let heading = match section {
        "" => return format!("{key} = {value}\n{fabric}"),
        "job" | "failure" | "rail" => format!("[[{section}]]"),
        _ => format!("[{section}]"),
    };
    format!("{fabric}{rails}{heading}\n{kind}{key} = {value}\n")
}

fn expect_words_for_people(texts: impl Iterator<Item = String>) {
    let mut inside: Vec<String> = Vec::new();
    for text in texts {
        let said = refusal(&text).unwrap_or_default();
        if INSIDE.iter().any(|word| said.contains(word)) {
            inside.push(format!("{}: {said}", text.trim_end().lines().last().unwrap_or_default()));
        }
    }
    assert!(inside.is_empty(), "{} messages:\n{}", inside.len(), inside.join("\n"));
}

#[test]
fn no_value_of_any_key_has_a_message_with_words_of_the_program() {
    let keys = catalogue();
    assert!(keys.len() > 200, "{} keys", keys.len());
    let texts = keys.iter().flat_map(|entry| VALUES.map(|value| with(entry, value)));
    expect_words_for_people(texts);
}

#[test]
fn neither_has_any_section() {
    let sections = ["topology", "switch", "transport", "policy", "workload", "record"];
    let lists = ["job", "failure", "rail"];
    let sections = sections.iter().chain(&lists);
    expect_words_for_people(
        sections.flat_map(|name| VALUES.map(|value| format!("{name} = {value}\n"))),
    );
}

#[test]
fn neither_has_any_parameter_of_a_policy() {
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
                VALUES.map(move |value| format!("{fabric}{policy}{key} = {value}\n"))
            })
            .collect::<Vec<_>>()
    });
    expect_words_for_people(texts);
}

#[test]
fn what_to_write_in_place_of_a_wrong_type_is_said() {
    let cases = [
        (
            "[switch]\necn = true",
            "switch.ecn: invalid type: boolean true, expected a table: ecn = \
          { ... }; `evenkeel explain switch.ecn` has its keys",
        ),
        (
            "[topology]\nkind = 3",
            "topology.kind: expected a name in quotes; `evenkeel explain \
          topology.kind` lists them",
        ),
        (
            "[[failure]]\nkind = 3",
            "failure[0].kind: expected a name in quotes; `evenkeel explain \
          failure.kind` lists them",
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
