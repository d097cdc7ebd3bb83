//! Tables of a comparison's statistics: ratios with verdicts, and indicators.

use super::compare_table::wrapped;
use super::human;
use super::table::{finish, plain, wrap};
use crate::balance::display_name;
use crate::metrics::{INDICATORS, Metric};
use crate::statistics::{MIN_SEEDS, Sample, coverage};
use crate::{
    AssertionOutcome, EQUAL_WITHIN, MetricStatistics, PolicyStatistics, PolicyVerdict, Reason,
    Statistics, Unranked,
};

/// Returns the text below the table of a comparison. It shows the ratios of completion times with
/// the verdict on each policy, unless there is a single run. The last line names the best policy or
/// says why no policy is best.
pub fn verdicts(statistics: &Statistics) -> String {
    let best = best_line(statistics);
    match statistics.seeds.max(statistics.policies.len()) {
        1 => best,
        _ => format!("{}\n{}{best}", ratio_table(statistics), reason_lines(statistics)),
    }
}

/// Returns a table of assertions with their medians and verdicts.
pub fn assertion_table(outcomes: &[AssertionOutcome]) -> String {
    let mut table = plain();
    table.set_header(["assertion", "median", "verdict"]);
    for AssertionOutcome { assertion, median, holds, .. } in outcomes {
        let median = match median {
            Some(median) if median.fract() == 0.0 => median.to_string(),
            Some(median) => human::ratio(*median),
            None => "-".to_owned(),
        };
        let verdict = if *holds { "holds" } else { "does not hold" };
        table.add_row([assertion.as_str(), &median, verdict]);
    }
    finish(table, 1)
}

/// Returns a paragraph for the reason of each policy, and an empty line; empty without reasons.
fn reason_lines(statistics: &Statistics) -> String {
    let Some(Reason { reference, .. }) = statistics.reasons.first() else { return String::new() };
    let mut text = format!("why, with the value of {} in brackets\n\n", display_name(reference));
    for Reason { policy, reason, .. } in &statistics.reasons {
        wrap(&mut text, &format!("{}: {reason}", display_name(policy)));
    }
    text + "\n"
}

/// Returns the line that names the best policy and its equals, or says why no policy is best.
fn best_line(statistics: &Statistics) -> String {
    let Some(best) = statistics.best() else {
        return format!("best CCT: none, {}\n", why_unranked(statistics));
    };
    let mut line = format!("best CCT: {}", best.policy);
    for (verdict, words) in
        [(PolicyVerdict::Tied, "tied with"), (PolicyVerdict::Unclear, "not distinguishable from")]
    {
        let alike = statistics.policies.iter().filter(|policy| policy.verdict == verdict);
        let alike: Vec<&str> = alike.map(|policy| policy.policy.as_str()).collect();
        if !alike.is_empty() {
            line += &format!(", {words} {}", alike.join(", "));
        }
    }
    line + "\n"
}

fn why_unranked(statistics: &Statistics) -> String {
    match (statistics.unranked, statistics.seeds) {
        (Some(Unranked::Interrupted), _) => "the comparison was interrupted".to_owned(),
        (Some(Unranked::FewSeeds), 1) => {
            format!("one seed is too few to rank policies; use --seeds {MIN_SEEDS}")
        }
        (Some(Unranked::FewSeeds), seeds) => {
            format!("{seeds} seeds are too few to rank policies; use --seeds {MIN_SEEDS}")
        }
        (Some(Unranked::Incomplete) | None, _) => {
            "each policy has a run that did not complete".to_owned()
        }
    }
}

/// Shows each policy's interval of the completion time, ratio to the reference, and verdict.
fn ratio_table(statistics: &Statistics) -> String {
    let mut table = plain();
    let reference = statistics.reference.as_deref().unwrap_or("-");
    let over = format!("over {reference}");
    let headings = ["policy", "CCT from, to", &over, "slower in", "verdict"];
    // A single seed has no intervals.
    let is_shown = |column: usize| statistics.seeds > 1 || column != 1 && column != 3;
    let columns: Vec<usize> = (0..headings.len()).filter(|&column| is_shown(column)).collect();
    table.set_header(columns.iter().map(|&column| headings[column]));
    for policy in &statistics.policies {
        let row = ratio_row(statistics, policy);
        table.add_row(columns.iter().map(|&column| &row[column]));
    }
    let heading = match statistics.seeds {
        1 => format!("CCT over that of {reference}, same seed"),
        seeds => format!(
            "CCT over that of {reference}, median of {seeds} seeds; a median is in [from, to]\n\
             with a probability of {:.1} %, whatever the distribution",
            coverage(seeds) * 100.0
        ),
    };
    let is_there = |verdict| statistics.policies.iter().any(|it| it.verdict == verdict);
    let mut text = format!("{heading}\n\n{}", finish(table, 1));
    if is_there(PolicyVerdict::Tied) {
        text += &format!("tie: within {} % of the best\n", EQUAL_WITHIN * 100.0);
    }
    if is_there(PolicyVerdict::Unclear) {
        text += "unclear: the ratio to the best may be 1; run more seeds\n";
    }
    text
}

