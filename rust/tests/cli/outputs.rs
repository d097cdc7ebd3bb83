//! Machine-readable output: every output fits its schema, and tables begin with their column names.

use std::fs;

use serde_json::{Map, Value};

use super::bench::{Bench, SMALL};
use super::start::misfit;
use crate::support::extent;

/// Returns the schema of an output, made strict: an undocumented key is an error.
pub(super) fn schema(bench: &Bench, name: &str) -> Value {
    let left = bench.evenkeel(&["schema", name]);
    assert_eq!(left.status, 0, "{name}: {}", left.err);
    let mut schema = serde_json::from_str(&left.out).expect("a schema is JSON");
    close(&mut schema);
    schema
}

fn close(schema: &mut Value) {
    if let Some(table) = schema.as_object_mut() {
        table.values_mut().for_each(close);
        if table.contains_key("properties") {
            table.entry("additionalProperties").or_insert(Value::Bool(false));
        }
    } else if let Some(items) = schema.as_array_mut() {
        items.iter_mut().for_each(close);
    }
}

pub(super) fn fits(bench: &Bench, name: &str, text: &str) -> Value {
    let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(misfit(&schema(bench, name), &value, ""), None, "{name}");
    value
}

/// Returns a scenario with everything that adds keys: jobs, failures, scale-up networks, a
/// recording.
fn with_all_keys() -> String {
    let fabric = SMALL.split("[workload]").next().expect("it has a fabric");
    let fabric = fabric.replace("hosts_per_leaf = 4", "hosts_per_leaf = 4\nscale_up.gpus = 2");
    format!(
        "{fabric}\n[record]\nevery = \"1us\"\n\
         [[job]]\nname = \"a\"\nkind = \"shift\"\nbytes = \"64KB\"\n\
         [[job]]\nname = \"b\"\nafter = \"a\"\nbytes = \"64KB\"\n\
         [[failure]]\nlink = \"leaf0-spine0\"\nat = \"1us\"\nconvergence = \"2us\"\n"
    )
}

/// Two rails, the second of which fails temporarily.
const RAILS: &str = "
[[rail]]
name = \"eth0\"
[[rail]]
name = \"eth1\"
[handler]
probe = \"10ms\"
[workload]
operations = 12
bytes = \"1MB\"
[[failure]]
rail = \"eth1\"
host = 2
at = \"3ms\"
until = \"10ms\"
";

#[test]
fn runs_and_their_folders_fit_their_schemas() {
    let bench = Bench::with_small();
    bench.write("all.toml", &with_all_keys());
    bench.write("fluid.toml", &format!("fidelity = \"fluid\"\n{SMALL}"));
    bench.write("short.toml", &format!("time_limit = \"4us\"\n{SMALL}"));
    for (name, status) in [("small", 0), ("all", 0), ("fluid", 0), ("short", 1)] {
        let arguments = ["run", &format!("{name}.toml"), "--json", "--out", name];
        let left = bench.evenkeel(&arguments);
        assert_eq!(left.status, status, "{}", left.err);
        let mut printed = fits(&bench, "run", &left.out);
        let mut kept = fits(&bench, "run", &bench.read(&format!("{name}/summary.json")));
        let cost = fits(&bench, "cost", &bench.read(&format!("{name}/cost.json")));
        for key in ["wall_s", "peak_rss_bytes"] {
            let in_cost = cost.get(key).expect(key);
            assert_eq!(
                printed.as_object_mut().and_then(|it| it.remove(key)).as_ref(),
                Some(in_cost)
            );
        }
        let resolved =
            kept.as_object_mut().and_then(|it| it.remove("resolved")).expect("it is there");
        assert_eq!(resolved["policy"]["name"], printed["policy"]);
        assert_eq!(printed, kept, "{name}");
    }
    for key in ["jobs", "failures", "scale_up", "record", "transport"] {
        let kept: Value = serde_json::from_str(&bench.read("all/summary.json")).unwrap();
        assert!(kept.get(key).is_some(), "{key} is tested");
    }
    bench.write("rails.toml", RAILS);
    let left = bench.evenkeel(&["run", "rails.toml", "--json", "--out", "rails"]);
    fits(&bench, "rails", &left.out);
    let kept = fits(&bench, "rails", &bench.read("rails/summary.json"));
    assert!(kept["timeline"].as_array().is_some_and(|it| !it.is_empty()), "{kept}");
    assert!(kept["resolved"]["rail"].is_array(), "{kept}");
    fits(&bench, "cost", &bench.read("rails/cost.json"));
}

