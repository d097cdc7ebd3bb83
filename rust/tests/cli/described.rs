//! Descriptions for programs: what `list`, `explain` and `check` print as JSON fits their schemas.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::bench::{Bench, SMALL};
use super::outputs::{fits, schema};
use super::start::misfit;
use crate::support::extent;
use evenkeel::scenario::{catalogue, parameters};
use evenkeel::study::Listing;
use evenkeel::study::metrics::Metric;

/// Returns the entries of an object, which fits a schema.
fn entries(text: &str, schema: &Value) -> Vec<Value> {
    let mut value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(misfit(schema, &value, ""), None, "{text}");
    let entries = value["entries"].as_array_mut().map(std::mem::take);
    entries.expect("there are entries")
}

fn name(entry: &Value) -> &str {
    entry["name"].as_str().expect("an entry has a name")
}

#[test]
fn every_category_and_its_names_fit_the_schema() {
    let bench = Bench::new();
    let schema = schema(&bench, "list");
    let list = |arguments: &[&str]| {
        let left = bench.evenkeel(&[&["list", "--json"], arguments].concat());
        assert_eq!((left.status, left.err.as_str()), (0, ""), "{arguments:?}");
        entries(&left.out, &schema)
    };
    let categories = list(&[]);
    let table = bench.evenkeel(&["list"]).out;
    assert_eq!(categories.len(), Listing::ALL.len());
    for (category, listing) in categories.iter().zip(Listing::ALL) {
        assert_eq!((&category["kind"], name(category)), (&"category".into(), listing.name));
        assert!(table.contains(&format!("\n{}  ", listing.name)), "{table}");
        let found = list(&[listing.name]);
        assert_eq!(found.len(), listing.rows().len());
        for (entry, [name, about, origin]) in found.iter().zip(listing.rows()) {
            assert_eq!(
                (&entry["name"], &entry["kind"]),
                (&name.into(), &listing.headings[0].into())
            );
            assert_eq!(entry["description"], about.replace('`', ""), "{entry}");
            let is_format = listing.name == "formats";
            let commands = entry["commands"].as_array().into_iter().flatten();
            let commands: Vec<&str> = commands.filter_map(Value::as_str).collect();
            let source = entry["source"].as_str().unwrap_or_default().to_owned();
            let shown = if is_format { commands.join(", ") } else { source };
            assert_eq!(shown, origin, "{entry}");
        }
    }
    let guesses = bench.evenkeel(&["list", "policies", "--guesses", "--json"]).json();
    assert_eq!(misfit(&schema, &guesses, ""), None);
    let first = &guesses["guesses"][0];
    assert_eq!(first["keys"][0]["name"], "policy.reshuffle");
    assert_eq!(first["keys"][0]["default_text"], "16");
}

#[test]
fn every_key_parameter_and_metric_is_explained_as_the_schema_says() {
    let bench = Bench::new();
    let schema = schema(&bench, "explain");
    let explained = |word: &str| {
        let left = bench.evenkeel(&["explain", word, "--json"]);
        assert_eq!((left.status, left.err.as_str()), (0, ""), "{word}");
        entries(&left.out, &schema)
    };
    let part = |it: &str| it.split('.').next().unwrap_or_default().to_owned();
    // A section explains all of its keys, and a group of metrics all of them.
    let keys: BTreeSet<String> = catalogue().into_iter().map(|it| it.key).collect();
    let metrics: BTreeSet<String> = Metric::all().map(|it| it.name.to_owned()).collect();
    let words: BTreeSet<String> = keys.iter().chain(&metrics).map(|it| part(it)).collect();
    let mut found = BTreeSet::new();
    for word in words {
        for entry in explained(&word) {
            let kind = entry["kind"].as_str().unwrap_or_default().to_owned();
            if kind == "key" {
                let has_value =
                    ["value", "type", "description"].iter().all(|it| entry[it].is_string());
                assert!(has_value, "{entry}");
            }
            found.insert((kind, name(&entry).to_owned()));
        }
    }
    let missing = |kind: &str, names: BTreeSet<String>| {
        let of_kind = |name: &String| !found.contains(&(kind.to_owned(), name.clone()));
        names.into_iter().filter(of_kind).collect::<Vec<String>>()
    };
    assert_eq!(missing("key", keys), [""; 0]);
    assert_eq!(missing("metric", metrics), [""; 0]);
    let all: BTreeSet<String> = parameters().into_iter().map(|it| it.key).collect();
    let (all, first) = (Vec::from_iter(all), ["policy.evs", "policy.gap"]);
    for key in extent::cases("cli::described", all, |key| first.contains(&key.as_str())) {
        let entries = explained(&key);
        let is_whole = |it: &Value| it["used_by"].is_array() && it["type"].is_string();
        assert!(entries.iter().all(is_whole), "{entries:?}");
    }
}

