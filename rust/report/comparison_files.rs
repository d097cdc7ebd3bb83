//! The statistics of a comparison for other programs (CSV, JSON Lines) and for pages (Markdown).

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use super::OutputKind;
use super::comparison_table::{half, shown};
use super::own_files::STATISTICS_COLUMNS;
use crate::study::{MetricStatistics, PolicyStatistics, Statistics};

/// The CSV file, as one that a user names.
pub const COMPARISON_CSV: OutputKind = OutputKind {
    name: "the CSV of a comparison",
    is_own: |start| start.starts_with(STATISTICS_COLUMNS.as_bytes()),
};

/// A metric of a policy: a row of the CSV file, and an object of the JSON Lines.
#[derive(Serialize, JsonSchema)]
pub(super) struct Record<'a> {
    /// The policy.
    policy: &'a str,
    /// The metric.
    metric: &'a str,
    /// Runs that have a value: times of messages are of runs that completed alone.
    runs: usize,
    /// The mean over them.
    mean: Option<f64>,
    /// The lower end of the 95 % interval of the mean.
    low: Option<f64>,
    /// Its upper end.
    high: Option<f64>,
    /// The policy of the differences.
    baseline: &'a str,
    /// The mean of the differences from the baseline under the same seeds; none if a run of
    /// either policy did not complete.
    difference: Option<f64>,
    /// The lower end of the 95 % interval of that mean.
    difference_low: Option<f64>,
    /// Its upper end.
    difference_high: Option<f64>,
    /// Of the completion time: `best`, `tie` or `behind`; of other metrics empty. Of every metric
    /// of a policy with a run that did not complete, which comes after the others: `incomplete`,
    /// and of one with a run that is missing, because the comparison was interrupted,
    /// `interrupted`.
    verdict: Option<&'static str>,
}

fn records(statistics: &Statistics) -> impl Iterator<Item = Record<'_>> {
    let of_policy = |policy| policy_records(statistics, policy);
    statistics.policies.iter().flat_map(of_policy)
}

fn policy_records<'a>(
    statistics: &'a Statistics,
    policy: &'a PolicyStatistics,
) -> impl Iterator<Item = Record<'a>> {
    policy.metrics.iter().enumerate().map(|(index, of_metric)| {
        let MetricStatistics { metric, sample, difference } = of_metric;
        let interval = sample.and_then(|sample| sample.interval());
        let of_difference = difference.and_then(|difference| difference.interval());
        Record {
            policy: &policy.policy,
            metric,
            runs: sample.map_or(0, |sample| sample.count),
            mean: sample.map(|sample| sample.mean),
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
            baseline: &statistics.baseline,
            difference: difference.map(|difference| difference.mean),
            difference_low: of_difference.map(|interval| interval.low),
            difference_high: of_difference.map(|interval| interval.high),
            verdict: (index == 0 || policy.standing.is_partial()).then(|| policy.standing.word()),
        }
    })
}

/// A row for each policy and metric; empty cells for what there is not.
///
/// # Errors
/// Those of a text in memory: none.
pub fn comparison_csv(statistics: &Statistics) -> io::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for record in records(statistics) {
        writer.serialize(record)?;
    }
    let bytes = writer.into_inner().map_err(|error| io::Error::other(error.to_string()))?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

/// An object for each policy and metric, on a line of its own.
pub fn comparison_json_lines(statistics: &Statistics) -> String {
    let line = |record| serde_json::to_string(&record).expect("a record is a JSON object") + "\n";
    records(statistics).map(line).collect()
}

/// A table for a page: a row for each policy.
pub fn comparison_markdown(statistics: &Statistics) -> String {
    let Some(first) = statistics.policies.first() else { return String::new() };
    let names: Vec<String> = first.metrics.iter().map(|it| format!("`{}`", it.metric)).collect();
    let baseline = &statistics.baseline;
    let heading = format!("| policy | verdict | {} | minus `{baseline}` |", names.join(" | "));
    let rule = "|---|---|".to_owned() + &"--:|".repeat(names.len() + 1);
    let mut lines = vec![heading, rule];
    for policy in &statistics.policies {
        let cells: Vec<String> = policy.metrics.iter().map(markdown_cell).collect();
        let time = &policy.metrics[0];
        let difference = match time.difference {
            None => String::new(),
            Some(it) => {
                let sign = if it.mean < 0.0 { "-" } else { "+" };
                with_half(sign, time.metric, it.mean.abs(), &half(time.metric, &time.difference))
            }
        };
        let PolicyStatistics { policy: name, standing, completed, runs, .. } = policy;
        let verdict = match completed == runs {
            true => standing.word().to_owned(),
            false => format!("{completed} of {runs} completed"),
        };
        lines.push(format!("| {name} | {verdict} | {} | {difference} |", cells.join(" | ")));
    }
    lines.push(String::new());
    lines.push(match statistics.seeds {
        1 => "One seed, so without intervals.".to_owned(),
        seeds => format!(
            "Means over {seeds} seeds ± half the 95 % interval; differences of `{}` in pairs of \
             one seed. A tie: zero is in the interval of the paired difference from the best.",
            first.metrics[0].metric
        ),
    });
    lines.join("\n") + "\n"
}

