//! The object that `evenkeel check --json` prints.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::Unexplained;
use crate::explanation::json;
use crate::reproduce::{Study, StudyError, StudyForecast};
use crate::scenario::{
    Explained, Fault, Position, RailScenario, Scenario, ScenarioError, ValueOrigin, flat,
};
use crate::units::Bytes;

/// Checks of files.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckSummary {
    /// Files in the order of the command line.
    pub files: Vec<CheckedFile>,
}

/// Check of a file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckedFile {
    /// Path of the file.
    pub file: String,
    /// Whether it is valid.
    pub valid: bool,
    /// Errors: one for an invalid scenario, one for each invalid point of a study.
    pub errors: Vec<CheckError>,
    /// Warnings about what is lost or has no effect.
    pub warnings: Vec<String>,
    /// Notes on what may be wrong in files of other programs.
    pub notes: Vec<String>,
    /// Content of a valid scenario.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario: Option<CheckedScenario>,
    /// Points and runs of a study.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub study: Option<CheckedStudy>,
    /// Estimated cost; absent if there is no estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Forecast>,
    /// Every key that has an effect, with `--explain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<CheckedValue>>,
    /// Written traces, with `--mend`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mended: Option<MendedTraces>,
}

/// An error and its place.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckError {
    /// The whole message.
    pub message: String,
    /// Line in the file, from 1; `None` if the error has no line.
    pub line: Option<usize>,
    /// Column in characters, from 1; `None` if the error has no line.
    pub column: Option<usize>,
    /// Key at fault, with its section; `None` if the error is not about a key.
    pub key: Option<String>,
    /// Number of the point of a study, from 1; `None` for other errors.
    pub point: Option<usize>,
    /// The invalid value, as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Expected value: a notation, a range, or the known names, separated by commas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// Known names that are similar to an unknown one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<String>,
    /// Place in a file that the scenario reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<InputPlace>,
}

/// Place in a file that a scenario reads.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InputPlace {
    /// Path of the file.
    pub file: String,
    /// Line in the file, from 1; `None` if the error has no line.
    pub line: Option<usize>,
}

/// Content of a scenario.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckedScenario {
    /// Name of the scenario.
    pub name: String,
    /// Name of the load-balancing policy.
    pub policy: String,
    /// Hosts.
    pub hosts: u64,
    /// Switches; 0 for a scenario with rails.
    pub switches: u64,
    /// Links; rails for a scenario with rails.
    pub links: u64,
    /// Messages; operations for a scenario with rails.
    pub messages: u64,
    /// Jobs; absent for a scenario with a `[workload]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<CheckedJob>,
}

/// A job of a scenario.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckedJob {
    /// Name of the job.
    pub name: String,
    /// Name of its load-balancing policy.
    pub policy: String,
}

/// A key of a resolved scenario.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckedValue {
    /// Path of the key: `topology.leaves`, `failure[0].at`.
    pub key: String,
    /// Value.
    pub value: Value,
    /// Origin of the value; absent for a scenario with rails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<CheckedOrigin>,
    /// Line of the file that sets the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Value that `auto` resolves to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved: Option<String>,
}

/// Origin of a value.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckedOrigin {
    /// The scenario's file.
    File,
    /// An override on the command line.
    CommandLine,
    /// The default of the key.
    Default,
    /// A default of the policy's transport or loss recovery.
    Policy,
}

/// Traces with the order of their streams added.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MendedTraces {
    /// Path of the first trace.
    pub first: String,
    /// Traces, one per rank.
    pub traces: u64,
    /// Kernels that now follow the previous one in their stream.
    pub kernels: u64,
}

/// Points and runs of a study.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckedStudy {
    /// Combinations of the values of axes.
    pub points: usize,
    /// Points that cannot run.
    pub points_invalid: usize,
    /// Points without an estimate.
    pub points_not_estimated: usize,
    /// Simulations: every point under every seed.
    pub runs: usize,
}

/// Estimated cost of a run, or of all runs of a study.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Forecast {
    /// Memory of the run, or of the largest run of a study, in bytes.
    pub memory_bytes: u64,
    /// CPU time on one core, seconds.
    pub cpu_s: f64,
}

impl Forecast {
    fn new(memory: Bytes, cpu: Duration) -> Self {
        Self { memory_bytes: memory.get(), cpu_s: cpu.as_secs_f64() }
    }
}

