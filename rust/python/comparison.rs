//! Comparisons of policies.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;
use std::sync::Arc;

use pyo3::prelude::*;

use super::failure::{Failure, results};
use super::json::json;
use super::policy::{CustomPolicy, Ledger};
use super::rails::{self, RailRun};
use super::scenario::{LoadedKind, OverrideRequest, Source, expect_memory};
use super::supervise::{Control, RunCounter, supervise};
use super::table::Table;
use evenkeel::report::{self, AllRuns, RailSummary, Summary};
use evenkeel::scenario::{Overrides, RailScenario, Scenario};
use evenkeel::study::{self, Comparison, Planned, RunNumbers, Seeds, Statistics};

/// The results of a comparison.
#[pyclass(frozen, name = "Comparison", module = "evenkeel._evenkeel")]
#[derive(Debug)]
pub(super) struct ComparisonResult {
    runs: Runs,
    statistics: Statistics,
    #[pyo3(get)]
    warnings: Vec<String>,
    #[pyo3(get)]
    incomplete: Vec<String>,
}

#[derive(Debug)]
enum Runs {
    Fabric(Vec<Summary>),
    Rails(Vec<RailSummary>),
}

/// A policy by its name. For one in Python, the name is that of the preset whose policy it
/// replaces.
#[derive(Debug, FromPyObject)]
struct Compared {
    #[pyo3(item)]
    name: String,
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

/// Simulates a scenario under several policies and seeds.
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
    let result = match loaded.map_err(|error| Failure::from(error).raise(py))? {
        LoadedKind::Fabric(scenario) => {
            expect_memory(&scenario, overrides.most_memory).map_err(|failure| failure.raise(py))?;
            let scenarios = apply_policies(&scenario, policies, &control)
                .map_err(|failure| failure.raise(py))?;
            let seeds = Seeds { first: scenario.seed, count: seeds };
            supervise(py, listener.as_ref(), &control, || {
                on_fabric(scenarios, seeds, jobs, baseline.as_deref(), &control)
            })?
        }
        LoadedKind::Rails(_) => {
            let names: Vec<String> = policies.into_iter().map(|it| it.name).collect();
            supervise(py, listener.as_ref(), &control, || {
                let under = |policy: &String| Overrides {
                    policy: Some(policy.clone()),
                    ..overrides.clone()
                };
                let overrides: Vec<Overrides> = names.iter().map(under).collect();
                on_rails(&source, &overrides, jobs, baseline.as_deref(), &control)
            })?
        }
    };
    result.map_err(|failure| failure.raise(py))
}

/// Returns the scenario under each policy.
fn apply_policies(
    scenario: &Scenario,
    policies: Vec<Compared>,
    control: &Arc<Control>,
) -> Result<Vec<Scenario>, Failure> {
    let under = |it: Compared| {
        let named = scenario.with_policy(&it.name)?;
        let ledger = Arc::new(Ledger::default());
        Ok(match it.custom {
            None => named,
            Some(policy) => policy.apply_to(&named, control, &ledger)?,
        })
    };
    policies.into_iter().map(under).collect()
}

fn on_fabric(
    scenarios: Vec<Scenario>,
    seeds: Seeds,
    jobs: NonZeroUsize,
    baseline: Option<&str>,
    control: &Arc<Control>,
) -> Result<ComparisonResult, Failure> {
    let comparison = Comparison::of(scenarios, seeds)?;
    control.expect_runs(comparison.runs().len());
    let mut warnings: Vec<String> = comparison.warnings().into_iter().map(str::to_owned).collect();
    let finished = study::compare(&comparison, jobs, &RunCounter(Arc::clone(control)))?;
    let incomplete = finished.iter().filter_map(|(run, _)| run.incomplete("time_limit")).collect();
    let runs: Vec<Summary> = finished.iter().map(|(run, _)| run.summary.clone()).collect();
    warnings.extend(runs.iter().flat_map(|run| run.warnings.clone()));
    let numbers = RunNumbers::of_summaries(&runs, RunNumbers::FABRIC_METRICS);
    let planned = comparison.planned();
    let statistics = Statistics::of(RunNumbers::FABRIC_METRICS, &numbers, baseline, &planned);
    let statistics = statistics.with_reasons(finished.iter().map(|(run, _)| run));
    let runs = Runs::Fabric(runs);
    Ok(ComparisonResult { runs, statistics, warnings, incomplete })
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
    let runs = Runs::Rails(runs);
    Ok(ComparisonResult { runs, statistics, warnings, incomplete })
}

#[pymethods]
impl ComparisonResult {
    /// Returns the object that `evenkeel compare --json` prints.
    fn json(&self) -> String {
        match &self.runs {
            Runs::Fabric(runs) => {
                let reasons = self.statistics.reasons.clone();
                json(&AllRuns { reasons, ..AllRuns::of(runs) })
            }
            Runs::Rails(runs) => json(&AllRuns::of(runs)),
        }
    }

    /// Returns the text that `evenkeel compare` prints.
    fn text(&self) -> String {
        let table = match &self.runs {
            Runs::Fabric(runs) => report::compare_table(runs, &self.statistics),
            Runs::Rails(runs) => report::rails_compare_table(runs),
        };
        format!("{table}\n{}", report::verdicts(&self.statistics))
    }

    /// Returns a row per policy and metric: median, its interval, ratio to the reference.
    fn statistics(&self, py: Python<'_>) -> PyResult<Table> {
        let csv = report::comparison_csv(&self.statistics);
        let csv = csv.map_err(|error| results(error).raise(py))?;
        Table::of_csv(csv.as_bytes()).map_err(|error| results(error).raise(py))
    }

    /// Writes the statistics as CSV, from which `plot` draws.
    fn save(&self, py: Python<'_>, path: std::path::PathBuf) -> PyResult<()> {
        let csv = report::comparison_csv(&self.statistics).map_err(results);
        csv.and_then(|csv| write(&path, csv.as_bytes())).map_err(|failure| failure.raise(py))
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let written = report::write_output(path, &report::COMPARISON_CSV, bytes);
    written.map_err(|error| Failure::Results(error.to_string()))
}