#[test]
fn keys_and_metrics_have_types_units_choices_ranges_and_defaults() {
    let bench = Bench::new();
    let first =
        |word: &str| bench.evenkeel(&["explain", word, "--json"]).json()["entries"][0].take();
    let expected = serde_json::json!({
        "kind": "key", "name": "failure.convergence",
        "description": "Delay until routing converges after each change (G).",
        "value": "time, such as \"500ns\", or \"never\"", "type": "time", "unit": "s",
        "choices": ["never"], "default": "100ms", "default_text": "\"100ms\"",
    });
    assert_eq!(first("failure.convergence"), expected);
    let evs = first("policy.evs");
    assert_eq!((&evs["maximum"], &evs["default"]), (&65_535.into(), &128.into()));
    let metric = first("cct_ns");
    assert_eq!((&metric["unit"], &metric["better"]), (&"ns".into(), &"less".into()));
    let skip = first("policy.skip");
    assert_eq!(skip["choices"], serde_json::json!(["turn", "each"]));
    let ranks = bench.evenkeel(&["explain", "leaf-spine", "--json"]).json();
    let keys = ranks["entries"][0]["keys"].as_array().expect("it has keys").clone();
    assert!(keys.iter().any(|key| name(key) == "topology.leaves" && key["default"] == 16));
    // A word with several meanings has them all.
    let rates = bench.evenkeel(&["explain", "rate", "--json"]).json();
    assert!(rates["entries"].as_array().is_some_and(|it| it.len() > 4), "{rates}");
}

#[test]
fn an_unknown_word_is_an_error_object_with_the_nearest_words() {
    let bench = Bench::new();
    let left = bench.evenkeel(&["explain", "failure.convergance", "--json"]);
    assert_eq!(left.status, 2);
    assert!(left.err.starts_with("error: 'failure.convergance' is not a scenario key"), "{left:?}");
    let value = fits(&bench, "explain", &left.out);
    assert_eq!(value["entries"], serde_json::json!([]));
    let error = &value["errors"][0];
    assert_eq!(error["nearest"][0], "failure.convergence");
    assert!(left.err.contains(error["message"].as_str().expect("a message")), "{left:?}");
}

#[test]
fn a_check_has_every_value_with_its_origin() {
    let bench = Bench::with_small();
    let jobs = SMALL.replace("[workload]", "[[job]]\nname = \"a\"\npolicy = \"spray\"");
    bench.write("jobs.toml", &jobs);
    bench.write("rails.toml", "[[rail]]\n[[rail]]\n");
    let files = ["small.toml", "jobs.toml", "rails.toml"];
    let options = ["--explain", "--json", "--set", "seed=5"];
    let left = bench.evenkeel(&[&["check"], &files[..], &options].concat());
    assert_eq!(left.status, 0, "{}", left.err);
    let checked = fits(&bench, "check", &left.out);
    let value = |file: usize, key: &str| {
        let values = checked["files"][file]["values"].as_array().expect("it has values");
        let found = values.iter().find(|it| it["key"] == key);
        found.unwrap_or_else(|| panic!("{key}: {values:?}")).clone()
    };
    let line = SMALL.lines().position(|line| line.starts_with("leaves")).map(|it| it + 1);
    let leaves = value(0, "topology.leaves");
    assert_eq!(
        leaves,
        serde_json::json!({
            "key": "topology.leaves", "value": 2, "origin": "file", "line": line,
        })
    );
    assert_eq!(value(0, "seed")["origin"], "command-line");
    assert_eq!(value(0, "topology.delay")["origin"], "default");
    let recovery = value(0, "transport.recovery");
    assert_eq!((&recovery["value"], &recovery["resolved"]), (&"auto".into(), &"go-back-n".into()));
    assert_eq!(checked["files"][1]["scenario"]["jobs"][0]["policy"], "spray");
    assert_eq!(value(2, "rail[1].kind")["value"], "tcp");
    assert!(value(2, "rail[1].kind").get("origin").is_none());
    // The text has the same keys.
    let text = bench.evenkeel(&["check", "small.toml", "--explain", "--set", "seed=5"]).out;
    let shown = text.lines().filter(|line| line.contains(" = ")).count();
    assert_eq!(checked["files"][0]["values"].as_array().map(Vec::len), Some(shown), "{text}");
}

