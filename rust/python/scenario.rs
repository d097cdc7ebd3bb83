//! Scenarios, resolved as on the command line.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;

use super::failure::{Failure, results};
use super::json::json;
use super::policy::{CustomPolicy, Ledger};
use super::rails::RailRun;
use super::run::RunResult;
use super::supervise::{Control, supervise};
use super::{commands, rails, run};
use evenkeel::fluid::Fidelity;
use evenkeel::report;
use evenkeel::scenario::{Overrides, RailScenario, Scenario, ScenarioError};
use evenkeel::study::{self, BoundSummary, QpsSummary, SessionOptions, Subject};
use evenkeel::units::Bytes;

/// Files that were written, and notes.
type Written = (Vec<PathBuf>, Vec<String>);

/// A valid scenario.
#[pyclass(frozen, name = "Loaded", module = "evenkeel._evenkeel")]
#[derive(Debug)]
pub(super) struct Loaded {
    /// The path that the user gave, or the name of the text.
    path: PathBuf,
    kind: LoadedKind,
    /// Maximum memory of a run; `None` for no limit.
    most_memory: Option<Bytes>,
}

#[derive(Debug)]
pub(super) enum LoadedKind {
    /// A scenario of one network.
    Fabric(Box<Scenario>),
    /// A scenario of several rails.
    Rails(Box<RailScenario>),
}

impl LoadedKind {
    /// Sets parameters of the policy, which overrides the scenario's.
    fn with_parameters(self, policy: &str, parameters: &str) -> Result<Self, Failure> {
        match self {
            Self::Fabric(scenario) => {
                let parameters = parameters_of(parameters)?;
                let scenario = scenario.with_policy_parameters(policy, &parameters)?;
                Ok(Self::Fabric(Box::new(scenario)))
            }
            Self::Rails(_) => {
                let reason = "policy: a scenario with [[rail]] sections takes the name of an \
                              allocator; set parameters in its [policy]";
                Err(Failure::Argument(reason.to_owned()))
            }
        }
    }
}

/// The source of a scenario's text.
#[derive(Debug, Clone, FromPyObject)]
pub(super) struct Source {
    /// The text; `None` to read it from `path`.
    #[pyo3(item)]
    text: Option<String>,
    /// The file, or for a text the file that it would be in.
    #[pyo3(item)]
    path: PathBuf,
}

/// Values that override those of a scenario.
#[derive(Debug, FromPyObject)]
pub(super) struct OverrideRequest {
    #[pyo3(item)]
    policy: Option<String>,
    /// Parameters of the policy as TOML; empty without any.
    #[pyo3(item)]
    parameters: String,
    #[pyo3(item)]
    seed: Option<u64>,
    /// Keys and values, as `--set` takes them.
    #[pyo3(item)]
    set: Vec<String>,
    /// True to run even if the estimated memory exceeds what is available.
    #[pyo3(item)]
    force: bool,
}

impl OverrideRequest {
    /// Converts the request to the overrides of the command line.
    pub(super) fn overrides(self) -> Result<Overrides, Failure> {
        let Self { policy, seed, set, force, .. } = self;
        let setting = |text: &String| {
            text.parse().map_err(|reason| Failure::Argument(format!("set: '{text}': {reason}")))
        };
        let settings = set.iter().map(setting).collect::<Result<_, Failure>>()?;
        let most_memory = if force { None } else { study::available_memory() };
        Ok(Overrides { policy, seed, most_memory, settings, ..Overrides::default() })
    }
}

/// Parses the parameters of a policy from TOML.
pub(super) fn parameters_of(text: &str) -> Result<toml::Table, Failure> {
    let table = text.parse::<toml::Table>();
    table.map_err(|error| Failure::Argument(format!("policy: {}", error.message())))
}

/// Fails if the estimated memory of a run exceeds the limit.
pub(super) fn expect_memory(scenario: &Scenario, most: Option<Bytes>) -> Result<(), Failure> {
    let refused = |shortage| Failure::Argument(format!("{shortage}; use force=True to run anyway"));
    study::expect_memory(scenario, most).map_err(refused)
}

/// The arguments of a run.
#[derive(Debug, FromPyObject)]
struct RunRequest {
    /// A policy in Python that replaces the scenario's.
    #[pyo3(item)]
    policy: Option<CustomPolicy>,
    #[pyo3(item)]
    threads: Option<u16>,
    /// Whether a run with a policy in Python is repeated and compared.
    #[pyo3(item)]
    repeat: bool,
    /// The file for a timeline.
    #[pyo3(item)]
    trace: Option<PathBuf>,
    /// Whether an independent account of every packet checks the run.
    #[pyo3(item)]
    check: bool,
}

