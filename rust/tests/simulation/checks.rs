//! The checks that every run of every scenario must pass.

use std::cell::Cell;
use std::io::Write as _;
use std::path::Path;

use evenkeel::fabric::{
    self, Cut, FixedWorkload, Observers, Outcome, Partitioning, Setup, Verdict, World,
};
use evenkeel::invariants::{Invariants, Report};
use evenkeel::scenario::{Overrides, Scenario};
use evenkeel::study::{self, lower_bound};
use evenkeel::units::Span;

use crate::parallel::first_difference;

/// Counts of scenarios by their outcome.
#[derive(Debug, Default)]
pub(super) struct Tally {
    completed: Cell<u64>,
    incomplete: Cell<u64>,
    /// Rejected as invalid: combinations that a scenario cannot have.
    refused: Cell<u64>,
    /// Larger than [`MOST_MESSAGES`] or [`MOST_HOPS`].
    large: Cell<u64>,
    records: Cell<u64>,
}

/// Maximum number of messages of a scenario that is run. Slow uplinks under leaves of fast hosts
/// give a fat-tree a thousand hosts or more, and an all-to-all among them has millions of messages.
const MOST_MESSAGES: u64 = 100_000;

/// Maximum number of expected packet hops of a scenario that is run.
const MOST_HOPS: u64 = 3_000_000;

fn add(cell: &Cell<u64>, count: u64) {
    cell.set(cell.get() + count);
}

impl Tally {
    pub(super) fn print(&self) {
        let Self { completed, incomplete, refused, large, records } = self;
        let [completed, incomplete, refused, large, records] =
            [completed, incomplete, refused, large, records].map(Cell::get);
        let line = format!(
            "simulation: {completed} runs completed, {incomplete} did not, {refused} scenarios \
             refused, {large} too large to be run; {records} records of packets checked\n"
        );
        let _ = std::io::stderr().write_all(line.as_bytes());
        let runs = completed + incomplete;
        assert!(refused <= 2 * runs, "most scenarios are refused: {line}");
        assert!(large <= runs / 10 + 1, "many scenarios are too large: {line}");
    }
}

/// Runs a setup with its invariants; returns the outcome, the invariants' report and the bound.
pub(super) fn observed(setup: &Setup) -> (Outcome, Report, Span) {
    let mut invariants = Invariants::new(setup);
    let observers = Observers { watch: Some(&mut invariants), progress: &mut |_| {} };
    let outcome = fabric::drive(World::new(setup), &mut FixedWorkload, observers);
    let bound = lower_bound(setup).time;
    (outcome.clone(), invariants.finish(&outcome, Some(bound)), bound)
}

/// True if a run of the scenario would take too long.
fn is_large(scenario: &Scenario) -> bool {
    scenario.messages() > MOST_MESSAGES
        || study::estimate_scenario(scenario).is_some_and(|it| it.packet_hops > MOST_HOPS)
}

/// Runs the scenario with all checks; returns the first violation as an error.
pub(super) fn check(text: &str, tally: &Tally) -> Result<(), String> {
    let parsed = Scenario::parse(text, "drawn", Path::new(""), &Overrides::default());
    let Ok(scenario) = parsed else {
        add(&tally.refused, 1);
        return Ok(());
    };
    if is_large(&scenario) {
        add(&tally.large, 1);
        return Ok(());
    }
    let setup = scenario.setup();
    let (outcome, report, _) = observed(&setup);
    if report.count > 0 {
        let first: Vec<_> = report.violations.iter().map(ToString::to_string).collect();
        return Err(format!("{} violations:\n{}", report.count, first.join("\n")));
    }
    let alone = fabric::run(&setup, &mut |_| {});
    if let Some(difference) = first_difference(&alone, &outcome) {
        return Err(format!("observed, {difference}"));
    }
    if let Ok(partitioning) = Partitioning::new(&setup, 3, Cut::Interleaved) {
        let partitioning = partitioning.with_quiet_events(4);
        let parallel = fabric::run_parallel(&setup, &partitioning, &mut |_| {}).0;
        if let Some(difference) = first_difference(&alone, &parallel) {
            return Err(format!("on three threads, {difference}"));
        }
    }
    let is_complete = outcome.verdict == Verdict::Completed;
    if is_complete != (outcome.message_fct.len() as u64 == outcome.messages) {
        return Err(format!("{:?} with {:?} open", outcome.verdict, outcome.messages));
    }
    add(if is_complete { &tally.completed } else { &tally.incomplete }, 1);
    add(&tally.records, report.records);
    Ok(())
}
