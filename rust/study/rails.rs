//! Runs of scenarios with several rails, with their cost.

use std::num::NonZeroUsize;

use super::in_order;
use crate::multirail::{self, RailOutcome};
use crate::rail::AllocateError;
use crate::report::{Identity, RailSummary, Stopwatch};
use crate::scenario::RailScenario;
use crate::units::BitRate;

/// The identity of a run: the scenario, the policy and the seed of its results.
pub fn rail_identity(scenario: &RailScenario) -> Identity {
    Identity {
        scenario: scenario.name.clone(),
        policy: scenario.file.policy.name.to_string(),
        seed: scenario.setup.seed,
    }
}

/// Simulates a scenario under its allocator, and measures the cost of the simulation.
///
/// # Errors
/// Fails if the allocator does not support the scenario's number of rails.
pub fn run_rails(scenario: &RailScenario) -> Result<(RailSummary, RailOutcome), AllocateError> {
    let rates: Vec<BitRate> = scenario.setup.rails.iter().map(|rail| rail.rate).collect();
    let allocator = scenario.allocator.build(&rates)?;
    let stopwatch = Stopwatch::start();
    let outcome = multirail::run(&scenario.setup, allocator);
    let cost = stopwatch.stop();
    let identity = rail_identity(scenario);
    Ok((RailSummary::new(&identity, &scenario.setup, &outcome, cost), outcome))
}

/// Simulates scenarios on at most `threads` threads; the results are in the order of `scenarios`.
///
/// # Errors
/// As [`run_rails`], of the first scenario that fails.
pub fn compare_rails(
    scenarios: &[RailScenario],
    threads: NonZeroUsize,
) -> Result<Vec<(RailSummary, RailOutcome)>, AllocateError> {
    let results = in_order(scenarios.len(), threads, |index| run_rails(&scenarios[index]));
    results.into_iter().collect()
}
