//! Comparisons of policies.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use pyo3::prelude::*;

use super::failure::{Failure, results};
use super::json::json;
use super::policy::{CustomPolicy, Ledger, interned};
use super::rails::{self, RailRun};
use super::scenario::{LoadedKind, OverrideRequest, Source, expect_memory, parameters_of};
use super::supervise::{Control, RunCounter, lock, supervise};
use evenkeel::fabric::Progress;
use evenkeel::report::{self, AllRuns, Identity, Interrupted, RailSummary, Summary};
use evenkeel::scenario::{Overrides, RailScenario, Scenario};
use evenkeel::study::{
    self, Comparison, ComparisonRun, Finished, Indicators, Observer, Planned, RunNumbers, Seeds,
    Statistics,
};

/// The results of a comparison: a dict in Python.
#[derive(Debug, IntoPyObject)]
pub(super) struct ComparisonResult {
    /// The object that `evenkeel compare --json` prints.
    json: String,
    /// The text that `evenkeel compare` prints.
    text: String,
    /// A row per policy and metric: median, its interval, ratio to the reference.
    csv: String,
    warnings: Vec<String>,
    incomplete: Vec<String>,
}

/// A policy by its name. For one in Python, the name is that of the preset whose policy it
/// replaces.
#[derive(Debug, FromPyObject)]
struct Compared {
    #[pyo3(item)]
    name: String,
    /// Parameters as TOML; empty without any.
    #[pyo3(item)]
    parameters: String,
    /// Name in the results.
    #[pyo3(item)]
    label: String,
    #[pyo3(item)]
    custom: Option<CustomPolicy>,
}

/// The arguments of a comparison.
#[derive(Debug, FromPyObject)]
pub(super) struct Request {
    #[pyo3(item)]
    source: Source,
    #[pyo3(item)]
    policies: Vec<Compared>,
    #[pyo3(item)]
    seeds: Option<NonZeroU32>,
    #[pyo3(item)]
    overrides: OverrideRequest,
    #[pyo3(item)]
    jobs: Option<NonZeroUsize>,
    #[pyo3(item)]
    baseline: Option<String>,
}

/// Simulates a scenario under several policies and seeds. If a signal or a listener ends it, the
/// exception has the comparison of the finished runs as `finished`.
#[pyfunction]
#[pyo3(signature = (request, listener=None))]
pub(super) fn compare(
    py: Python<'_>,
    request: Request,
    listener: Option<Bound<'_, PyAny>>,
) -> PyResult<ComparisonResult> {
    let control = Arc::new(Control::default());
    let Request { source, policies, seeds, overrides, jobs, baseline } = request;
    let jobs = jobs.unwrap_or_else(study::cores);
    let overrides = overrides.overrides().map_err(|failure| failure.raise(py))?;
    let loaded = py.detach(|| source.resolve(&overrides));
    let baseline = baseline.as_deref();
    let result = match loaded.map_err(|error| Failure::from(error).raise(py))? {
        LoadedKind::Fabric(scenario) => {
            expect_memory(&scenario, overrides.most_memory).map_err(|failure| failure.raise(py))?;
            let seeds = Seeds { first: scenario.seed, count: seeds };
            let comparison = apply_policies(&scenario, policies, &control)
                .and_then(|scenarios| Ok(Comparison::of(scenarios, seeds)?))
                .map_err(|failure| failure.raise(py))?;
            control.expect_runs(comparison.runs().len());
            let counter = RunCounter(Arc::clone(&control));
            let keeper = Keeper { counter, finished: Mutex::default() };
            let ended = supervise(py, listener.as_ref(), &control, || {
                study::compare(&comparison, jobs, &keeper).map_err(Failure::from)
            });
            let runs = match &ended {
                Ok(Ok(finished)) => finished.iter().map(|(run, _)| run.clone()).collect(),
                _ => keeper.finished(),
            };
            let report = || on_fabric(&comparison, &runs, baseline);
            match ended {
                Ok(ended) => ended.and_then(|_| report()),
                Err(reason) if runs.is_empty() => return Err(reason),
                Err(reason) => {
                    let partial = report().map_err(|failure| failure.raise(py))?;
                    reason.value(py).setattr("finished", partial)?;
                    return Err(reason);
                }
            }
        }
        LoadedKind::Rails(_) => supervise(py, listener.as_ref(), &control, || {
            let under = |policy: &Compared| policy.overrides(&overrides);
            let overrides = policies.iter().map(under).collect::<Result<Vec<_>, _>>()?;
            on_rails(&source, &overrides, jobs, baseline, &control)
        })?,
    };
    result.map_err(|failure| failure.raise(py))
}

/// Keeps finished runs, in case that the others are interrupted.
struct Keeper {
    counter: RunCounter,
    finished: Mutex<BTreeMap<usize, Finished>>,
}

impl Keeper {
    fn finished(&self) -> Vec<Finished> {
        lock(&self.finished).values().cloned().collect()
    }
}

impl Observer for Keeper {
    fn started(&self, run: ComparisonRun, identity: &Identity) {
        self.counter.started(run, identity);
    }

    fn progress(&self, run: ComparisonRun, progress: &Progress) {
        self.counter.progress(run, progress);
    }