#[test]
fn wrong_types_and_missing_keys_violate_the_schema() {
    let bench = Bench::with_small();
    let run = bench.evenkeel(&["run", "small.toml", "--json"]).json();
    let schema = schema(&bench, "run");
    let changed = |change: &dyn Fn(&mut Map<String, Value>)| {
        let mut other = run.clone();
        change(other.as_object_mut().expect("it is an object"));
        misfit(&schema, &other, "").unwrap_or_default()
    };
    assert_eq!(changed(&|_| {}), "");
    assert!(changed(&|run| drop(run.insert("seed".to_owned(), "1".into()))).starts_with(".seed"));
    assert!(changed(&|run| drop(run.remove("cct_ns"))).starts_with(".cct_ns: is missing"));
    assert!(changed(&|run| drop(run.insert("more".to_owned(), 1.into()))).starts_with(".more"));
}

#[test]
fn comparisons_bounds_and_queue_pairs_fit_their_schemas() {
    let bench = Bench::with_small();
    let policies = ["--policies", "ecmp,ethereal", "--seeds", "2"];
    let compare = |more: &[&str]| {
        bench.evenkeel(&[&["compare", "small.toml"], &policies[..], more].concat()).out
    };
    let printed = fits(&bench, "compare", &compare(&["--json", "--out", "kept"]));
    assert_eq!(printed["runs"].as_array().map(Vec::len), Some(4));
    let kept = fits(&bench, "compare", &bench.read("kept/runs.json"));
    assert!(kept["runs"][3].get("wall_s").is_none() && kept["runs"][3]["seed"] == 2);
    let costs: Value = serde_json::from_str(&bench.read("kept/cost.json")).unwrap();
    assert_eq!(
        (&costs["runs"][3]["policy"], &costs["runs"][3]["seed"]),
        (&"ethereal".into(), &2.into())
    );
    assert_eq!(costs["runs"][3]["wall_s"], printed["runs"][3]["wall_s"]);
    let before = bench.read("kept/runs.json");
    compare(&["--out", "kept"]);
    assert_eq!(bench.read("kept/runs.json"), before, "without costs it is the same each time");
    let lines = compare(&["--format", "jsonl"]);
    let keys = fits(&bench, "statistics", lines.lines().next().expect("it has lines"));
    let statistics = schema(&bench, "statistics");
    assert!(
        lines.lines().all(|line| {
            misfit(&statistics, &serde_json::from_str(line).unwrap(), "").is_none()
        })
    );
    assert_eq!(keys["metric"], "cct_ns");
    fits(&bench, "bound", &bench.evenkeel(&["bound", "small.toml", "--json"]).out);
    for policy in ["ecmp", "ethereal"] {
        let left = bench.evenkeel(&["qps", "small.toml", "--policy", policy, "--json"]);
        fits(&bench, "qps", &left.out);
    }
    bench.write("rails.toml", RAILS);
    let left = bench.evenkeel(&["compare", "rails.toml", "--policies", "nezha,even", "--json"]);
    fits(&bench, "compare-rails", &left.out);
}

