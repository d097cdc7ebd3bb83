//! Scenarios with several rails, for the commands that accept them.

use std::num::NonZeroUsize;

use anyhow::bail;
use evenkeel_engine::fabric::Verdict;
use evenkeel_scenario::{Overrides, RailScenario, ScenarioText};
use evenkeel_study as study;
use evenkeel_study::report::{self, Folder, RailSummary};

use super::arguments::ResultArguments;
use super::{Status, output, single};

/// Runs `evenkeel run` for a scenario with rails.
pub(super) fn run(
    text: ScenarioText,
    overrides: &Overrides,
    to: &ResultArguments,
) -> anyhow::Result<Status> {
    warn_of_seed(overrides);
    let scenario = text.with_rails(overrides)?;
    scenario.warnings.iter().for_each(|warning| output::warning(warning));
    let folder = to.out.as_deref().map(Folder::open).transpose()?;
    let (summary, outcome) = study::run_rails(&scenario, &mut |_| {})?;
    let verdict = outcome.verdict;
    if let Some(folder) = &folder {
        let identity = study::rail_identity(&scenario);
        let kept = RailSummary { resolved: Some(scenario.as_table()), ..summary.clone() };
        report::write_rail_results(folder, &identity, &kept, &scenario.render())?;
    }
    if to.json {
        output::print_json(&summary)?;
    } else {
        output::print_text(&report::rails_table(&summary))?;
        output::print_text(&format!("\nresults   {}\n", single::kept_in(folder.as_ref())))?;
    }
    status(&[(summary, verdict)])
}

/// A scenario with rails, and the policies to compare under one seed.
pub(super) struct RailComparison<'a> {
    pub(super) text: &'a ScenarioText,
    pub(super) policies: &'a [String],
    /// Overrides of the scenario.
    pub(super) overrides: &'a Overrides,
    /// Maximum number of concurrent runs.
    pub(super) threads: NonZeroUsize,
}

/// Runs `evenkeel compare` for a scenario with rails. `show` prints the results, and returns their
/// status if all runs completed.
pub(super) fn compare(
    comparison: &RailComparison<'_>,
    show: impl FnOnce(Vec<RailSummary>) -> anyhow::Result<Status>,
) -> anyhow::Result<Status> {
    let RailComparison { text, policies, overrides, threads } = *comparison;
    warn_of_seed(overrides);
    let scenarios = policies.iter().map(|policy| {
        let policy = Some(policy.clone());
        text.clone().with_rails(&Overrides { policy, ..overrides.clone() })
    });
    let scenarios = scenarios.collect::<Result<Vec<RailScenario>, _>>()?;
    scenarios.iter().flat_map(|scenario| &scenario.warnings).for_each(|it| output::warning(it));
    let finished = study::compare_rails(&scenarios, threads, &|_, _| {})?;
    let finished: Vec<(RailSummary, Verdict)> =
        finished.into_iter().map(|(summary, outcome)| (summary, outcome.verdict)).collect();
    let shown = show(finished.iter().map(|(summary, _)| summary.clone()).collect())?;
    Ok(match status(&finished)? {
        Status::Done => shown,
        other => other,
    })
}

/// Warns that a seed on the command line has no effect.
fn warn_of_seed(overrides: &Overrides) {
    if overrides.seed.is_some() {
        output::warning(
            "--seed: a scenario with rails is not random; only the summed data depend on the seed",
        );
    }
}

/// Returns the status of finished runs. A wrong sum is an error even if the run is incomplete.
fn status(finished: &[(RailSummary, Verdict)]) -> anyhow::Result<Status> {
    if let Some((run, _)) = finished.iter().find(|(run, _)| !run.exact) {
        bail!(
            "{} under {}: wrong sums at a rank; this is a bug in evenkeel",
            run.scenario,
            run.policy
        );
    }
    let mut status = Status::Done;
    for (run, verdict) in finished {
        let reason = match verdict {
            Verdict::Completed => continue,
            Verdict::Stalled => "it stalled: no event was left",
            Verdict::TimeLimit => "it reached its time limit (time_limit)",
        };
        let done = run.operations.iter().filter(|it| it.took_ns.is_some()).count();
        output::error(&format!(
            "{} under {} did not complete: {reason}; {done} of {} all-reduces completed",
            run.scenario, run.policy, run.operations_planned
        ));
        status = Status::Incomplete;
    }
    Ok(status)
}
