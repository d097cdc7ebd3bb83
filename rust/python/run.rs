//! A run of a scenario, and its results.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;

use super::failure::{Failure, results};
use super::json::json;
use super::supervise::Control;
use super::table::Table;
use evenkeel::fabric::FlowRecord;
use evenkeel::report::{self, FLOW_COLUMNS, FlowPositions, FlowsCsv, Folder, LINK_COLUMNS, Writer};
use evenkeel::study::{
    FinishedSession, Scratch, Session, SessionObservers, SessionOptions, Subject,
};

/// The results of a run.
#[pyclass(frozen, name = "Run", module = "evenkeel._evenkeel")]
#[derive(Debug)]
pub(super) struct RunResult {
    pub(super) ended: FinishedSession,
    /// Flows of messages that were read or generated during the run, which the outcome does not
    /// have.
    streamed: Vec<FlowRecord>,
    /// Recorded files, from which tables are made.
    files: Vec<(String, Vec<u8>)>,
}

/// Runs a session. Recorded files are kept in memory if `is_kept`.
pub(super) fn session(
    subject: Subject,
    options: SessionOptions,
    is_kept: bool,
    control: &Control,
) -> Result<RunResult, Failure> {
    let session = Session::new(subject, options)?;
    let label = match session.subject() {
        Subject::Scenario(_) => {
            format!("{}, seed {}", session.identity().policy, session.identity().seed)
        }
        Subject::Experiment(_) => session.identity().policy.clone(),
    };
    let mut texts = Texts { is_kept, files: Vec::new() };
    let mut streamed = Vec::new();
    let ended = session.run(SessionObservers {
        scratch: &mut texts,
        flows: &mut |flow| streamed.push(*flow),
        progress: &mut |progress| control.report(&label, progress),
    })?;
    let files = texts.files.into_iter().map(|(name, text)| (name, text.take())).collect();
    Ok(RunResult { ended, streamed, files })
}

/// Recorded files, held in memory.
struct Texts {
    is_kept: bool,
    files: Vec<(String, Text)>,
}

impl Scratch for Texts {
    fn open(&mut self, name: &str) -> io::Result<Option<Box<dyn Write>>> {
        if !self.is_kept {
            return Ok(None);
        }
        let text = Text::default();
        self.files.push((name.to_owned(), text.clone()));
        Ok(Some(Box::new(io::BufWriter::new(text))))
    }
}

/// A buffer that its writer and its reader share.
#[derive(Debug, Clone, Default)]
struct Text(Arc<Mutex<Vec<u8>>>);

