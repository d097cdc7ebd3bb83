//! `evenkeel compare`.

use serde_json::Value;

use super::bench::{Bench, SMALL};

/// The runs without their cost, which varies.
fn determined(json: &Value) -> Vec<Value> {
    let mut runs = json["runs"].as_array().expect("it is an array").clone();
    for run in &mut runs {
        let run = run.as_object_mut().expect("it is an object");
        run.remove("wall_s").expect("it is there");
        run.remove("peak_rss_bytes").expect("it is there");
    }
    runs
}

#[test]
fn runs_are_in_order_with_any_number_of_threads() {
    let bench = Bench::with_small();
    let compare = |jobs: &str| {
        let left = bench.evenkeel(&[
            "compare",
            "small.toml",
            "--policies",
            "spray,ecmp,ethereal",
            "--seeds",
            "2",
            "--jobs",
            jobs,
            "--json",
        ]);
        assert_eq!((left.status, left.err.as_str()), (0, ""));
        determined(&left.json())
    };
    let runs = compare("1");
    let which: Vec<(&str, u64)> = runs
        .iter()
        .map(|run| (run["policy"].as_str().unwrap(), run["seed"].as_u64().unwrap()))
        .collect();
    let expected =
        [("spray", 1), ("spray", 2), ("ecmp", 1), ("ecmp", 2), ("ethereal", 1), ("ethereal", 2)];
    assert_eq!(which, expected);
    assert_eq!(runs, compare("4"));
}

#[test]
fn a_run_in_a_comparison_equals_the_run_alone() {
    let bench = Bench::with_small();
    let both = bench.evenkeel(&["compare", "small.toml", "--policies", "ethereal,spray", "--json"]);
    let alone = bench.evenkeel(&["run", "small.toml", "--policy", "spray", "--json"]).json();
    let alone = determined(&serde_json::json!({ "runs": [alone] }));
    assert_eq!(determined(&both.json())[1..], alone);
}

#[test]
fn people_get_a_table_of_80_columns() {
    let left = Bench::with_small().evenkeel(&["compare", "small.toml", "--policies", "spray,ecmp"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    assert!(left.out.lines().all(|line| line.chars().count() <= 80), "{}", left.out);
    let first_words: Vec<&str> =
        left.out.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(first_words[first_words.len() - 2..], ["spray", "ecmp"]);
}

#[test]
fn all_arguments_are_checked_before_the_first_run() {
    let bench = Bench::with_small();
    let invalid = |arguments: &[&str], words: &[&str]| {
        bench.evenkeel(&[&["compare", "small.toml"], arguments].concat()).expect_invalid(words);
    };
    invalid(&["--policies", "ecmp,sprey"], &["'sprey'", "ecmp"]);
    invalid(&["--policies", "ecmp,"], &["''", "ecmp"]);
    invalid(&["--policies", "ecmp,spray,ecmp"], &["'ecmp' is repeated"]);
    invalid(&["--policies", "ecmp", "--seeds", "0"], &["'0'", "--seeds"]);
    invalid(&["--policies", "ecmp", "--jobs", "0"], &["'0'", "--jobs"]);
    let last = u64::MAX.to_string();
    invalid(&["--policies", "ecmp", "--seeds", "2", "--seed", &last], &["seed", &last]);
}

#[test]
fn a_run_that_does_not_complete_is_reported_with_the_table() {
    let bench = Bench::new();
    bench.write("short.toml", &format!("time_limit = \"4us\"\n{SMALL}"));
    let left = bench.evenkeel(&["compare", "short.toml", "--policies", "ecmp,spray"]);
    assert_eq!(left.status, 1, "{left:?}");
    for policy in ["ecmp", "spray"] {
        let message = format!("the run of short (policy {policy}, seed 1) did not complete");
        assert!(left.err.contains(&message), "{}", left.err);
    }
    assert_eq!(left.out.matches(" open ").count(), 2, "{}", left.out);
}
