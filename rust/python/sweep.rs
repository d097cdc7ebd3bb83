//! Sweeps: the simulation of every point of a study.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use serde_json::Value;

use super::failure::{Failure, results};
use super::json::json;
use super::supervise::{Control, RunCounter, supervise};
use evenkeel::study::{self, Shard, Sweep, SweepFolder, SweepPoint, SweepTable};

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

/// A study.
#[derive(Debug, FromPyObject)]
pub(super) struct Source {
    /// The text of the study; `None` to read it from `path`.
    #[pyo3(item)]
    text: Option<String>,
    #[pyo3(item)]
    path: PathBuf,
}

/// The arguments of a sweep.
#[derive(Debug, FromPyObject)]
pub(super) struct Request {
    #[pyo3(item)]
    study: Source,
    /// The only point to simulate; `None` for all.
    #[pyo3(item)]
    point: Option<usize>,
    #[pyo3(item)]
    out: PathBuf,
    #[pyo3(item)]
    jobs: Option<NonZeroUsize>,
}

impl Source {
    fn read(self) -> Result<Sweep, Failure> {
        let Self { text, path } = self;
        let sweep = match text {
            Some(text) => Sweep::parse(text, &path),
            None => Sweep::load(&path),
        };
        Ok(sweep?)
    }
}

/// Returns the points of a study as JSON.
#[pyfunction]
pub(super) fn points(py: Python<'_>, study: Source) -> PyResult<String> {
    let points = || {
        let points = study.read()?.points();
        Ok(Value::Array(points.iter().map(SweepPoint::json).collect()).to_string())
    };
    py.detach(points).map_err(|failure: Failure| failure.raise(py))
}

/// Simulates the missing runs of a study, and writes the results. If a signal or a listener ends
/// it, the exception has the results of the finished runs as `finished`.
#[pyfunction]
#[pyo3(signature = (request, listener=None))]
pub(super) fn sweep(
    py: Python<'_>,
    request: Request,
    listener: Option<Bound<'_, PyAny>>,
) -> PyResult<SweepResult> {
    let control = Arc::new(Control::default());
    let Request { study, point, out, jobs } = request;
    let read = || match point {
        Some(point) => Ok(study.read()?.only(point)?),
        None => study.read(),
    };
    let sweep = py.detach(read).map_err(|failure: Failure| failure.raise(py))?;
    let jobs = jobs.unwrap_or_else(study::cores);
    let ended =
        supervise(py, listener.as_ref(), &control, || simulate(&sweep, &out, jobs, &control));
    let result = match ended {
        Ok(ended) => ended.and_then(|table| SweepResult::new(&table, out)),
        Err(reason) => {
            let log = SweepFolder::read_log(&out).map_err(Failure::from);
            let finished = log.and_then(|log| Ok(sweep.finished(&log)?));
            let partial = finished.and_then(|table| SweepResult::new(&table, out));
            // Without a log, no run has finished.
            if let Some(partial) = partial.ok().filter(|it| it.rows > 0) {
                reason.value(py).setattr("finished", partial)?;
            }
            return Err(reason);
        }
    };
    result.map_err(|failure| failure.raise(py))
}

fn simulate(
    sweep: &Sweep,
    out: &Path,
    jobs: NonZeroUsize,
    control: &Arc<Control>,
) -> Result<SweepTable, Failure> {
    let folder = SweepFolder::open(out, sweep.text()).map_err(results)?;
    let log = SweepFolder::log(out)?;
    let missing = sweep.rows(Shard::ALL) - sweep.known(Shard::ALL, &log);
    // The scenarios of known runs may have changed, so the old results are always removed.
    folder.remove_results().map_err(results)?;
    control.expect_runs(missing);
    let observer = RunCounter(Arc::clone(control));
    let table = sweep.run(Shard::ALL, jobs, &observer, &log)?;
    folder.write_results(&table).map_err(results)?;
    Ok(table)
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
