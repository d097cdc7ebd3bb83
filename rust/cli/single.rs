//! Shared by commands with a single run: progress, the results folder, printing.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;

use anyhow::anyhow;
use evenkeel_engine::fabric::{FlowRecord, Setup};
use evenkeel_engine::topology::Topology;
use evenkeel_observe::invariants;
use evenkeel_study::report::{self, FlowPositions, FlowsCsv, Folder, Writer, human};
use evenkeel_study::{FinishedSession, Scratch, Session, SessionError, SessionObservers};

use super::arguments::ResultArguments;
use super::progress::{self, Bars};
use super::{Status, incomplete, output};

/// Destination of the results.
#[derive(Debug)]
pub(super) struct Destination {
    folder: Option<Folder>,
    format: Format,
}

/// Format on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// A table for people.
    Table,
    /// One JSON object on a single line (`--json`).
    Json,
}

impl Destination {
    /// Opens the destination before the run: creates the folder and checks that it is writable.
    /// `others` names results beyond those that every folder has.
    pub(super) fn open(arguments: &ResultArguments, others: &[String]) -> anyhow::Result<Self> {
        let format = if arguments.json { Format::Json } else { Format::Table };
        let folder = arguments.out.as_ref().map(|out| Folder::open_for(out, others)).transpose()?;
        if let Some(folder) = &folder {
            note_kept(folder.path(), folder.kept(), "run");
        }
        Ok(Self { folder, format })
    }

    /// Rejects a timeline path that a result would replace.
    pub(super) fn expect_no_result_at(&self, trace: &Path) -> anyhow::Result<()> {
        match self.folder.as_ref().filter(|folder| folder.has_result_at(trace)) {
            None => Ok(()),
            Some(folder) => Err(anyhow!(
                "--trace {}: --out {} has a result with this name; use another name",
                trace.display(),
                folder.path().display()
            )),
        }
    }
}

/// Reports which files of a folder stay, because they are not results of this kind.
pub(super) fn note_kept(folder: &Path, kept: &[String], kind: &str) {
    if !kept.is_empty() {
        let (path, kept) = (folder.display(), kept.join(", "));
        output::note(&format!(
            "--out {path}: keeping files that are not results of a {kind}: {kept}"
        ));
    }
}

/// Describes the folder of the results.
pub(super) fn kept_in(folder: Option<&Folder>) -> String {
    match folder {
        Some(folder) => folder.path().display().to_string(),
        None => "not kept; --out DIR keeps them".to_owned(),
    }
}

/// Unnamed files for data written during a run, with the names they get later.
struct Files<'a> {
    folder: Option<&'a Folder>,
    files: Vec<(String, File)>,
}

impl Scratch for Files<'_> {
    fn open(&mut self, name: &str) -> io::Result<Option<Box<dyn Write>>> {
        let Some(folder) = self.folder else { return Ok(None) };
        let file = folder.scratch().map_err(io::Error::other)?;
        self.files.push((name.to_owned(), file.try_clone()?));
        Ok(Some(Box::new(BufWriter::new(file))))
    }
}

/// Converts an error of a session, which begins with an option.
pub(super) fn failed(error: SessionError) -> anyhow::Error {
    match error {
        SessionError::Scenario(error) => error.into(),
        _ => anyhow!("--{error}"),
    }
}

/// Runs a session and reports it, with a progress bar if standard error is a terminal.
///
/// `printed` is the number of the session's warnings already printed.
pub(super) fn run(session: Session, printed: usize, to: &Destination) -> anyhow::Result<Status> {
    let early = session.early_warnings();
    early.iter().for_each(|warning| output::warning(warning));
    let printed = printed + early.iter().count();
    let setup = session.setup().clone();
    let streamed = to.folder.as_ref().filter(|_| session.streams());
    let streamed = streamed.map(Folder::scratch).transpose()?;
    let mut flows = StreamedFlows::begin(streamed.as_ref(), &setup)?;
    let mut files = Files { folder: to.folder.as_ref(), files: Vec::new() };
    let bars = Bars::of_one();
    let bar = bars.start(progress::label(session.identity()));
    let ended = session.run(SessionObservers {
        scratch: &mut files,
        flows: &mut |flow| flows.write(flow),
        progress: &mut |progress| bar.update(progress),
    });
    bar.end();
    let ended = ended.map_err(failed)?;
    flows.end(&ended)?;
    report(&ended, printed, streamed.as_ref(), &files.files, to)
}

