//! A relation between two scenarios, and its checks.

use evenkeel::fabric::{self, Setup};
use evenkeel::scenario::Scenario;
use evenkeel::study;
use evenkeel::units::Bytes;

use super::draft::Draft;
use super::outcome::ComparableOutcome;
use crate::extent;

/// A statement about what must not matter, checked on random scenarios.
#[derive(Clone, Copy)]
pub(super) struct Relation {
    /// Name in messages and lists.
    pub(super) name: &'static str,
    /// The statement.
    pub(super) says: &'static str,
    /// The injected fault that the relation must detect.
    pub(super) fault: &'static str,
    /// Checks the relation on a scenario.
    pub(super) check: fn(&Case) -> CheckResult,
}

/// The outcome of a check.
pub(super) type CheckResult = Result<(), Failure>;

/// Reason why a check did not succeed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The relation does not apply to the scenario.
    Undefined,
    /// The relation does not hold.
    Broken(String),
}

/// A random scenario.
pub(super) struct Case {
    pub(super) draft: Draft,
    /// Whether the relation's fault is injected.
    pub(super) is_faulty: bool,
}

impl Case {
    /// Returns a random scenario with messages of at most [`LONGEST`] bytes.
    pub(super) fn new(text: &str, is_faulty: bool) -> Self {
        let mut draft = Draft::new(text);
        draft.short(LONGEST[usize::from(extent::is_long())]);
        if draft.name("topology.kind") == "fat-tree" {
            // A fat-tree with slow hosts has hundreds of them, which makes an all-to-all large.
            let rate = draft.name("topology.fabric_rate").to_owned();
            draft.set("topology.host_rate", rate).remove("failure");
        }
        if !extent::is_long() {
            // Limits a retransmission storm to the duration of a completing run.
            draft.set("time_limit", "1ms");
        }
        Self { draft, is_faulty }
    }
}

/// Maximum bytes of a message, by default and with `EVENKEEL_LONG_TESTS=1`.
const LONGEST: [u64; 2] = [60_000, 300_000];

/// Maximum packet-hops of a run, by default and with `EVENKEEL_LONG_TESTS=1`: tens of milliseconds,
/// and a second.
const MOST_HOPS: [u64; 2] = [20_000, 500_000];

/// Returns the value, or a failure that says that the relation is undefined.
pub(super) fn defined<T>(value: Option<T>) -> Result<T, Failure> {
    value.ok_or(Failure::Undefined)
}

/// Fails as undefined unless a condition holds.
pub(super) fn require(condition: bool) -> CheckResult {
    if condition { Ok(()) } else { Err(Failure::Undefined) }
}

/// Returns the scenario of a draft if its run is short.
pub(super) fn resolved(draft: &Draft) -> Result<Scenario, Failure> {
    let scenario = defined(draft.scenario())?;
    let hops = study::estimate_scenario(&scenario).map_or(0, |it| it.packet_hops);
    require(hops <= MOST_HOPS[usize::from(extent::is_long())] && scenario.messages() < 10_000)?;
    Ok(scenario)
}

/// Runs a setup and returns the comparable outcome.
pub(super) fn seen(setup: &Setup) -> ComparableOutcome {
    ComparableOutcome::of(&fabric::run(setup, &mut |_| {}))
}

/// Lengthens the first message by a byte: the injected fault of relations that compare two files.
pub(super) fn lengthen(setup: &mut Setup) {
    let mut workload = (*setup.workload).clone();
    if let Some(first) = workload.messages.first_mut() {
        first.bytes += Bytes::new(1);
    }
    setup.workload = workload.into();
}
