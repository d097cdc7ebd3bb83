//! `--trace` of `evenkeel run`: the time-line of a run.

use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use evenkeel::fabric::{Outcome, Setup, Watch};
use evenkeel::fluid::Fidelity;
use evenkeel::report::{OutputFile, OutputKind};
use evenkeel::scenario::Scenario;
use evenkeel::timeline::{self, INTERVAL};

/// The time-line of a run, in a file that appears when it is complete.
pub(super) struct Timeline {
    timeline: timeline::Timeline,
    file: OutputFile,
    path: PathBuf,
}

/// What a time-line replaces.
const TIMELINE: OutputKind = OutputKind { name: "a time-line", is_own: timeline::is_timeline };

fn failed(path: &Path, reason: &io::Error) -> anyhow::Error {
    anyhow!("--trace {}: cannot write: {reason}", path.display())
}

impl Timeline {
    /// A time-line with counters at the shortest interval of `[record]`, if the scenario has one.
    pub(super) fn begin(path: &Path, scenario: &Scenario, setup: &Setup) -> anyhow::Result<Self> {
        if scenario.fidelity == Fidelity::Fluid {
            bail!("--trace: a fluid run has no packets and queues; use fidelity = \"packet\"");
        }
        if scenario.streams() {
            bail!(
                "--trace: messages that are read or generated during the run are not kept; use \
                 streaming = false"
            );
        }
        let file = OutputFile::begin(path, &TIMELINE);
        let file = file.map_err(|error| anyhow!("--trace {error}"))?;
        let to = file.handle().map_err(|reason| failed(path, &reason))?;
        let every = scenario.recordings.iter().map(|recording| recording.every).min();
        let every = every.unwrap_or(INTERVAL);
        let timeline = timeline::Timeline::new(setup, every, Box::new(BufWriter::new(to)));
        Ok(Self { timeline, file, path: path.to_owned() })
    }

    /// The observer of the run.
    pub(super) fn watch(&mut self) -> &mut dyn Watch {
        &mut self.timeline
    }

    /// Writes the messages, and gives the file its name.
    pub(super) fn end(self, setup: &Setup, outcome: &Outcome) -> anyhow::Result<()> {
        let written = self.timeline.finish(setup, outcome);
        written.map_err(|reason| failed(&self.path, &reason))?;
        self.file.complete().map_err(|error| anyhow!("--trace {error}"))
    }
}