/// Writes the results folder, prints the results, and reports an incomplete run.
fn report(
    ended: &FinishedSession,
    printed: usize,
    streamed: Option<&File>,
    files: &[(String, File)],
    to: &Destination,
) -> anyhow::Result<Status> {
    let summary = &ended.finished.summary;
    if let Some(folder) = &to.folder {
        let flows = |to: &mut dyn Write| streamed.map_or(Ok(()), |file| copy(file, to));
        let flows: Option<Writer<'_>> = streamed.is_some().then_some(&flows);
        let copies: Vec<_> =
            files.iter().map(|(_, file)| move |to: &mut dyn Write| copy(file, to)).collect();
        let others = files.iter().zip(&copies);
        let others: Vec<_> =
            others.map(|((name, _), copy)| (name.as_str(), copy as Writer<'_>)).collect();
        ended.write_results(folder, flows, &others)?;
    }
    match to.format {
        Format::Json => output::print_json(summary)?,
        Format::Table => {
            output::print_text(&report::run_table(summary))?;
            output::print_text(&format!("results   {}\n", kept_in(to.folder.as_ref())))?;
        }
    }
    let warnings = summary.warnings.iter().skip(printed);
    let warnings =
        warnings.filter(|warning| ended.finished.internal_error.as_ref() != Some(*warning));
    warnings.for_each(|warning| output::warning(warning));
    let status = incomplete::report(&ended.finished, ended.session.time_limit_key());
    Ok(ended.check.as_ref().map_or(status, |report| report_check(report, status)))
}

/// Reports the violations that the check of a run found.
fn report_check(report: &invariants::Report, status: Status) -> Status {
    if report.count == 0 {
        let records = report.records;
        output::note(&format!("check: {records} packet events, no invariant is violated"));
        return status;
    }
    for violation in &report.violations {
        output::error(&violation.to_string());
    }
    output::error(&format!(
        "--check: {} of invariants: this is an internal error (a bug in evenkeel), not an error \
         in the scenario; please report it with the scenario's file",
        human::plural(report.count, "violation")
    ));
    Status::Incomplete
}

/// Copies the whole content of a temporary file.
fn copy(mut file: &File, to: &mut dyn Write) -> io::Result<()> {
    file.rewind()?;
    io::copy(&mut file, to).map(drop)
}

/// Writer of `flows.csv` for flows written as they complete; does nothing if they are not kept.
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
            FlowsCsv::begin(to, FlowPositions::of_setup(setup, false))
        };
        let csv = file.map(begin).transpose().map_err(flows_not_written)?;
        Ok(Self { csv, topology: &setup.topology, written: Ok(()) })
    }

    fn write(&mut self, flow: &FlowRecord) {
        if let (Some(csv), Ok(())) = (&mut self.csv, &self.written) {
            self.written = csv.write(self.topology, flow);
        }
    }

    /// Writes the remaining flows, which did not complete.
    fn end(mut self, ended: &FinishedSession) -> anyhow::Result<()> {
        if self.csv.is_some() {
            ended.outcome.flows.iter().for_each(|flow| self.write(flow));
        }
        let ended = self.written.and_then(|()| self.csv.map_or(Ok(()), FlowsCsv::end));
        ended.map_err(flows_not_written)
    }
}

fn flows_not_written(reason: io::Error) -> anyhow::Error {
    anyhow!("--out: cannot write flows.csv: {reason}")
}
