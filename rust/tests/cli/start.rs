//! `evenkeel init`, `explain`, `schema`, `completions` and `man`: how to begin.

use std::fs;

use serde_json::Value;

use super::bench::Bench;

#[test]
fn each_starter_is_complete_runs_and_is_not_written_twice() {
    let bench = Bench::new();
    for question in ["failure", "incast", "training", "hpcc"] {
        let left = bench.evenkeel(&["init", question]);
        assert_eq!((left.status, left.err.as_str()), (0, ""), "{question}");
        let file = format!("{question}.toml");
        assert!(left.out.contains(&format!("next: evenkeel run {file}")), "{}", left.out);
        let run = bench.evenkeel(&["run", &file, "--json"]);
        assert_eq!((run.status, run.err.as_str()), (0, ""), "{question}");
        let summary = run.json();
        assert_eq!(summary["messages_completed"], summary["messages"], "{question}");
        let mine = format!("# mine\n{}", bench.read(&file));
        bench.write(&file, &mine);
        bench.evenkeel(&["init", question]).expect_invalid(&[&file, "is not replaced"]);
        assert_eq!(bench.read(&file), mine);
    }
    assert_eq!(bench.evenkeel(&["init", "--out", "a/b"]).status, 0);
    assert!(bench.read("a/b/failure.toml").contains("evenkeel compare a/b/failure.toml"));
}

#[test]
fn a_key_is_explained_by_its_path_its_name_or_its_section() {
    let bench = Bench::new();
    let explain = |key: &str| bench.evenkeel(&["explain", key]).out;
    let expected = "\
failure.convergence
  value    time, such as \"500ns\", or \"never\"
";
    assert!(explain("failure.convergence").starts_with(expected));
    assert!(explain("switch.ecn.step").contains("switch.ecn.step\n  value    size"));
    assert!(explain("leaves").contains("topology.leaves\n  only     kind = \"leaf-spine\""));
    assert_eq!(explain("[record]").matches("\n  meaning").count(), 4);
    assert!(explain("reps").contains("reps (policy)\n  meaning"));
    let left = bench.evenkeel(&["explain", "failure.convergance"]);
    left.expect_invalid(&["'failure.convergance' is neither", "did you mean failure.convergence"]);
}

/// Where a value does not fit a schema, of which it reads what `evenkeel schema` writes.
fn misfit(schema: &Value, value: &Value, at: &str) -> Option<String> {
    if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
        let first = misfit(&choices[0], value, at)?;
        let fits = choices.iter().any(|choice| misfit(choice, value, at).is_none());
        return (!fits).then_some(first);
    }
    if let Some(names) = schema.get("enum").and_then(Value::as_array) {
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
    if !types.is_empty() && !types.contains(&name.into()) {
        return Some(format!("{at}: {value} is not of {types:?}"));
    }
    match value {
        Value::Array(items) => {
            let item = schema.get("items")?;
            items.iter().find_map(|value| misfit(item, value, &format!("{at}[]")))
        }
        Value::Object(table) => {
            let known = schema.get("properties").and_then(Value::as_object)?;
            let is_closed = schema["additionalProperties"] == Value::Bool(false);
            table.iter().find_map(|(key, value)| match known.get(key) {
                Some(schema) => misfit(schema, value, &format!("{at}.{key}")),
                None => is_closed.then(|| format!("{at}.{key}: no such key")),
            })
        }
        _ => None,
    }
}

#[test]
fn every_example_fits_the_schema_and_other_keys_and_values_do_not() {
    let schema = Bench::new().evenkeel(&["schema"]).out;
    let schema: Value = serde_json::from_str(&schema).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let mut count = 0;
    for entry in fs::read_dir(examples).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "toml") {
            let value: Value = toml::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            assert_eq!(misfit(&schema, &value, ""), None, "{}", path.display());
            count += 1;
        }
    }
    assert!(count > 40, "{count} examples");
    for (text, place) in [
        ("[topology]\nleafs = 4\n", ".topology.leafs: no such key"),
        ("[topology]\nleaves = \"4\"\n", ".topology.leaves"),
        ("[[failure]]\nkind = \"gone\"\n", ".failure[].kind"),
        ("[switch]\nbuffer = 64\n", ".switch.buffer"),
        ("[switches]\n", ".switches: no such key"),
    ] {
        let value: Value = toml::from_str(text).unwrap();
        let found = misfit(&schema, &value, "").unwrap_or_default();
        assert!(found.starts_with(place), "{text}: {found}");
    }
    let leaves = &schema["properties"]["topology"]["properties"]["leaves"];
    assert_eq!(leaves["default"], 16);
    assert!(leaves["description"].as_str().unwrap().starts_with("Leaf switches."));
}

#[test]
fn shells_complete_commands_and_each_command_has_a_manual_page() {
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
