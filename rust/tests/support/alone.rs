//! A run of a scenario without other programs.

use evenkeel::fabric::{FlowRecord, Outcome};
use evenkeel::scenario::Scenario;
use evenkeel::study::{Finished, Run, RunObservers, identity, lower_bound, run};

/// Runs a scenario on one thread. `flows` is called with each flow that completes and is discarded.
pub(crate) fn alone(
    scenario: &Scenario,
    flows: &mut dyn FnMut(&FlowRecord),
) -> (Finished, Outcome) {
    let (identity, setup) = (identity(scenario), scenario.setup());
    let this = Run {
        identity: &identity,
        setup: &setup,
        bound: lower_bound(&setup).time,
        fidelity: scenario.fidelity,
        threads: 1,
        traces: scenario.traces.as_deref(),
    };
    let observers = RunObservers { watch: None, flows, progress: &mut |_| {} };
    run(&this, observers).expect("its traces are valid")
}
