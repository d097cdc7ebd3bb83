//! The parts that are common to commands with a single run: progress, the results folder, printing.

use std::fs::File;
use std::io::{self, BufWriter, Seek};
use std::path::Path;

use anyhow::anyhow;
use evenkeel::chakra::Streaming;
use evenkeel::fabric::{FlowRecord, Outcome, Setup, Watch};
use evenkeel::fluid::Fidelity;
use evenkeel::record::Courses;
use evenkeel::report::{self, FlowPlaces, FlowsCsv, Folder, Identity, Summary, Writer};
use evenkeel::scenario::Scenario;
use evenkeel::study::{self, Finished, Run, RunObservers};
use evenkeel::topology::Topology;
use evenkeel::units::Span;

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
    /// One JSON object on a single line (`--json`).
    Json,
}

/// A single run and its results.
pub(super) struct Single<'a> {
    setup: &'a Setup,
    finished: Finished,
    outcome: Outcome,
    /// `flows.csv`, if it was written during the run.
    flows: Option<File>,
    /// The scenario with every default, for the summary that is kept.
    resolved: Option<toml::Table>,
    /// How many of the summary's warnings, the first ones, were printed before the run.
    printed_warnings: usize,
}

impl Destination {
    /// Opens the destination before the run: creates the folder and checks that it is writable.
    /// `others` are the names of results in addition to those that every folder has.
    pub(super) fn open(arguments: &ResultArguments, others: &[String]) -> anyhow::Result<Self> {
        let format = if arguments.json { Format::Json } else { Format::Table };
        let folder = arguments.out.as_ref().map(|out| Folder::open_for(out, others)).transpose()?;
        if let Some(folder) = &folder {
            note_kept(folder.path(), folder.kept(), "run");
        }
        Ok(Self { folder, format })
    }

    /// The folder of the results, if they are kept.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.folder.as_ref().map(Folder::path)
    }

    /// Refuses the path of a time-line that a result would replace.
    pub(super) fn expect_no_result_at(&self, trace: &Path) -> anyhow::Result<()> {
        match self.folder.as_ref().filter(|folder| folder.has_result_at(trace)) {
            None => Ok(()),
            Some(folder) => Err(anyhow!(
                "--trace {}: --out {} has a result of this name; use another name",
                trace.display(),
                folder.path().display()
            )),
        }
    }

    /// An unnamed file for data that are written during a run; `None` if no results are kept.
    pub(super) fn scratch(&self) -> anyhow::Result<Option<File>> {
        Ok(self.folder.as_ref().map(Folder::scratch).transpose()?)
    }
}

/// Says which files of a folder stay, because they are not results of this kind.
pub(super) fn note_kept(folder: &Path, kept: &[String], kind: &str) {
    if !kept.is_empty() {
        let (path, kept) = (folder.display(), kept.join(", "));
        output::note(&format!("--out {path}: these files are of no {kind} and stay: {kept}"));
    }
}

/// The folder of the results, for people.
pub(super) fn kept_in(folder: Option<&Folder>) -> String {
    match folder {
        Some(folder) => folder.path().display().to_string(),
        None => "not kept; --out DIR keeps them".to_owned(),
    }
}

/// What a single run is of.
pub(super) enum Kind<'a> {
    /// The workload of its setup, on up to so many threads.
    Workload(u16),
    /// The same, as flows of bytes.
    Fluid,
    /// The same, observed by a watch.
    Watched(&'a mut dyn Watch),
    /// The workload of its setup, generated during the run, perhaps observed by a watch.
    Generated(Option<&'a mut dyn Watch>),
    /// Traces of a scenario, which are read during the run, perhaps observed by a watch.
    Traces(&'a Scenario, &'a Streaming, Option<&'a mut dyn Watch>),
}

/// Makes a single run, with a progress bar on standard error if that is a terminal. Flows of
/// messages that are read or generated during it are written as they complete if results are kept.
pub(super) fn simulate<'a>(
    identity: &'a Identity,
    setup: &'a Setup,
    kind: Kind<'_>,
    to: &Destination,
) -> anyhow::Result<Single<'a>> {
    let (mut watch, mut traces, mut scratch) = (None::<&mut dyn Watch>, None, None);
    let (mut fidelity, mut threads) = (Fidelity::Packet, 1);
    match kind {
        Kind::Workload(most) => threads = most,
        Kind::Fluid => fidelity = Fidelity::Fluid,
        Kind::Watched(by) => watch = Some(by),
        Kind::Generated(by) => {
            watch = by;
            scratch = to.scratch()?;
        }
        Kind::Traces(scenario, streaming, by) => {
            watch = by;
            traces = Some((scenario, streaming));
            scratch = to.scratch()?;
        }
    }
    let mut flows = StreamedFlows::begin(scratch.as_ref(), setup)?;
    let bound = study::lower_bound(setup).time;
    // It is the first of the summary's warnings, and said before a run that may take long.
    let short = study::short_time_limit(setup, bound);
    short.iter().for_each(|warning| output::warning(warning));
    let printed_warnings = short.iter().count();
    let bars = Bars::of_one();
    let bar = bars.start(progress::label(identity));
    let traced = traces.map(|(_, streaming)| streaming);
    let run = Run { identity, setup, bound, fidelity, threads, traces: traced };
    let observers = RunObservers {
        watch: watch.map(|watch| watch as &mut dyn Watch),
        flows: &mut |flow| flows.write(flow),
        progress: &mut |progress| bar.update(progress),
    };
    let result = study::run(&run, observers);
    bar.end();
    let (finished, outcome) = match (result, traces) {
        (Ok(result), _) => result,
        (Err(fault), Some((scenario, _))) => return Err(scenario.trace_fault(fault).into()),
        (Err(fault), None) => return Err(fault.into()),
    };
    flows.end(&outcome)?;
    Ok(Single { setup, finished, outcome, flows: scratch, resolved: None, printed_warnings })
}

