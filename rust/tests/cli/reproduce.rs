//! `evenkeel reproduce`.

use super::bench::Bench;

/// The study of `docs/studies.md`, with fewer hosts.
const STUDY: &str = r#"
title = "Spraying needs no luck"
work = "A test"

[scenario.topology]
leaves = 2
spines = 2
hosts_per_leaf = 4

[[run]]
name = "all-to-all"
seeds = 2
set = { "transport.congestion_control" = "line-rate", "workload.bytes" = "256KB" }
[run.over]
policy = ["spray", "ecmp"]

[[claim]]
text = "hashing takes longer than spraying"
origin = "expectation"
run = "all-to-all"
metric = "cct_us"
of = { policy = "ecmp" }
against = { policy = "spray" }
as = "above"
at_least = 0

[[claim]]
text = "hashing takes a second"
origin = "expectation"
run = "all-to-all"
metric = "cct_s"
of = { policy = "ecmp" }
published = 1
within = "1 %"
why = "It takes microseconds."
"#;

fn with_study() -> Bench {
    let bench = Bench::new();
    bench.write("study.toml", STUDY);
    bench
}

#[test]
fn without_a_name_it_lists_the_studies() {
    let left = Bench::new().evenkeel(&["reproduce"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    assert!(left.out.contains("\nethereal-collectives  Ethereal (arXiv"), "{}", left.out);
    assert!(left.out.lines().all(|line| line.chars().count() <= 80), "{}", left.out);
}

#[test]
fn a_study_is_a_table_of_verdicts_whatever_they_are() {
    let left = with_study().evenkeel(&["reproduce", "study.toml"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    for words in ["Scale quick: 4 runs. 1 of 2 claims holds.", "[1] It takes microseconds."] {
        assert!(left.out.contains(words), "{}", left.out);
    }
    assert!(left.out.lines().all(|line| line.chars().count() <= 80), "{}", left.out);
}

#[test]
fn json_has_the_same_results_with_any_number_of_threads() {
    let verdicts = |jobs: &str| {
        let left = with_study().evenkeel(&["reproduce", "study.toml", "--json", "--jobs", jobs]);
        let json = left.json();
        assert_eq!(json["studies"][0]["claims"][1]["verdict"], "does-not-hold");
        json["studies"][0]["claims"].clone()
    };
    assert_eq!(verdicts("1"), verdicts("3"));
}

#[test]
fn results_are_added_to_a_folder_with_a_page() {
    let bench = with_study();
    let arguments = ["reproduce", "study.toml", "--scale", "paper", "--out", "results"];
    assert_eq!(bench.evenkeel(&arguments).status, 0);
    bench.write("second.toml", STUDY);
    assert_eq!(bench.evenkeel(&["reproduce", "second.toml", "--out", "results"]).status, 0);
    let names = ["README.md", "second.csv", "second.json", "study.csv", "study.json"];
    assert_eq!(bench.names("results"), names);
    let page = bench.read("results/README.md");
    for words in ["[study](#study)", "[second](#second)", "--scale paper`", "**does not hold** (1)"]
    {
        assert!(page.contains(words), "{page}");
    }
    assert_eq!(bench.read("results/study.csv").lines().count(), 1 + 4);
}

#[test]
fn unknown_studies_and_invalid_files_are_errors() {
    let bench = with_study();
    let unknown = bench.evenkeel(&["reproduce", "etheral-qps"]);
    unknown.expect_invalid(&["no study is called 'etheral-qps'", "ethereal-qps"]);
    bench.write("bad.toml", &STUDY.replace("cct_s\"", "cct_h\""));
    let metric = bench.evenkeel(&["reproduce", "bad.toml"]);
    metric.expect_invalid(&["bad.toml: claim 'hashing takes a second': metric = 'cct_h'"]);
    bench.write("bad.toml", &STUDY.replace("leaves = 2", "leaves = 0"));
    let scenario = bench.evenkeel(&["reproduce", "bad.toml"]);
    scenario.expect_invalid(&["run 'all-to-all' with policy spray: topology.leaves"]);
}
