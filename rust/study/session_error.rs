//! Reasons why a session cannot start, or failed.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::report::OutputError;
use crate::scenario::ScenarioError;

/// Reason why a session cannot start, or failed. The message begins with the option in question.
#[derive(Debug, Error)]
pub enum SessionError {
    /// An option does not apply to the scenario.
    #[error("{option}: {reason}")]
    Option {
        /// Name of the option.
        option: &'static str,
        /// Reason, and what to do.
        reason: &'static str,
    },
    /// The timeline file may not be replaced.
    #[error("trace {0}")]
    TraceFile(OutputError),
    /// The timeline cannot be written.
    #[error("trace {}: cannot write: {reason}", path.display())]
    Trace {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        reason: io::Error,
    },
    /// Recorded tables cannot be written.
    #[error("out: cannot write the recorded tables: {0}")]
    Record(io::Error),
    /// A trace of the scenario, which is read during the run, is invalid.
    #[error(transparent)]
    Scenario(ScenarioError),
}
