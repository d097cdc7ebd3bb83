//! Tables of runs, comparisons and studies.

use serde_json::Value;

use super::html::{escape, number_cell, row_heading, table};
use crate::report::human;
use crate::results::{
    ComparisonTable, FailedRow, Results, ResultsError, RunFolder, StudyRow, StudyTable,
};
use crate::study::metrics::Metric;

/// Metrics in the table of runs.
const COLUMNS: [&str; 12] = [
    "cct_ns",
    "slowdown",
    "fct_ns.p50",
    "fct_ns.p99",
    "queue_bytes_max",
    "packets.sent",
    "packets.retransmitted",
    "packets.dropped",
    "packets.marked",
    "packets.out_of_order",
    "pfc_pauses",
    "qps.extra_per_nic_max",
];

/// Further metrics in the table of runs, each shown if a run has it.
const OPTIONAL: [&str; 6] = [
    "algbw_bytes_per_s",
    "busbw_bytes_per_s",
    "breakdown.compute_ns",
    "breakdown.exposed_ns",
    "breakdown.overlapped_ns",
    "breakdown.idle_ns",
];

fn columns() -> impl Iterator<Item = &'static Metric> {
    COLUMNS.into_iter().chain(OPTIONAL).filter_map(Metric::find)
}

/// Returns the metrics that a table of runs with these values shows, with their positions.
fn shown(rows: &[Vec<Option<f64>>]) -> Vec<(usize, &'static Metric)> {
    let has_value = |index: usize| rows.iter().any(|values| values[index].is_some());
    columns().enumerate().filter(|&(index, _)| index < COLUMNS.len() || has_value(index)).collect()
}

/// Maximum number of rows of a study on the page; the file contains all of them.
const MAX_ROWS: usize = 200;

/// Returns the tables of single runs, folded unless there is a single run; `None` without runs.
pub(super) fn single_runs(results: &[Results]) -> Result<Option<String>, ResultsError> {
    let (mut text, runs) = (String::new(), Results::single_runs(results));
    if !runs.is_empty() {
        let rows: Vec<RunRow<'_>> = runs.iter().map(|run| folder_row(run)).collect();
        text += &folded("Runs", rows.len(), &runs_table(&rows));
    }
    for result in results {
        match result {
            Results::Studies(tables) => {
                for study in tables {
                    text += &failed_runs(study);
                    text += &folded(&study.name, study.rows.len(), &study_table(study)?);
                }
            }
            Results::Comparison(comparison) => {
                let rows: Vec<RunRow<'_>> = comparison.runs.iter().map(object_row).collect();
                if !rows.is_empty() {
                    text += &folded("Runs", rows.len(), &runs_table(&rows));
                }
                let all = comparison_table(comparison);
                text += &format!("<details><summary>All metrics</summary>\n{all}</details>\n");
            }
            Results::Run(_) => {}
        }
    }
    Ok((!text.is_empty()).then_some(text))
}

/// Folds the table of several runs.
fn folded(name: &str, count: usize, table: &str) -> String {
    match count {
        0 => String::new(),
        1 => table.to_owned(),
        _ => {
            let name = escape(name);
            format!("<details><summary>{name}: {count} runs</summary>\n{table}</details>\n")
        }
    }
}

/// A row of the table of runs.
struct RunRow<'a> {
    policy: &'a str,
    scenario: &'a str,
    seed: u64,
    /// The value of each of [`columns`], if the run has it.
    values: Vec<Option<f64>>,
}

fn runs_table(rows: &[RunRow<'_>]) -> String {
    let values: Vec<Vec<Option<f64>>> = rows.iter().map(|row| row.values.clone()).collect();
    let shown = shown(&values);
    let titles = shown.iter().map(|(_, metric)| metric.title);
    let titles: Vec<&str> = ["policy", "scenario", "seed"].into_iter().chain(titles).collect();
    let cells = |row: &RunRow<'_>| {
        let (scenario, seed) = (escape(row.scenario), row.seed);
        let labels = format!("<td>{scenario}</td><td data-value=\"{seed}\">{seed}</td>");
        let number =
            |&(index, metric): &(usize, &Metric)| number_cell(row.values[index], metric.show);
        row_heading(row.policy) + &labels + &shown.iter().map(number).collect::<String>()
    };
    table("Runs", &titles, &rows.iter().map(cells).collect::<Vec<_>>())
}

fn folder_row(run: &RunFolder) -> RunRow<'_> {
    let values = columns().map(|metric| run.metric(metric.name)).collect();
    RunRow { policy: run.policy(), scenario: run.scenario(), seed: run.seed(), values }
}