impl CheckedFile {
    fn new(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            valid: true,
            errors: Vec::new(),
            warnings: Vec::new(),
            notes: Vec::new(),
            scenario: None,
            study: None,
            forecast: None,
            values: None,
            mended: None,
        }
    }

    /// Returns the check of a file with this error.
    pub fn invalid(file: &str, error: CheckError) -> Self {
        Self { valid: false, errors: vec![error], ..Self::new(file) }
    }

    /// Returns the check of a valid scenario.
    pub fn of_scenario(file: &str, scenario: &Scenario) -> Self {
        let topology = &scenario.topology;
        let content = CheckedScenario {
            name: scenario.name.clone(),
            policy: scenario.scheme.name.to_owned(),
            hosts: topology.host_count().into(),
            switches: topology.switches().len() as u64,
            links: topology.links().len() as u64,
            messages: scenario.messages(),
            jobs: jobs(scenario),
        };
        let warnings = scenario.warnings.clone();
        Self { scenario: Some(content), warnings, ..Self::new(file) }
    }

    /// Adds every key of the scenario that has an effect.
    #[must_use]
    pub fn with_values(self, scenario: &Scenario) -> Self {
        let values = scenario.explain().into_iter().map(CheckedValue::from);
        Self { values: Some(values.collect()), ..self }
    }

    /// Adds the estimated cost of the scenario's run.
    #[must_use]
    pub fn with_forecast(self, scenario: &Scenario) -> Self {
        let run = crate::estimate_scenario(scenario);
        Self { forecast: run.map(|run| Forecast::new(run.memory, run.cpu)), ..self }
    }

    /// Returns the check of a valid scenario with several rails.
    pub fn of_rails(file: &str, scenario: &RailScenario) -> Self {
        let setup = &scenario.setup;
        let content = CheckedScenario {
            name: scenario.name.clone(),
            policy: scenario.file.policy.name.to_string(),
            hosts: setup.ranks.into(),
            switches: 0,
            links: setup.rails.len() as u64,
            messages: setup.operations.len() as u64,
            jobs: Vec::new(),
        };
        let warnings = scenario.warnings.clone();
        Self { scenario: Some(content), warnings, ..Self::new(file) }
    }

    /// Adds every key of the scenario with rails, without their origins.
    #[must_use]
    pub fn with_rail_values(self, scenario: &RailScenario) -> Self {
        let values = flat(&scenario.as_table()).into_iter().map(|(key, value)| CheckedValue {
            key,
            value: json(&value.to_string()).unwrap_or_default(),
            origin: None,
            line: None,
            resolved: None,
        });
        Self { values: Some(values.collect()), ..self }
    }

    /// Returns the check of a study, which is valid if all of its points are.
    pub fn of_study(file: &str, study: &Study, forecast: &StudyForecast) -> Self {
        let invalid = forecast
            .invalid
            .iter()
            .map(|it| CheckError { point: Some(it.point), ..CheckError::from(&it.error) });
        let content = CheckedStudy {
            points: forecast.points,
            points_invalid: forecast.invalid.len(),
            points_not_estimated: forecast.not_estimated,
            runs: study.runs(),
        };
        let errors: Vec<CheckError> = invalid.collect();
        let is_estimated = forecast.memory > Bytes::ZERO;
        let cost = is_estimated.then(|| Forecast::new(forecast.memory, forecast.cpu));
        let valid = errors.is_empty();
        Self { valid, errors, study: Some(content), forecast: cost, ..Self::new(file) }
    }
}

/// Returns the jobs with their policies.
fn jobs(scenario: &Scenario) -> Vec<CheckedJob> {
    let jobs = scenario.workload.jobs.iter().enumerate();
    jobs.map(|(index, job)| {
        let own = scenario.job_policies.iter().find(|own| own.job == index);
        let scheme = own.map_or(&scenario.scheme, |own| &own.scheme);
        CheckedJob { name: job.name.clone(), policy: scheme.name.to_owned() }
    })
    .collect()
}

impl From<Explained> for CheckedValue {
    fn from(explained: Explained) -> Self {
        let Explained { key, value, from, here } = explained;
        let (origin, line) = match from {
            ValueOrigin::Line(line) => (CheckedOrigin::File, Some(line)),
            ValueOrigin::CommandLine => (CheckedOrigin::CommandLine, None),
            ValueOrigin::Default => (CheckedOrigin::Default, None),
            ValueOrigin::Policy => (CheckedOrigin::Policy, None),
        };
        let value = json(&value).unwrap_or_default();
        Self { key, value, origin: Some(origin), line, resolved: here }
    }
}

impl CheckError {
    /// Returns an error without a place.
    pub fn without_place(message: String) -> Self {
        Self {
            message,
            line: None,
            column: None,
            key: None,
            point: None,
            value: None,
            expected: None,
            nearest: Vec::new(),
            input: None,
        }
    }

    fn at(position: &Position, fault: Option<&Fault>, message: String) -> Self {
        let (line, column) = match position {
            Position::Line { line, column, .. } => (Some(*line), Some(*column)),
            _ => (None, None),
        };
        let base = Self { line, column, ..Self::without_place(message) };
        let Some(fault) = fault else { return base };
        let written = match fault {
            Fault::BadValue { .. } => position.value().map(|it| it.trim_matches('"').to_owned()),
            _ => None,
        };
        Self {
            key: fault.key(),
            value: fault.value().or(written),
            expected: fault.expected(),
            nearest: fault.nearest().into_iter().map(str::to_owned).collect(),
            input: fault.input().map(|(file, line)| InputPlace { file: file.to_owned(), line }),
            ..base
        }
    }
}

impl From<&ScenarioError> for CheckError {
    fn from(error: &ScenarioError) -> Self {
        Self::at(&error.position, Some(&error.fault), error.to_string())
    }
}

impl From<&StudyError> for CheckError {
    fn from(error: &StudyError) -> Self {
        match error {
            StudyError::Text(error) => error.into(),
            StudyError::Invalid { position, fault, .. } => {
                Self::at(position, fault.as_deref(), error.to_string())
            }
            other => Self::without_place(other.to_string()),
        }
    }
}

impl From<Unexplained> for CheckError {
    fn from(error: Unexplained) -> Self {
        let message = error.to_string();
        let Unexplained { word, nearest, .. } = error;
        Self { key: Some(word), nearest, ..Self::without_place(message) }
    }
}
