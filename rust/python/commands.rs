//! Commands that write files or describe names: explain, list, report, import, export, trace.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;

use super::failure::{Failure, results};
use evenkeel::page::PageRequest;
use evenkeel::report::{self, ExportError, ExportFormat, Inputs};
use evenkeel::scenario::{self, Scenario, Setting};
use evenkeel::study::{self, Import, Listing, Source};

/// Returns the explanations of a key, a name or a metric.
#[pyfunction]
pub(super) fn explain(py: Python<'_>, word: &str) -> PyResult<Vec<String>> {
    let found = study::explain(word);
    let found = found.map_err(|error| Failure::Argument(error.to_string()).raise(py))?;
    Ok(found.iter().map(ToString::to_string).collect())
}

/// Returns the headings and the rows of a category of names.
#[pyfunction]
pub(super) fn listing(
    py: Python<'_>,
    name: &str,
) -> PyResult<([&'static str; 3], Vec<[&'static str; 3]>)> {
    let Some(found) = Listing::find(name) else {
        let names: Vec<&str> = Listing::ALL.iter().map(|it| it.name).collect();
        let reason = format!("no list has the name '{name}'; expected one of {}", names.join(", "));
        return Err(Failure::Argument(reason).raise(py));
    };
    Ok((found.headings, found.rows()))
}

/// Returns every parameter: key, the names that have it, and its default.
#[pyfunction]
pub(super) fn parameters() -> Vec<(String, Vec<String>, String)> {
    scenario::parameters().into_iter().map(|it| (it.key, it.of, it.default)).collect()
}

/// The arguments of a page.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(super) struct PageArguments {
    folders: Vec<PathBuf>,
    out: PathBuf,
    question: Option<String>,
    metric: String,
    /// Folder of results that the caller holds in memory. The page does not name it.
    temporary: PathBuf,
}

/// Writes a page of results. Returns the notes on figures that were left out.
#[pyfunction]
pub(super) fn write_page(py: Python<'_>, request: PageArguments) -> PyResult<Vec<String>> {
    let written = py.detach(|| {
        let request = PageRequest {
            results: &request.folders,
            out: &request.out,
            question: request.question.as_deref(),
            metric: &request.metric,
            temporary: Some((&request.temporary, "results")),
        };
        request.write()
    });
    written.map(|page| page.notes).map_err(|error| results(error).raise(py))
}

/// The arguments of an import.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(super) struct ImportRequest {
    file: PathBuf,
    format: Option<String>,
    topology: Option<PathBuf>,
    set: Vec<String>,
    out: Option<PathBuf>,
}

/// Returns the scenario of a file of another project, and notes. Writes it to a new file if
/// requested.
#[pyfunction]
pub(super) fn import_file(
    py: Python<'_>,
    request: ImportRequest,
) -> PyResult<(String, Vec<String>)> {
    py.detach(|| import(&request)).map_err(|failure| failure.raise(py))
}

fn import(request: &ImportRequest) -> Result<(String, Vec<String>), Failure> {
    let ImportRequest { file, format, topology, set, out } = request;
    let names = || Source::NAMES.map(|(name, _)| name).join(", ");
    let source = match format {
        Some(name) => named(&Source::NAMES, name),
        None => Source::of(file),
    };
    let source = source.ok_or_else(|| match format {
        Some(name) => Failure::Argument(format!("format = '{name}': expected one of {}", names())),
        None => Failure::Argument(format!(
            "{}: unknown file extension; set format to one of {}",
            file.display(),
            names()
        )),
    })?;
    let setting = |text: &String| {
        text.parse().map_err(|reason| Failure::Argument(format!("set: '{text}': {reason}")))
    };
    let settings = set.iter().map(setting).collect::<Result<Vec<Setting>, Failure>>()?;
    let folder = out.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    if !folder.as_os_str().is_empty() && !folder.is_dir() {
        return Err(results(format!("out: {}: the folder does not exist", folder.display())));
    }
    let topology = topology.as_deref();
    let imported = Import { file, source, topology, settings: &settings, folder }
        .scenario()
        .map_err(|error| Failure::Argument(error.to_string()))?;
    if let Some(out) = out {
        report::write_new(out, &imported.text).map_err(results)?;
    }
    Ok((imported.text, [imported.warnings, imported.notes].concat()))
}

fn named<T: Copy>(known: &[(&str, T)], name: &str) -> Option<T> {
    known.iter().find(|(it, _)| *it == name).map(|(_, value)| *value)
}

/// Writes the fabric and the messages of a scenario in a format of another project. Returns the
/// files and notes on what the format does not express.
pub(super) fn export(
    scenario: &Scenario,
    file: &Path,
    format: &str,
    out: &Path,
) -> Result<(Vec<PathBuf>, Vec<String>), Failure> {
    let format = named(&ExportFormat::NAMES, format).ok_or_else(|| {
        let names = ExportFormat::NAMES.map(|(name, _)| name).join(", ");
        Failure::Argument(format!("format = '{format}': expected one of {names}"))
    })?;
    scenario.expect_known()?;
    let inputs = Inputs::of(scenario, file);
    let exported = report::export(scenario, &inputs, format, out);
    let exported = exported.map_err(|error| failed(file, &error))?;
    Ok((exported.files, exported.notes))
}

/// Writes the workload of a scenario as Chakra traces. Returns the files, by rank, and notes.
pub(super) fn traces(
    scenario: &Scenario,
    file: &Path,
    out: &Path,
) -> Result<(Vec<PathBuf>, Vec<String>), Failure> {
    scenario.expect_packets()?;
    scenario.expect_known()?;
    let inputs = Inputs::of(scenario, file);
    let ranks = report::export_traces(scenario, &inputs, out);
    let ranks = ranks.map_err(|error| failed(file, &error))?;
    let files = (0..ranks).map(|rank| out.join(format!("{}.{rank}.et", scenario.name)));
    Ok((files.collect(), report::late_start(&scenario.workload).into_iter().collect()))
}

fn failed(file: &Path, error: &ExportError) -> Failure {
    match error {
        ExportError::Failed(_) => results(error),
        _ => Failure::Argument(format!("{}: {error}", file.display())),
    }
}
