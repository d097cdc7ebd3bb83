//! The parts that are common to commands with a single run: progress, the results folder, printing.

use std::fs::File;
use std::io::{self, BufWriter, Seek};

use anyhow::anyhow;
use evenkeel::fabric::{self, FlowRecord, Outcome, Setup};
use evenkeel::report::{self, FlowsCsv, Folder, Identity, Writer};
use evenkeel::scenario::Scenario;
use evenkeel::study::{self, Finished, Watch};
use evenkeel::workload::chakra::Streaming;

use super::arguments::ResultArguments;
use super::progress::{self, Bars};
use super::{Status, incomplete, output};

/// The destination of the results.
#[derive(Debug)]
pub(super) struct Destination {
    folder: Option<Folder>,
    format: Format,
}

/// The format on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// A table for people.
    Table,
    /// The JSON object.
    Json,
}

/// A single run and its results.
pub(super) struct Single<'a> {
    identity: &'a Identity,
    setup: &'a Setup,
    finished: Finished,
    outcome: Outcome,
    /// `flows.csv`, if it was written during the run.
    flows: Option<File>,
}

impl Destination {
    /// Opens the destination before the run: creates the folder and checks that it is writable.
    /// `others` are the names of results beside those that every folder has.
    pub(super) fn open(arguments: &ResultArguments, others: &[String]) -> anyhow::Result<Self> {
        let format = if arguments.json { Format::Json } else { Format::Table };
        let folder = arguments.out.as_ref().map(|out| Folder::open_for(out, others));
        Ok(Self { folder: folder.transpose()?, format })
    }

    /// An unnamed file for data that are written during a run; `None` if no results are kept.
    pub(super) fn scratch(&self) -> anyhow::Result<Option<File>> {
        Ok(self.folder.as_ref().map(Folder::scratch).transpose()?)
    }
}

/// The folder of the results, for people.
pub(super) fn kept_in(folder: Option<&Folder>) -> String {
    match folder {
        Some(folder) => folder.path().display().to_string(),
        None => "not kept; --out DIR keeps them".to_owned(),
    }
}

/// Runs `setup`, with a progress bar on standard error if that is a terminal.
pub(super) fn simulate<'a>(identity: &'a Identity, setup: &'a Setup) -> Single<'a> {
    let bound = study::lower_bound(setup).time;
    let bars = Bars::of_one();
    let bar = bars.start(progress::label(identity));
    let (finished, outcome) =
        study::run(identity, setup, bound, &mut |progress| progress::update(&bar, progress));
    bar.finish_and_clear();
    Single { identity, setup, finished, outcome, flows: None }
}

/// Runs `setup` as [`simulate`] does, observed by `watch`.
pub(super) fn simulate_watched<'a>(
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

/// A scenario whose traces are read during the run.
#[derive(Clone, Copy)]
pub(super) struct Replay<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) traces: &'a Streaming,
}

/// Runs `setup` with streamed traces. If results are kept, each flow is written when it completes.
pub(super) fn replay<'a>(
    identity: &'a Identity,
    setup: &'a Setup,
    replay: &Replay<'_>,
    to: &Destination,
) -> anyhow::Result<Single<'a>> {
    let bound = study::lower_bound(setup).time;
    let scratch = to.scratch()?;
    let buffered = |file: &File| Ok::<_, io::Error>(BufWriter::new(file.try_clone()?));
    let csv = scratch.as_ref().map(|file| FlowsCsv::begin(buffered(file)?, identity));
    let mut csv = csv.transpose().map_err(flows_not_written)?;
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
    let result = study::replay(identity, setup, (replay.traces, bound), watch);
    bar.finish_and_clear();
    let (finished, outcome) = result.map_err(|fault| replay.scenario.trace_fault(fault))?;
    // Flows that did not complete come last.
    outcome.flows.iter().for_each(&mut write);
    written.and_then(|()| csv.map_or(Ok(()), FlowsCsv::end)).map_err(flows_not_written)?;
    Ok(Single { identity, setup, finished, outcome, flows: scratch })
}

fn flows_not_written(reason: io::Error) -> anyhow::Error {
    anyhow!("--out: cannot write flows.csv: {reason}")
}

impl Single<'_> {
    /// The outcome of the run.
    pub(super) fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Writes the results folder with the files `others`, prints the results, and reports a run
    /// that did not complete.
    pub(super) fn report(
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
                output::print(&format!("results   {}\n", kept_in(to.folder.as_ref())))?;
            }
        }
        Ok(incomplete::report(&self.finished))
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
