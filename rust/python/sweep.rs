//! Sweeps: the simulation of every point of a study.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;

use super::failure::{Failure, results};
use super::json::json;
use super::supervise::{Control, RunCounter, supervise};
use super::table::Table;
use evenkeel::study::{self, Shard, Sweep, SweepFolder, SweepTable};

/// The results of a sweep.
#[pyclass(frozen, name = "Sweep", module = "evenkeel._evenkeel")]
#[derive(Debug)]
pub(super) struct SweepResult {
    table: SweepTable,
    /// Folder of the results.
    #[pyo3(get)]
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
    Ok(SweepResult { table, folder: out })
}

#[pymethods]
impl SweepResult {
    /// Returns the rows of `results.csv`.
    fn results(&self, py: Python<'_>) -> PyResult<Table> {
        let csv = self.table.csv().map_err(|error| results(error).raise(py))?;
        Table::of_csv(csv.as_bytes()).map_err(|error| results(error).raise(py))
    }

    /// Returns the JSON objects of the runs; null for a run without a result.
    fn json(&self) -> String {
        let runs = self.table.rows.iter().map(|row| row.result.as_ref().ok());
        json(&runs.collect::<Vec<_>>())
    }

    /// Returns the errors of the rows without a complete run.
    fn errors(&self) -> Vec<String> {
        let error = |row: &study::SweepRow| {
            let labels: Vec<String> =
                row.keys.iter().map(|(key, label)| format!("{key} {label}")).collect();
            format!(
                "point {} ({}), seed {}: {}",
                row.point,
                labels.join(", "),
                row.seed,
                row.error()
            )
        };
        self.table.failed().map(error).collect()
    }

    fn __len__(&self) -> usize {
        self.table.rows.len()
    }
}
