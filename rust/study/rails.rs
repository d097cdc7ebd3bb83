//! Runs over several rails, measured.

use crate::multirail::{self, Outcome};
use crate::rail::AllocateError;
use crate::report::{Identity, RailSummary, Stopwatch};
use crate::scenario::RailScenario;
use crate::units::BitRate;

/// Who a run's results are of.
pub fn rail_identity(scenario: &RailScenario) -> Identity {
    Identity {
        scenario: scenario.name.clone(),
        policy: scenario.file.policy.name.to_string(),
        seed: scenario.setup.seed,
    }
}

/// Runs a scenario under its allocator, and measures what that costs.
///
/// # Errors
/// The allocator cannot have so many rails.
pub fn run_rails(scenario: &RailScenario) -> Result<(RailSummary, Outcome), AllocateError> {
    let rates: Vec<BitRate> = scenario.setup.rails.iter().map(|rail| rail.rate).collect();
    let allocator = scenario.allocator.build(&rates)?;
    let stopwatch = Stopwatch::start();
    let outcome = multirail::run(&scenario.setup, allocator);
    let cost = stopwatch.stop();
    let identity = rail_identity(scenario);
    Ok((RailSummary::new(&identity, &scenario.setup, &outcome, cost), outcome))
}
