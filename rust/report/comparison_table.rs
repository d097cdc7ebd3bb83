//! Tables of the statistics of a comparison: differences from a baseline, and indicators.

use super::human;
use super::table::{finish, plain};
use crate::balance::display_name;
use crate::study::statistics::Sample;
use crate::study::{MetricStatistics, PolicyStatistics, Standing, Statistics};

/// How a tie is decided, below tables that have one.
const TIE: &str = "tie: the 95 % interval of the paired difference from the best contains zero";
const TIE_OF_ONE: &str = "tie: as long as the best (one seed has no interval)";

/// The line below a table that shows who is best.
pub fn best_line(statistics: &Statistics) -> String {
    let Some(best) = statistics.best() else {
        return "best CCT: none, each policy has a run that did not complete\n".to_owned();
    };
    let tied = statistics.policies.iter().filter(|policy| policy.standing == Standing::Tied);
    let tied: Vec<&str> = tied.map(|policy| policy.policy.as_str()).collect();
    let mut line = format!("best CCT: {}", best.policy);
    if !tied.is_empty() {
        line += &format!(", tied with {}", tied.join(", "));
    }
    if statistics.seeds == 1 {
        line += " (one seed, so without an interval)";
    }
    line + "\n"
}

/// The completion time of each policy, and its paired differences from the baseline's.
pub fn difference_table(statistics: &Statistics) -> String {
    let mut table = plain();
    let baseline = &statistics.baseline;
    let minus = format!("minus {baseline}");
    let headings = ["policy", "CCT", "±", &minus, "±", "in %", "verdict"];
    // A single seed has no intervals.
    let is_shown = |column: usize| statistics.seeds > 1 || headings[column] != "±";
    let columns: Vec<usize> = (0..headings.len()).filter(|&column| is_shown(column)).collect();
    table.set_header(columns.iter().map(|&column| headings[column]));
    for policy in &statistics.policies {
        let row = difference_row(statistics, policy);
        table.add_row(columns.iter().map(|&column| &row[column]));
    }
    let heading = match statistics.seeds {
        1 => format!("CCT and its difference from {baseline}, same seed"),
        seeds => format!(
            "CCT and its difference from {baseline}: means over {seeds} seeds, in pairs of one \
             seed;\n± is half the 95 % interval (Student's t)"
        ),
    };
    let mut text = format!("{heading}\n\n{}", finish(table, 1));
    if statistics.policies.iter().any(|policy| policy.standing == Standing::Tied) {
        let how = if statistics.seeds == 1 { TIE_OF_ONE } else { TIE };
        text += &format!("{how}\n");
    }
    text
}

fn difference_row(statistics: &Statistics, policy: &PolicyStatistics) -> [String; 7] {
    let MetricStatistics { metric, sample, difference } = &policy.metrics[0];
    let mean = |sample: &Option<Sample>| sample.map_or("-".to_owned(), |it| shown(metric, it.mean));
    let baseline = statistics.policies.iter().find(|it| it.policy == statistics.baseline);
    let of_baseline = baseline.and_then(|it| it.metrics[0].sample);
    let percent = difference
        .zip(of_baseline)
        .map(|(difference, baseline)| format!("{:+.1}", difference.mean / baseline.mean * 100.0));
    let verdict = match policy.standing {
        standing if standing.is_partial() => completed_of(policy),
        standing => standing.word().to_owned(),
    };
    let is_baseline = policy.policy == statistics.baseline;
    [
        display_name(&policy.policy).into_owned(),
        mean(sample),
        half(metric, sample),
        match difference {
            _ if is_baseline => "baseline".to_owned(),
            Some(difference) => signed(metric, difference.mean),
            None => "-".to_owned(),
        },
        half(metric, difference),
        percent.unwrap_or_default(),
        verdict,
    ]
}

/// How many of its runs completed.
pub(super) fn completed_of(policy: &PolicyStatistics) -> String {
    format!("{} of {}", policy.completed, policy.runs)
}

/// The indicators of the IETF's draft, a row for each policy, below a title.
pub fn indicator_table(statistics: &Statistics, title: &str) -> String {
    let mut table = plain();
    table.set_header(["load balancing", "MMR", "JFI", "OOO/s", "retx/s", "goodput", "CCT"]);
    for policy in &statistics.policies {
        let order = [1, 2, 3, 4, 5, 0];
        let cell = |index: usize| {
            let MetricStatistics { metric, sample, .. } = &policy.metrics[index];
            let Some(sample) = sample else { return "-".to_owned() };
            match half(metric, &Some(*sample)).as_str() {
                "" => shown(metric, sample.mean),
                half => format!("{}\n±{half}", shown(metric, sample.mean)),
            }
        };
        let mut cells = order.map(cell);
        if policy.standing.is_partial() {
            let [.., time] = &mut cells;
            time.push_str(&format!("\n{}", completed_of(policy)));
        }
        let name = display_name(&policy.policy).into_owned();
        table.add_row([vec![name], cells.to_vec()].concat());
    }
    let seeds = match statistics.seeds {
        1 => "one seed".to_owned(),
        seeds => format!("{seeds} seeds, mean ± half the 95 % interval"),
    };
    format!("{title}; {seeds}\n\n{}", finish(table, 1))
}

/// Half the 95 % interval; empty of a single value and of equal values.
pub(super) fn half(metric: &str, sample: &Option<Sample>) -> String {
    let half = sample.and_then(|sample| sample.half_width()).filter(|&half| half > 0.0);
    half.map_or_else(String::new, |half| shown(metric, half))
}

/// A difference with its sign.
fn signed(metric: &str, value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        value if value < 0.0 => format!("-{}", shown(metric, -value)),
        value => format!("+{}", shown(metric, value)),
    }
}

/// A value for people, in the unit that the name of its metric has.
pub(super) fn shown(metric: &str, value: f64) -> String {
    match metric {
        "slowdown" | "max_mean_ratio" => format!("{value:.3}"),
        "jain_index" => format!("{value:.4}"),
        "goodput_percent" => format!("{value:.1}%"),
        "queue_bytes_max" => human::bytes(value),
        "bytes_per_s" => human::bytes(value) + "/s",
        _ if metric.contains("_ns") => human::nanoseconds(value),
        _ => human::count(value),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::study::RunNumbers;

    fn statistics(seeds: u64) -> Statistics {
        let runs = sample::comparison(seeds);
        let numbers = runs.iter().map(|run| {
            let run = serde_json::to_value(run).expect("a summary is a JSON object");
            RunNumbers::of(&run, RunNumbers::OF_FABRIC)
        });
        Statistics::of(RunNumbers::OF_FABRIC, &numbers.collect::<Vec<_>>(), "ecmp")
    }

    #[test]
    fn differences_fit_into_80_characters() {
        let text = difference_table(&statistics(3));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        sample::snapshot("compare-differences", &text);
    }

    #[test]
    fn the_best_is_named_with_its_ties() {
        assert_eq!(best_line(&statistics(3)), "best CCT: ecmp, tied with switch-rr-shuffled\n");
        let one =
            "best CCT: ecmp, tied with switch-rr-shuffled (one seed, so without an interval)\n";
        assert_eq!(best_line(&statistics(1)), one);
    }
}
