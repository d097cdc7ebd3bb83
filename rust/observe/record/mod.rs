//! Time series of a run: what ports, queue pairs and paths do in each interval of time, or at each
//! change.
//!
//! A [`Recorder`] observes a run and writes its tables while it proceeds; the caller decides where
//! the bytes go. It keeps a state for each port, queue pair and flow that it records, and a
//! [`Profile`] of at most [`MOST_WINDOWS`] windows, however long the run is. [`Recorders`] are
//! those of a run that records several things. A run without a recorder has no cost for it.
//!
//! It knows no file and no scenario. `docs/recording.md` has the columns.

mod cells;
mod courses;
mod path_changes;
mod paths;
mod pauses;
mod ports;
mod profile;
mod queue_changes;
mod queue_pairs;
mod recorder;
mod recorders;
mod sink;
mod table;

pub use cells::{csv_field, csv_text, text_of_csv};
pub use courses::Courses;
pub use profile::{MOST_WINDOWS, Profile, Window};
pub use recorder::Recorder;
pub use recorders::Recorders;
pub use table::RecordedTable;

use sink::{Sink, nanoseconds};

use crate::ids::{HostId, PortId};
use crate::units::Span;

/// What is recorded of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// What tells it from others of the same run.
    pub name: Option<String>,
    /// When rows are written.
    pub on: On,
    /// The length of an interval.
    pub every: Span,
    /// The ports whose queues and transmissions are recorded.
    pub ports: Vec<PortId>,
    /// The hosts whose queue pairs are recorded as they send.
    pub queue_pairs: Vec<HostId>,
    /// The hosts of whose packets the entropy values and paths are recorded.
    pub paths: Vec<HostId>,
    /// The ports whose pauses are recorded.
    pub pauses: Vec<PortId>,
    /// The names of the traffic classes; empty if data has one class.
    pub classes: Vec<String>,
}

/// When rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    /// At the end of each interval.
    Interval,
    /// When a value changes.
    Change,
}

impl Recording {
    fn is_on_change(&self) -> bool {
        self.on == On::Change
    }

    /// The tables that are written.
    pub fn tables(&self) -> Vec<RecordedTable> {
        use RecordedTable::{
            PathChanges, Paths, PauseChanges, Pauses, Ports, QueueChanges, QueuePairs,
        };
        let [ports, paths, pauses] = match self.on {
            On::Interval => [Ports, Paths, Pauses],
            On::Change => [QueueChanges, PathChanges, PauseChanges],
        };
        let tables = [
            (!self.ports.is_empty()).then_some(ports),
            (!self.queue_pairs.is_empty()).then_some(QueuePairs),
            (!self.paths.is_empty()).then_some(paths),
            (!self.pauses.is_empty()).then_some(pauses),
        ];
        tables.into_iter().flatten().collect()
    }
}
