//! Statistics of a comparison for other programs (CSV, JSON Lines) and for pages (Markdown).

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use super::OutputKind;
use super::comparison_table::{interval, ratio_with_interval, shown};
use super::own_files::STATISTICS_COLUMNS;
use crate::statistics::coverage;
use crate::{MetricStatistics, PolicyStatistics, Statistics};

/// Kind of the CSV file that a user names for a comparison.
pub const COMPARISON_CSV: OutputKind = OutputKind {
    name: "the CSV of a comparison",
    is_own: |start| start.starts_with(STATISTICS_COLUMNS.as_bytes()),
};

/// A metric of a policy: a row of the CSV file, and an object of the JSON Lines.
#[derive(Serialize, JsonSchema)]
pub(super) struct Record<'a> {
    /// Name of the policy.
    policy: &'a str,
    /// Name of the metric.
    metric: &'a str,
    /// Number of runs that have a value. Times of messages come only from completed runs.
    runs: usize,
    /// Median over these runs.
    median: Option<f64>,
    /// Lower end of the confidence interval of the median; absent with a single run.
    low: Option<f64>,
    /// Upper end of the confidence interval of the median.
    high: Option<f64>,
    /// Probability that the interval contains the median, for any distribution. It is 0.5, 0.75 and
    /// 0.875 with two to four runs, 0.9375 with five, and at least 0.9375 with more.
    coverage: Option<f64>,
    /// Reference policy of the ratios: the requested one, otherwise the one with the least median
    /// completion time.
    reference: Option<&'a str>,
    /// Median of the ratios to the reference under the same seeds. It is absent for the reference
    /// itself, if a run of either policy did not complete, and if a value is zero.
    ratio: Option<f64>,
    /// Lower end of the confidence interval of that median.
    ratio_low: Option<f64>,
    /// Upper end of the confidence interval of that median.
    ratio_high: Option<f64>,
    /// Number of seeds under which the policy was slower than the one with the least median; set
    /// only for the completion time.
    slower: Option<usize>,
    /// Verdict on the completion time: `best`, `tie` (within 1 % of the best), `unclear` (the
    /// interval of the ratio to the best contains 1), `behind`, or `unranked` (too few seeds, or
    /// the comparison was interrupted). It is empty for other metrics. A policy with an incomplete
    /// run has `incomplete` for every metric, and one with a missing run `interrupted`.
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
        let MetricStatistics { metric, sample, ratio } = of_metric;
        let interval = sample.and_then(|sample| sample.interval());
        let of_ratio = ratio.and_then(|ratio| ratio.interval());
        Record {
            policy: &policy.policy,
            metric,
            runs: sample.map_or(0, |sample| sample.count),
            median: sample.map(|sample| sample.median),
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
            coverage: sample.filter(|_| interval.is_some()).map(|sample| sample.coverage()),
            reference: statistics.reference.as_deref(),
            ratio: ratio.map(|ratio| ratio.median),
            ratio_low: of_ratio.map(|interval| interval.low),
            ratio_high: of_ratio.map(|interval| interval.high),
            slower: policy.slower_seeds.filter(|_| index == 0),
            verdict: (index == 0 || policy.verdict.is_partial()).then(|| policy.verdict.label()),
        }
    })
}

/// Returns a row for each policy and metric. Missing values are empty cells.
///
/// # Errors
/// Passes on errors of the CSV writer, which do not occur in memory.
pub fn comparison_csv(statistics: &Statistics) -> io::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for record in records(statistics) {
        writer.serialize(record)?;
    }
    let bytes = writer.into_inner().map_err(|error| io::Error::other(error.to_string()))?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

/// Returns a JSON object for each policy and metric, one per line.
pub fn comparison_json_lines(statistics: &Statistics) -> String {
    let line = |record| serde_json::to_string(&record).expect("a record is a JSON object") + "\n";
    records(statistics).map(line).collect()
}

/// Returns a Markdown table with a row for each policy.
pub fn comparison_markdown(statistics: &Statistics) -> String {
    let Some(first) = statistics.policies.first() else { return String::new() };
    let names: Vec<String> = first.metrics.iter().map(|it| format!("`{}`", it.metric)).collect();
    let reference = statistics.reference.as_deref().unwrap_or("-");
    let heading =
        format!("| policy | verdict | {} | over `{reference}` | slower in |", names.join(" | "));
    let rule = "|---|---|".to_owned() + &"--:|".repeat(names.len() + 2);
    let mut lines = vec![heading, rule];
    for policy in &statistics.policies {
        let is_whole = policy.completed == policy.runs;
        let cells = policy.metrics.iter().map(|metric| markdown_cell(metric, is_whole));
        let cells: Vec<String> = cells.collect();
        let ratio = policy.metrics[0].ratio.as_ref().map_or_else(String::new, ratio_with_interval);
        let PolicyStatistics { policy: name, verdict, completed, runs, slower_seeds, .. } = policy;
        let verdict = match completed == runs {
            true => verdict.label().to_owned(),
            false => format!("{completed} of {runs} completed"),
        };
        let slower = slower_seeds.map_or_else(String::new, |slower| format!("{slower} of {runs}"));
        let cells = cells.join(" | ");
        lines.push(format!("| {name} | {verdict} | {cells} | {ratio} | {slower} |"));
    }
    lines.push(String::new());
    lines.push(match statistics.seeds {
        1 => "One seed, so there are no intervals.".to_owned(),
        seeds => format!(
            "Medians over {seeds} seeds; the intervals contain them with a probability of {:.1} %. \
             Ratios of `{}` are per seed.",
            coverage(seeds) * 100.0,
            first.metrics[0].metric
        ),
    });
    lines.join("\n") + "\n"
}

