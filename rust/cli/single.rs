//! What the commands that make a single run share: showing it go on, keeping it, printing it.

use std::fs::File;
use std::io::{self, BufWriter, Seek};
use std::path::Path;

use anyhow::anyhow;
use evenkeel::fabric::{self, FlowRecord, Outcome, Setup};
use evenkeel::report::{self, FlowsCsv, Folder, Identity, Writer};
use evenkeel::scenario::Scenario;
use evenkeel::study::{self, Finished, Watch};
use evenkeel::workload::chakra::Streaming;

use super::progress::{self, Bars};
use super::{Status, incomplete, output};

/// Where results go.
#[derive(Debug)]
pub struct Destination {
    folder: Option<Folder>,
    format: Format,
}

/// What is printed on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A table for people.
    Table,
    /// The JSON object.
    Json,
}

/// A single run and all it said.
pub struct Single<'a> {
    identity: &'a Identity,
    setup: &'a Setup,
    finished: Finished,
    outcome: Outcome,
    /// `flows.csv`, if it was written while the run went on.
    flows: Option<File>,
}

impl Destination {
    /// `--out` and `--json`. The folder is made and seen to be writable before anything runs.
    pub fn open(out: Option<&Path>, json: bool) -> anyhow::Result<Self> {
        Self::open_for(out, json, &[])
    }

    /// The same for results that are called by `others` too.
    pub fn open_for(out: Option<&Path>, json: bool, others: &[String]) -> anyhow::Result<Self> {
        let format = if json { Format::Json } else { Format::Table };
        Ok(Self { folder: out.map(|out| Folder::open_for(out, others)).transpose()?, format })
    }

    /// A file without a name for what is written as a run goes on; `None` where nothing is kept.
    pub fn scratch(&self) -> anyhow::Result<Option<File>> {
        Ok(self.folder.as_ref().map(Folder::scratch).transpose()?)
    }
}

/// Runs it, with a bar on standard error where that is a terminal.
pub fn simulate<'a>(identity: &'a Identity, setup: &'a Setup) -> Single<'a> {
    let bound = study::lower_bound(setup).time;
    let bars = Bars::of_one();
    let bar = bars.start(progress::label(identity));
    let (finished, outcome) =
        study::run(identity, setup, bound, &mut |progress| progress::update(&bar, progress));
    bar.finish_and_clear();
    Single { identity, setup, finished, outcome, flows: None }
}

/// The same with somebody who watches.
pub fn simulate_watched<'a>(
    identity: &'a Identity,
    setup: &'a Setup,
    watch: &mut dyn fabric::Watch,
) -> Single<'a> {
    let bound = study::lower_bound(setup).time;
    let bars = Bars::of_one();
    let bar = bars.start(progress::label(identity));
    let mut update = |progress: &fabric::Progress| progress::update(&bar, progress);
    let (finished, outcome) = study::run_watched(identity, (setup, bound), watch, &mut update);
    bar.finish_and_clear();
    Single { identity, setup, finished, outcome, flows: None }
}

/// The same of a scenario whose traces are read as it goes on; flows are written as they are over,
/// if they are to be kept.
pub fn replay<'a>(
    identity: &'a Identity,
    (setup, scenario, traces): (&'a Setup, &Scenario, &Streaming),
    to: &Destination,
) -> anyhow::Result<Single<'a>> {
    let bound = study::lower_bound(setup).time;
    let scratch = to.folder.as_ref().map(Folder::scratch).transpose()?;
    let buffered = |file: &File| Ok::<_, io::Error>(BufWriter::new(file.try_clone()?));
    let csv = scratch.as_ref().map(|file| FlowsCsv::begin(buffered(file)?, identity));
    let mut csv = csv.transpose().map_err(unwritten)?;
    let topology = &setup.topology;
    let mut written = Ok(());
    let mut write = |flow: &FlowRecord| {
        if let (Some(csv), Ok(())) = (&mut csv, &written) {
            written = csv.write(topology, flow);
        }
    };
    let bars = Bars::of_one();
    let bar = bars.start(progress::label(identity));
    let watch =
        Watch { flows: &mut write, progress: &mut |progress| progress::update(&bar, progress) };
    let result = study::replay(identity, setup, (traces, bound), watch);
    bar.finish_and_clear();
    let (finished, outcome) = result.map_err(|fault| scenario.trace_fault(fault))?;
    // What was open at the end comes last.
    outcome.flows.iter().for_each(&mut write);
    written.and_then(|()| csv.map_or(Ok(()), FlowsCsv::end)).map_err(unwritten)?;
    Ok(Single { identity, setup, finished, outcome, flows: scratch })
}

fn unwritten(reason: io::Error) -> anyhow::Error {
    anyhow!("--out: cannot write flows.csv: {reason}")
}

impl Single<'_> {
    /// All that was measured.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Keeps the results with `others` beside them, prints them, and tells if the run did not
    /// complete.
    pub fn report(
        &self,
        to: &Destination,
        others: &[(&str, Writer<'_>)],
    ) -> anyhow::Result<Status> {
        if let Some(folder) = &to.folder {
            self.keep(folder, others)?;
        }
        match to.format {
            Format::Json => output::print_json(&self.finished.summary)?,
            Format::Table => {
                output::print(&report::run_table(&self.finished.summary))?;
                let place = match &to.folder {
                    Some(folder) => folder.path().display().to_string(),
                    None => "not kept; --out DIR keeps them".to_owned(),
                };
                output::print(&format!("results   {place}\n"))?;
            }
        }
        Ok(incomplete::tell(&self.finished))
    }

    fn keep(&self, folder: &Folder, others: &[(&str, Writer<'_>)]) -> anyhow::Result<()> {
        let Self { identity, setup, finished, outcome, .. } = self;
        let topology = &setup.topology;
        let flows: Writer<'_> = &|to| match &self.flows {
            None => report::write_flows_csv(to, identity, topology, outcome),
            Some(file) => {
                let mut file: &File = file;
                file.rewind()?;
                io::copy(&mut file, to).map(drop)
            }
        };
        let links: Writer<'_> = &|to| report::write_links_csv(to, identity, topology, outcome);
        let files = [&[("flows.csv", flows), ("links.csv", links)], others].concat();
        folder.replace(&files, &|to| report::write_summary(to, &finished.summary))?;
        Ok(())
    }
}
