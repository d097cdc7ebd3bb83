//! Errors of a study.

use thiserror::Error;

use crate::scenario::{Fault, Position, ScenarioError};

/// Reason why a study cannot be read or run.
#[derive(Debug, Error)]
pub enum StudyError {
    /// Neither a study nor a file has that name.
    #[error("no study is called '{name}', and no file has this path; expected one of {known}")]
    Unknown {
        /// Name as given.
        name: String,
        /// Names of all studies.
        known: String,
    },
    /// The file cannot be read.
    #[error("{file}: cannot be read: {reason}")]
    Unreadable {
        /// Path of the file.
        file: String,
        /// Error of the operating system.
        reason: std::io::Error,
    },
    /// The text is not a study, or one of its values is invalid.
    #[error(transparent)]
    Text(#[from] ScenarioError),
    /// A run is invalid, or its results are.
    #[error("{position}: {place}: {reason}{}", position.excerpt())]
    Invalid {
        /// Line of the study that causes the error, or its file.
        position: Box<Position>,
        /// Name of the run, with its values of axes.
        place: String,
        /// The value, and what is expected.
        reason: String,
        /// Fault of the run's scenario, if it has one.
        fault: Option<Box<Fault>>,
    },
    /// Results of an earlier start would be lost.
    #[error(
        "{file}: finished runs of an earlier start: {runs}; use --resume to reuse them, or remove \
         the file"
    )]
    EarlierRuns {
        /// Path of the log.
        file: String,
        /// Number of finished runs in the log.
        runs: usize,
    },
    /// A line of a log is not the result of a run.
    #[error(
        "{file}: line {line}: not the result of a run: {reason}; remove the line to simulate \
         its run again"
    )]
    BadRun {
        /// Path of the log.
        file: String,
        /// Number of the line.
        line: usize,
        /// Error of the parser.
        reason: String,
    },
    /// A file system operation on a log failed.
    #[error("{file}: cannot {action} the finished runs: {reason}")]
    Log {
        /// Path of the log.
        file: String,
        /// Operation that failed, as a verb.
        action: &'static str,
        /// Error of the operating system.
        reason: std::io::Error,
    },
}

/// Reason why a section of a study is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rejection {
    /// Key below the section, such as `over.policy`; empty for the section itself.
    pub key: String,
    /// The value, and what is expected.
    pub reason: String,
}

impl Rejection {
    pub(super) fn new(key: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { key: key.into(), reason: reason.into() }
    }

    /// Prefixes the key with its parent section, such as `over.`.
    pub(super) fn below(self, above: &str) -> Self {
        let dot = if self.key.is_empty() { "" } else { "." };
        Self { key: format!("{above}{dot}{}", self.key), ..self }
    }
}
