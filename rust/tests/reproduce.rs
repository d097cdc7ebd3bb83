//! The studies of `examples/reproduce/`: their results at the scale `quick`, and the table of their
//! verdicts at the scale `paper`.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use evenkeel::fabric::Progress;
use evenkeel::report::{Identity, reproduction_table};
use evenkeel::studies::BUILT_IN;
use evenkeel::study::reproduce::{ClaimVerdict, Origin, Scale, Study};
use evenkeel::study::{ComparisonRun, Observer};

use crate::support::{extent, snapshot};

/// Number of concurrent runs.
const CORES: NonZeroUsize = NonZeroUsize::new(2).unwrap();

/// The snapshots of the studies, in study order.
const SNAPSHOTS: [&str; 21] = [
    "reproduce-ethereal-collectives",
    "reproduce-ethereal-leaf-spine",
    "reproduce-ethereal-fat-tree",
    "reproduce-ethereal-failure",
    "reproduce-ethereal-qps",
    "reproduce-ethereal-gpt",
    "reproduce-ofan-ideal",
    "reproduce-ofan-failures",
    "reproduce-ofan-sweeps",
    "reproduce-ofan-fsdp",
    "reproduce-prime",
    "reproduce-reps-symmetric",
    "reproduce-reps-coalescing",
    "reproduce-reps-asymmetric",
    "reproduce-reps-failures",
    "reproduce-reps-law",
    "reproduce-reps-flapping",
    "reproduce-hardware",
    "reproduce-silicon",
    "reproduce-nezha",
    "reproduce-nccl",
];

pub(crate) struct Unobserved;

impl Observer for Unobserved {
    fn started(&self, _: ComparisonRun, _: &Identity) {}
    fn progress(&self, _: ComparisonRun, _: &Progress) {}
    fn finished(&self, _: ComparisonRun) {}
}

