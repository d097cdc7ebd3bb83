//! Experiments of the HPCC family of simulators, from their own files.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;

use super::failure::Failure;
use super::run::{self, RunResult};
use super::supervise::{Control, supervise};
use evenkeel::fabric::Rounding;
use evenkeel::hpcc::{Experiment, Overrides};
use evenkeel::study::{SessionOptions, Subject};

/// The arguments of an experiment.
#[derive(Debug, FromPyObject)]
pub(super) struct Request {
    #[pyo3(item)]
    config: PathBuf,
    #[pyo3(item)]
    lb: Option<String>,
    #[pyo3(item)]
    topology: Option<PathBuf>,
    #[pyo3(item)]
    flows: Option<PathBuf>,
    #[pyo3(item)]
    seed: Option<u64>,
    #[pyo3(item)]
    truncate_ns: bool,
    #[pyo3(item)]
    out: Option<PathBuf>,
}

/// Simulates an experiment.
#[pyfunction]
#[pyo3(signature = (request, listener=None))]
pub(super) fn hpcc(
    py: Python<'_>,
    request: Request,
    listener: Option<Bound<'_, PyAny>>,
) -> PyResult<RunResult> {
    let control = Control::default();
    control.expect_runs(1);
    let result = supervise(py, listener.as_ref(), &control, || simulate(request, &control))?;
    result.map_err(|failure| failure.raise(py))
}

fn simulate(request: Request, control: &Control) -> Result<RunResult, Failure> {
    let Request { config, lb, topology, flows, seed, truncate_ns, out } = request;
    let rounding = if truncate_ns { Rounding::TruncateNs } else { Rounding::Exact };
    let experiment = Experiment::load(&config, &Overrides { lb, topology, flows, rounding, seed })?;
    let subject = Subject::Experiment(Arc::new(experiment));
    // As on the command line, recorded files are written only if results are kept.
    let result = run::session(subject, SessionOptions::default(), out.is_some(), control)?;
    if let Some(out) = out {
        result.keep(out)?;
    }
    Ok(result)
}