/// `flows.csv` of a run whose flows are written as they complete; nothing if they are not kept.
struct StreamedFlows<'a> {
    csv: Option<FlowsCsv<BufWriter<File>>>,
    topology: &'a Topology,
    /// The first error stops the writing, not the run.
    written: io::Result<()>,
}

impl<'a> StreamedFlows<'a> {
    fn begin(file: Option<&File>, setup: &'a Setup) -> anyhow::Result<Self> {
        let begin = |file: &File| {
            let to = BufWriter::new(file.try_clone()?);
            FlowsCsv::begin(to, FlowPlaces::of_setup(setup, false))
        };
        let csv = file.map(begin).transpose().map_err(flows_not_written)?;
        Ok(Self { csv, topology: &setup.topology, written: Ok(()) })
    }

    fn write(&mut self, flow: &FlowRecord) {
        if let (Some(csv), Ok(())) = (&mut self.csv, &self.written) {
            self.written = csv.write(self.topology, flow);
        }
    }

    /// Flows that did not complete come last.
    fn end(mut self, outcome: &Outcome) -> anyhow::Result<()> {
        if self.csv.is_some() {
            outcome.flows.iter().for_each(|flow| self.write(flow));
        }
        let ended = self.written.and_then(|()| self.csv.map_or(Ok(()), FlowsCsv::end));
        ended.map_err(flows_not_written)
    }
}

fn flows_not_written(reason: io::Error) -> anyhow::Error {
    anyhow!("--out: cannot write flows.csv: {reason}")
}

impl Single<'_> {
    /// The outcome of the run.
    pub(super) fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// The lower bound of its completion time.
    pub(super) fn bound(&self) -> Option<Span> {
        Some(study::lower_bound(self.setup).time)
    }

    /// Adds warnings to the results that were printed before the run.
    pub(super) fn add_printed_warnings(&mut self, warnings: &[String]) {
        let all = &mut self.finished.summary.warnings;
        all.splice(0..0, warnings.iter().cloned());
        self.printed_warnings += warnings.len();
    }

    /// Adds the resolved scenario of the run to the summary that is kept.
    pub(super) fn add_resolved(&mut self, scenario: &Scenario) {
        self.resolved = Some(scenario.as_table());
    }

    /// Adds the course of the run to its results.
    pub(super) fn add_courses(&mut self, courses: Option<Courses>) {
        self.finished.summary.record = courses;
    }

    /// Writes the results folder with the files `others`, prints the results, and reports a run
    /// that did not complete: `limit` is the key of its time limit.
    pub(super) fn report(
        &self,
        to: &Destination,
        others: &[(&str, Writer<'_>)],
        limit: &str,
    ) -> anyhow::Result<Status> {
        if let Some(folder) = &to.folder {
            self.keep(folder, others)?;
        }
        match to.format {
            Format::Json => output::print_json(&self.finished.summary)?,
            Format::Table => {
                output::print_text(&report::run_table(&self.finished.summary))?;
                output::print_text(&format!("results   {}\n", kept_in(to.folder.as_ref())))?;
            }
        }
        let warnings = self.finished.summary.warnings.iter().skip(self.printed_warnings);
        let warnings = warnings.filter(|warning| self.finished.fault.as_ref() != Some(*warning));
        warnings.for_each(|warning| output::warning(warning));
        Ok(incomplete::report(&self.finished, limit))
    }

    fn keep(&self, folder: &Folder, others: &[(&str, Writer<'_>)]) -> anyhow::Result<()> {
        let Self { setup, finished, outcome, .. } = self;
        let topology = &setup.topology;
        let flows: Writer<'_> = &|to| match &self.flows {
            None => report::write_flows_csv(to, setup, outcome),
            Some(file) => {
                let mut file: &File = file;
                file.rewind()?;
                io::copy(&mut file, to).map(drop)
            }
        };
        let links: Writer<'_> = &|to| report::write_links_csv(to, topology, outcome);
        let files = [&[("flows.csv", flows), ("links.csv", links)], others].concat();
        let resolved = self.resolved.clone();
        report::keep_run(folder, &files, &Summary { resolved, ..finished.summary.clone() })?;
        Ok(())
    }
}
