//! Tables of results over one or two axes.

use super::TableSection;
use super::claim::{axis, group, select};
use super::error::Rejection;
use super::judge::{Results, number};
use super::matrix::Group;
use super::outcome::ResultTable;
use super::reading::Reading;

/// Indices of a table's axes, and the cases of the other axes.
struct Layout {
    metric: Reading,
    rows: usize,
    columns: Option<usize>,
    /// Case of each other axis; `None` if one does not run at this scale.
    chosen: Option<Vec<Option<usize>>>,
}

fn layout(section: &TableSection, group: &Group) -> Result<Layout, Rejection> {
    let metric = Reading::named(&section.metric);
    let metric = metric.map_err(|reason| Rejection::new("metric", reason))?;
    let rows = axis(group, &section.rows).map_err(|reason| Rejection::new("rows", reason))?;
    let columns = section.columns.as_deref().map(|name| axis(group, name)).transpose();
    let columns = columns.map_err(|reason| Rejection::new("columns", reason))?;
    let chosen = select(group, &section.of).map_err(|rejection| rejection.below("of"))?;
    for (index, open) in group.axes.iter().enumerate() {
        let is_shown = index == rows || columns == Some(index);
        let is_chosen = section.of.keys().any(|name| open.has_name(name));
        if !is_shown && !is_chosen {
            let reason = format!("expected {} in `rows`, `columns` or `of`", open.name());
            return Err(Rejection::new("", reason));
        }
    }
    Ok(Layout { metric, rows, columns, chosen })
}

/// Checks a table's section.
pub(super) fn check(section: &TableSection, groups: &[Group]) -> Result<(), Rejection> {
    layout(section, &groups[group(groups, &section.run)?]).map(|_| ())
}

/// Returns the table; `None` if this scale does not have the runs.
pub(super) fn table(section: &TableSection, results: Results<'_>) -> Option<ResultTable> {
    let Results { group, measured } = results;
    let layout = layout(section, group).ok()?;
    let chosen = layout.chosen?;
    if measured.runs.is_empty() {
        return None;
    }
    let labels = |axis: usize| group.axes[axis].cases.iter().map(|case| case.label.clone());
    let columns = layout.columns.map_or(1, |columns| group.axes[columns].cases.len());
    let cell = |row: usize, column: usize| {
        let mut point: Vec<usize> = chosen.iter().map(|case| case.unwrap_or(0)).collect();
        point[layout.rows] = row;
        if let Some(columns) = layout.columns {
            point[columns] = column;
        }
        let value = results.value(&layout.metric, &point, section.seeds);
        value.map_or_else(String::new, number)
    };
    let row = |(row, label): (usize, String)| {
        (label, (0..columns).map(|column| cell(row, column)).collect::<Vec<String>>())
    };
    let unit = layout.metric.unit;
    let title = match unit {
        "" => section.title.clone(),
        _ => format!("{}, {unit}", section.title),
    };
    Some(ResultTable {
        title,
        corner: group.axes[layout.rows].name().to_owned(),
        columns: layout.columns.map_or(vec![section.metric.clone()], |it| labels(it).collect()),
        rows: labels(layout.rows).enumerate().map(row).collect(),
    })
}