impl Source {
    /// Resolves the scenario.
    pub(super) fn resolve(&self, overrides: &Overrides) -> Result<LoadedKind, ScenarioError> {
        let path = &self.path;
        let has_rails = match &self.text {
            None => RailScenario::is_in(path),
            Some(text) => RailScenario::is_in_text(text),
        };
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let folder = path.parent().unwrap_or(Path::new(""));
        Ok(match (has_rails, &self.text) {
            (true, None) => LoadedKind::Rails(Box::new(RailScenario::load(path, overrides)?)),
            (true, Some(text)) => {
                LoadedKind::Rails(Box::new(RailScenario::parse(text.clone(), path, overrides)?))
            }
            (false, None) => LoadedKind::Fabric(Box::new(Scenario::load(path, overrides)?)),
            (false, Some(text)) => {
                LoadedKind::Fabric(Box::new(Scenario::parse(text, &name, folder, overrides)?))
            }
        })
    }
}

/// Converts a table that Python wrote as JSON to TOML.
#[pyfunction]
pub(super) fn toml_of_json(py: Python<'_>, json: &str) -> PyResult<String> {
    let argument = |reason: String| Failure::Argument(reason).raise(py);
    let table: serde_json::Value = serde_json::from_str(json)
        .map_err(|error| argument(format!("the table is not a scenario: {error}")))?;
    toml::to_string(&table)
        .map_err(|error| argument(format!("the table cannot be written as TOML: {error}")))
}

#[pymethods]
impl Loaded {
    #[new]
    fn new(py: Python<'_>, source: Source, overrides: OverrideRequest) -> PyResult<Self> {
        let parameters = overrides.parameters.clone();
        let overrides = overrides.overrides().map_err(|failure| failure.raise(py))?;
        let kind = py.detach(|| {
            let kind = source.resolve(&overrides)?;
            match &overrides.policy {
                Some(name) if !parameters.is_empty() => kind.with_parameters(name, &parameters),
                _ => Ok(kind),
            }
        });
        let kind = kind.map_err(|failure| failure.raise(py))?;
        let most_memory = overrides.most_memory;
        Ok(Self { path: source.path, kind, most_memory })
    }

    #[getter]
    fn name(&self) -> &str {
        match &self.kind {
            LoadedKind::Fabric(scenario) => &scenario.name,
            LoadedKind::Rails(scenario) => &scenario.name,
        }
    }

    #[getter]
    fn policy(&self) -> String {
        match &self.kind {
            LoadedKind::Fabric(scenario) => scenario.scheme.name.to_owned(),
            LoadedKind::Rails(scenario) => scenario.file.policy.name.to_string(),
        }
    }

    #[getter]
    fn seed(&self) -> u64 {
        match &self.kind {
            LoadedKind::Fabric(scenario) => scenario.seed,
            LoadedKind::Rails(scenario) => scenario.setup.seed,
        }
    }

    #[getter]
    fn hosts(&self) -> u32 {
        match &self.kind {
            LoadedKind::Fabric(scenario) => scenario.topology.host_count(),
            LoadedKind::Rails(scenario) => scenario.setup.ranks,
        }
    }

    #[getter]
    fn messages(&self) -> u64 {
        match &self.kind {
            LoadedKind::Fabric(scenario) => scenario.messages(),
            LoadedKind::Rails(scenario) => scenario.setup.operations.len() as u64,
        }
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        match &self.kind {
            LoadedKind::Fabric(scenario) => scenario.warnings.clone(),
            LoadedKind::Rails(scenario) => scenario.warnings.clone(),
        }
    }

    /// Returns every key with its value and the origin of the value, as TOML.
    fn render(&self) -> String {
        match &self.kind {
            LoadedKind::Fabric(scenario) => scenario.render(),
            LoadedKind::Rails(scenario) => scenario.render(),
        }
    }

    fn check_line(&self) -> String {
        let shown = self.path.display().to_string();
        match &self.kind {
            LoadedKind::Fabric(scenario) => report::check_line(&shown, scenario),
            LoadedKind::Rails(scenario) => report::rails_check_line(&shown, scenario),
        }
    }

    /// Returns the JSON object of `evenkeel bound`, and the name of the binding closed form.
    fn bound(&self, py: Python<'_>) -> PyResult<(String, String)> {
        let scenario = self.fabric(py)?;
        py.detach(|| {
            let bound = study::lower_bound(&scenario.setup());
            let summary = BoundSummary::new(scenario.name.clone(), &bound);
            let by = bound.binding.to_string();
            Ok((json(&summary), by))
        })
    }

    /// Returns the JSON object of `evenkeel qps`.
    #[pyo3(signature = (listener=None))]
    fn qps(&self, py: Python<'_>, listener: Option<Bound<'_, PyAny>>) -> PyResult<String> {
        let scenario = self.fabric(py)?;
        scenario.expect_known().map_err(|error| Failure::from(error).raise(py))?;
        let control = Control::default();
        control.expect_runs(1);
        supervise(py, listener.as_ref(), &control, || {
            let setup = scenario.setup();
            let mut progress = |so_far: &_| control.report(setup.scheme.name, so_far);
            let found = study::queue_pairs(&setup, &mut progress);
            json(&QpsSummary::new(scenario.name.clone(), &setup, &found))
        })
    }

    /// Writes the fabric and the messages in a format of another project.
    fn export(&self, py: Python<'_>, format: &str, out: PathBuf) -> PyResult<Written> {
        let scenario = self.fabric(py)?;
        let written = py.detach(|| commands::export(scenario, &self.path, format, &out));
        written.map_err(|failure| failure.raise(py))
    }