#[test]
fn studies_and_sweeps_fit_their_schemas() {
    let bench = Bench::new();
    let about = "title = \"A\"\nwork = \"B\"\nabout = \"C\"\n";
    let scenario = "[scenario.topology]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n\
                    [scenario.workload]\nkind = \"all-to-all\"\nbytes = \"64KB\"\n";
    let run = "[[run]]\nname = \"a\"\nover.policy = [\"ecmp\", \"spray\"]\n";
    let claim = "[[claim]]\ntext = \"a\"\nrun = \"a\"\nmetric = \"slowdown\"\nsource = \"s\"\n\
                 origin = \"expectation\"\nof.policy = \"ecmp\"\nat_least = 1.0\n";
    bench.write("study.toml", &format!("{about}{scenario}{run}{claim}"));
    let left = bench.evenkeel(&["sweep", "study.toml", "--out", "swept"]);
    assert_eq!(left.status, 0, "{}", left.err);
    let log = bench.read("swept/sweep.runs.jsonl");
    assert_eq!(log.lines().count(), 2);
    for line in log.lines() {
        let mut run = fits(&bench, "sweep", line)["result"].take();
        let rates = run.as_object_mut().and_then(|run| run.remove("rate_gbps"));
        assert!(rates.is_some_and(|rates| rates.is_object()), "{run}");
        fits(&bench, "run", &run.to_string());
    }
    let left = bench.evenkeel(&["reproduce", "study.toml", "--json", "--out", "judged"]);
    assert_eq!(left.status, 0, "{}", left.err);
    fits(&bench, "reproduce", &left.json()["studies"][0].to_string());
    fits(&bench, "reproduce", &bench.read("judged/study.json"));
    if !extent::is_left_out("cli::outputs, a study of rails") {
        assert_eq!(bench.evenkeel(&["reproduce", "nezha", "--out", "judged"]).status, 0);
        fits(&bench, "reproduce", &bench.read("judged/nezha.json"));
    }
    let bench = Bench::with_studies();
    fits(&bench, "reproduce", &bench.read("studies/reps-failures.json"));
}

#[test]
fn the_summarys_resolved_scenario_matches_check_and_runs_again() {
    let bench = Bench::with_small();
    let summary = |scenario: &str, more: &[&str]| -> Value {
        let left = bench.evenkeel(&[&["run", scenario, "--out", "results"], more].concat());
        assert_eq!(left.status, 0, "{}", left.err);
        serde_json::from_str(&bench.read("results/summary.json")).expect("it is JSON")
    };
    let run = summary("small.toml", &["--set", "seed=5"]);
    let resolved = &run["resolved"];
    assert_eq!((&resolved["seed"], &resolved["topology"]["leaves"]), (&5.into(), &2.into()));
    assert_eq!(resolved["policy"]["name"], "ecmp");
    let explained = bench.evenkeel(&["check", "small.toml", "--set", "seed=5", "--explain"]).out;
    let explained: Value = toml::from_str(&explained).expect("it is TOML");
    assert_eq!(*resolved, explained);
    let text = toml::to_string(resolved).expect("it is a table");
    fs::create_dir(bench.path("again")).unwrap();
    bench.write("again/small.toml", &text);
    assert_eq!(summary("again/small.toml", &[]), run);
}

#[test]
fn tables_begin_with_column_names_and_may_have_comments() {
    let bench = Bench::new();
    bench.write("all.toml", &with_all_keys());
    assert_eq!(bench.evenkeel(&["run", "all.toml", "--out", "results"]).status, 0);
    let tables = bench.names("results").into_iter().filter(|name| name.ends_with(".csv"));
    let tables: Vec<String> = tables.collect();
    assert!(tables.len() >= 5, "{tables:?}");
    let figures = |folder: &str| {
        let left = bench.evenkeel(&["plot", "results", "--out", folder]);
        assert_eq!(left.status, 0, "{}", left.err);
        bench
            .names(folder)
            .iter()
            .map(|it| bench.read(&format!("{folder}/{it}")))
            .collect::<Vec<_>>()
    };
    let drawn = figures("new");
    for name in &tables {
        let path = format!("results/{name}");
        let text = bench.read(&path);
        let width = text.lines().next().expect("it has columns").split(',').count();
        assert!(text.lines().all(|line| line.split(',').count() == width), "{name}");
        assert!(!text.contains('#'), "{name}");
        bench.write(&path, &format!("# evenkeel 0.1.0 scenario=all policy=ecmp seed=1\n{text}"));
    }
    assert_eq!(figures("old"), drawn, "what earlier versions wrote");
    assert_eq!(bench.evenkeel(&["run", "all.toml", "--out", "results"]).status, 0);
    assert!(bench.read("results/flows.csv").starts_with("message,"), "it was replaced");
}
