//! Experiments of the HPCC family of simulators, from their own files.

use std::io::{self, Write};
use std::path::PathBuf;

use pyo3::prelude::*;

use super::failure::{Failure, results};
use super::run::{RunResult, Text};
use super::supervise::{Control, supervise};
use evenkeel::fabric::{Outcome, Rounding, Watch};
use evenkeel::hpcc::{Experiment, Overrides, Recorder, ResultTable};
use evenkeel::report::{self, Identity};
use evenkeel::study::{self, Run, RunObservers};

/// What is run.
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
    let setup = experiment.setup.clone();
    let identity = Identity {
        scenario: experiment.name.clone(),
        policy: setup.scheme.name.to_owned(),
        seed: setup.seed,
    };
    // As on the command line, what the experiment records is recorded if results are kept.
    let kept = out.is_some();
    let recorded = if kept { experiment.recorded() } else { Vec::new() };
    let texts: Vec<_> =
        recorded.into_iter().map(|(file, name)| (file, name, Text::default())).collect();
    let mut open = |file| -> io::Result<Box<dyn Write>> {
        let text = texts.iter().find(|(it, ..)| *it == file).map(|(.., text)| text.clone());
        Ok(Box::new(io::BufWriter::new(text.ok_or(io::ErrorKind::NotFound)?)))
    };
    let recorder = (!texts.is_empty()).then(|| Recorder::new(&experiment, &mut open));
    let mut recorder = recorder.transpose().map_err(|reason: io::Error| results(reason))?;
    let run = Run {
        identity: &identity,
        setup: &setup,
        bound: study::lower_bound(&setup).time,
        fidelity: evenkeel::fluid::Fidelity::Packet,
        threads: study::default_threads(&setup),
        traces: None,
    };
    let label = identity.policy.clone();
    let observers = RunObservers {
        watch: recorder.as_mut().map(|it| it as &mut dyn Watch),
        flows: &mut |_| {},
        progress: &mut |progress| control.report(&label, progress),
    };
    let (mut finished, outcome) = study::run(&run, observers).map_err(results)?;
    if let Some(recorder) = recorder {
        recorder.finish(&outcome).map_err(results)?;
    }
    let mut files = tables(&experiment, &outcome).map_err(results)?;
    files.extend(texts.into_iter().map(|(_, name, text)| (name, text.take())));
    let other_names = experiment.file_names();
    finished.summary.warnings.splice(0..0, experiment.warnings.iter().cloned());
    let result = RunResult {
        identity,
        setup,
        finished,
        outcome,
        streamed: Vec::new(),
        scenario: None,
        limit: experiment.time_limit_key(),
        files,
        other_names,
    };
    if let Some(out) = out {
        result.keep(out)?;
    }
    Ok(result)
}

/// The tables of the family, each under every name that it has.
fn tables(experiment: &Experiment, outcome: &Outcome) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut pauses = Vec::new();
    let number = |node| experiment.node_number(node);
    report::write_pfc_txt(&mut pauses, &experiment.setup.topology, outcome, &number)?;
    let completions = experiment.fct_table(outcome).into_bytes();
    let content = |table| match table {
        ResultTable::Completions => completions.clone(),
        ResultTable::Pauses => pauses.clone(),
    };
    Ok(experiment.tables().into_iter().map(|(table, name)| (name, content(table))).collect())
}
