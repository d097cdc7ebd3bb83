//! Operations of a run whose hosts have several rails, from its summary.

use serde::Deserialize;

use super::{ResultsError, RunFolder};

/// A run over several rails.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct RailRun {
    /// The rails, by index.
    pub rails: Vec<RailName>,
    /// The operations, in order of their starts.
    pub operations: Vec<RailOperation>,
    /// Failures, recoveries and the reactions to them, in order of time.
    pub timeline: Vec<RailEvent>,
}

/// The name of a rail.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RailName {
    /// Name in the scenario.
    pub name: String,
}

/// An operation that every rail has a share of.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct RailOperation {
    /// Length of each rank's vector.
    pub bytes: f64,
    /// Start, in nanoseconds.
    pub start_ns: f64,
    /// Time until every rank had all sums, in nanoseconds; `None` if it did not complete.
    pub took_ns: Option<f64>,
    /// Bytes of each rail.
    pub share_bytes: Vec<f64>,
}

/// An event on the timeline of a rail.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct RailEvent {
    /// Time, in nanoseconds.
    pub at_ns: f64,
    /// Name of the rail.
    pub rail: String,
    /// The event, in words.
    pub what: String,
}

impl RunFolder {
    /// True if the hosts of the run have several rails, which are separate networks. Such a run has
    /// operations, and neither messages nor links.
    pub fn has_rails(&self) -> bool {
        self.summary().get("rails").is_some()
    }

    /// Returns the operations of a run over several rails.
    ///
    /// # Errors
    /// Fails if the summary lacks them or has them in another form.
    pub fn rails(&self) -> Result<RailRun, ResultsError> {
        RailRun::deserialize(self.summary()).map_err(|error| ResultsError::Key {
            file: self.path().join("summary.json").display().to_string(),
            key: "operations".to_owned(),
            found: format!("invalid ({error})"),
            expected: "the operations of a run with [[rail]]",
        })
    }
}
