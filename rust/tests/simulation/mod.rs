//! The simulation tester: whole random scenarios, each from a seed, run with every check on.
//!
//! A scenario is drawn from everything that a scenario file can express: topology, buffers, ECN,
//! flow control, trimming, every policy, recovery and congestion control, one workload or several
//! jobs, failures; or several rails. Each is run
//!
//! - observed by [`Invariants`], which must find nothing;
//! - unobserved, on one thread and on several, which must not change a bit of the outcome;
//!
//! and either completes, or says what is incomplete. Numbers are deliberately small and adverse:
//! buffers of some packets, timers below a round trip, flapping links.
//!
//! `EVENKEEL_SIMULATION_SECONDS` is the duration of the search, and `EVENKEEL_SIMULATION_SEED` its
//! first seed. A scenario with a fault is shrunk, saved to a file, and printed with the commands
//! that run it again.

mod checks;
pub(crate) mod drawn;
mod faults;
mod rails;
mod records;
pub(crate) mod tester;

use proptest::strategy::Strategy as _;

use checks::Tally;
pub(crate) use drawn::Drawn;
use tester::test;

const AGAIN: &str = "cargo test --test integration simulation";

#[test]
fn random_scenarios_violate_no_invariant() {
    let tally = Tally::default();
    let strategy = drawn::scenario().boxed();
    test("simulation", AGAIN, &strategy, &|text| checks::check(text, &tally));
    tally.print();
}

/// Scenarios in which the tester has found a fault. Two were in the fabric: `paused-ports`, a run
/// that never ended, and `frames-of-two-classes`, a pause that started too late. The others were in
/// the invariants or the bound.
#[test]
fn scenarios_that_had_a_fault_have_none() {
    let found = [
        include_str!("found/copy-by-another-link.toml"),
        include_str!("found/copy-displaced.toml"),
        include_str!("found/copy-lost-on-a-wire.toml"),
        include_str!("found/copy-trimmed-before.toml"),
        include_str!("found/copy-trimmed-earlier.toml"),
        include_str!("found/frames-beside-headers.toml"),
        include_str!("found/frames-of-two-classes.toml"),
        include_str!("found/gap-of-bound.toml"),
        include_str!("found/one-shortest-path-and-detours.toml"),
        include_str!("found/paused-ports.toml"),
        include_str!("found/priority-with-credit.toml"),
    ];
    for text in found {
        checks::check(text, &Tally::default()).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
    }
}

#[test]
fn random_rails_complete_or_report_why_not() {
    test("simulation of rails", AGAIN, &rails::scenario().boxed(), &rails::check);
}
