//! The faults of a study.

use thiserror::Error;

use crate::scenario::{Position, ScenarioError};

/// Why a study cannot be read or run.
#[derive(Debug, Error)]
pub enum StudyError {
    /// No study has that name, and no file either.
    #[error("no study is called '{name}', and no file has this path; expected one of {known}")]
    Unknown {
        /// The name as given.
        name: String,
        /// The names of all studies.
        known: String,
    },
    /// The file cannot be read.
    #[error("{file}: cannot be read: {reason}")]
    Unreadable {
        /// Path of the file.
        file: String,
        /// The error of the system.
        reason: std::io::Error,
    },
    /// The text is not that of a study, or a value of it is invalid.
    #[error(transparent)]
    Text(#[from] ScenarioError),
    /// A run is invalid, or its results are.
    #[error("{position}: {place}: {reason}{}", position.excerpt())]
    Invalid {
        /// The line of the study that says so, or its file.
        position: Box<Position>,
        /// The run by its name, with its values of axes.
        place: String,
        /// The value, and what is expected.
        reason: String,
    },
    /// Results of an earlier start would be lost.
    #[error(
        "{file}: finished runs of an earlier start: {runs}; expected --resume, which takes them in \
         place of simulating them again, or the file removed"
    )]
    EarlierRuns {
        /// Path of the log.
        file: String,
        /// Its finished runs.
        runs: usize,
    },
    /// A line of a log is not the result of a run.
    #[error(
        "{file}: line {line}: not the result of a run: {reason}; remove the line, and its run is \
         simulated again"
    )]
    BadRun {
        /// Path of the log.
        file: String,
        /// Number of the line.
        line: usize,
        /// What the reader expected.
        reason: String,
    },
    /// An operation of the file system on a log failed.
    #[error("{file}: cannot {action} the finished runs: {reason}")]
    Log {
        /// Path of the log.
        file: String,
        /// The operation that failed, as a verb.
        action: &'static str,
        /// The error of the system.
        reason: std::io::Error,
    },
}

/// What is wrong with a section of a study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    /// The key below the section, such as `over.policy`; empty for the section itself.
    pub key: String,
    /// The value, and what is expected.
    pub reason: String,
}

impl Refusal {
    pub(super) fn new(key: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { key: key.into(), reason: reason.into() }
    }

    /// The same of a section around: `over.` before the key.
    pub(super) fn below(self, above: &str) -> Self {
        let dot = if self.key.is_empty() { "" } else { "." };
        Self { key: format!("{above}{dot}{}", self.key), ..self }
    }
}
