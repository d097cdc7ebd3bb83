//! Table that compares several policies.

use comfy_table::ColumnConstraint;

use super::comparison_table::completed_of;
use super::table::{finish, plain};
use super::{Summary, human, run_table};
use crate::balance::display_name;
use crate::fluid::Fidelity;
use crate::statistics::Sample;
use crate::{PolicyStatistics, Statistics};

/// Headings of the columns, on two lines so that ten columns fit into 80 characters.
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

/// Maximum width of the policy column, in characters. Longer names continue on the next line.
const POLICY_WIDTH: usize = 12;

/// Returns a table with a row for each policy, in the order of `statistics`. Policies with an
/// incomplete or missing run come last and show the number of completed runs. They have no FCT,
/// because the messages that did complete are no measure. With several seeds a row holds medians.
///
/// CCT is the completion time of the whole workload, and extra QPs is the maximum over all NICs.
/// `/bound` is CCT over the lower bound in the title. If runs have different bounds, the heading
/// says that each ratio is over the run's own bound.
pub fn compare_table(runs: &[Summary], statistics: &Statistics) -> String {
    let mut table = plain();
    let bounds = Bounds::of(runs);
    let mut headings = HEADINGS;
    if bounds.differ() {
        headings[2] = "/own\nbound";
    }
    table.set_header(headings);
    for policy in &statistics.policies {
        let own = runs.iter().filter(|run| run.policy == policy.policy);
        table.add_row(row(policy, &own.collect::<Vec<_>>()));
    }
    for column in table.column_iter_mut() {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    title(runs, &bounds) + &finish(table, 1)
}

fn title(runs: &[Summary], bounds: &Bounds) -> String {
    let Some(first) = runs.first() else { return String::new() };
    let mut seeds: Vec<u64> = runs.iter().map(|run| run.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let shown_seeds = match seeds.as_slice() {
        [one] => format!("seed {one}"),
        [low, .., high] => format!("seeds {low} to {high} (medians)"),
        [] => String::new(),
    };
    let fidelity = match first.fidelity {
        Fidelity::Packet => "",
        Fidelity::Fluid => ", fluid",
    };
    format!(
        "{}: {}, {}{fidelity}\n{shown_seeds}; {}\n\n",
        first.scenario,
        run_table::fabric(first),
        human::plural(first.messages, "message"),
        bounds.description()
    )
}

/// Range of the lower bounds of all runs. Bounds differ between policies that cut messages
/// differently, have other headers or take longer paths, and between the workloads of seeds.
struct Bounds {
    least: f64,
    greatest: f64,
}

impl Bounds {
    fn of(runs: &[Summary]) -> Self {
        let bounds = || runs.iter().map(|run| run.bound_ns);
        Self {
            least: bounds().fold(f64::INFINITY, f64::min),
            greatest: bounds().fold(0.0, f64::max),
        }
    }

    fn differ(&self) -> bool {
        self.least < self.greatest
    }

    fn description(&self) -> String {
        let [least, greatest] = [self.least, self.greatest].map(human::nanoseconds);
        match self.differ() {
            true => format!("lower bounds of the CCT: {least} to {greatest}"),
            false => format!("lower bound of the CCT: {least}"),
        }
    }
}

fn row(policy: &PolicyStatistics, runs: &[&Summary]) -> [String; 10] {
    let median = |value: &dyn Fn(&Summary) -> Option<f64>, show: fn(f64) -> String| {
        let values: Vec<f64> = runs.iter().filter_map(|run| value(run)).collect();
        Sample::of(&values).map_or_else(|| "-".to_owned(), |sample| show(sample.median))
    };
    let count = |value: fn(&Summary) -> Option<u64>| {
        median(&move |run| value(run).map(|count| count as f64), human::count)
    };
    let mut cct = median(&|run| run.cct_ns, human::nanoseconds);
    if policy.completed == 0 && policy.missing == 0 {
        cct = "open".to_owned();
    } else if policy.completed < policy.runs {
        cct.push_str(&format!("\n{}", completed_of(policy)));
    }
    [
        wrapped(&display_name(&policy.policy)),
        cct,
        median(&|run| run.slowdown, human::ratio),
        median(&|run| run.cct_ns.and(run.fct_ns.p99), human::nanoseconds),
        median(&|run| run.queue_bytes_max.map(|bytes| bytes as f64), human::bytes),
        count(|run| Some(run.packets?.retransmitted)),
        count(|run| Some(run.packets?.dropped)),
        count(|run| Some(run.packets?.out_of_order)),
        count(|run| Some(run.qps.extra_per_nic_max)),
        median(&|run| Some(run.wall_s), human::seconds),
    ]
}

/// Wraps a name that is too long for its column after a hyphen, which is kept, or at a space, which
/// is dropped.
pub(super) fn wrapped(name: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::{Planned, RunNumbers};

    fn table(runs: &[Summary]) -> String {
        compare_table(runs, &sample::statistics(runs))
    }

    #[test]
    fn a_policy_with_missing_runs_comes_last_and_shows_their_number() {
        let runs = sample::comparison(2);
        let policies: Vec<String> = ["ecmp", "reps"].map(str::to_owned).to_vec();
        let planned = Planned { policies, seeds: 3, is_random: true };
        let numbers = RunNumbers::of_summaries(&runs, RunNumbers::FABRIC_METRICS);
        let statistics = Statistics::of(RunNumbers::FABRIC_METRICS, &numbers, None, &planned);
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
    fn several_seeds_give_medians() {
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

    /// `mrc` has longer headers, so its bound is greater than that of `ecmp`.
    #[test]
    fn the_heading_says_that_bounds_differ() {
        let mut runs = sample::comparison(1);
        let one = "seed 1; lower bound of the CCT: 900.0ns\n";
        assert!(table(&runs).contains(one) && !table(&runs).contains("/own"), "{}", table(&runs));
        runs[1].bound_ns = 950.0;
        let text = table(&runs);
        assert!(text.contains("seed 1; lower bounds of the CCT: 900.0ns to 950.0ns\n"), "{text}");
        assert!(text.contains(" /own ") && !text.contains("/bound"), "{text}");
    }
}