#[test]
fn mended_traces_are_counted() {
    let bench = Bench::with_small();
    assert_eq!(bench.evenkeel(&["trace", "small.toml", "--out", "traces"]).status, 0);
    let head = SMALL.split("[workload]").next().expect("it has a fabric");
    let workload = "[workload]\nkind = \"chakra\"\nfile = \"traces/small\"\n";
    bench.write("replayed.toml", &format!("{head}{workload}"));
    let left = bench.evenkeel(&["check", "replayed.toml", "--mend", "mended", "--json"]);
    let checked = fits(&bench, "check", &left.out);
    let mended = serde_json::json!({ "first": "mended/small.0.et", "traces": 8, "kernels": 0 });
    assert_eq!(checked["files"][0]["mended"], mended);
    assert_eq!(bench.names("mended").len(), 8);
}

#[test]
fn invalid_files_have_line_key_value_and_what_is_expected() {
    let bench = Bench::new();
    let study = "[scenario.topology]\nleaves = 4\nspines = 4\nhosts_per_leaf = 4\n[[run]]\n\
                 name = \"a\"\n[run.over]\n\"policy.name\" = [\"ecmp\", \"ecmpp\"]\n";
    let flows = "[workload]\nkind = \"flows\"\nfile = \"flows.txt\"\n";
    let cases = [
        ("[policy]\nname = \"sprey\"\n", 2, ["policy.name", "sprey", "spray"]),
        ("[topology]\nleaves = \"two\"\n", 2, ["topology.leaves", "two", "a whole number"]),
        ("[topology]\nspinse = 2\n", 2, ["topology.spinse", "", "spines"]),
        ("[topology]\nleaves = 0\n", 2, ["topology.leaves", "0", "1"]),
        ("[topology\n", 1, ["", "", ""]),
        (flows, 3, ["", "", ""]),
        (study, 8, ["policy.name", "ecmpp", "ecmp"]),
    ];
    bench.write("flows.txt", "1\n0 1 3\n");
    let names: Vec<String> = (0..cases.len()).map(|index| format!("{index}.toml")).collect();
    names.iter().zip(&cases).for_each(|(name, (text, ..))| bench.write(name, text));
    let mut arguments = vec!["check", "--json", "none.toml"];
    arguments.extend(names.iter().map(String::as_str));
    let left = bench.evenkeel(&arguments);
    assert_eq!(left.status, 2);
    let checked = fits(&bench, "check", &left.out);
    let files = checked["files"].as_array().expect("it has files");
    assert_eq!((&files[0]["file"], &files[0]["valid"]), (&"none.toml".into(), &false.into()));
    for ((text, line, [key, value, expected]), file) in cases.iter().zip(&files[1..]) {
        let error = &file["errors"][0];
        let of = |key: &str| error[key].as_str().unwrap_or_default();
        let found = (file["valid"].as_bool(), error["line"].as_u64(), of("key"), of("value"));
        assert_eq!(found, (Some(false), Some(*line), *key, *value), "{text}");
        assert!(of("expected").contains(expected), "{error}");
    }
    assert_eq!(files[1]["errors"][0]["nearest"], serde_json::json!(["spray"]));
    let input = serde_json::json!({ "file": "flows.txt", "line": 2 });
    assert_eq!(files[6]["errors"][0]["input"], input);
}

/// Every example has an entry that fits, and studies have their points.
#[cfg(unix)]
#[test]
fn checks_of_all_examples_fit_the_schema() {
    let bench = Bench::new();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    std::os::unix::fs::symlink(&examples, bench.path("examples")).unwrap();
    let names = fs::read_dir(&examples).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.into_string().unwrap());
    let mut files: Vec<String> = names.filter(|name| name.ends_with(".toml")).collect();
    files.sort();
    let keep = |name: &String| ["incast-32.toml", "rails-sizes.toml"].contains(&name.as_str());
    let mut files = extent::cases("cli::described, examples", files, keep);
    files.push("sweeps/sizes.toml".to_owned());
    let paths: Vec<String> = files.iter().map(|name| format!("examples/{name}")).collect();
    let mut arguments = vec!["check", "--json"];
    arguments.extend(paths.iter().map(String::as_str));
    let left = bench.evenkeel(&arguments);
    let checked = fits(&bench, "check", &left.out);
    let checked = checked["files"].as_array().expect("it has files");
    assert!(checked.iter().zip(&paths).all(|(file, path)| file["file"] == *path));
    let study = checked.last().expect("the study is last");
    assert!(
        study["study"]["points"].as_u64() > Some(1) && study["forecast"].is_object(),
        "{study}"
    );
}
