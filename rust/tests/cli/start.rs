//! `evenkeel init`, `explain`, `schema`, `completions` and `man`: getting started.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use super::bench::Bench;
use crate::support::extent;

#[test]
fn each_starter_scenario_runs_and_is_never_overwritten() {
    let bench = Bench::new();
    let all = vec!["failure", "incast", "training", "hpcc"];
    for question in extent::cases("cli::start", all, |it| *it != "training") {
        let left = bench.evenkeel(&["init", question]);
        assert_eq!((left.status, left.err.as_str()), (0, ""), "{question}");
        let file = format!("{question}.toml");
        assert!(left.out.contains(&format!("next: evenkeel run {file}")), "{}", left.out);
        let run = bench.evenkeel(&["run", &file, "--json"]);
        assert_eq!(run.status, 0, "{question}: {}", run.err);
        let summary = run.json();
        assert_eq!(summary["messages_completed"], summary["messages"], "{question}");
        let mine = format!("# mine\n{}", bench.read(&file));
        bench.write(&file, &mine);
        bench.evenkeel(&["init", question]).expect_invalid(&[&file, "already exists"]);
        assert_eq!(bench.read(&file), mine);
    }
    assert_eq!(bench.evenkeel(&["init", "--out", "a/b"]).status, 0);
    assert!(bench.read("a/b/failure.toml").contains("evenkeel compare a/b/failure.toml"));
}

/// Fails unless the README shows the table of the demo, without wall times, and its figure.
fn expect_shown(table: &str, figure: &str) {
    let readme = include_str!("../../../README.md");
    let block = readme.split("```text\n").nth(1).and_then(|rest| rest.split("```").next());
    for line in block.expect("README.md has the table").lines() {
        assert!(table.lines().any(|it| it.starts_with(line)), "README.md is out of date: {line}");
    }
    let is_shown = figure == include_str!("../../../docs/demo.svg");
    assert!(
        is_shown,
        "docs/demo.svg is out of date: it is evenkeel-demo/demo.svg of evenkeel demo"
    );
}

#[test]
fn the_demo_needs_no_file_and_runs_again() {
    let bench = Bench::new();
    for _ in 0..2 {
        let left = bench.evenkeel(&["demo"]);
        assert_eq!(left.status, 0, "{}", left.err);
        assert!(left.out.contains("\nbest CCT: reps\n"), "{}", left.out);
        expect_shown(&left.out, &bench.read("evenkeel-demo/demo.svg"));
        // The commands that it prints give the same again.
        let results = bench.read("evenkeel-demo/results/comparison.csv");
        let commands = left.out.lines().filter_map(|line| line.strip_prefix("$ evenkeel "));
        for command in commands {
            let words: Vec<&str> = command.split(' ').collect();
            assert_eq!(bench.evenkeel(&words).status, 0, "{command}");
        }
        assert_eq!(bench.read("evenkeel-demo/results/comparison.csv"), results);
    }
    bench.write("evenkeel-demo/demo.toml", "# mine\n");
    bench.evenkeel(&["demo"]).expect_invalid(&["demo.toml", "differs", "--out DIR"]);
}

#[test]
fn keys_are_explained_by_path_name_or_section() {
    let bench = Bench::new();
    let explain = |key: &str| bench.evenkeel(&["explain", key]).out;
    let expected = "\
failure.convergence
  value    time, such as \"500ns\", or \"never\"
";
    assert!(explain("failure.convergence").starts_with(expected));
    assert!(explain("switch.ecn.step").contains("switch.ecn.step\n  value    size"));
    assert!(explain("leaves").contains("topology.leaves\n  only     kind = \"leaf-spine\""));
    assert_eq!(explain("[record]").matches("\n  meaning").count(), 7);
    assert!(explain("reps").contains("reps (policy)\n  meaning"));
    let parameter = "\
policy.evs
  used by  mrc
  value    a whole number from 0 to 65535
  default  128
";
    assert_eq!(explain("policy.evs"), parameter);
    assert_eq!(explain("evs"), parameter);
    assert!(explain("mrc").contains("\n  key      policy.evs = 128\n"));
    let cut = "transport.parameters.loss_cut\n  used by  nscc\n";
    assert!(explain("transport.parameters.loss_cut").starts_with(cut));
    assert!(explain("nscc").contains("\n  key      transport.parameters.loss_cut = "));
    let left = bench.evenkeel(&["explain", "failure.convergance"]);
    left.expect_invalid(&[
        "'failure.convergance' is not a scenario key",
        "did you mean failure.convergence",
    ]);
}