impl Text {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes the files of a run that was pickled to a results folder.
#[pyfunction]
pub(super) fn write_run(
    py: Python<'_>,
    path: PathBuf,
    files: Vec<(String, Vec<u8>)>,
) -> PyResult<()> {
    let names: Vec<String> = files.iter().map(|(name, _)| name.clone()).collect();
    // A name with a folder would write outside of the results folder.
    if let Some(name) = names.iter().find(|name| !is_file_name(name)) {
        let reason = format!("file '{name}' of the run: expected the name of a file, not a path");
        return Err(Failure::Argument(reason).raise(py));
    }
    let (marks, others): (Vec<_>, Vec<_>) = files.iter().partition(|(it, _)| it == "summary.json");
    let writers: Vec<_> =
        others.iter().map(|(_, it)| |to: &mut dyn Write| to.write_all(it)).collect();
    let others = others.iter().zip(&writers);
    let others: Vec<_> = others.map(|((name, _), it)| (name.as_str(), it as Writer<'_>)).collect();
    let mark = |to: &mut dyn Write| marks.iter().try_for_each(|(_, it)| to.write_all(it));
    let written = Folder::open_for(&path, &names).and_then(|it| it.replace(&others, &mark));
    written.map_err(|error| results(error).raise(py))
}

/// Returns true for a name without a folder.
fn is_file_name(name: &str) -> bool {
    Path::new(name).file_name().is_some_and(|file| file == name)
}

/// Reads the table of a file of a run.
#[pyfunction]
pub(super) fn table_of_csv(py: Python<'_>, name: &str, csv: &[u8]) -> PyResult<Table> {
    let known = match name {
        "flows" => &FLOW_COLUMNS[..],
        "links" => &LINK_COLUMNS,
        _ => &[],
    };
    Table::of_csv_with(csv, known).map_err(|error| results(error).raise(py))
}

#[pymethods]
impl RunResult {
    /// Returns the object that `evenkeel run --json` prints.
    fn json(&self) -> String {
        json(&self.ended.finished.summary)
    }

    /// Returns the table that `evenkeel run` prints.
    fn text(&self) -> String {
        report::run_table(&self.ended.finished.summary)
    }

    /// The scenario with every default.
    #[getter]
    fn scenario_toml(&self) -> Option<String> {
        match self.ended.session.subject() {
            Subject::Scenario(scenario) => Some(scenario.render()),
            Subject::Experiment(_) => None,
        }
    }

    /// The reason why the run did not complete; None if it did.
    #[getter]
    fn incomplete(&self) -> Option<String> {
        self.ended.incomplete()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.ended.finished.summary.warnings.clone()
    }

    /// Violations that the check of the run found; None if the run was not checked.
    #[getter]
    fn violations(&self) -> Option<Vec<String>> {
        let report = self.ended.check.as_ref()?;
        Some(report.violations.iter().map(ToString::to_string).collect())
    }

    /// Returns the names of the tables.
    fn tables(&self) -> Vec<String> {
        let recorded = self.files.iter().filter_map(|(name, _)| name.strip_suffix(".csv"));
        ["flows", "links"].into_iter().chain(recorded).map(str::to_owned).collect()
    }

    /// Returns a table by its name.
    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Table> {
        let table = py.detach(|| match name {
            "flows" => Ok(self.flows()),
            "links" => Ok(self.links()),
            _ => {
                let file = format!("{name}.csv");
                let found = self.files.iter().find(|(it, _)| *it == file);
                let (_, text) = found.ok_or_else(|| self.no_table(name))?;
                Table::of_csv(text).map_err(results)
            }
        });
        table.map_err(|failure| failure.raise(py))
    }

    /// Writes the results folder of `evenkeel run --out`.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.keep(path)).map_err(|failure| failure.raise(py))
    }
}

impl RunResult {
    fn no_table(&self, name: &str) -> Failure {
        let recorded = match name {
            "ports" | "queue_pairs" | "paths" => "; add it with [record] in the scenario",
            _ => "",
        };
        let tables = self.tables().join(", ");
        Failure::Argument(format!("the run has no table '{name}'{recorded}; it has {tables}"))
    }

    fn all_flows(&self) -> impl Iterator<Item = &FlowRecord> {
        self.streamed.iter().chain(&self.ended.outcome.flows)
    }

    /// Returns the jobs and steps of flows; unknown for flows that were read or generated during
    /// the run.
    fn positions(&self) -> FlowPositions {
        FlowPositions::of_setup(self.ended.session.setup(), self.streamed.is_empty())
    }

    fn flows(&self) -> Table {
        let (positions, topology) = (self.positions(), &self.ended.session.setup().topology);
        let rows = self.all_flows().map(|flow| report::flow_row(&positions, topology, flow));
        Table::of_rows(&FLOW_COLUMNS[..report::flow_columns(&positions)], rows)
    }

    fn links(&self) -> Table {
        let topology = &self.ended.session.setup().topology;
        Table::of_rows(&LINK_COLUMNS, report::link_rows(topology, &self.ended.outcome))
    }

    pub(super) fn keep(&self, path: PathBuf) -> Result<(), Failure> {
        let session = &self.ended.session;
        let others = session.subject().file_names();
        let folder = Folder::open_for(&path, &others).map_err(results)?;
        let flows = |to: &mut dyn Write| {
            let mut csv = FlowsCsv::begin(to, self.positions())?;
            let topology = &session.setup().topology;
            self.all_flows().try_for_each(|flow| csv.write(topology, flow))?;
            csv.end()
        };
        let flows: Option<Writer<'_>> = (!self.streamed.is_empty()).then_some(&flows);
        let writers: Vec<_> =
            self.files.iter().map(|(_, it)| |to: &mut dyn Write| to.write_all(it)).collect();
        let files = self.files.iter().zip(&writers);
        let files: Vec<_> =
            files.map(|((name, _), it)| (name.as_str(), it as Writer<'_>)).collect();
        self.ended.write_results(&folder, flows, &files).map_err(results)
    }
}
