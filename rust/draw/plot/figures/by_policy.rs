//! A metric for each policy, with its interval over seeds.

use super::labels::Group;
use super::{Band, Request, metric_dimension, metric_label};
use crate::plot::{Axis, DotPlot, DotRow, Drawing, Figure};
use crate::results::ComparisonTable;
use crate::study::statistics::Sample;

/// Returns a figure with a row for each group of runs; `None` if no run has the metric.
pub(super) fn of_runs(groups: &[Group<'_>], request: &Request) -> Option<Figure> {
    let values = |group: &Group<'_>| {
        let runs = group.runs.iter();
        let values = runs.filter_map(|run| run.metric(&request.metric)).collect();
        (group.name.clone(), values)
    };
    figure("", groups.iter().map(values).collect(), request)
}

/// Returns a figure with a row for each policy of a comparison, with its interval if it has one;
/// `None` if the comparison lacks the metric.
pub(super) fn of_comparison(table: &ComparisonTable, request: &Request) -> Option<Figure> {
    let of_metric = table.rows.iter().filter(|row| row.metric == request.metric);
    let rows = of_metric.map(|row| DotRow {
        name: row.policy.clone(),
        value: row.median,
        interval: row.interval,
        values: Vec::new(),
        reference: None,
    });
    let seeds = table.rows.iter().map(|row| row.runs).max().unwrap_or(1);
    drawn("", rows.collect(), seeds, request)
}

/// Returns a figure with a row for each name with values, the smallest median first; `None` without
/// rows.
pub(super) fn figure(
    subject: &str,
    values: Vec<(String, Vec<f64>)>,
    request: &Request,
) -> Option<Figure> {
    let rows: Vec<DotRow> = values.into_iter().filter_map(|it| row(it, request.band)).collect();
    let seeds = rows.iter().map(|row| row.values.len()).max().unwrap_or(1);
    drawn(subject, rows, seeds, request)
}

/// Returns the figure of these rows, sorted by value.
fn drawn(subject: &str, mut rows: Vec<DotRow>, seeds: usize, request: &Request) -> Option<Figure> {
    rows.sort_by(|a, b| a.value.total_cmp(&b.value));
    if rows.is_empty() {
        return None;
    }
    let all = || rows.iter().flat_map(|row| row.values.iter().copied().chain([row.value]));
    let label = metric_label(&request.metric);
    let dimension = metric_dimension(&request.metric);
    let axis = Axis::new(&label, dimension, all()).log_if_wide(all());
    let ticks = match rows.iter().any(|row| !row.values.is_empty()) {
        true => "; the ticks are single runs",
        false => "",
    };
    let note = match seeds {
        0 | 1 => "one run each".to_owned(),
        _ => match request.band.name() {
            "" => format!("medians of up to {seeds} seeds{ticks}"),
            band => format!("medians of up to {seeds} seeds with {band}{ticks}"),
        },
    };
    let subject = if subject.is_empty() { "" } else { &format!(": {subject}") };
    let title = format!("{}{subject}", capital(&label));
    let plot = DotPlot { title, note, axis, rows, reference: String::new() };
    Some(Figure::new(&format!("by-policy{}", subject.replace(": ", "-")), Drawing::Dots(plot)))
}

fn row((name, values): (String, Vec<f64>), band: Band) -> Option<DotRow> {
    let sample = Sample::of(&values)?;
    let interval = band.of(&sample, &values);
    // A single run equals the median, so it needs no tick.
    let values = if values.len() > 1 { values } else { Vec::new() };
    Some(DotRow { name, value: sample.median, interval, values, reference: None })
}

pub(super) fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}