/// Returns the place where a value does not fit a schema, supporting the subset that `evenkeel
/// schema` writes.
pub(super) fn misfit(schema: &Value, value: &Value, at: &str) -> Option<String> {
    for among in ["anyOf", "oneOf"] {
        let Some(choices) = schema.get(among).and_then(Value::as_array) else { continue };
        let misfits: Vec<_> = choices.iter().map(|choice| misfit(choice, value, at)).collect();
        if misfits.iter().all(Option::is_some) {
            // The error inside a table or list is more helpful than that it is the wrong kind.
            return misfits.into_iter().flatten().max_by_key(String::len);
        }
    }
    let names = schema.get("enum").and_then(Value::as_array).cloned();
    let names = names.or_else(|| Some(vec![schema.get("const")?.clone()]));
    if let Some(names) = names {
        return (!names.contains(value)).then(|| format!("{at}: {value} is not one of {names:?}"));
    }
    let name = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let types = match &schema["type"] {
        Value::Array(types) => types.clone(),
        Value::Null => Vec::new(),
        one => vec![one.clone()],
    };
    let is_of = |kind: &Value| *kind == name || (*kind == "number" && name == "integer");
    if !types.is_empty() && !types.iter().any(is_of) {
        return Some(format!("{at}: {value} is not of {types:?}"));
    }
    match value {
        Value::Array(items) => {
            let item = schema.get("items")?;
            items.iter().find_map(|value| misfit(item, value, &format!("{at}[]")))
        }
        Value::Object(table) => misfit_in(schema, table, at),
        _ => None,
    }
}

/// Like [`misfit`], for a table.
fn misfit_in(schema: &Value, table: &Map<String, Value>, at: &str) -> Option<String> {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let mut required = required.filter_map(Value::as_str);
    if let Some(missing) = required.find(|key| !table.contains_key(*key)) {
        return Some(format!("{at}.{missing}: is missing"));
    }
    let known = schema.get("properties").and_then(Value::as_object);
    let others = schema.get("additionalProperties");
    table.iter().find_map(|(key, value)| {
        let at = format!("{at}.{key}");
        match (known.and_then(|known| known.get(key)), others) {
            (Some(schema), _) => misfit(schema, value, &at),
            (None, Some(Value::Bool(false))) => Some(format!("{at}: no such key")),
            (None, Some(others)) => misfit(others, value, &at),
            (None, None) => None,
        }
    })
}

/// Returns the number of files in a folder of examples, each of which must fit the schema.
fn examples_that_fit(schema: &Value, folder: &str) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(folder);
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "toml") {
            let value: Value = toml::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            assert_eq!(misfit(schema, &value, ""), None, "{}", path.display());
            count += 1;
        }
    }
    count
}

/// Checks that each text is rejected at the given place.
fn refuses(schema: &Value, faults: &[(&str, &str)]) {
    for (text, place) in faults {
        let value: Value = toml::from_str(text).unwrap();
        let found = misfit(schema, &value, "").unwrap_or_default();
        assert!(found.starts_with(place), "{text}: {found}");
    }
}