    fn result(&self, run: ComparisonRun, (finished, _): &(Finished, Indicators)) {
        lock(&self.finished).insert(run.index, finished.clone());
    }

    fn finished(&self, run: ComparisonRun) {
        self.counter.finished(run);
    }
}

impl Compared {
    /// Returns the overrides for a scenario of several rails.
    fn overrides(&self, common: &Overrides) -> Result<Overrides, Failure> {
        let (name, label) = (&self.name, &self.label);
        if self.custom.is_some() || !self.parameters.is_empty() {
            return Err(Failure::Argument(format!(
                "policies: {label}: a scenario with [[rail]] sections takes names of allocators; \
                 set parameters in its [policy]"
            )));
        }
        if label != name {
            return Err(Failure::Argument(format!(
                "policies: label '{label}' of {name}: a scenario with [[rail]] sections has no \
                 labels; expected a list of allocators, or '{name}' as the label"
            )));
        }
        Ok(Overrides { policy: Some(name.clone()), ..common.clone() })
    }
}

/// Returns the scenario under each policy.
fn apply_policies(
    scenario: &Scenario,
    policies: Vec<Compared>,
    control: &Arc<Control>,
) -> Result<Vec<Scenario>, Failure> {
    let under = |it: Compared| {
        let named = scenario.with_policy_parameters(&it.name, &parameters_of(&it.parameters)?)?;
        let ledger = Arc::new(Ledger::default());
        let mut scenario = match it.custom {
            None => named,
            Some(policy) => policy.apply_to(&named, control, &ledger)?,
        };
        if it.label != scenario.scheme.name {
            scenario.scheme.name = interned(&it.label);
        }
        Ok(scenario)
    };
    policies.into_iter().map(under).collect()
}

/// Compares the finished runs. Others may be missing.
fn on_fabric(
    comparison: &Comparison,
    finished: &[Finished],
    baseline: Option<&str>,
) -> Result<ComparisonResult, Failure> {
    let mut warnings: Vec<String> = comparison.warnings().into_iter().map(str::to_owned).collect();
    let incomplete = finished.iter().filter_map(|run| run.incomplete("time_limit")).collect();
    let runs: Vec<Summary> = finished.iter().map(|run| run.summary.clone()).collect();
    warnings.extend(runs.iter().flat_map(|run| run.warnings.clone()));
    let numbers = RunNumbers::of_summaries(&runs, RunNumbers::FABRIC_METRICS);
    let planned = comparison.planned();
    let statistics = Statistics::of(RunNumbers::FABRIC_METRICS, &numbers, baseline, &planned);
    let statistics = statistics.with_reasons(finished);
    let (reasons, interrupted) = (statistics.reasons.clone(), Interrupted::of(&statistics));
    let json = json(&AllRuns { reasons, interrupted, ..AllRuns::of(&runs) });
    let table = report::compare_table(&runs, &statistics);
    ComparisonResult::new(json, &table, &statistics, (warnings, incomplete))
}

fn on_rails(
    source: &Source,
    policies: &[Overrides],
    jobs: NonZeroUsize,
    baseline: Option<&str>,
    control: &Control,
) -> Result<ComparisonResult, Failure> {
    let under = |overrides: &Overrides| match source.resolve(overrides)? {
        LoadedKind::Rails(scenario) => Ok(*scenario),
        LoadedKind::Fabric(_) => {
            let reason = "the scenario has changed: it no longer has [[rail]] sections";
            Err(Failure::Argument(reason.to_owned()))
        }
    };
    let scenarios = policies.iter().map(under).collect::<Result<Vec<RailScenario>, Failure>>()?;
    let warnings = scenarios.iter().flat_map(|scenario| scenario.warnings.clone()).collect();
    let finished = rails::compare(&scenarios, jobs, control)?;
    let incomplete = finished.iter().filter_map(|run| run.incomplete.clone()).collect();
    let runs: Vec<RailSummary> =
        finished.into_iter().map(|RailRun { summary, .. }| summary).collect();
    let numbers = RunNumbers::of_summaries(&runs, RunNumbers::RAIL_METRICS);
    let planned = Planned::of(&numbers, false);
    let statistics = Statistics::of(RunNumbers::RAIL_METRICS, &numbers, baseline, &planned);
    let (json, table) = (json(&AllRuns::of(&runs)), report::rails_compare_table(&runs));
    ComparisonResult::new(json, &table, &statistics, (warnings, incomplete))
}

impl ComparisonResult {
    fn new(
        json: String,
        table: &str,
        statistics: &Statistics,
        (warnings, incomplete): (Vec<String>, Vec<String>),
    ) -> Result<Self, Failure> {
        let text = format!("{table}\n{}", report::verdicts(statistics));
        let csv = report::comparison_csv(statistics).map_err(results)?;
        Ok(Self { json, text, csv, warnings, incomplete })
    }
}

/// Writes the statistics of a comparison as CSV, from which `plot` draws.
#[pyfunction]
pub(super) fn write_comparison(py: Python<'_>, path: PathBuf, csv: &str) -> PyResult<()> {
    let written = report::write_output(&path, &report::COMPARISON_CSV, csv.as_bytes());
    written.map_err(|error| results(error).raise(py))
}
