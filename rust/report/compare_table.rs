//! The table that compares several policies.

use comfy_table::ColumnConstraint;

use super::comparison_table::completed_of;
use super::table::{finish, plain};
use super::{Summary, human, run_table};
use crate::balance::display_name;
use crate::fluid::Fidelity;
use crate::study::statistics::Sample;
use crate::study::{PolicyStatistics, Statistics};

/// The headings of the columns, on two lines so that ten columns fit into 80 characters.
const HEADINGS: [&str; 10] = [
    "\npolicy",
    "\nCCT",
    "\n/bound",
    "p99\nFCT",
    "max\nqueue",
    "re-\nsent",
    "\ndropped",
    "out of\norder",
    "extra\nQPs",
    "wall\ntime",
];

/// The maximum width of the policy column, in characters; longer names continue in the next line.
const POLICY_WIDTH: usize = 12;

/// A table with a row for each policy, in the order of `statistics`: after the others those with a
/// run that did not complete or is missing, of which there is the number of those that completed.
/// Messages that completed in a run that did not are no measure: they have no FCT.
/// With several seeds a row holds means, and below the means of times half their 95 % intervals.
///
/// CCT is the completion time of the whole workload, `/bound` is CCT over the lower bound, and
/// extra QPs is the maximum over all NICs.
pub fn compare_table(runs: &[Summary], statistics: &Statistics) -> String {
    let mut table = plain();
    table.set_header(HEADINGS);
    for policy in &statistics.policies {
        let own = runs.iter().filter(|run| run.policy == policy.policy);
        table.add_row(row(policy, &own.collect::<Vec<_>>()));
    }
    for column in table.column_iter_mut() {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    title(runs) + &finish(table, 1)
}

fn title(runs: &[Summary]) -> String {
    let Some(first) = runs.first() else { return String::new() };
    let mut seeds: Vec<u64> = runs.iter().map(|run| run.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let shown_seeds = match seeds.as_slice() {
        [one] => format!("seed {one}"),
        [low, .., high] => format!("seeds {low} to {high} (means ± half the 95 % interval)"),
        [] => String::new(),
    };
    let separator = if seeds.len() > 1 { "\n" } else { "; " };
    // Where policies cut messages in their own ways, or take longer paths, the least bound holds
    // for all of them.
    let least = |&seed: &u64| {
        let of_seed = runs.iter().filter(|run| run.seed == seed);
        of_seed.map(|run| run.bound_ns).fold(f64::INFINITY, f64::min)
    };
    let bound = Spread::of(seeds.iter().map(least));
    let fidelity = match first.fidelity {
        Fidelity::Packet => "",
        Fidelity::Fluid => ", fluid",
    };
    format!(
        "{}: {}, {}{fidelity}\n{shown_seeds}{separator}lower bound of the CCT: {}\n\n",
        first.scenario,
        run_table::fabric(first),
        human::plural(first.messages, "message"),
        bound.times().replace('\n', " ")
    )
}

fn row(policy: &PolicyStatistics, runs: &[&Summary]) -> [String; 10] {
    let spread =
        |value: fn(&Summary) -> Option<f64>| Spread::of(runs.iter().filter_map(|run| value(run)));
    let count = |value: fn(&Summary) -> Option<u64>| {
        let values = Spread::of(runs.iter().filter_map(|run| Some(value(run)? as f64)));
        if values.count == 0 { "-".to_owned() } else { human::count(values.mean) }
    };
    let queue = Spread::of(runs.iter().filter_map(|run| Some(run.queue_bytes_max? as f64)));
    let mut cct = spread(|run| run.cct_ns).times();
    if policy.completed == 0 && policy.missing == 0 {
        cct = "open".to_owned();
    } else if policy.completed < policy.runs {
        cct.push_str(&format!("\n{}", completed_of(policy)));
    }
    let wall = Spread::of(runs.iter().map(|run| run.wall_s));
    [
        wrapped(&display_name(&policy.policy)),
        cct,
        spread(|run| run.slowdown).ratio(),
        spread(|run| run.cct_ns.and(run.fct_ns.p99)).times(),
        if queue.count == 0 { "-".to_owned() } else { human::bytes(queue.mean) },
        count(|run| Some(run.packets?.retransmitted)),
        count(|run| Some(run.packets?.dropped)),
        count(|run| Some(run.packets?.out_of_order)),
        count(|run| Some(run.qps.extra_per_nic_max)),
        if wall.count == 0 { "-".to_owned() } else { human::seconds(wall.mean) },
    ]
}

/// Breaks a name that is too long for its column after a hyphen, which is kept, or at a space,
/// which is not.
fn wrapped(name: &str) -> String {
    let mut lines = vec![String::new()];
    for part in name.split_inclusive(['-', ' ']) {
        match lines.last_mut() {
            Some(line) if line.is_empty() || line.len() + part.len() <= POLICY_WIDTH => {
                line.push_str(part);
            }
            _ => lines.push(part.to_owned()),
        }
    }
    lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
}

/// The mean of a set of values and half its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Spread {
    count: usize,
    mean: f64,
    /// 0 of a single value and of equal values.
    half: f64,
}

impl Spread {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.collect();
        match Sample::of(&values) {
            Some(sample) => Self {
                count: sample.count,
                mean: sample.mean,
                half: sample.half_width().unwrap_or(0.0),
            },
            None => Self { count: 0, mean: 0.0, half: 0.0 },
        }
    }

    fn times(self) -> String {
        match self.count {
            0 => "-".to_owned(),
            _ if self.half == 0.0 => human::nanoseconds(self.mean),
            _ => format!("{}\n±{}", human::nanoseconds(self.mean), human::deviation(self.half)),
        }
    }

    fn ratio(self) -> String {
        let decimals = if self.mean < 100.0 { 3 } else { 1 };
        match self.count {
            0 => "-".to_owned(),
            _ if self.half == 0.0 => format!("{:.decimals$}", self.mean),
            _ => format!("{:.decimals$}\n±{:.decimals$}", self.mean, self.half),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::study::{Planned, RunNumbers};

    fn table(runs: &[Summary]) -> String {
        compare_table(runs, &Statistics::of_summaries(RunNumbers::OF_FABRIC, runs, "ecmp"))
    }

    #[test]
    fn a_policy_with_missing_runs_comes_last_with_their_number() {
        let runs = sample::comparison(2);
        let policies: Vec<String> = ["ecmp", "reps"].map(str::to_owned).to_vec();
        let planned = Planned { policies, seeds: 3 };
        let numbers = RunNumbers::of_summaries(&runs, RunNumbers::OF_FABRIC);
        let metrics = RunNumbers::OF_FABRIC;
        let statistics = Statistics::of_planned(metrics, &numbers, "ecmp", &planned);
        let text = compare_table(&runs, &statistics);
        let rows: Vec<&str> = text.lines().rev().take_while(|line| !line.is_empty()).collect();
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let of_reps = rows.iter().position(|line| line.starts_with("reps")).expect("it is named");
        assert_eq!(words(rows[of_reps])[..4], ["reps", "-", "-", "-"], "{text}");
        assert_eq!(words(rows[of_reps - 1]), ["0", "of", "3"], "{text}");
        assert!(rows.iter().any(|line| words(line).join(" ").starts_with("2 of 3")), "{text}");
    }

    #[test]
    fn ten_columns_fit_into_80_characters() {
        let text = table(&sample::comparison(1));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        sample::snapshot("compare-table", &text);
    }

    #[test]
    fn a_policy_that_did_not_complete_comes_last_without_an_fct() {
        let mut runs = sample::comparison(1);
        let first = runs[0].policy.clone();
        runs[0] = Summary { policy: first.clone(), ..sample::stalled_summary() };
        assert!(runs[0].fct_ns.p99.is_some(), "of the messages that completed");
        let text = table(&runs);
        let place = |name: &str| text.lines().position(|line| line.starts_with(name)).expect(name);
        assert!(place(&first) > place("switch-rr-"), "{text}");
        let row: Vec<&str> = text.lines().nth(place(&first)).unwrap().split_whitespace().collect();
        assert_eq!(row[..4], [first.as_str(), "open", "-", "-"], "{text}");
    }

    #[test]
    fn the_longest_name_and_a_wall_time_of_six_characters_fit_too() {
        for seeds in [1, 3] {
            let mut runs = sample::comparison(seeds);
            runs.iter_mut().for_each(|run| run.wall_s = 0.001_92);
            runs[0].policy = "prime".to_owned();
            let text = table(&runs);
            assert!(text.contains("\n(reconstructed)"), "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        }
    }

    #[test]
    fn several_seeds_give_means_and_intervals() {
        let text = table(&sample::comparison(3));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        sample::snapshot("compare-table-seeds", &text);
    }

    #[test]
    fn long_names_break_after_hyphens() {
        assert_eq!(wrapped("switch-rr-shuffled"), "switch-rr-\nshuffled");
        assert_eq!(wrapped("ethereal"), "ethereal");
        assert_eq!(wrapped("subflow-4"), "subflow-4");
        assert_eq!(wrapped(&display_name("prime")), "prime\n(reconstructed)");
    }

    #[test]
    fn ratios_have_no_more_decimals_than_they_need() {
        let ratio = |values: &[f64]| Spread::of(values.iter().copied()).ratio();
        assert_eq!(ratio(&[1.0402]), "1.040");
        assert_eq!(ratio(&[302.284]), "302.3");
        assert_eq!(ratio(&[300.0, 302.0]), "301.0\n±12.7");
        assert_eq!(ratio(&[]), "-");
    }

    #[test]
    fn no_values_and_equal_values_have_no_interval() {
        assert_eq!(Spread::of([].into_iter()).times(), "-");
        assert_eq!(Spread::of([8_335.1; 3].into_iter()).times(), "8.335us", "equal values");
    }
}
