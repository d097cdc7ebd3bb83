//! Runs of scenarios with several rails.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use pyo3::prelude::*;

use super::failure::{Failure, results};
use super::json::json;
use super::supervise::Control;
use super::table::Table;
use evenkeel::fabric::{Progress, Verdict};
use evenkeel::multirail::RailOutcome;
use evenkeel::report::{self, Folder, Identity, RailSummary};
use evenkeel::scenario::RailScenario;
use evenkeel::study;
use evenkeel::units::Time;

/// The results of a run over several rails.
#[pyclass(frozen, name = "RailRun", module = "evenkeel._evenkeel")]
#[derive(Debug)]
pub(super) struct RailRun {
    pub(super) identity: Identity,
    pub(super) summary: RailSummary,
    /// The scenario with every default, as TOML.
    pub(super) rendered: String,
    /// The scenario with every default as a table, for the saved summary.
    pub(super) resolved: toml::Table,
    pub(super) incomplete: Option<String>,
}

#[pymethods]
impl RailRun {
    fn json(&self) -> String {
        json(&self.summary)
    }

    fn text(&self) -> String {
        report::rails_table(&self.summary)
    }

    #[getter]
    fn scenario_toml(&self) -> &str {
        &self.rendered
    }

    #[getter]
    #[expect(clippy::unused_self, reason = "a getter of Python")]
    fn violations(&self) -> Option<Vec<String>> {
        None
    }

    #[getter]
    fn incomplete(&self) -> Option<String> {
        self.incomplete.clone()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    fn tables(&self) -> [&'static str; 2] {
        ["operations", "timeline"]
    }

    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Table> {
        let mut text = Vec::new();
        let written = match name {
            "operations" => report::write_operations_csv(&mut text, &self.summary),
            "timeline" => report::write_timeline_csv(&mut text, &self.summary),
            _ => {
                let reason = format!("the run has no table '{name}'; it has operations, timeline");
                return Err(Failure::Argument(reason).raise(py));
            }
        };
        written.map_err(|error| results(error).raise(py))?;
        Table::of_csv(&text).map_err(|error| results(error).raise(py))
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let kept = Folder::open(&path).and_then(|folder| {
            let resolved = Some(self.resolved.clone());
            let summary = RailSummary { resolved, ..self.summary.clone() };
            report::write_rail_results(&folder, &self.identity, &summary, &self.rendered)
        });
        kept.map_err(|error| results(error).raise(py))
    }
}

/// Simulates a scenario of several rails.
pub(super) fn scenario(scenario: &RailScenario, control: &Control) -> Result<RailRun, Failure> {
    let label = scenario.file.policy.name.to_string();
    let all = scenario.setup.operations.len();
    let mut progress = |completed| control.report(&label, &of_operations(completed, all));
    let result = study::run_rails(scenario, &mut progress);
    finished(scenario, result.map_err(|error| Failure::Argument(error.to_string()))?)
}

/// Simulates scenarios that differ in their policies.
pub(super) fn compare(
    scenarios: &[RailScenario],
    jobs: NonZeroUsize,
    control: &Control,
) -> Result<Vec<RailRun>, Failure> {
    control.expect_runs(scenarios.len());
    let progress = |index: usize, completed| {
        let scenario: &RailScenario = &scenarios[index];
        let all = scenario.setup.operations.len();
        control.report(&scenario.file.policy.name, &of_operations(completed, all));
    };
    let runs = study::compare_rails(scenarios, jobs, &progress);
    let runs = runs.map_err(|error| Failure::Argument(error.to_string()))?;
    scenarios.iter().zip(runs).map(|(scenario, run)| finished(scenario, run)).collect()
}

/// Returns progress that counts operations only; bytes are not counted.
fn of_operations(completed: usize, all: usize) -> Progress {
    let (completed, messages) = (completed as u64, all as u64);
    Progress {
        now: Time::ZERO,
        completed,
        messages,
        delivered_bytes: completed,
        total_bytes: messages,
        packet_hops: 0,
    }
}

fn finished(
    scenario: &RailScenario,
    (summary, outcome): (RailSummary, RailOutcome),
) -> Result<RailRun, Failure> {
    if !summary.exact {
        let (name, policy) = (&summary.scenario, &summary.policy);
        let reason = format!("{name} under {policy}: a rank has wrong sums, a bug in evenkeel");
        return Err(Failure::Results(reason));
    }
    let incomplete = (outcome.verdict != Verdict::Completed).then(|| {
        let done = summary.operations.iter().filter(|it| it.took_ns.is_some()).count();
        format!(
            "{} under {}: {done} all-reduces completed before the run stalled or reached its time \
             limit",
            summary.scenario, summary.policy
        )
    });
    let identity = study::rail_identity(scenario);
    let (rendered, resolved) = (scenario.render(), scenario.as_table());
    Ok(RailRun { identity, summary, rendered, resolved, incomplete })
}
