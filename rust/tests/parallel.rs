//! A run on several threads has the same outcome as a run on one, for any partitioning.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use evenkeel::fabric::{self, Cut, Outcome, Partitioning, Setup};
use evenkeel::fluid::Fidelity;
use evenkeel::scenario::{Overrides, Scenario};
use evenkeel::units::{Span, Time};
use proptest::test_runner::TestRunner;

use crate::fabric_properties::{Drawn, config, parse, scenario};
use crate::support::extent;

/// Number of partitions, their cut, and the windows that run on a single thread: none, those with
/// few events, or nearly all in these small fabrics.
const PARTITIONINGS: [(u16, Cut, u64); 5] = [
    (2, Cut::Contiguous, 0),
    (3, Cut::Contiguous, 256),
    (4, Cut::Interleaved, 8),
    (8, Cut::Contiguous, 16),
    (3, Cut::Drawn(1), 0),
];

fn run_with(setup: &Setup, (partitions, cut, quiet): (u16, Cut, u64)) -> Option<Outcome> {
    let partitioning = Partitioning::new(setup, partitions, cut).ok()?.with_quiet_events(quiet);
    Some(fabric::run_parallel(setup, &partitioning, &mut |_| {}).0)
}

/// Examples with more bytes are long tests. Those with more than `LONGEST` take minutes, times
/// four.
const SHORT: u64 = 1 << 26;
const LONGEST: u64 = 1 << 31;

/// Panics if a partitioning changes the outcome; returns the number of partitionings.
fn check(setup: &Setup, partitionings: &[(u16, Cut, u64)]) -> usize {
    let whole = fabric::run(setup, &mut |_| {});
    let differs = |&partitioning: &(u16, Cut, u64)| {
        let parallel = run_with(setup, partitioning)?;
        Some((partitioning, first_difference(&whole, &parallel)))
    };
    let all: Vec<_> = partitionings.iter().filter_map(differs).collect();
    for (partitioning, difference) in &all {
        assert!(difference.is_none(), "{partitioning:?}: {}", difference.as_ref().unwrap());
    }
    all.len()
}

/// Describes the first difference of two outcomes.
pub(crate) fn first_difference(whole: &Outcome, parallel: &Outcome) -> Option<String> {
    if whole == parallel {
        return None;
    }
    let [whole, parallel] = [whole, parallel].map(|outcome| format!("{outcome:#?}"));
    let mut lines = whole.lines().zip(parallel.lines()).enumerate();
    let (line, (whole, parallel)) = lines.find(|(_, (a, b))| a != b)?;
    Some(format!("line {line} of the outcome is {parallel}, not {whole}"))
}

#[test]
fn any_partitioning_gives_the_outcome_of_one_thread() {
    let (mut runner, divided) = (TestRunner::new(config()), Cell::new(0));
    let property = |drawn: Drawn| {
        let mut setup = parse(&drawn.0).setup();
        setup.probes = [2, 11, 60].map(|us| Time::ZERO + Span::from_us(us)).to_vec();
        divided.set(divided.get() + check(&setup, &PARTITIONINGS));
        Ok(())
    };
    runner.run(&scenario(), property).unwrap_or_else(|error| panic!("{error}"));
    // Zero-length links and hosts at the same switch are frequent among these scenarios.
    let cases = runner.config().cases as usize;
    assert!(divided.get() > cases, "{} partitionings of {cases} scenarios", divided.get());
}

/// Returns the examples that simulate packets of a single fabric, by name.
fn examples() -> Vec<(String, Setup)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut found = Vec::new();
    let entries = std::fs::read_dir(folder).expect("the examples are there");
    let paths = entries.map(|entry| entry.expect("it can be listed").path());
    let all = paths.filter(|path| path.extension().is_some_and(|it| it == "toml")).collect();
    // Generating the millions of messages of these models takes seconds.
    let is_short = |path: &PathBuf| {
        !["fsdp-llama-3.toml", "gpt-step.toml"].iter().any(|name| path.ends_with(name))
    };
    for path in extent::cases("parallel::examples", all, is_short) {
        if let Ok(scenario) = Scenario::load(&path, &Overrides::default())
            && scenario.fidelity == Fidelity::Packet
        {
            found
                .push((path.file_stem().unwrap().to_string_lossy().into_owned(), scenario.setup()));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

#[test]
fn examples_have_the_same_outcome_in_parallel() {
    let mut divided = 0;
    for (name, setup) in examples() {
        let bytes = setup.workload.total_bytes().get();
        if bytes > LONGEST || (bytes > SHORT && extent::is_left_out(&name)) {
            continue;
        }
        // One partitioning by default, in which one thread handles most windows: with more threads
        // than cores, every barrier is slow. The random scenarios use the other partitionings.
        let partitionings =
            if extent::is_long() { &PARTITIONINGS[..3] } else { &PARTITIONINGS[1..2] };
        divided += usize::from(check(&setup, partitionings) > 0);
    }
    assert!(divided > 5, "{divided} examples can run in parallel");
}
