//! The time series of `[record]`: unnamed files during the run, results after it.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use anyhow::anyhow;
use evenkeel::fabric::Watch;
use evenkeel::record::{Profile, RecordedTable, Recorder};
use evenkeel::report::Identity;
use evenkeel::scenario::Scenario;

use super::single::Destination;

/// The recorder of a run, and the files that it writes.
pub(super) struct Recording {
    recorder: Recorder,
    files: Vec<(RecordedTable, File)>,
}

fn failed(reason: io::Error) -> anyhow::Error {
    anyhow!("--out: cannot write the recorded tables: {reason}")
}

impl Recording {
    /// A recorder of what the scenario records; tables are written only if results are kept.
    pub(super) fn begin(
        scenario: &Scenario,
        identity: &Identity,
        to: &Destination,
    ) -> anyhow::Result<Option<Self>> {
        let Some(recording) = &scenario.recording else { return Ok(None) };
        let mut files = Vec::new();
        for table in recording.tables() {
            files.extend(to.scratch()?.map(|file| (table, file)));
        }
        let mut open = |table| -> io::Result<Box<dyn Write>> {
            let Some((_, file)) = files.iter().find(|(it, _)| *it == table) else {
                return Ok(Box::new(io::sink()));
            };
            let mut to = BufWriter::new(file.try_clone()?);
            writeln!(to, "{}", identity.header())?;
            Ok(Box::new(to))
        };
        let recorder = Recorder::new(recording, &scenario.topology, &mut open).map_err(failed)?;
        Ok(Some(Self { recorder, files }))
    }

    /// The observer of the run.
    pub(super) fn watch(&mut self) -> &mut dyn Watch {
        &mut self.recorder
    }

    /// The course of the run, and the written tables.
    pub(super) fn end(self) -> anyhow::Result<(Profile, Vec<(RecordedTable, File)>)> {
        Ok((self.recorder.finish().map_err(failed)?, self.files))
    }
}