#[test]
fn examples_fit_the_schema_and_unknown_keys_and_values_do_not() {
    let schema = Bench::new().evenkeel(&["schema"]).out;
    let schema: Value = serde_json::from_str(&schema).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let count = examples_that_fit(&schema, "");
    assert!(count > 40, "{count} examples");
    let faults = [
        ("[topology]\nleafs = 4\n", ".topology.leafs: no such key"),
        ("[topology]\nleaves = \"4\"\n", ".topology.leaves"),
        ("[[failure]]\nkind = \"gone\"\n", ".failure[].kind"),
        ("[switch]\nbuffer = 64\n", ".switch.buffer"),
        ("[switches]\n", ".switches: no such key"),
    ];
    refuses(&schema, &faults);
    let ports = &schema["properties"]["topology"]["properties"]["k"];
    assert_eq!(ports["default"], 8);
    assert!(ports["description"].as_str().unwrap().starts_with("Ports of a switch"));
    // A key with several kinds has the documentation of each.
    let leaves = &schema["properties"]["topology"]["properties"]["leaves"]["anyOf"][0];
    assert_eq!(leaves["default"], 16);
    assert!(leaves["description"].as_str().unwrap().starts_with("Leaf switches."));
}

#[test]
fn every_study_fits_the_schema_of_studies() {
    let schema = Bench::new().evenkeel(&["schema", "study"]).out;
    let schema: Value = serde_json::from_str(&schema).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert!(examples_that_fit(&schema, "reproduce") > 15);
    assert_eq!(examples_that_fit(&schema, "sweeps"), 2);
    let run = "[[run]]\nname = \"a\"\n";
    let claim = "[[claim]]\ntext = \"a\"\nrun = \"a\"\nmetric = \"cct_ns\"\n";
    let faults = [
        ("title = \"a\"\n".to_owned(), ".run: is missing"),
        (format!("titel = \"a\"\n{run}"), ".titel: no such key"),
        (format!("{run}seed = 2\n"), ".run[].seed: no such key"),
        (format!("{run}seeds = \"2\"\n"), ".run[].seeds"),
        (format!("{run}over.policy = \"ecmp\"\n"), ".run[].over.policy"),
        (format!("{run}over.seed = {{ from = 1, too = 2 }}\n"), ".run[].over.seed"),
        (format!("{run}{claim}origin = \"none\"\n"), ".claim[].origin"),
        (format!("{run}scenario.topology.leafs = 4\n"), ".run[].scenario"),
        (format!("{run}[scenario.topology]\nleafs = 4\n"), ".scenario.topology.leafs"),
    ];
    let faults: Vec<(&str, &str)> = faults.iter().map(|(text, at)| (text.as_str(), *at)).collect();
    refuses(&schema, &faults);
    let seeds = &schema["properties"]["run"]["items"]["properties"]["seeds"];
    assert_eq!(seeds["default"], 1);
    assert_eq!(seeds["description"], "The number of seeds, from the scenario's.");
}

#[test]
fn shell_completions_and_manual_pages_cover_all_commands() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish"] {
        let text = bench.evenkeel(&["completions", shell]).out;
        assert!(text.contains("evenkeel") && text.contains("policies"), "{shell}");
    }
    assert_eq!(bench.evenkeel(&["man", "man1"]).status, 0);
    let pages = bench.names("man1");
    for page in ["evenkeel.1", "evenkeel-run.1", "evenkeel-report.1"] {
        assert!(pages.contains(&page.to_owned()), "{pages:?}");
    }
    let page = bench.read("man1/evenkeel-plot.1");
    assert!(page.starts_with(".ie") && page.contains("Draw figures of results"), "{page}");
}

/// Simulates a full disk: the file size limit is far below the length of the text.
#[cfg(unix)]
#[test]
fn a_partially_written_scenario_is_removed() {
    let bench = Bench::new();
    let script = "trap '' XFSZ; ulimit -f 0; exec \"$@\"";
    let program = env!("CARGO_BIN_EXE_evenkeel");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", script, "sh", program, "init", "--out", "a/b"]);
    let output = command.current_dir(bench.path("")).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && said.contains("cannot write"), "{said}");
    assert_eq!(bench.names("."), [""; 0]);
}
