//! The data of figures as a tidy table: a row per point, for programs that draw themselves.

use super::chart::Chart;
use super::{Axis, DotPlot, Drawing, Figure, HeatMap};

/// The columns of the table.
pub const TIDY_COLUMNS: [&str; 10] =
    ["figure", "panel", "series", "kind", "x", "y", "low", "high", "x_label", "y_label"];

/// A point of a figure, in base units: nanoseconds, bytes, bit/s.
#[derive(Debug, Clone, PartialEq)]
pub struct TidyRow {
    /// Name of the figure.
    pub figure: String,
    /// Panel of the figure; empty if it has one.
    pub panel: String,
    /// Name of the line or of the row.
    pub series: String,
    /// `point` (the median of its runs), `run`, `reference` or `event`.
    pub kind: &'static str,
    /// Number on the horizontal axis, or name of a column.
    pub x: Result<f64, String>,
    /// Value; `None` for an event.
    pub y: Option<f64>,
    /// Band around the value, such as its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// Label of the horizontal axis.
    pub x_label: String,
    /// Label of the vertical axis.
    pub y_label: String,
}

impl Figure {
    /// Returns the data of the figure.
    pub fn tidy(&self) -> Vec<TidyRow> {
        let mut rows = match &self.drawing {
            Drawing::Chart(chart) => of_chart(chart, ""),
            Drawing::Facets(facets) => {
                facets.panels.iter().flat_map(|chart| of_chart(chart, &chart.title)).collect()
            }
            Drawing::Dots(dots) => of_dots(dots),
            Drawing::Heat(heat) => of_heat(heat),
        };
        rows.iter_mut().for_each(|row| row.figure.clone_from(&self.name));
        rows
    }
}

/// Returns a label with the base unit of the axis.
fn label(axis: &Axis) -> String {
    let base = match axis.unit {
        "s" | "ms" | "us" | "µs" | "ns" => " (ns)",
        "TB" | "GB" | "MB" | "KB" | "kB" | "B" => " (B)",
        "" => "",
        _ => " (bit/s)",
    };
    format!("{}{base}", axis.label)
}

fn of_chart(chart: &Chart, panel: &str) -> Vec<TidyRow> {
    let (x_label, y_label) = (label(&chart.x), label(&chart.y));
    let row = |series: &str, x: f64| TidyRow {
        figure: String::new(),
        panel: panel.to_owned(),
        series: series.to_owned(),
        kind: "point",
        x: Ok(x),
        y: None,
        interval: None,
        x_label: x_label.clone(),
        y_label: y_label.clone(),
    };
    let points = chart.series.iter().flat_map(|series| {
        let point = |it: &super::Point| TidyRow {
            y: Some(it.y),
            interval: it.interval,
            ..row(&series.name, it.x)
        };
        series.points.iter().map(point).collect::<Vec<_>>()
    });
    let events =
        chart.marks.iter().map(|mark| TidyRow { kind: "event", ..row(&mark.text, mark.x) });
    points.chain(events).collect()
}

fn of_dots(dots: &DotPlot) -> Vec<TidyRow> {
    let mut rows = Vec::new();
    for row in &dots.rows {
        let mut add = |kind, y, interval| {
            rows.push(TidyRow {
                figure: String::new(),
                panel: String::new(),
                series: row.name.clone(),
                kind,
                x: Err(String::new()),
                y: Some(y),
                interval,
                x_label: String::new(),
                y_label: label(&dots.axis),
            });
        };
        add("point", row.value, row.interval);
        row.values.iter().for_each(|value| add("run", *value, None));
        row.reference.iter().for_each(|value| add("reference", *value, None));
    }
    rows
}

fn of_heat(heat: &HeatMap) -> Vec<TidyRow> {
    let mut rows = Vec::new();
    for panel in &heat.panels {
        for (name, values) in panel.rows.iter().zip(&panel.values) {
            for (column, value) in panel.columns.iter().zip(values) {
                rows.extend(value.map(|value| TidyRow {
                    figure: String::new(),
                    panel: panel.title.clone(),
                    series: name.clone(),
                    kind: "point",
                    x: Err(column.clone()),
                    y: Some(value),
                    interval: None,
                    x_label: String::new(),
                    y_label: label(&heat.axis),
                }));
            }
        }
    }
    rows
}

/// Returns the first line of the table.
pub(super) fn head() -> String {
    TIDY_COLUMNS.join(",") + "\n"
}

/// Returns the data of figures as CSV.
pub fn tidy_csv(figures: &[Figure]) -> String {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let mut text = head();
    for row in figures.iter().flat_map(Figure::tidy) {
        let x = row.x.map_or_else(|name| field(&name), |value| value.to_string());
        let (low, high) = row.interval.map_or((None, None), |(low, high)| (Some(low), Some(high)));
        let words = [&row.figure, &row.panel, &row.series].map(|it| field(it)).join(",");
        let numbers = [row.y, low, high].map(number).join(",");
        let labels = [&row.x_label, &row.y_label].map(|it| field(it)).join(",");
        text += &format!("{words},{},{x},{numbers},{labels}\n", row.kind);
    }
    text
}

/// Quotes a field if necessary.
fn field(text: &str) -> String {
    match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Join, Mark, Point, Series};
    use super::*;
    use crate::results::Dimension;

    #[test]
    fn each_point_is_a_row_in_base_units() {
        let x = Axis::new("time", Dimension::Time, [5e3].into_iter());
        let y = Axis::new("queue", Dimension::Size, [9.0].into_iter());
        let point = Point { interval: Some((1.0, 3.5)), ..Point::new(5e3, 2.0) };
        let series = vec![Series::new("a, b".to_owned(), Join::Line, vec![point])];
        let marks = vec![Mark { x: 7.0, text: "down".to_owned() }];
        let (title, note) = (String::new(), String::new());
        let chart = Chart { title, note, x, y, series, marks };
        let figure = Figure { name: "f".to_owned(), drawing: Drawing::Chart(chart), size: None };
        let expected = "figure,panel,series,kind,x,y,low,high,x_label,y_label\n\
                        f,,\"a, b\",point,5000,2,1,3.5,time (ns),queue (B)\n\
                        f,,down,event,7,,,,time (ns),queue (B)\n";
        assert_eq!(tidy_csv(&[figure]), expected);
    }
}
