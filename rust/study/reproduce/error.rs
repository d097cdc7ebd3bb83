//! The faults of a study.

use thiserror::Error;

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
    /// The text is not that of a study.
    #[error("{file}: {reason}")]
    Syntax {
        /// Path of the file.
        file: String,
        /// Place, value and what is expected.
        reason: String,
    },
    /// A value is invalid.
    #[error("{file}: {place}: {reason}")]
    Invalid {
        /// Path of the file.
        file: String,
        /// The run, the claim or the table, by its name.
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
