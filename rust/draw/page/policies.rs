//! The table of policies: by median at one point, or by swept value.

use super::html::{escape, number_cell, row_heading, table};
use super::words::{capital, short, value};
use crate::report::human;
use crate::results::{Standing, Standings, StandingsPoint};
use crate::study::PolicyVerdict::{self, Best, Tied, Unclear};
use crate::study::metrics::Metric;
use crate::study::statistics::{MIN_SEEDS, coverage};
use crate::study::{EQUAL_WITHIN, Reason, Unranked};

/// Maximum number of points in an open table.
const MAX_OPEN: usize = 24;

/// Returns the table with its legend and the reasons; empty if there is nothing to compare.
pub(super) fn section(of: &Standings, metric: &str) -> String {
    let body = match &of.points[..] {
        [] => return String::new(),
        [point] if point.policies.len() < 2 => return String::new(),
        [point] => at_point(of, point, metric),
        points => by_point(of, points, metric),
    };
    body + &legend(&of.points) + &reasons(&of.reasons)
}

/// Returns the heading of a metric's column.
fn title(metric: &str) -> &str {
    Metric::find(metric).map_or(metric, |it| it.title)
}

/// Returns the description of a metric with a capital letter.
fn description(metric: &str) -> String {
    capital(Metric::find(metric).map_or(metric, |it| it.description))
}

fn seeds_of(points: &[StandingsPoint]) -> (usize, String) {
    match points.iter().map(|point| point.seeds).max().unwrap_or(0) {
        seeds @ (0 | 1) => (seeds, "one run each".to_owned()),
        seeds => (seeds, format!("medians of {seeds} seeds")),
    }
}

/// Returns a row for each policy, the best first.
fn at_point(of: &Standings, point: &StandingsPoint, metric: &str) -> String {
    let mut policies: Vec<&Standing> = point.policies.iter().collect();
    let place = |it: &Standing| it.median.unwrap_or(f64::INFINITY);
    policies.sort_by(|a, b| {
        let is_partial = |it: &Standing| it.verdict.is_some_and(PolicyVerdict::is_partial);
        is_partial(a).cmp(&is_partial(b)).then(place(a).total_cmp(&place(b)))
    });
    if point.policies.iter().all(|it| it.ratio.is_none_or(|(ratio, _)| ratio <= 1.0)) {
        // More is better.
        let whole = policies.iter().take_while(|it| it.completed == it.runs).count();
        policies[..whole].reverse();
    }
    let has_intervals = policies.iter().any(|it| it.interval.is_some());
    let has_ratios = policies.iter().any(|it| it.ratio.is_some());
    let others = shown_others(&policies);
    let rows: Vec<String> = policies
        .iter()
        .map(|it| {
            let mut row = row_heading(&it.policy) + &number_cell(it.median, |of| value(metric, of));
            if has_intervals {
                row += &ends(it.interval, |of| value(metric, of));
            }
            if has_ratios {
                let (ratio, interval) = it.ratio.unzip();
                row += &number_cell(ratio, |of| human::ratio(of) + "×");
                if has_intervals {
                    row += &ends(interval.flatten(), human::ratio);
                }
            }
            row += &format!("<td>{}</td>", verdict(it));
            let other = |name: &str| it.others.iter().find(|(it, _)| *it == name);
            let cell = |name: &&str| number_cell(other(name).map(|it| it.1), |of| value(name, of));
            row + &others.iter().map(cell).collect::<String>()
        })
        .collect();
    let over = format!("over {}", point.reference.as_deref().unwrap_or("-"));
    let mut columns = vec![short(&of.compared), title(metric)];
    let ends = ["low", "high"];
    columns.extend(ends.iter().filter(|_| has_intervals));
    columns.extend(has_ratios.then_some(over.as_str()));
    columns.extend(ends.iter().filter(|_| has_intervals && has_ratios));
    columns.push("verdict");
    columns.extend(others.iter().map(|name| title(name)));
    let (seeds, of_seeds) = seeds_of(std::slice::from_ref(point));
    let mut caption = format!("{}: {of_seeds}", description(metric));
    if has_intervals {
        let probability = coverage(seeds) * 100.0;
        caption +=
            &format!("; the median is in [low, high] with a probability of {probability:.1} %");
    }
    table(&caption, &columns, &rows)
}

/// Returns the other metrics that have a value other than zero.
fn shown_others<'a>(policies: &[&'a Standing]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, value) in policies.iter().flat_map(|it| &it.others) {
        if *value != 0.0 && !names.contains(name) {
            names.push(name);
        }
    }
    let order = |name: &&str| policies[0].others.iter().position(|(it, _)| it == name);
    names.sort_by_key(order);
    names
}

/// Returns the cells of the ends of an interval.
fn ends(interval: Option<(f64, f64)>, show: impl Fn(f64) -> String) -> String {
    let (low, high) = interval.unzip();
    [low, high].map(|end| number_cell(end, &show)).concat()
}

