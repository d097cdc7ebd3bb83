//! ns-3 in the same process, where the `ns3` feature links it: what of it can be asked from Rust.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::world::{Experiment, contract as world};
use crate::fabric::{Outcome, Setup};
use crate::hpcc;

/// What can be asked of ns-3. Its simulator is one a process: calls must not overlap.
#[allow(unsafe_code, reason = "cxx generates the calls across the language border")]
#[cxx::bridge(namespace = "evenkeel::ns3way")]
pub mod contract {
    // Both sides are declared by hand here, so that it is for the reader to say that these calls
    // are sound: they take and give text, and keep nothing.
    unsafe extern "C++" {
        include!("cargo.h");

        /// Runs a test suite of the module by ns-3's own test runner, which prints its report; 0
        /// if all is well.
        fn run_test_suite(suite: &str) -> i32;

        /// The classes that are registered in a group, by name, one a line.
        fn type_names(group: &str) -> String;
    }
}

/// ns-3's simulator is one a process, so runs in it are one after the other.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Runs a setup in ns-3, hosts and policies as in the fabric, links and switches those of the
/// module; returns what the run measured.
///
/// # Errors
/// What ns-3's side refuses, in its words.
pub fn run(setup: &Setup) -> Result<Outcome, Refused> {
    // Whoever panicked in a run has left nothing behind that the next would meet.
    let _held = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let experiment = Experiment::new(setup.clone(), Vec::new());
    let core = world::run_in_ns3(&experiment, experiment.core());
    core.map(|core| core.outcome()).map_err(|error| Refused(error.what().to_owned()))
}

/// The same for an experiment of the HPCC family, whose files are written into `folder`.
///
/// # Errors
/// What ns-3's side refuses, in its words, and what of the folder cannot be written.
pub fn run_hpcc(experiment: &hpcc::Experiment, folder: &Path) -> Result<Outcome, Refused> {
    let _held = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let experiment = Experiment::from(experiment.clone());
    let folder = folder.display().to_string();
    let core = world::run_hpcc_in_ns3(&experiment, experiment.core(), &folder);
    core.map(|core| core.outcome()).map_err(|error| Refused(error.what().to_owned()))
}

/// What ns-3's side said instead of running.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("ns-3: {0}")]
pub struct Refused(String);

/// The version of the ns-3 that is linked, such as "3.37".
pub const VERSION: &str = env!("EVENKEEL_NS3_VERSION");