/// Formats a median, with its interval if that covers all runs.
fn markdown_cell(of_metric: &MetricStatistics, is_whole: bool) -> String {
    let MetricStatistics { metric, sample, .. } = of_metric;
    let Some(sample) = sample else { return String::new() };
    if !is_whole {
        return shown(metric, sample.median);
    }
    format!("{} {}", shown(metric, sample.median), interval(metric, sample)).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Planned, RunNumbers};

    /// Returns the statistics of two policies under five seeds.
    fn statistics() -> Statistics {
        let runs = (1..=5).flat_map(|seed| {
            let time = 1000.0 + seed as f64;
            let run = |policy: &str, time| RunNumbers {
                policy: policy.to_owned(),
                seed,
                numbers: vec![Some(time), None],
            };
            [run("a", 1.5 * time), run("b", time)]
        });
        let runs: Vec<RunNumbers> = runs.collect();
        let planned = Planned::of(&runs, true);
        Statistics::of(&["cct_ns", "packets.dropped"], &runs, None, &planned)
    }

    #[test]
    fn csv_and_json_lines_have_the_same_records() {
        let csv = comparison_csv(&statistics()).unwrap();
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines.len(), 1 + 4);
        assert!(lines[0].starts_with(STATISTICS_COLUMNS), "{csv}");
        let expected = "a,cct_ns,5,1504.5,1501.5,1507.5,0.9375,b,1.5";
        assert!(lines[1].starts_with(expected) && lines[1].ends_with(",5,behind"), "{csv}");
        assert_eq!(lines[2], "a,packets.dropped,0,,,,,b,,,,,");
        assert_eq!(lines[3], "b,cct_ns,5,1003.0,1001.0,1005.0,0.9375,b,,,,,best");
        let json = comparison_json_lines(&statistics());
        let first: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
        assert_eq!((&first["policy"], &first["slower"]), (&"a".into(), &5.into()));
        let ratio = ["ratio_low", "ratio", "ratio_high"].map(|key| first[key].as_f64().unwrap());
        assert!(ratio.iter().all(|ratio| (ratio - 1.5).abs() < 1e-9), "{first}");
    }

    /// `a` is the first and the fastest but stalls; it comes last, with the numbers that it has.
    #[test]
    fn an_incomplete_policy_is_marked_and_last_in_every_format() {
        let run = |(policy, time): (&str, Option<f64>)| RunNumbers {
            policy: policy.to_owned(),
            seed: 1,
            numbers: vec![time, Some(5.0), Some(3.0)],
        };
        let runs = [("a", None), ("b", Some(990.0)), ("c", Some(1980.0))].map(run);
        let metrics = ["cct_ns", "fct_ns.p99", "packets.dropped"];
        let statistics = Statistics::of(&metrics, &runs, None, &Planned::of(&runs, false));
        let csv = comparison_csv(&statistics).unwrap();
        let last: Vec<&str> = csv.lines().skip(1 + 6).collect();
        let expected = [
            "a,cct_ns,0,,,,,b,,,,,incomplete",
            "a,fct_ns.p99,0,,,,,b,,,,,incomplete",
            "a,packets.dropped,1,3.0,,,,b,,,,,incomplete",
        ];
        assert_eq!(last, expected, "{csv}");
        let json = comparison_json_lines(&statistics);
        let fct: serde_json::Value = serde_json::from_str(json.lines().nth(7).unwrap()).unwrap();
        assert_eq!((&fct["policy"], &fct["verdict"]), (&"a".into(), &"incomplete".into()));
        assert!(fct["median"].is_null() && fct["ratio"].is_null(), "{fct}");
        let page = comparison_markdown(&statistics);
        let rows: Vec<&str> = page.lines().skip(2).take(3).collect();
        assert!(rows[0].starts_with("| b | best |"), "{page}");
        assert_eq!(rows[1], "| c | behind | 1.980us | 5.000ns | 3 | 2.000× | 1 of 1 |");
        assert_eq!(rows[2], "| a | 0 of 1 completed |  |  | 3 |  |  |", "{page}");
    }

    #[test]
    fn markdown_has_a_row_for_each_policy() {
        let text = comparison_markdown(&statistics());
        let a = "| a | behind | 1.504us [1.502us, 1.508us] |  | 1.500× [1.500, 1.500] | 5 of 5 |\n";
        assert!(text.contains(a), "{text}");
        let b = "| b | best | 1.003us [1.001us, 1.005us] |  |  |  |\n";
        assert!(text.contains(b), "{text}");
    }
}
