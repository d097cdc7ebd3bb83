//! All recorders of a run.

use std::io::{self, Write};

use super::{RecordedTable, Recorder, Recording, RunProfiles};
use crate::fabric::{PauseRecord, Watch};
use crate::topology::Topology;

/// Opens the destination of a table of a recording.
type Open<'a> = &'a mut dyn FnMut(&Recording, RecordedTable) -> io::Result<Box<dyn Write>>;

/// A recorder for each recording of a run.
#[derive(Debug)]
pub struct Recorders(Vec<(Option<String>, Recorder)>);

impl Recorders {
    /// Creates the recorders of a run in a topology. `open` returns the destination of each table.
    ///
    /// # Errors
    /// Those of `open`, and of writing the names of the columns.
    pub fn new(recordings: &[Recording], topology: &Topology, open: Open<'_>) -> io::Result<Self> {
        let recorder = |recording: &Recording| {
            let recorder = Recorder::new(recording, topology, &mut |table| open(recording, table))?;
            Ok((recording.name.clone(), recorder))
        };
        Ok(Self(recordings.iter().map(recorder).collect::<io::Result<_>>()?))
    }

    /// Returns the observers of the run.
    pub fn watches(&mut self) -> Vec<&mut dyn Watch> {
        self.0.iter_mut().map(|(_, recorder)| recorder as &mut dyn Watch).collect()
    }

    /// Writes the rest of each table after the run has ended with these `pauses`, and returns the
    /// profiles; `None` if nothing was recorded.
    ///
    /// # Errors
    /// The first error while writing a table, now or earlier.
    pub fn finish(self, pauses: &[PauseRecord]) -> io::Result<Option<RunProfiles>> {
        let profile =
            |(name, recorder): (Option<String>, Recorder)| Ok((name, recorder.finish(pauses)?));
        Ok(RunProfiles::of(self.0.into_iter().map(profile).collect::<io::Result<_>>()?))
    }
}