fn folder(name: &str) -> String {
    format!("{}/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn quick_results_match_the_snapshot_of_every_study() {
    let names = BUILT_IN.iter().map(|(name, _)| format!("reproduce-{name}"));
    assert!(names.eq(SNAPSHOTS), "SNAPSHOTS has a line for each study");
    let kept = |name: &&str| *name == "reproduce-ethereal-gpt";
    for snapshot_name in extent::cases("reproduce::quick_results", SNAPSHOTS.to_vec(), kept) {
        let name = snapshot_name.strip_prefix("reproduce-").expect("each has it");
        let study =
            Study::load(name, BUILT_IN, Scale::Quick).unwrap_or_else(|error| panic!("{error}"));
        let (result, rows) = study.run(CORES, &Unobserved).unwrap();
        assert_eq!(rows.len(), study.runs(), "{name}");
        let table = reproduction_table(&result);
        assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
        snapshot(snapshot_name, &table);
    }
}

#[test]
fn ethereal_agrees_with_its_artifact_where_that_was_measured() {
    // By default, the snapshot of another study's verdicts covers this.
    if extent::is_left_out("reproduce::ethereal_agrees") {
        return;
    }
    let study = Study::load("ethereal-collectives", BUILT_IN, Scale::Quick).unwrap();
    let (result, _) = study.run(CORES, &Unobserved).unwrap();
    let measured = result.claims.iter().filter(|claim| {
        claim.origin == Origin::Artifact && claim.verdict != ClaimVerdict::NotAtThisScale
    });
    let (holds, others): (Vec<_>, Vec<_>) =
        measured.partition(|claim| claim.verdict == ClaimVerdict::Holds);
    assert!(others.is_empty(), "{others:#?}");
    assert!(holds.len() >= 19, "{}", holds.len());
}

#[test]
fn every_study_file_is_listed_and_valid_at_both_scales() {
    let mut files: Vec<String> = fs::read_dir(folder("examples/reproduce"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    files.sort();
    let mut listed: Vec<String> = BUILT_IN.iter().map(|(name, _)| (*name).to_owned()).collect();
    listed.sort();
    assert_eq!(files, listed, "rust/studies.rs lists the files");
    let valid = |name: &str, scale: Scale| {
        let study = Study::load(name, BUILT_IN, scale).unwrap_or_else(|error| panic!("{error}"));
        assert!(study.claims() > 0 && study.runs() > 0, "{name}");
        study
    };
    let quick = listed.iter().map(|name| valid(name, Scale::Quick)).collect();
    // Validation builds the messages of each scenario: millions with 256 GPUs and more.
    let is_short = |study: &Study| study.runs() < 20;
    for study in extent::cases("reproduce::valid_at_quick", quick, is_short) {
        study.check().unwrap_or_else(|error| panic!("{error}"));
    }
    let is_small = |name: &String| ["nezha", "reps-law"].contains(&&**name);
    for name in extent::cases("reproduce::valid_at_paper", listed, is_small) {
        valid(&name, Scale::Paper).check().unwrap_or_else(|error| panic!("{error}"));
    }
}

/// Returns the numbers in a row of verdicts: all claims, and those that hold, that do not hold, and
/// that cannot be judged.
fn verdicts(cells: &[&str]) -> [usize; 4] {
    [2, 3, 4, 5].map(|index| cells[index].parse().unwrap_or_else(|_| panic!("{cells:?}")))
}

#[test]
fn the_page_of_verdicts_has_a_row_for_each_study_with_all_its_claims() {
    let page = fs::read_to_string(folder("docs/reproduce/verdicts.txt")).unwrap();
    let rows: Vec<Vec<&str>> = page
        .lines()
        .skip_while(|line| !line.starts_with("| work | study |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let (total, rows) = rows.split_last().expect("the table has rows");
    assert_eq!(rows.len(), BUILT_IN.len(), "one row for each study, and the total");
    let mut sum = [0; 4];
    for (cells, (name, _)) in rows.iter().zip(BUILT_IN) {
        let study = Study::load(name, BUILT_IN, Scale::Paper).unwrap();
        let title = format!("{name}: {}", study.title());
        assert_eq!((cells[0], cells[1]), (study.work(), &*title), "in the order of BUILT_IN");
        let row = verdicts(cells);
        let again = format!("evenkeel reproduce {name} --scale paper --out results counts again");
        assert_eq!(row[0], study.claims(), "{name}: {again}");
        assert_eq!(row[0], row[1..].iter().sum::<usize>(), "{name}: {again}");
        sum.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
    }
    assert_eq!(verdicts(total), sum, "the row of all studies");
}

#[test]
fn the_study_of_the_documentation_is_valid() {
    let page = fs::read_to_string(folder("docs/studies.md")).unwrap();
    let text = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let study = Study::parse(text, Path::new("studies.md"), Scale::Quick).unwrap();
    let (result, _) = study.run(CORES, &Unobserved).unwrap();
    assert_eq!(result.claims[0].verdict, ClaimVerdict::Holds, "{result:#?}");
    assert_eq!(result.tables[0].rows.len(), 2);
}

const HEAD: &str = "title = \"a\"\nwork = \"b\"\n";
const RUN: &str = "[[run]]\nname = \"r\"\n[run.over]\npolicy = [\"ecmp\", \"spray\"]\n";

/// Checks the error for a text after its two header lines.
fn expect_fault(text: &str, expected: &str) {
    let study = Study::parse(&format!("{HEAD}{text}"), Path::new("s.toml"), Scale::Quick);
    let message = study.and_then(|study| study.check()).unwrap_err().to_string();
    assert!(message.contains(expected), "{message}\n{expected}");
}

#[test]
fn errors_in_runs_name_line_key_and_expectation() {
    let cases = [
        (String::new(), "s.toml: run is missing: it has no default; write for example [[run]]"),
        ("runs = 1\n".to_owned(), "s.toml:3:1: a study has no key 'runs'; did you mean 'run'?"),
        (
            "[[run]]\nname = \"r\"\nover.policy = [\"ecmmp\"]\n".to_owned(),
            "s.toml:5:16: run 'r' with policy ecmmp: policy.name: unknown policy 'ecmmp'; did you",
        ),
        (
            format!("[scenario.topology]\nleafs = 2\n{RUN}"),
            "s.toml:4:9: run 'r' with policy ecmp: [topology] with kind = leaf-spine has no key",
        ),
        (
            format!(
                "[scenario.topology]\nleaves = 2\n{RUN}[[run]]\nname = \"s\"\n\
                 set = {{ \"topology.leaves\" = 0 }}\n"
            ),
            "s.toml:11:29: run 's': topology.leaves = 0 is invalid",
        ),
        (
            format!("{RUN}[run.quick]\nset = {{ topology = {{ leaves = 0 }} }}\n"),
            "s.toml:8:31: run 'r' with policy ecmp: topology.leaves = 0 is invalid",
        ),
        (
            "[[run]]\nname = \"r\"\n[run.over]\n\
             seed = [1, { label = \"x\", set = { \"topology.leaves\" = 0 } }]\n"
                .to_owned(),
            "s.toml:6:55: run 'r' with seed x: topology.leaves = 0 is invalid",
        ),
    ];
    for (text, expected) in cases {
        expect_fault(&text, expected);
    }
}

#[test]
fn errors_in_claims_name_line_key_and_expectation() {
    let claim = "[[claim]]\ntext = \"c\"\norigin = \"paper\"\nrun = \"r\"\nmetric = \"cct_us\"\n";
    let cases = [
        (
            "at_most = 1",
            "s.toml:7:1: claim[0].of: policy: several values match; select one in `of`, or",
        ),
        (
            "of = { policy = \"spary\" }\nat_most = 1",
            "s.toml:12:17: claim[0].of.policy: policy: no run has the value 'spary'; expected one \
             of ecmp, spray\n",
        ),
        (
            "of = { bytes = \"1MB\" }\nat_most = 1",
            "s.toml:12:16: claim[0].of.bytes: bytes: run 'r' has no such axis; expected one of \
             policy\n",
        ),
        (
            "of = { policy = \"ecmp\" }",
            "s.toml:7:1: claim[0]: expected one of `published`, `at_least`, `at_most` and `order`",
        ),
        (
            "of = { policy = \"ecmp\" }\nwithin = \"2\"\npublished = 1",
            "s.toml:13:10: claim[0].within: '2': expected per cent, as in '2 %'",
        ),
        (
            "cells = [{ policy = \"ecmp\", at_least = \"2\" }]",
            "s.toml:12:40: claim[0].cells[0].at_least: \"2\": expected a number",
        ),
    ];
    for (text, expected) in cases {
        expect_fault(&format!("{RUN}{claim}{text}\n"), expected);
    }
}