fn markdown_cell(of_metric: &MetricStatistics) -> String {
    let MetricStatistics { metric, sample, .. } = of_metric;
    let half = half(metric, sample);
    sample.map_or_else(String::new, |sample| with_half("", metric, sample.mean, &half))
}

fn with_half(sign: &str, metric: &str, mean: f64, half: &str) -> String {
    let mean = shown(metric, mean);
    if half.is_empty() { format!("{sign}{mean}") } else { format!("{sign}{mean} ± {half}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::RunNumbers;

    /// Two policies under two seeds; 12.706 is the quantile of Student's t with one degree of
    /// freedom, and half the spread of two values their standard error.
    fn statistics() -> Statistics {
        let run = |(policy, seed, time): (&str, u64, f64)| RunNumbers {
            policy: policy.to_owned(),
            seed,
            numbers: vec![Some(time), None],
        };
        let runs = [("a", 1, 1000.0), ("a", 2, 1002.0), ("b", 1, 990.0), ("b", 2, 992.0)];
        Statistics::of(&["cct_ns", "packets.dropped"], &runs.map(run), "a")
    }

    #[test]
    fn csv_and_json_lines_have_the_same_records() {
        let csv = comparison_csv(&statistics()).unwrap();
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines.len(), 1 + 4);
        assert!(lines[0].starts_with(STATISTICS_COLUMNS), "{csv}");
        assert!(lines[3].starts_with("b,cct_ns,2,991.0,978.29"), "{csv}");
        assert!(lines[3].ends_with(",a,-10.0,-10.0,-10.0,best"), "{csv}");
        assert_eq!(lines[2], "a,packets.dropped,0,,,,a,,,,");
        let json = comparison_json_lines(&statistics());
        let third: serde_json::Value = serde_json::from_str(json.lines().nth(2).unwrap()).unwrap();
        assert_eq!((&third["policy"], &third["difference"]), (&"b".into(), &(-10.0).into()));
        assert!(third["low"].as_f64().unwrap() < 978.3 && third["high"].as_f64().unwrap() > 1003.7);
    }

    /// `a`, which stalls, is the first and the quickest; it comes last, with what there is of it.
    #[test]
    fn a_policy_that_did_not_complete_is_marked_and_last_in_every_format() {
        let run = |(policy, time): (&str, Option<f64>)| RunNumbers {
            policy: policy.to_owned(),
            seed: 1,
            numbers: vec![time, Some(5.0), Some(3.0)],
        };
        let runs = [("a", None), ("b", Some(990.0)), ("c", Some(1000.0))].map(run);
        let metrics = ["cct_ns", "fct_ns.p99", "packets.dropped"];
        let statistics = Statistics::of(&metrics, &runs, "b");
        let csv = comparison_csv(&statistics).unwrap();
        let last: Vec<&str> = csv.lines().skip(1 + 6).collect();
        let expected = [
            "a,cct_ns,0,,,,b,,,,incomplete",
            "a,fct_ns.p99,0,,,,b,,,,incomplete",
            "a,packets.dropped,1,3.0,,,b,,,,incomplete",
        ];
        assert_eq!(last, expected, "{csv}");
        let json = comparison_json_lines(&statistics);
        let fct: serde_json::Value = serde_json::from_str(json.lines().nth(7).unwrap()).unwrap();
        assert_eq!((&fct["policy"], &fct["verdict"]), (&"a".into(), &"incomplete".into()));
        assert!(fct["mean"].is_null() && fct["difference"].is_null(), "{fct}");
        let page = comparison_markdown(&statistics);
        let rows: Vec<&str> = page.lines().skip(2).take(3).collect();
        assert!(rows[0].starts_with("| b | best |") && rows[1].starts_with("| c | behind |"));
        assert_eq!(rows[2], "| a | 0 of 1 completed |  |  | 3 |  |", "{page}");
    }

    #[test]
    fn markdown_has_a_row_for_each_policy() {
        let text = comparison_markdown(&statistics());
        assert!(text.contains("| a | behind | 1.001us ± 12.71ns |  |  |\n"), "{text}");
        assert!(text.contains("| b | best | 991.0ns ± 12.71ns |  | -10.00ns |\n"), "{text}");
    }
}
