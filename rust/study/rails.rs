//! Runs of scenarios with several rails, including their cost.

use std::num::NonZeroUsize;

use super::map_in_order;
use crate::multirail::{self, RailOutcome};
use crate::rail::AllocateError;
use crate::report::{Identity, RailSummary, Stopwatch};
use crate::scenario::RailScenario;
use crate::units::BitRate;

/// Returns the identity of a run: the scenario, the policy and the seed of its results.
pub fn rail_identity(scenario: &RailScenario) -> Identity {
    Identity {
        scenario: scenario.name.clone(),
        policy: scenario.file.policy.name.to_string(),
        seed: scenario.setup.seed,
    }
}

/// Simulates a scenario under its allocator, and measures the cost of the simulation. `progress` is
/// called from time to time with the number of completed operations.
///
/// # Errors
/// Fails if the allocator does not support the scenario's number of rails.
pub fn run_rails(
    scenario: &RailScenario,
    progress: &mut dyn FnMut(usize),
) -> Result<(RailSummary, RailOutcome), AllocateError> {
    let rates: Vec<BitRate> = scenario.setup.rails.iter().map(|rail| rail.rate).collect();
    let allocator = scenario.allocator.build(&rates)?;
    let stopwatch = Stopwatch::start();
    let outcome = multirail::run_observed(&scenario.setup, allocator, progress);
    let cost = stopwatch.stop();
    let identity = rail_identity(scenario);
    Ok((RailSummary::new(&identity, &scenario.setup, &outcome, cost), outcome))
}

/// Simulates scenarios on at most `threads` threads; the results are in the order of `scenarios`.
/// `progress` is called from any thread with the index of a scenario and its number of completed
/// operations.
///
/// # Errors
/// Returns the error of [`run_rails`] for the first scenario that fails.
pub fn compare_rails(
    scenarios: &[RailScenario],
    threads: NonZeroUsize,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<(RailSummary, RailOutcome)>, AllocateError> {
    let results = map_in_order(scenarios.len(), threads, |index| {
        run_rails(&scenarios[index], &mut |completed| progress(index, completed))
    });
    results.into_iter().collect()
}
