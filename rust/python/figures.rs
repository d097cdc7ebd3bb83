//! Figures of results, as SVG.

use std::path::PathBuf;

use pyo3::prelude::*;

use super::failure::{Failure, results};
use evenkeel::plot::{self, Request};
use evenkeel::results::Results;

/// Name, title and SVG of a figure.
type Drawn = (String, String, String);

/// Returns name, title and SVG of every figure that the results have data for, and notes on the
/// figures that were left out.
#[pyfunction]
pub(super) fn figures(
    py: Python<'_>,
    folders: Vec<PathBuf>,
    metric: String,
) -> PyResult<(Vec<Drawn>, Vec<String>)> {
    let drawn = py.detach(|| -> Result<_, Failure> {
        let all = folders.iter().map(|path| Results::open(path));
        let all = all.collect::<Result<Vec<_>, _>>().map_err(results)?;
        let (figures, notes) = plot::figures(&all, &Request { metric }).map_err(results)?;
        let drawn = figures.into_iter().map(|figure| {
            let svg = figure.svg();
            (figure.name.clone(), figure.title().to_owned(), svg)
        });
        Ok((drawn.collect(), notes))
    });
    drawn.map_err(|failure| failure.raise(py))
}
