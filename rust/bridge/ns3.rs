//! Calls from Rust into ns-3 in the same process, with the `ns3` feature.

use std::sync::{Mutex, PoisonError};

use evenkeel_engine::fabric::{Outcome, Setup};
use evenkeel_engine::units::Time;

use super::world::{Experiment, contract as world, expect_supported_by_ns3};

/// The calls into ns-3. A process has one ns-3 simulator: calls must not overlap.
#[allow(unsafe_code, reason = "cxx generates the calls across the language border")]
#[cxx::bridge(namespace = "evenkeel::ns3way")]
pub mod contract {
    // Sound: the calls take and return text, and keep no references.
    unsafe extern "C++" {
        include!("cargo.h");

        /// Runs a test suite of the module with ns-3's own test runner, which prints its report.
        /// Returns 0 if it passes.
        fn run_test_suite(suite: &str) -> i32;

        /// Returns the names of the classes registered in a group, one per line.
        fn type_names(group: &str) -> String;
    }
}

/// Serializes runs, because a process has only one ns-3 simulator.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Runs a setup in ns-3, with the library's hosts and policies and the module's links and switches.
///
/// # Errors
/// If ns-3 or the module rejects the setup.
///
/// # Panics
/// With invalid traffic classes, as evenkeel's own fabric does.
pub fn run(setup: &Setup) -> Result<Outcome, Rejected> {
    // A poisoned lock is harmless: a run that panicked leaves no state for the next.
    let _held = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    expect_supported_by_ns3(setup).map_err(|error| Rejected(error.to_string()))?;
    let experiment = Experiment::new(setup.clone(), Vec::new());
    let core = world::run_in_ns3(&experiment, experiment.core());
    core.map(|core| core.outcome()).map_err(|error| Rejected(error.what().to_owned()))
}

/// Does the same as [`run`], with failures that a script adds during the run. Each entry has the
/// time of the call and `[[failure]]` sections of a scenario that begin then or later.
///
/// # Errors
/// As [`run`].
///
/// # Panics
/// As [`run`].
pub fn run_with_late_failures(setup: &Setup, late: &[(Time, String)]) -> Result<Outcome, Rejected> {
    let _held = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    expect_supported_by_ns3(setup).map_err(|error| Rejected(error.to_string()))?;
    let experiment = Experiment::new(setup.clone(), Vec::new());
    let call = |(at, sections): &(Time, String)| world::LateFailures {
        at_ps: at.as_ps(),
        sections: sections.clone(),
    };
    let late: Vec<_> = late.iter().map(call).collect();
    let core = world::run_in_ns3_with_late_failures(&experiment, experiment.core(), &late);
    core.map(|core| core.outcome()).map_err(|error| Rejected(error.what().to_owned()))
}

/// The error message with which ns-3 or the module rejected a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("ns-3: {0}")]
pub struct Rejected(String);

/// The version of the linked ns-3, such as "3.37".
pub const VERSION: &str = env!("EVENKEEL_NS3_VERSION");