/// Returns the verdict on a policy.
fn verdict(of: &Standing) -> String {
    match of.verdict {
        None => String::new(),
        Some(verdict) if verdict.is_partial() => {
            format!("<span class=\"bad\">{} of {} completed</span>", of.completed, of.runs)
        }
        Some(Best) => "<strong>best</strong>".to_owned(),
        Some(verdict) => verdict.label().to_owned(),
    }
}

/// Returns a row for each point and a column for each policy. A table of many points is folded, and
/// a count of the verdicts precedes it.
fn by_point(of: &Standings, points: &[StandingsPoint], metric: &str) -> String {
    let policies = of.policies();
    let rows: Vec<String> = points.iter().map(|point| row(point, &policies, metric)).collect();
    let keys = of.keys.iter().map(|key| short(key));
    let names = policies.iter().map(|it| if it.is_empty() { title(metric) } else { *it });
    let columns: Vec<&str> = keys.chain(names).collect();
    let ratios = match policies.len() {
        1 => "",
        _ => "; below each, its ratio to the best and the verdict",
    };
    let caption = format!("{}: {}{ratios}", description(metric), seeds_of(points).1);
    let all = table(&caption, &columns, &rows);
    if points.len() <= MAX_OPEN {
        return all;
    }
    let counts = if policies.len() > 1 { counts(of, points) } else { String::new() };
    let count = points.len();
    format!("{counts}<details><summary>Show all {count} points</summary>\n{all}</details>\n")
}

fn row(point: &StandingsPoint, policies: &[&str], metric: &str) -> String {
    let mut row: String = point.labels.iter().map(|label| row_heading(label)).collect();
    for policy in policies {
        let Some(it) = point.of(policy) else {
            row += &number_cell(None, human::ratio);
            continue;
        };
        let Some(median) = it.median else {
            row += &format!("<td>{}</td>", verdict(it));
            continue;
        };
        let ratio = it.ratio.map_or_else(String::new, |(it, _)| human::ratio(it) + "× ");
        let below = match (policies.len(), ratio + &verdict(it)) {
            (2.., words) if !words.is_empty() => format!("<br><small>{words}</small>"),
            _ => String::new(),
        };
        let ends = it.interval.map_or_else(String::new, |(low, high)| {
            let words = format!("{} to {}", value(metric, low), value(metric, high));
            format!(" data-low=\"{low}\" data-high=\"{high}\" title=\"{words}\"")
        });
        let shown = escape(&value(metric, median));
        row += &format!("<td data-value=\"{median}\"{ends}>{shown}{below}</td>");
    }
    row
}

/// Returns a table of the number of points with each verdict.
fn counts(of: &Standings, points: &[StandingsPoint]) -> String {
    let verdicts = [Best, Tied, Unclear, PolicyVerdict::Behind];
    let rows: Vec<String> = of
        .policies()
        .iter()
        .map(|policy| {
            let all = || points.iter().filter_map(|point| point.of(policy));
            let count = |verdict| all().filter(|it| it.verdict == Some(verdict)).count() as f64;
            let partial = all().filter(|it| it.verdict.is_some_and(PolicyVerdict::is_partial));
            let partial = partial.count() as f64;
            let counts = verdicts.map(count).into_iter().chain([partial]);
            let counts: String = counts.map(|it| number_cell(Some(it), human::count)).collect();
            let most = all().filter_map(|it| Some(it.ratio?.0)).reduce(f64::max);
            row_heading(policy) + &counts + &number_cell(most, |it| human::ratio(it) + "×")
        })
        .collect();
    let caption = format!("Verdicts at {} points", points.len());
    let columns =
        [short(&of.compared), "best", "tie", "unclear", "behind", "incomplete", "largest ratio"];
    table(&caption, &columns, &rows)
}

/// Explains the verdicts of a table.
fn legend(points: &[StandingsPoint]) -> String {
    let has = |verdict| points.iter().any(|point| !point.with(&[verdict]).is_empty());
    let mut lines: Vec<String> = Vec::new();
    if has(Tied) {
        lines.push(format!("tie: within {} % of the best", EQUAL_WITHIN * 100.0));
    }
    if has(Unclear) {
        lines.push("unclear: the ratio to the best may be 1; run more seeds".to_owned());
    }
    if points.iter().any(|point| point.unranked == Some(Unranked::FewSeeds)) {
        lines.push(format!("unranked: a ranking needs {MIN_SEEDS} seeds"));
    }
    match lines.is_empty() {
        true => String::new(),
        false => format!("<p class=\"hint\">{}</p>\n", lines.join("<br>")),
    }
}

/// Returns the reasons for the differences between policies.
fn reasons(reasons: &[Reason]) -> String {
    let Some(Reason { reference, .. }) = reasons.first() else { return String::new() };
    let item = |it: &Reason| {
        let (policy, reason) = (escape(&it.policy), escape(&it.reason));
        format!("<li><strong>{policy}</strong>: {reason}</li>\n")
    };
    let items: String = reasons.iter().map(item).collect();
    let reference = escape(reference);
    format!("<h3>Why, against {reference}</h3>\n<ul class=\"reasons\">\n{items}</ul>\n")
}
