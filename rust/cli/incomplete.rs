//! Error messages for a run that is incomplete or has an impossible result.

use evenkeel_study::Finished;

use super::{Status, output};

/// Key of the time limit in a scenario.
pub(super) const TIME_LIMIT: &str = "time_limit";

/// Reports a run as an error if it is incomplete, or if its result shows an internal error. Returns
/// the resulting status. `limit` is the key of its time limit.
pub(super) fn report(finished: &Finished, limit: &str) -> Status {
    let errors = [finished.internal_error.clone(), finished.incomplete(limit)];
    let errors: Vec<String> = errors.into_iter().flatten().collect();
    errors.iter().for_each(|error| output::error(error));
    if errors.is_empty() { Status::Done } else { Status::Incomplete }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use evenkeel_engine::units::Span;
    use evenkeel_scenario::{Overrides, Scenario};
    use evenkeel_study::{self as study, Run, RunObservers};

    use super::*;

    #[test]
    fn a_completion_below_the_bound_is_an_error_and_status_1() {
        let text = "[topology]\nleaves = 1\nspines = 1\nhosts_per_leaf = 2\n";
        let scenario = Scenario::parse(text, "a", Path::new(""), &Overrides::default()).unwrap();
        let (identity, setup) = (study::identity(&scenario), scenario.setup());
        let status = |bound| {
            let (fidelity, threads) = (scenario.fidelity, 1);
            let run =
                Run { identity: &identity, setup: &setup, bound, fidelity, threads, traces: None };
            let observers = RunObservers { watch: None, flows: &mut |_| {}, progress: &mut |_| {} };
            report(&study::run(&run, observers).unwrap().0, TIME_LIMIT)
        };
        assert_eq!(status(study::lower_bound(&setup).time), Status::Done);
        assert_eq!(status(Span::from_ms(9_000)), Status::Incomplete);
    }
}
