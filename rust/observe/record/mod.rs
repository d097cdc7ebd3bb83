//! Time series of a run: the state of ports, queue pairs and paths at each interval or at each
//! change.
//!
//! A [`Recorder`] observes a run and writes its tables while it proceeds; the caller decides where
//! the bytes go. It keeps a state for each recorded port, queue pair and flow. Its [`Profile`] has
//! at most [`MAX_WINDOWS`] windows, however long the run is. [`Recorders`] holds the recorders of
//! a run with several recordings. A run without a recorder has no overhead.
//!
//! The module does not depend on files or scenarios. `docs/recording.md` lists the columns.

mod cells;
mod path_changes;
mod paths;
mod pauses;
mod ports;
mod profile;
mod queue_changes;
mod queue_pairs;
mod recorder;
mod recorders;
mod run_profiles;
mod sink;
mod table;

pub use cells::{csv_field, csv_text, unescape_csv};
pub use profile::{MAX_WINDOWS, Profile, Window};
pub use recorder::Recorder;
pub use recorders::Recorders;
pub use run_profiles::RunProfiles;
pub use table::RecordedTable;

use sink::{Sink, nanoseconds};

use crate::ids::{HostId, PortId};
use crate::units::Span;

/// The configuration of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// Name that distinguishes it from other recordings of the run.
    pub name: Option<String>,
    /// When rows are written.
    pub on: On,
    /// Length of an interval.
    pub every: Span,
    /// Ports whose queues and transmissions are recorded.
    pub ports: Vec<PortId>,
    /// Hosts whose queue pairs are recorded at the sender.
    pub queue_pairs: Vec<HostId>,
    /// Hosts for whose packets entropy values and paths are recorded.
    pub paths: Vec<HostId>,
    /// Ports whose pauses are recorded.
    pub pauses: Vec<PortId>,
    /// Names of the traffic classes; empty if data has one class.
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

    /// Returns the tables that are written.
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
