//! Converts errors of the library to exceptions of the package, with their position as attributes.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use evenkeel::hpcc::HpccError;
use evenkeel::scenario::{Position, ScenarioError};
use evenkeel::study::SessionError;
use evenkeel::study::reproduce::StudyError;

/// The Python module that declares the exceptions.
const ERRORS: &str = "evenkeel._errors";

/// An error that was found without the interpreter, before it becomes an exception.
#[derive(Debug)]
pub(super) enum Failure {
    /// A scenario is invalid.
    Scenario(ScenarioError),
    /// A study is invalid, or its results cannot be kept.
    Study(StudyError),
    /// An experiment of the HPCC family is invalid.
    Hpcc(HpccError),
    /// An argument is invalid; the text explains why.
    Argument(String),
    /// Results cannot be read or written.
    Results(String),
}

/// The position of an error.
#[derive(Debug, Default)]
struct Place {
    file: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
    key: Option<String>,
}

impl Place {
    fn of(position: &Position) -> Self {
        match position {
            Position::Line { file, line, column, .. } => {
                let (line, column) = (Some(*line), Some(*column));
                Self { file: Some(file.clone()), line, column, key: None }
            }
            Position::File { file } => Self { file: Some(file.clone()), ..Self::default() },
            Position::Setting { key, .. } => Self { key: Some(key.clone()), ..Self::default() },
            Position::CommandLine => Self::default(),
        }
    }
}

impl Failure {
    fn class(&self) -> &'static str {
        match self {
            Self::Scenario(_) => "ScenarioError",
            Self::Study(_) => "StudyError",
            Self::Hpcc(_) => "ExperimentError",
            Self::Argument(_) => "ArgumentError",
            Self::Results(_) => "ResultsError",
        }
    }

    fn message(&self) -> String {
        match self {
            Self::Scenario(error) => error.to_string(),
            Self::Study(error) => error.to_string(),
            Self::Hpcc(error) => error.to_string(),
            Self::Argument(reason) | Self::Results(reason) => reason.clone(),
        }
    }

    fn place(&self) -> Place {
        match self {
            Self::Scenario(error) | Self::Study(StudyError::Text(error)) => {
                let place = Place::of(&error.position);
                Place { key: place.key.clone().or_else(|| error.fault.key()), ..place }
            }
            Self::Study(
                StudyError::Unreadable { file, .. }
                | StudyError::EarlierRuns { file, .. }
                | StudyError::Log { file, .. },
            ) => Place { file: Some(file.clone()), ..Place::default() },
            Self::Study(StudyError::Invalid { position, place, .. }) => {
                Place { key: Some(place.clone()), ..Place::of(position) }
            }
            Self::Study(StudyError::BadRun { file, line, .. }) => {
                Place { file: Some(file.clone()), line: Some(*line), ..Place::default() }
            }
            Self::Study(StudyError::Unknown { .. })
            | Self::Hpcc(_)
            | Self::Argument(_)
            | Self::Results(_) => Place::default(),
        }
    }

    /// Converts the error to its exception.
    pub(super) fn raise(self, py: Python<'_>) -> PyErr {
        let exception = || -> PyResult<PyErr> {
            let class = py.import(ERRORS)?.getattr(self.class())?;
            let Place { file, line, column, key } = self.place();
            let place = PyDict::new(py);
            place.set_item("file", file)?;
            place.set_item("line", line)?;
            place.set_item("column", column)?;
            place.set_item("key", key)?;
            Ok(PyErr::from_value(class.call((self.message(),), Some(&place))?))
        };
        exception().unwrap_or_else(|error| error)
    }
}

impl From<ScenarioError> for Failure {
    fn from(error: ScenarioError) -> Self {
        Self::Scenario(error)
    }
}

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Self {
        Self::Study(error)
    }
}

impl From<HpccError> for Failure {
    fn from(error: HpccError) -> Self {
        Self::Hpcc(error)
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Scenario(error) => Self::Scenario(error),
            SessionError::Option { .. } => Self::Argument(error.to_string()),
            _ => Self::Results(error.to_string()),
        }
    }
}

/// Returns the error for results that cannot be read or written.
pub(super) fn results(error: impl std::fmt::Display) -> Failure {
    Failure::Results(error.to_string())
}