fn object_row(run: &Value) -> RunRow<'_> {
    let text = |key: &str| run[key].as_str().unwrap_or_default();
    let value = |metric: &Metric| metric.of(run).filter(|value| value.is_finite());
    let (policy, scenario) = (text("policy"), text("scenario"));
    let seed = run["seed"].as_u64().unwrap_or_default();
    RunRow { policy, scenario, seed, values: columns().map(value).collect() }
}

fn comparison_table(comparison: &ComparisonTable) -> String {
    let rows: Vec<String> = comparison
        .rows
        .iter()
        .map(|row| {
            let (policy, metric) = (escape(&row.policy), escape(&row.metric));
            let show =
                Metric::find(&row.metric).map_or(human::count as fn(f64) -> String, |it| it.show);
            let numbers = cells(Some(row.median), row.interval, show);
            let (ratio, interval) = row.ratio.map_or((None, None), |(it, ends)| (Some(it), ends));
            let ratios = cells(ratio, interval, human::ratio);
            let (runs, verdict) = (row.runs, escape(&row.verdict));
            format!(
                "<th scope=\"row\">{policy}</th><td>{metric}</td><td>{runs}</td>{numbers}{ratios}\
                 <td>{verdict}</td>"
            )
        })
        .collect();
    let over = match comparison.reference.as_str() {
        "" => "ratio".to_owned(),
        reference => format!("over {reference}"),
    };
    let titles =
        ["policy", "metric", "runs", "median", "low", "high", &over, "low", "high", "verdict"];
    table("Comparison", &titles, &rows)
}

/// Returns the cells of a value and of the ends of its interval.
fn cells(value: Option<f64>, ends: Option<(f64, f64)>, show: fn(f64) -> String) -> String {
    let [low, high] = ends.map_or([None; 2], |(low, high)| [Some(low), Some(high)]);
    [value, low, high].map(|it| number_cell(it, show)).concat()
}

fn study_table(study: &StudyTable) -> Result<String, ResultsError> {
    let has = |metric: &Metric| study.metrics().iter().any(|name| name == metric.name);
    let has_groups = has_groups(study);
    let shown_rows = || study.rows.iter().take(MAX_ROWS);
    let values = |row: &StudyRow| -> Result<Vec<Option<f64>>, ResultsError> {
        let value = |metric| if has(metric) { study.metric(row, metric.name) } else { Ok(None) };
        columns().map(value).collect()
    };
    let values = shown_rows().map(values).collect::<Result<Vec<_>, _>>()?;
    let mut metrics = shown(&values);
    metrics.retain(|(_, metric)| has(metric));
    let row = |(row, values): (&StudyRow, &Vec<Option<f64>>)| {
        let cell = |&(index, metric): &(usize, &Metric)| number_cell(values[index], metric.show);
        labels(row, has_groups) + &metrics.iter().map(cell).collect::<String>()
    };
    let rows: Vec<String> = shown_rows().zip(&values).map(row).collect();
    let titles = metrics.iter().map(|(_, metric)| metric.title);
    let titles: Vec<&str> = headings(has_groups).chain(titles).collect();
    let shown = match study.rows.len() {
        all if all > MAX_ROWS => format!("the first {MAX_ROWS} of {all} runs"),
        all => human::plural(all as u64, "run"),
    };
    Ok(table(&format!("Study {}: {shown}", study.name), &titles, &rows))
}

/// True if the study has several groups of runs, whose names are then a column.
fn has_groups(study: &StudyTable) -> bool {
    let failed = study.failed.iter().map(|it| &it.row);
    study.rows.iter().chain(failed).any(|row| !row.group.is_empty())
}

/// Returns the headings of the columns that identify a run.
fn headings(has_groups: bool) -> impl Iterator<Item = &'static str> {
    has_groups.then_some("run").into_iter().chain(["parameters", "seed"])
}

/// Returns the cells that identify a run.
fn labels(row: &StudyRow, has_groups: bool) -> String {
    let group = if has_groups { row_heading(&row.group) } else { String::new() };
    group + &row_heading(&row.words()) + &format!("<td>{}</td>", escape(row.seed()))
}

/// Returns the table of runs with an error; empty if there are no such runs.
fn failed_runs(study: &StudyTable) -> String {
    let has_groups = has_groups(study);
    let row = |FailedRow { row, error }: &FailedRow| {
        format!("{}<td class=\"words\">{}</td>", labels(row, has_groups), escape(error))
    };
    let rows: Vec<String> = study.failed.iter().take(MAX_ROWS).map(row).collect();
    let shown = match study.failed.len() {
        0 => return String::new(),
        all if all > MAX_ROWS => format!("the first {MAX_ROWS} of {all} runs with an error"),
        all => format!("{} with an error, not drawn", human::plural(all as u64, "run")),
    };
    let caption = format!("Study {}: {shown}", study.name);
    let titles: Vec<&str> = headings(has_groups).chain(["error"]).collect();
    table(&caption, &titles, &rows)
}
