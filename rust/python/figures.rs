//! Figures of results: as SVG, PDF and PNG, and their data.

use std::path::PathBuf;

use pyo3::prelude::*;

use super::failure::{Failure, results};
use super::table::{Column, Table};
use evenkeel::plot::{self, Band, Figure, Look, Order, Request, Scale, TIDY_COLUMNS, Units};
use evenkeel::results::Results;

/// A figure with the data that it shows: a dict in Python.
#[derive(Debug, IntoPyObject)]
pub(super) struct Drawn {
    name: String,
    title: String,
    svg: String,
    /// The points of the figure as CSV.
    csv: String,
    /// The points of the figure, one a row.
    data: Table,
}

impl Drawn {
    fn new(figure: &Figure) -> Self {
        Self {
            name: figure.name.clone(),
            title: figure.title().to_owned(),
            svg: figure.svg(),
            csv: plot::tidy_csv(std::slice::from_ref(figure)),
            data: data(figure),
        }
    }
}

/// Converts a figure to the format of this ending, such as `pdf`.
#[pyfunction]
pub(super) fn drawing(py: Python<'_>, svg: &str, ending: &str) -> PyResult<Vec<u8>> {
    let bytes = py.detach(|| match ending {
        "svg" => Ok(svg.as_bytes().to_vec()),
        "pdf" => plot::pdf(svg).map_err(results),
        "png" => plot::png(svg, 2.0).map_err(results),
        _ => Err(Failure::Argument(format!(
            "no format has the ending '.{ending}'; use .svg, .pdf, .png or .csv"
        ))),
    });
    bytes.map_err(|failure| failure.raise(py))
}

/// Returns the points of a figure, one a row.
fn data(figure: &Figure) -> Table {
    let mut texts = [0; 6].map(|_| Column::text());
    let mut numbers = [0; 4].map(|_| Column::number());
    let mut columns = Column::text();
    for row in figure.tidy() {
        let (low, high) = row.interval.unzip();
        let words = [&row.figure, &row.panel, &row.series, row.kind];
        let words = [words[0], words[1], words[2], words[3], &row.x_label, &row.y_label];
        texts.iter_mut().zip(words).for_each(|(column, word)| column.push_text(word));
        let values = [row.x.as_ref().ok().copied(), row.y, low, high];
        let values = values.map(|it| it.map_or_else(String::new, |it| it.to_string()));
        numbers.iter_mut().zip(&values).for_each(|(column, value)| column.push_text(value));
        columns.push_text(row.x.as_ref().err().map_or("", String::as_str));
    }
    let [figure, panel, series, kind, x_label, y_label] = texts;
    let [x, y, low, high] = numbers;
    let filled = [figure, panel, series, kind, x, y, low, high, x_label, y_label];
    let named = TIDY_COLUMNS.into_iter().zip(filled).chain([("column", columns)]);
    Table::new(named.collect())
}

/// Choices about figures, by the names of the arguments in Python.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(super) struct Choices {
    figure: Option<String>,
    metric: String,
    x: Option<String>,
    facet: Option<String>,
    band: String,
    title: Option<String>,
    x_label: Option<String>,
    y_label: Option<String>,
    x_scale: Option<String>,
    y_scale: Option<String>,
    order: Option<Vec<String>>,
    size: Option<(f64, f64)>,
    units: String,
}

/// Returns the value with a name, or an error that lists the names.
fn named<T: Copy>(argument: &str, name: &str, known: &[(&str, T)]) -> Result<T, Failure> {
    let found = known.iter().find(|(it, _)| *it == name).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        Failure::Argument(format!("{argument}='{name}': expected one of {}", names.join(", ")))
    })
}

impl Choices {
    fn request(&self) -> Result<Request, Failure> {
        let bands = [
            ("interval", Band::Interval),
            ("quartiles", Band::Quartiles),
            ("range", Band::Range),
            ("none", Band::None),
        ];
        let (metric, x, facet) = (self.metric.clone(), self.x.clone(), self.facet.clone());
        Ok(Request { metric, x, facet, band: named("band", &self.band, &bands)? })
    }

    fn look(&self) -> Result<Look, Failure> {
        let scale = |argument: &str, name: &Option<String>| {
            let known = [("linear", Scale::Linear), ("log", Scale::Logarithmic)];
            name.as_ref().map(|name| named(argument, name, &known)).transpose()
        };
        let order = self.order.as_ref().map(|names| match &names[..] {
            [one] if one == "data" => Order::Data,
            [one] if one == "name" => Order::Name,
            [one] if one == "value" => Order::Value,
            names => Order::Names(names.to_vec()),
        });
        Ok(Look {
            title: self.title.clone(),
            x_label: self.x_label.clone(),
            y_label: self.y_label.clone(),
            x_scale: scale("x_scale", &self.x_scale)?,
            y_scale: scale("y_scale", &self.y_scale)?,
            order,
            size: self.size,
            units: named("units", &self.units, &[("plain", Units::Plain), ("si", Units::Si)])?,
        })
    }
}

/// Returns every figure that the results have data for, and notes on the figures that were left
/// out.
#[pyfunction]
pub(super) fn figures(
    py: Python<'_>,
    folders: Vec<PathBuf>,
    choices: Choices,
) -> PyResult<(Vec<Drawn>, Vec<String>)> {
    let drawn = py.detach(|| -> Result<_, Failure> {
        let (request, look) = (choices.request()?, choices.look()?);
        let all = folders.iter().map(|path| Results::open(path));
        let all = all.collect::<Result<Vec<_>, _>>().map_err(results)?;
        let (mut figures, notes) = plot::figures(&all, &request).map_err(results)?;
        if let Some(wanted) = &choices.figure {
            let selected = plot::select(figures, wanted);
            figures =
                selected.map_err(|it| Failure::Argument(format!("figure='{wanted}': {it}")))?;
        }
        let figures = figures.into_iter().map(|it| it.with_look(&look).map_err(results));
        let figures = figures.map(|figure| Ok(Drawn::new(&figure?)));
        Ok((figures.collect::<Result<Vec<_>, Failure>>()?, notes))
    });
    drawn.map_err(|failure| failure.raise(py))
}
