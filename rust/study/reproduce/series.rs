//! Tables of recorded quantities over time: a row for each period, a column for each value of an
//! axis.

use serde_json::Value;

use super::SeriesSection;
use super::claim::{axis, group, select};
use super::error::Rejection;
use super::judge::{Results, number};
use super::matrix::{Combination, Group};
use super::outcome::ResultTable;
use super::reading::{self, Reading, Windows};

/// Checks a series' section.
pub(super) fn check(section: &SeriesSection, groups: &[Group]) -> Result<(), Rejection> {
    let group = &groups[group(groups, &section.run)?];
    if !reading::is_series(&section.metric) {
        let metric = &section.metric;
        let reason = format!("'{metric}': expected a series, such as record.path_changes");
        return Err(Rejection::new("metric", reason));
    }
    Reading::named(&section.metric).map_err(|reason| Rejection::new("metric", reason))?;
    if section.rows == 0 {
        return Err(Rejection::new("rows", "0: expected at least 1"));
    }
    let columns = axis(group, &section.columns);
    let columns = columns.map_err(|reason| Rejection::new("columns", reason))?;
    select(group, &section.of).map_err(|rejection| rejection.below("of"))?;
    for (index, open) in group.axes.iter().enumerate() {
        if index != columns && !section.of.keys().any(|name| open.has_name(name)) {
            let reason = format!("expected {} in `columns` or `of`", open.name());
            return Err(Rejection::new("", reason));
        }
    }
    Ok(())
}

/// Returns the mean over seeds of each window of a combination. `None` if a run has no windows, or
/// windows of a different length.
fn mean(runs: &[Value], metric: &str) -> Option<Windows> {
    let runs: Option<Vec<Windows>> = runs.iter().map(|run| Windows::of(run, metric)).collect();
    let runs = runs?;
    let length_ns = runs.first()?.length_ns;
    let count = runs.iter().map(|run| run.values.len()).max()?;
    if runs.iter().any(|run| run.length_ns != length_ns) {
        return None;
    }
    let at = |window: usize| {
        let values = || runs.iter().filter_map(|run| run.values.get(window));
        values().sum::<f64>() / values().count().max(1) as f64
    };
    Some(Windows { length_ns, values: (0..count).map(at).collect() })
}

/// Returns the table: time, and the mean over each row's windows and over seeds. `None` if this
/// scale does not have the runs.
pub(super) fn table(section: &SeriesSection, results: Results<'_>) -> Option<ResultTable> {
    let Results { group, measured } = results;
    let columns = axis(group, &section.columns).ok()?;
    let chosen = select(group, &section.of).ok()??;
    let cases = &group.axes[columns].cases;
    let windows_of = |case: usize| {
        let mut point: Combination = chosen.iter().map(|case| case.unwrap_or(0)).collect();
        point[columns] = case;
        let (_, runs) = measured.runs.iter().find(|(it, _)| *it == point)?;
        mean(runs, &section.metric)
    };
    let series: Vec<Option<Windows>> = (0..cases.len()).map(windows_of).collect();
    let length_ns = series.iter().flatten().map(|it| it.length_ns).fold(0.0, f64::max);
    let end = |it: &Windows| it.values.len() as f64 * it.length_ns;
    let until = series.iter().flatten().map(end).fold(0.0, f64::max);
    if length_ns == 0.0 {
        return None;
    }
    let row_ns = (until / length_ns / section.rows as f64).ceil().max(1.0) * length_ns;
    let row = |row: usize| {
        let cell = |recorded: &Option<Windows>| {
            // A long run merges its windows, so they cannot be compared with shorter ones.
            let Some(recorded) = recorded.as_ref().filter(|it| it.length_ns == length_ns) else {
                return String::new();
            };
            let each = (row_ns / length_ns) as usize;
            let windows = recorded.values.iter().skip(row * each).take(each);
            let (count, sum) = (windows.len(), windows.sum::<f64>());
            if count == 0 { String::new() } else { number(sum / count as f64) }
        };
        let label = number((row + 1) as f64 * row_ns / 1e3);
        (label, series.iter().map(cell).collect::<Vec<String>>())
    };
    let window = number(length_ns / 1e3);
    Some(ResultTable {
        title: format!("{}, mean over windows of {window} us", section.title),
        corner: "until us".to_owned(),
        columns: cases.iter().map(|case| case.label.clone()).collect(),
        rows: (0..(until / row_ns).ceil() as usize).map(row).collect(),
    })
}
