//! Runs over several rails, measured.

use crate::multirail::{self, Allocation, Fixed, Verdict};
use crate::report::{Identity, RailSummary, Stopwatch};
use crate::scenario::RailScenario;

/// Who a run's results are of.
pub fn rail_identity(scenario: &RailScenario) -> Identity {
    Identity {
        scenario: scenario.name.clone(),
        policy: scenario.file.policy.name.clone(),
        seed: scenario.setup.seed,
    }
}

/// Runs a scenario under its allocator, and measures what that costs.
pub fn run_rails(scenario: &RailScenario) -> (RailSummary, Verdict) {
    let mut allocation = Fixed::new(vec![1; scenario.setup.rails.len()]);
    let allocation: &mut dyn Allocation = &mut allocation;
    let stopwatch = Stopwatch::start();
    let outcome = multirail::run(&scenario.setup, allocation);
    let cost = stopwatch.stop();
    let identity = rail_identity(scenario);
    (RailSummary::new(&identity, &scenario.setup, &outcome, cost), outcome.verdict)
}
