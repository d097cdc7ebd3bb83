//! A relation between two scenarios, and the list of all.

use evenkeel::fabric::{self, Setup};
use evenkeel::scenario::Scenario;
use evenkeel::study;
use evenkeel::units::Bytes;

use super::draft::Draft;
use super::outcome::Seen;
use crate::extent;

/// A statement about what must not matter, tried on random scenarios.
#[derive(Clone, Copy)]
pub(super) struct Relation {
    /// The name in messages and in lists.
    pub(super) name: &'static str,
    /// The statement.
    pub(super) says: &'static str,
    /// The fault that a test puts in, which the relation must find.
    pub(super) fault: &'static str,
    /// Tries it on a scenario.
    pub(super) check: fn(&Case) -> Checked,
}

/// The outcome of a check.
pub(super) type Checked = Result<(), Failure>;

/// Why a check did not succeed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The relation says nothing about the scenario.
    Undefined,
    /// The relation does not hold.
    Broken(String),
}

/// A drawn scenario.
pub(super) struct Case {
    pub(super) draft: Draft,
    /// Whether the relation's fault is put in.
    pub(super) is_faulty: bool,
}

impl Case {
    /// A drawn scenario with messages of [`LONGEST`] bytes at most.
    pub(super) fn new(text: &str, is_faulty: bool) -> Self {
        let mut draft = Draft::new(text);
        draft.short(LONGEST[usize::from(extent::is_long())]);
        if draft.name("topology.kind") == "fat-tree" {
            // Slow hosts below fast switches are hundreds, and an all-to-all among them is large.
            let rate = draft.name("topology.fabric_rate").to_owned();
            draft.set("topology.host_rate", rate).remove("failure");
        }
        if !extent::is_long() {
            // A storm of retransmissions takes no longer than a run that completes.
            draft.set("time_limit", "1ms");
        }
        Self { draft, is_faulty }
    }
}

/// Bytes of a message, by default and with `EVENKEEL_LONG_TESTS=1`.
const LONGEST: [u64; 2] = [60_000, 300_000];

/// Packet-hops of a run, by default and with `EVENKEEL_LONG_TESTS=1`: some tens of milliseconds,
/// and a second.
const MOST_HOPS: [u64; 2] = [20_000, 500_000];

/// The value, or a failure that says that the relation is not defined.
pub(super) fn defined<T>(value: Option<T>) -> Result<T, Failure> {
    value.ok_or(Failure::Undefined)
}

/// Fails as undefined unless a condition holds.
pub(super) fn require(condition: bool) -> Checked {
    if condition { Ok(()) } else { Err(Failure::Undefined) }
}

/// The scenario of a draft, if a run of it is short.
pub(super) fn resolved(draft: &Draft) -> Result<Scenario, Failure> {
    let scenario = defined(draft.scenario())?;
    let hops = study::estimate_scenario(&scenario).map_or(0, |it| it.packet_hops);
    require(hops <= MOST_HOPS[usize::from(extent::is_long())] && scenario.messages() < 10_000)?;
    Ok(scenario)
}

/// The run of a setup.
pub(super) fn seen(setup: &Setup) -> Seen {
    Seen::of(&fabric::run(setup, &mut |_| {}))
}

/// Makes the first message a byte longer: the fault of relations that compare two files.
pub(super) fn lengthen(setup: &mut Setup) {
    let mut workload = (*setup.workload).clone();
    if let Some(first) = workload.messages.first_mut() {
        first.bytes += Bytes::new(1);
    }
    setup.workload = workload.into();
}
