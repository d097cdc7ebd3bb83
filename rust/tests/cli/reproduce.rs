//! `evenkeel reproduce`.

use std::fs;

use super::bench::{Bench, CommandOutput};

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

/// Files in the folder after the study.
const FILES: [&str; 4] = ["README.md", "study.csv", "study.json", "study.md"];

/// Verdicts in index order.
const VERDICTS: [&str; 4] = ["holds", "does-not-hold", "cannot-be-judged", "not-at-this-scale"];

fn with_study() -> Bench {
    let bench = Bench::new();
    bench.write("study.toml", STUDY);
    bench
}

#[test]
fn reproduce_without_a_name_lists_the_studies() {
    let left = Bench::new().evenkeel(&["reproduce"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    assert!(left.out.contains("\nethereal-collectives  Ethereal (arXiv"), "{}", left.out);
    assert!(left.out.lines().all(|line| line.chars().count() <= 80), "{}", left.out);
}

#[test]
fn a_study_prints_a_table_of_all_verdicts() {
    let left = with_study().evenkeel(&["reproduce", "study.toml"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    for words in ["Scale quick: 4 runs. 1 of 2 claims holds.", "[1] It takes microseconds."] {
        assert!(left.out.contains(words), "{}", left.out);
    }
    assert!(left.out.lines().all(|line| line.chars().count() <= 80), "{}", left.out);
}

#[test]
fn json_results_do_not_depend_on_the_number_of_threads() {
    let verdicts = |jobs: &str| {
        let left = with_study().evenkeel(&["reproduce", "study.toml", "--json", "--jobs", jobs]);
        let json = left.json();
        assert_eq!(json["studies"][0]["claims"][1]["verdict"], "does-not-hold");
        json["studies"][0]["claims"].clone()
    };
    assert_eq!(verdicts("1"), verdicts("3"));
}

#[test]
fn study_results_are_added_to_a_folder_with_an_index_page() {
    let bench = with_study();
    let arguments = ["reproduce", "study.toml", "--scale", "paper", "--out", "results"];
    assert_eq!(bench.evenkeel(&arguments).status, 0);
    bench.write("second.toml", STUDY);
    assert_eq!(bench.evenkeel(&["reproduce", "second.toml", "--out", "results"]).status, 0);
    let names =
        [&["README.md", "second.csv", "second.json", "second.md"][..], &FILES[1..]].concat();
    assert_eq!(bench.names("results"), names);
    let index = bench.read("results/README.md");
    for words in [
        "| A test | [study](study.md): Spraying needs no luck | paper | 2 | 1 | 1 | 0 | 0 |",
        "| A test | [second](second.md): Spraying needs no luck | quick | 2 | 1 | 1 | 0 | 0 |",
    ] {
        assert!(index.contains(words), "{index}");
    }
    let page = bench.read("results/study.md");
    for words in ["reproduce study --scale paper`", "**does not hold** (1)"] {
        assert!(page.contains(words), "{page}");
    }
    assert_eq!(bench.read("results/study.csv").lines().count(), 1 + 4);
}

#[test]
fn the_study_page_has_each_claim_with_verdict_and_reason() {
    let bench = Bench::with_studies();
    let judged: serde_json::Value =
        serde_json::from_str(&bench.read("studies/reps-failures.json")).unwrap();
    let page = bench.read("studies/reps-failures.md");
    let claims = judged["claims"].as_array().unwrap();
    let rows = page.lines().skip_while(|line| !line.starts_with("| claim |")).skip(2);
    let rows: Vec<&str> = rows.take_while(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), claims.len());
    let mut counts = [0; 4];
    for (row, claim) in rows.iter().zip(claims) {
        let verdict = claim["verdict"].as_str().unwrap();
        let place = VERDICTS.iter().position(|known| *known == verdict).unwrap();
        counts[place] += 1;
        let text = claim["text"].as_str().unwrap();
        assert!(row.contains(text) && row.contains(&verdict.replace('-', " ")), "{row}");
        let why = claim["why"].as_str().unwrap();
        let reason = row.rsplit_once('(').and_then(|(_, rest)| rest.strip_suffix(") |"));
        let reason = reason.filter(|number| number.parse::<u32>().is_ok());
        assert_eq!(reason.is_some(), !why.is_empty(), "{row}");
        let line = |number| format!("\n{number}. {why}\n");
        assert!(reason.is_none_or(|number| page.contains(&line(number))), "{row}: {why}");
    }
    for table in judged["tables"].as_array().unwrap() {
        assert!(page.contains(&format!("\n## {}\n", table["title"].as_str().unwrap())), "{page}");
    }
    let [holds, fails, open, absent] = counts;
    let numbers = format!("| quick | {} | {holds} | {fails} | {open} | {absent} |", claims.len());
    let index = bench.read("studies/README.md");
    assert!(index.contains("[reps-failures](reps-failures.md): ") && index.contains(&numbers));
    assert!(!page.contains("docs/") && !index.contains("docs/"), "links of a user's folder");
}

#[test]
fn foreign_pages_are_rejected_before_the_first_run() {
    let bench = with_study();
    fs::create_dir(bench.path("results")).unwrap();
    bench.write("results/study.md", "# Notes\n");
    into_results(&bench, &[]).expect_invalid(&["--out results: study.md is not a page of studies"]);
    assert_eq!(bench.names("results"), ["study.md"]);
    bench.write("other.toml", STUDY);
    let other = bench.evenkeel(&["reproduce", "other.toml", "--out", "results"]);
    assert_eq!((other.status, bench.read("results/study.md").as_str()), (0, "# Notes\n"));
}

#[test]
fn unknown_studies_and_invalid_files_are_errors() {
    let bench = with_study();
    let unknown = bench.evenkeel(&["reproduce", "etheral-qps"]);
    unknown.expect_invalid(&["no study is called 'etheral-qps'", "ethereal-qps"]);
    bench.write("bad.toml", &STUDY.replace("cct_s\"", "cct_h\""));
    let metric = bench.evenkeel(&["reproduce", "bad.toml"]);
    metric.expect_invalid(&["bad.toml:31:10: claim[1].metric: 'cct_h': no such number"]);
    bench.write("bad.toml", &STUDY.replace("work = \"A test\"", ""));
    bench.evenkeel(&["reproduce", "bad.toml"]).expect_invalid(&["bad.toml: work is missing"]);
    bench.write("bad.toml", &STUDY.replace("[run.over]", "[run.zip]"));
    let zipped = bench.evenkeel(&["reproduce", "bad.toml"]);
    zipped.expect_invalid(&["claim[0].run: 'all-to-all' has `zip`; expected a run without it"]);
    bench.write("bad.toml", &STUDY.replace("leaves = 2", "leaves = 0"));
    let scenario = bench.evenkeel(&["reproduce", "bad.toml"]);
    scenario
        .expect_invalid(&["bad.toml:6:10: run 'all-to-all' with policy spray: topology.leaves"]);
}

/// Runs the study with these options into the folder `results`.
fn into_results(bench: &Bench, options: &[&str]) -> CommandOutput {
    bench.evenkeel(&[&["reproduce", "study.toml", "--out", "results"], options].concat())
}

/// Returns `study.json` from `results` without wall time and memory.
fn judged(bench: &Bench) -> serde_json::Value {
    let mut json: serde_json::Value =
        serde_json::from_str(&bench.read("results/study.json")).unwrap();
    let results = json.as_object_mut().unwrap();
    assert!(results.remove("wall_s").is_some() && results.remove("peak_rss_bytes").is_some());
    json
}

const LOG: &str = "results/study.runs.jsonl";

#[test]
fn an_interrupted_study_resumes_with_identical_results() {
    let bench = with_study();
    assert_eq!(into_results(&bench, &[]).status, 0);
    assert_eq!(bench.names("results"), FILES);
    let (runs, whole) = (bench.read("results/study.csv"), judged(&bench));
    assert_eq!(into_results(&bench, &["--keep-runs", "--jobs", "1"]).status, 0);
    let log = bench.read(LOG);
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines.len(), 4);
    let torn = lines[2].split_at(lines[2].len() / 2).0;
    bench.write(LOG, &format!("{}\n{}\n{torn}", lines[0], lines[1]));
    for file in ["results/study.csv", "results/study.json"] {
        fs::remove_file(bench.path(file)).unwrap();
    }
    let left = into_results(&bench, &["--resume"]);
    let note = "note: results/study.runs.jsonl: 2 of 4 runs of study reused\n";
    assert_eq!((left.status, left.err.as_str()), (0, note));
    assert_eq!((bench.read("results/study.csv"), judged(&bench)), (runs, whole));
    assert_eq!(bench.names("results"), FILES);
}

#[test]
fn finished_runs_are_judged_again_without_simulating() {
    let bench = with_study();
    assert_eq!(into_results(&bench, &["--keep-runs"]).status, 0);
    // Replaces the simulated time by one second, so that the claim about one second holds.
    let mut log = String::new();
    for line in bench.read(LOG).lines() {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["result"]["cct_ns"] = 1e9.into();
        log += &format!("{line}\n");
    }
    bench.write(LOG, &log);
    bench.write("study.toml", &STUDY.replace("within = \"1 %\"", "within = \"2 %\""));
    let left = into_results(&bench, &["--resume", "--keep-runs"]);
    assert!(left.err.contains("4 of 4 runs"), "{}", left.err);
    assert_eq!(judged(&bench)["claims"][1]["verdict"], "holds");
    assert_eq!(bench.read(LOG), log);
}

#[test]
fn runs_of_a_changed_scenario_are_simulated_again() {
    let bench = with_study();
    assert_eq!(into_results(&bench, &["--keep-runs"]).status, 0);
    bench.write("study.toml", &STUDY.replace("256KB", "512KB"));
    let left = into_results(&bench, &["--resume"]);
    assert!(left.err.contains("0 of 4 runs"), "{}", left.err);
    let resumed = (bench.read("results/study.csv"), judged(&bench));
    assert_eq!(into_results(&bench, &[]).status, 0);
    assert_eq!(resumed, (bench.read("results/study.csv"), judged(&bench)));
}

#[test]
fn a_damaged_log_of_finished_runs_is_neither_used_nor_overwritten() {
    let bench = with_study();
    assert_eq!(into_results(&bench, &["--keep-runs"]).status, 0);
    let log = bench.read(LOG);
    into_results(&bench, &[]).expect_invalid(&[
        "results/study.runs.jsonl: finished runs of an earlier start: 4; use --resume",
    ]);
    assert_eq!(bench.read(LOG), log);
    bench.write(LOG, &format!("{}\n{{}}\n", log.lines().next().unwrap()));
    into_results(&bench, &["--resume"])
        .expect_invalid(&["study.runs.jsonl: line 2: not the result of a run: missing field"]);
    let left = bench.evenkeel(&["reproduce", "study.toml", "--resume"]);
    left.expect_invalid(&["--out <DIR>"]);
}

#[test]
fn a_strict_study_with_a_claim_that_does_not_hold_exits_with_1_and_has_a_junit_file() {
    let bench = with_study();
    let run = |arguments: &[&str]| {
        bench.evenkeel(
            &[&["reproduce", "study.toml", "--junit", "ci/study.xml"], arguments].concat(),
        )
    };
    assert_eq!((run(&[]).status, run(&["--strict"]).status), (0, 1));
    let left = run(&["--strict", "--json"]);
    let expected = "error: --strict: study: hashing takes a second does not hold: 0.000 s\n";
    assert_eq!((left.status, left.err.as_str()), (1, expected));
    assert_eq!(left.json()["studies"][0]["claims"].as_array().map(Vec::len), Some(2));
    let file = bench.read("ci/study.xml");
    assert!(file.contains("<testsuite name=\"study\" tests=\"2\" failures=\"1\""), "{file}");
    assert!(file.contains("message=\"does not hold: It takes microseconds. (theirs 1 s"), "{file}");
    bench.write("ci/mine.xml", "<testsuites/>");
    let left = bench.evenkeel(&["reproduce", "study.toml", "--junit", "ci/mine.xml"]);
    left.expect_invalid(&["--junit: ci/mine.xml", "not a JUnit file that evenkeel wrote"]);
}

#[test]
fn why_lists_the_settings_that_turn_a_verdict() {
    let bench = with_study();
    let own = "\n[[why]]\nset = { \"transport.ack\" = \"90B\" }\n";
    bench.write("study.toml", &format!("{STUDY}{own}"));
    let plain = bench.evenkeel(&["reproduce", "study.toml"]);
    assert!(!plain.out.contains("alternatives"), "{}", plain.out);
    let left = bench.evenkeel(&["reproduce", "study.toml", "--why"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    assert!(left.out.contains("23 alternatives, one at a time"), "{}", left.out);
    assert!(left.out.contains("none of these"), "{}", left.out);
    assert!(left.out.lines().all(|line| line.chars().count() <= 80), "{}", left.out);
    let results = |jobs: &str| {
        let left = bench.evenkeel(&["reproduce", "study.toml", "--why", "--json", "--jobs", jobs]);
        left.json()["studies"][0]["alternatives"].clone()
    };
    let found = results("3");
    assert_eq!((found["claims"][0]["claim"].as_u64(), found.clone()), (Some(1), results("1")));
}

#[test]
fn runs_of_alternatives_are_resumed_and_on_the_page() {
    let bench = with_study();
    let left = into_results(&bench, &["--why", "--keep-runs"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    let whole = judged(&bench);
    let log = bench.read(LOG);
    let more = whole["alternatives"]["runs"].as_u64().unwrap();
    assert_eq!(log.lines().count() as u64, 4 + more);
    let page = bench.read("results/study.md");
    assert!(page.contains("\n## Alternatives\n") && page.contains("| none of these |"), "{page}");
    let left = into_results(&bench, &["--why", "--keep-runs", "--resume"]);
    assert!(left.err.contains("4 of 4 runs of study reused"), "{}", left.err);
    assert_eq!((judged(&bench), bench.read(LOG)), (whole, log));
}
