//! Sweeps: the simulation of every point of a study.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;

use super::failure::{Failure, results};
use super::json::json;
use super::supervise::{Control, RunCounter, supervise};
use evenkeel::study::{self, Shard, Sweep, SweepFolder, SweepTable};

/// The results of a sweep: a dict in Python.
#[derive(Debug, IntoPyObject)]
pub(super) struct SweepResult {
    /// The rows of `results.csv`.
    csv: String,
    /// The JSON objects of the runs; null for a run without a result.
    json: String,
    /// The errors of the rows without a complete run.
    errors: Vec<String>,
    /// Number of rows.
    rows: usize,
    /// Folder of the results.
    folder: PathBuf,
}

/// The arguments of a sweep.
#[derive(Debug, FromPyObject)]
pub(super) struct Request {
    /// The text of the study; `None` to read it from `path`.
    #[pyo3(item)]
    text: Option<String>,
    #[pyo3(item)]
    path: PathBuf,
    #[pyo3(item)]
    out: PathBuf,
    #[pyo3(item)]
    jobs: Option<NonZeroUsize>,
}

/// Simulates the missing runs of a study, and writes the results.
#[pyfunction]
#[pyo3(signature = (request, listener=None))]
pub(super) fn sweep(
    py: Python<'_>,
    request: Request,
    listener: Option<Bound<'_, PyAny>>,
) -> PyResult<SweepResult> {
    let control = Arc::new(Control::default());
    let result = supervise(py, listener.as_ref(), &control, || simulate(request, &control))?;
    result.map_err(|failure| failure.raise(py))
}

fn simulate(request: Request, control: &Arc<Control>) -> Result<SweepResult, Failure> {
    let Request { text, path, out, jobs } = request;
    let sweep = match text {
        Some(text) => Sweep::parse(text, &path)?,
        None => Sweep::load(&path)?,
    };
    let folder = SweepFolder::open(&out, sweep.text()).map_err(results)?;
    let log = SweepFolder::log(&out)?;
    let missing = sweep.rows(Shard::ALL) - sweep.known(Shard::ALL, &log);
    if missing > 0 {
        folder.remove_results().map_err(results)?;
    }
    control.expect_runs(missing);
    let observer = RunCounter(Arc::clone(control));
    let table = sweep.run(Shard::ALL, jobs.unwrap_or_else(study::cores), &observer, &log)?;
    folder.write_results(&table).map_err(results)?;
    SweepResult::new(&table, out)
}

impl SweepResult {
    fn new(table: &SweepTable, folder: PathBuf) -> Result<Self, Failure> {
        let runs: Vec<_> = table.rows.iter().map(|row| row.result.as_ref().ok()).collect();
        Ok(Self {
            csv: table.csv().map_err(results)?,
            json: json(&runs),
            errors: table.failed().map(error_of).collect(),
            rows: table.rows.len(),
            folder,
        })
    }
}

/// Describes a row without a complete run.
fn error_of(row: &study::SweepRow) -> String {
    let labels: Vec<String> =
        row.keys.iter().map(|(key, label)| format!("{key} {label}")).collect();
    format!("point {} ({}), seed {}: {}", row.point, labels.join(", "), row.seed, row.error())
}