fn ratio_row(statistics: &Statistics, policy: &PolicyStatistics) -> [String; 5] {
    let MetricStatistics { metric, sample, ratio } = &policy.metrics[0];
    let verdict = match policy.verdict {
        verdict if verdict.is_partial() => completed_of(policy),
        verdict => verdict.label().to_owned(),
    };
    let is_reference = statistics.reference.as_ref() == Some(&policy.policy);
    [
        wrapped(&display_name(&policy.policy)),
        match sample {
            // Values of an incomplete policy come from its completed runs, so the interval would be
            // biased.
            Some(sample) if !policy.verdict.is_partial() => interval(metric, sample),
            _ => "-".to_owned(),
        },
        match ratio {
            _ if is_reference => "1".to_owned(),
            Some(ratio) => ratio_with_interval(ratio),
            None => "-".to_owned(),
        },
        match policy.slower_seeds {
            Some(slower) => format!("{slower} of {}", policy.runs),
            None => "-".to_owned(),
        },
        verdict,
    ]
}

/// Formats a ratio and its interval, if it has one: `2.740× [2.467, 15.77]`.
pub(super) fn ratio_with_interval(ratio: &Sample) -> String {
    let median = format!("{}×", human::ratio(ratio.median));
    match ratio.interval() {
        Some(it) => format!("{median} [{}, {}]", human::ratio(it.low), human::ratio(it.high)),
        None => median,
    }
}

/// Formats an interval, `[1.065ms, 6.546ms]`; empty for a single value and for equal values.
pub(super) fn interval(metric: &str, sample: &Sample) -> String {
    let interval = sample.interval().filter(|it| it.low < it.high);
    let shown = |value| shown(metric, value);
    interval.map_or_else(String::new, |it| format!("[{}, {}]", shown(it.low), shown(it.high)))
}

/// Formats the number of runs that completed.
pub(super) fn completed_of(policy: &PolicyStatistics) -> String {
    format!("{} of {}", policy.completed, policy.runs)
}

/// Returns the indicators of the IETF's draft, a row for each policy, below `title`.
pub fn indicator_table(statistics: &Statistics, title: &str) -> String {
    let mut table = plain();
    let names = INDICATORS.iter().map(|metric| metric.title);
    table.set_header(["load balancing"].into_iter().chain(names).chain(["CCT"]));
    for policy in &statistics.policies {
        let order = [1, 2, 3, 4, 5, 0];
        let cell = |index: usize| {
            let MetricStatistics { metric, sample, .. } = &policy.metrics[index];
            sample.map_or_else(|| "-".to_owned(), |sample| shown(metric, sample.median))
        };
        let mut cells = order.map(cell);
        if policy.verdict.is_partial() {
            let [.., time] = &mut cells;
            time.push_str(&format!("\n{}", completed_of(policy)));
        }
        let name = display_name(&policy.policy).into_owned();
        table.add_row([vec![name], cells.to_vec()].concat());
    }
    let seeds = match statistics.seeds {
        1 => "one seed".to_owned(),
        seeds => format!("medians of {seeds} seeds"),
    };
    format!("{title}; {seeds}\n\n{}", finish(table, 1))
}

/// Formats a value of a metric for people.
pub(super) fn shown(metric: &str, value: f64) -> String {
    Metric::find(metric).map_or(human::count as fn(f64) -> String, |it| it.show)(value)
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::{Planned, RunNumbers};

    fn statistics(seeds: u64) -> Statistics {
        sample::statistics(&sample::comparison(seeds))
    }

    #[test]
    fn ratios_fit_into_80_characters() {
        let text = verdicts(&statistics(5));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        sample::snapshot("compare-ratios", &text);
    }

    #[test]
    fn the_best_policy_is_named_with_its_equals() {
        assert_eq!(best_line(&statistics(5)), "best CCT: ecmp, tied with switch-rr-shuffled\n");
    }

    #[test]
    fn with_few_seeds_no_policy_is_best_and_the_reason_is_given() {
        let one = "best CCT: none, one seed is too few to rank policies; use --seeds 5\n";
        assert!(verdicts(&statistics(1)).ends_with(one));
        let three = "best CCT: none, 3 seeds are too few to rank policies; use --seeds 5\n";
        assert!(verdicts(&statistics(3)).ends_with(three));
    }

    #[test]
    fn an_interrupted_comparison_has_no_best() {
        let runs = sample::comparison(5);
        let numbers = RunNumbers::of_summaries(&runs[..7], RunNumbers::FABRIC_METRICS);
        let policies = ["ecmp", "switch-rr-shuffled"].map(str::to_owned).to_vec();
        let planned = Planned { policies, seeds: 5, is_random: true };
        let text = verdicts(&Statistics::of(RunNumbers::FABRIC_METRICS, &numbers, None, &planned));
        assert!(text.ends_with("best CCT: none, the comparison was interrupted\n"), "{text}");
        assert!(text.contains(" unranked\n") && text.contains(" 2 of 5\n"), "{text}");
    }
}
