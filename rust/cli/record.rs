//! The time series of `[record]`: unnamed files during the run, results after it.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use anyhow::anyhow;
use evenkeel::fabric::{Outcome, Watch};
use evenkeel::record::{Courses, Recorders};
use evenkeel::scenario::Scenario;

use super::single::Destination;

/// The recorders of a run, and the files that they write, with their names.
pub(super) struct Recordings {
    recorders: Recorders,
    files: Vec<(String, File)>,
}

/// What was recorded of a run.
pub(super) struct Recorded {
    /// Its course, for its summary.
    pub(super) courses: Option<Courses>,
    /// The written tables, with the names of their files.
    pub(super) tables: Vec<(String, File)>,
}

fn failed(reason: io::Error) -> anyhow::Error {
    anyhow!("--out: cannot write the recorded tables: {reason}")
}

impl Recordings {
    /// The recorders of what the scenario records; tables are written only if results are kept.
    pub(super) fn begin(scenario: &Scenario, to: &Destination) -> anyhow::Result<Self> {
        let mut files = Vec::new();
        for recording in &scenario.recordings {
            for table in recording.tables() {
                let name = table.file(recording.name.as_deref());
                files.extend(to.scratch()?.map(|file| (name, file)));
            }
        }
        let recorders =
            Recorders::new(&scenario.recordings, &scenario.topology, &mut |recording, table| {
                let name = table.file(recording.name.as_deref());
                let Some((_, file)) = files.iter().find(|(it, _)| *it == name) else {
                    return Ok(Box::new(io::sink()) as Box<dyn Write>);
                };
                Ok(Box::new(BufWriter::new(file.try_clone()?)))
            });
        Ok(Self { recorders: recorders.map_err(failed)?, files })
    }

    /// The observers of the run.
    pub(super) fn watches(&mut self) -> Vec<&mut dyn Watch> {
        self.recorders.watches()
    }

    /// What was recorded of the run.
    pub(super) fn end(self, outcome: &Outcome) -> anyhow::Result<Recorded> {
        let courses = self.recorders.finish(&outcome.pauses).map_err(failed)?;
        Ok(Recorded { courses, tables: self.files })
    }
}