    /// Writes the workload as Chakra traces.
    fn traces(&self, py: Python<'_>, out: PathBuf) -> PyResult<Written> {
        let scenario = self.fabric(py)?;
        let written = py.detach(|| commands::traces(scenario, &self.path, &out));
        written.map_err(|failure| failure.raise(py))
    }

    /// Simulates the scenario.
    #[pyo3(signature = (request, listener=None))]
    fn run(
        &self,
        py: Python<'_>,
        request: RunRequest,
        listener: Option<Bound<'_, PyAny>>,
    ) -> PyResult<RunResult> {
        let RunRequest { policy, threads, repeat, trace, check } = request;
        let scenario = self.fabric(py)?;
        expect_memory(scenario, self.most_memory).map_err(|failure| failure.raise(py))?;
        let control = Arc::new(Control::default());
        control.expect_runs(1);
        let Some(policy) = policy else {
            let subject = Subject::Scenario(Arc::new(scenario.clone()));
            let options = SessionOptions { threads, trace, check };
            let result = supervise(py, listener.as_ref(), &control, || {
                run::session(subject, options, true, &control)
            })?;
            return result.map_err(|failure| failure.raise(py));
        };
        if scenario.fidelity == Fidelity::Fluid {
            let reason = "fidelity = \"fluid\" has no packets, so it cannot call a policy in \
                          Python; use fidelity = \"packet\"";
            return Err(Failure::Argument(reason.to_owned()).raise(py));
        }
        let ledger = Arc::new(Ledger::default());
        let scenario = policy.apply_to(scenario, &control, &ledger);
        let scenario = scenario.map_err(|failure| failure.raise(py))?;
        let result = supervise(py, listener.as_ref(), &control, || {
            let subject = Subject::Scenario(Arc::new(scenario));
            // One thread, so that the calls of a policy have a defined order.
            let options = SessionOptions { threads: Some(1), trace, check };
            let first = run::session(subject.clone(), options, true, &control)?;
            if repeat {
                ledger.replay();
                // The repetition is only compared, so it neither traces nor checks.
                let options = SessionOptions { threads: Some(1), ..SessionOptions::default() };
                let again = run::session(subject, options, false, &control)?;
                if again.ended.outcome != first.ended.outcome {
                    return Err(results("the run and its repetition have different results"));
                }
            }
            Ok(first)
        })?;
        result.map_err(|failure| failure.raise(py))
    }

    /// True for a scenario of several rails.
    #[getter]
    fn has_rails(&self) -> bool {
        matches!(self.kind, LoadedKind::Rails(_))
    }

    /// Simulates a scenario of several rails.
    #[pyo3(signature = (listener=None))]
    fn run_rails(&self, py: Python<'_>, listener: Option<Bound<'_, PyAny>>) -> PyResult<RailRun> {
        let LoadedKind::Rails(scenario) = &self.kind else {
            let reason = "the scenario has no [[rail]] sections";
            return Err(Failure::Argument(reason.to_owned()).raise(py));
        };
        let control = Control::default();
        control.expect_runs(1);
        let result =
            supervise(py, listener.as_ref(), &control, || rails::scenario(scenario, &control))?;
        result.map_err(|failure| failure.raise(py))
    }
}

impl Loaded {
    /// Returns the scenario of one network; fails for one of several rails.
    fn fabric(&self, py: Python<'_>) -> PyResult<&Scenario> {
        match &self.kind {
            LoadedKind::Fabric(scenario) => Ok(scenario),
            LoadedKind::Rails(_) => {
                let reason = "a scenario with [[rail]] sections supports only run, compare and \
                              check, because each rail is a separate network";
                Err(Failure::Argument(reason.to_owned()).raise(py))
            }
        }
    }
}

/// Converts TOML to JSON; errors name the text `file`.
#[pyfunction]
pub(super) fn json_of_toml(py: Python<'_>, text: &str, file: &str) -> PyResult<String> {
    let table = text.parse::<toml::Table>();
    let table = table.map_err(|error| {
        Failure::Argument(format!("{file}: invalid TOML: {}", error.message())).raise(py)
    })?;
    Ok(json(&table))
}

/// Returns every key of the format: key, kind of section, notation, default and meaning.
#[pyfunction]
pub(super) fn catalogue() -> Vec<(String, String, String, String, String)> {
    let entries = evenkeel::scenario::catalogue().into_iter();
    entries.map(|it| (it.key, it.only, it.form, it.default, it.summary)).collect()
}

/// Returns the JSON Schema of an output, as `evenkeel schema` prints it.
#[pyfunction]
pub(super) fn output_schema(py: Python<'_>, name: &str) -> PyResult<String> {
    let found = report::OUTPUT_SCHEMAS.iter().find(|output| output.name == name);
    let found = found.map(|output| json(&output.schema()));
    found.ok_or_else(|| Failure::Argument(format!("no output has the name '{name}'")).raise(py))
}
