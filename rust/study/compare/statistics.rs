//! What several runs of a policy have in common, and how policies differ.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use crate::study::reproduce::metric::Metric;
use crate::study::statistics::Sample;

/// The numbers of a run; the first of them is the completion time.
#[derive(Debug, Clone, PartialEq)]
pub struct RunNumbers {
    /// Name of the policy.
    pub policy: String,
    /// Seed of every random draw.
    pub seed: u64,
    /// A number for each metric; `None` where the run has none.
    pub numbers: Vec<Option<f64>>,
}

impl RunNumbers {
    /// The metrics of a comparison on a fabric.
    pub const OF_FABRIC: &'static [&'static str] = &[
        "cct_ns",
        "slowdown",
        "fct_ns.p99",
        "queue_bytes_max",
        "packets.retransmitted",
        "packets.dropped",
        "packets.out_of_order",
        "qps.extra_per_nic_max",
    ];
    /// The metrics of a comparison on several rails.
    pub const OF_RAILS: &'static [&'static str] = &[
        "cct_ns",
        "bytes_per_s",
        "operation_ns.first",
        "operation_ns.last",
        "operation_ns.max",
        "cpu_busy_ns_max",
    ];

    /// These numbers of the JSON object of a run.
    pub fn of(run: &Value, metrics: &[&'static str]) -> Self {
        let number = |name: &&str| {
            let metric = Metric::named(name).expect("the names are constants");
            metric.of(run).filter(|number| number.is_finite())
        };
        Self {
            policy: run["policy"].as_str().unwrap_or_default().to_owned(),
            seed: run["seed"].as_u64().unwrap_or_default(),
            numbers: metrics.iter().map(number).collect(),
        }
    }

    /// These numbers of the JSON objects of runs.
    pub fn of_summaries(runs: &[impl Serialize], metrics: &[&'static str]) -> Vec<Self> {
        let numbers = runs.iter().map(|run| {
            let run = serde_json::to_value(run).expect("a summary is a JSON object");
            Self::of(&run, metrics)
        });
        numbers.collect()
    }

    /// Whether the run has a completion time.
    fn is_complete(&self) -> bool {
        self.numbers.first().is_some_and(Option::is_some)
    }
}

/// The runs that a comparison was to have: every policy under every seed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// The policies, in their order.
    pub policies: Vec<String>,
    /// The number of seeds.
    pub seeds: usize,
}

impl Planned {
    /// The plan of a comparison that was not interrupted.
    fn of(runs: &[RunNumbers]) -> Self {
        let mut policies: Vec<String> = Vec::new();
        for run in runs {
            if !policies.contains(&run.policy) {
                policies.push(run.policy.clone());
            }
        }
        let seeds: BTreeSet<u64> = runs.iter().map(|run| run.seed).collect();
        Self { policies, seeds: seeds.len() }
    }
}

/// The statistics of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    /// The policy that others are compared with.
    pub baseline: String,
    /// The number of seeds.
    pub seeds: usize,
    /// All policies, in the order of the runs; after them those with a run that did not complete
    /// or is missing.
    pub policies: Vec<PolicyStatistics>,
}

/// The statistics of a policy.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyStatistics {
    /// Its name.
    pub policy: String,
    /// Its runs, with those that are missing: one under each seed.
    pub runs: usize,
    /// Those that are missing, because the comparison was interrupted.
    pub missing: usize,
    /// Those that completed.
    pub completed: usize,
    /// How its completion time compares with the best.
    pub standing: Standing,
    /// Each metric.
    pub metrics: Vec<MetricStatistics>,
}

/// How the completion time of a policy compares with that of others under the same seeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The least mean of those that completed under every seed.
    Best,
    /// The 95 % interval of the paired difference from the best contains zero; with one seed, the
    /// times are equal.
    Tied,
    /// More than the best.
    Behind,
    /// A run did not complete.
    Incomplete,
    /// A run is missing, because the comparison was interrupted.
    Interrupted,
}

impl Standing {
    /// The word of tables and files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Best => "best",
            Self::Tied => "tie",
            Self::Behind => "behind",
            Self::Incomplete => "incomplete",
            Self::Interrupted => "interrupted",
        }
    }

    /// Whether a completion time is missing, so that there is nothing to compare.
    pub fn is_partial(self) -> bool {
        matches!(self, Self::Incomplete | Self::Interrupted)
    }
}

/// A metric of a policy, over its seeds.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricStatistics {
    /// Its name in the JSON object.
    pub metric: &'static str,
    /// Its values; `None` without any. Times of messages are of the runs that completed alone.
    pub sample: Option<Sample>,
    /// Its differences from the baseline's values under the same seeds; `None` of the baseline,
    /// without a seed under which both have a value, and if a run of either did not complete.
    pub difference: Option<Sample>,
}

impl Statistics {
    /// The statistics of `runs`, whose numbers are of `metrics`; the first is the completion time.
    pub fn of(metrics: &[&'static str], runs: &[RunNumbers], baseline: &str) -> Self {
        Self::of_planned(metrics, runs, baseline, &Planned::of(runs))
    }

    /// The statistics of `runs`, of which some that were planned may be missing.
    pub fn of_planned(
        metrics: &[&'static str],
        runs: &[RunNumbers],
        baseline: &str,
        planned: &Planned,
    ) -> Self {
        let Planned { policies: names, seeds } = planned;
        let all = names.iter().map(|name| of_policy(metrics, runs, [name, baseline], *seeds));
        let mut policies: Vec<PolicyStatistics> = all.collect();
        rank(&mut policies, runs);
        policies.sort_by_key(|policy| policy.standing.is_partial());
        Self { baseline: baseline.to_owned(), seeds: *seeds, policies }
    }

    /// The statistics of the JSON objects of runs.
    pub fn of_summaries(metrics: &[&'static str], runs: &[impl Serialize], baseline: &str) -> Self {
        Self::of(metrics, &RunNumbers::of_summaries(runs, metrics), baseline)
    }

    /// The best policy; `None` if every policy has a run that did not complete or is missing.
    pub fn best(&self) -> Option<&PolicyStatistics> {
        self.policies.iter().find(|policy| policy.standing == Standing::Best)
    }
}

fn of_policy(
    metrics: &[&'static str],
    runs: &[RunNumbers],
    [policy, baseline]: [&str; 2],
    seeds: usize,
) -> PolicyStatistics {
    let own = || runs.iter().filter(|run| run.policy == policy);
    // Differences over the seeds under which both are quick say nothing about the others.
    let completed =
        |policy: &str| runs.iter().filter(|run| run.policy == policy && run.is_complete()).count();
    let are_comparable =
        policy != baseline && [policy, baseline].iter().all(|name| completed(name) == seeds);
    let of_metric = |(index, metric): (usize, &&'static str)| {
        let counts = |run: &&RunNumbers| run.is_complete() || !is_of_survivors(metric);
        let values = own().filter(counts).filter_map(|run| run.numbers[index]);
        let difference = Sample::of_differences(&pairs(runs, policy, baseline, index));
        MetricStatistics {
            metric,
            sample: Sample::of(&values.collect::<Vec<f64>>()),
            difference: difference.filter(|_| are_comparable),
        }
    };
    let missing = seeds.saturating_sub(own().count());
    PolicyStatistics {
        policy: policy.to_owned(),
        runs: seeds,
        missing,
        completed: completed(policy),
        standing: if missing > 0 { Standing::Interrupted } else { Standing::Incomplete },
        metrics: metrics.iter().enumerate().map(of_metric).collect(),
    }
}

/// Whether a metric of a run that did not complete is one of the messages or operations that did:
/// the quick ones.
fn is_of_survivors(metric: &str) -> bool {
    ["fct_ns", "operation_ns", "bytes_per_s"].iter().any(|name| metric.starts_with(name))
}

/// The values of two policies under each seed that has both.
fn pairs(runs: &[RunNumbers], policy: &str, baseline: &str, index: usize) -> Vec<(f64, f64)> {
    let of =
        |name: &str| -> Vec<&RunNumbers> { runs.iter().filter(|run| run.policy == name).collect() };
    let others: BTreeMap<u64, &RunNumbers> =
        of(baseline).into_iter().map(|run| (run.seed, run)).collect();
    let pair =
        |run: &RunNumbers| Some((run.numbers[index]?, others.get(&run.seed)?.numbers[index]?));
    of(policy).into_iter().filter_map(pair).collect()
}

/// Finds the best policy and those tied with it, of those that completed under every seed.
fn rank(policies: &mut [PolicyStatistics], runs: &[RunNumbers]) {
    let mean = |policy: &PolicyStatistics| Some(policy.metrics.first()?.sample?.mean);
    let complete = policies.iter().filter(|policy| policy.completed == policy.runs);
    let means = complete.filter_map(|policy| Some((mean(policy)?, policy.policy.clone())));
    let Some((_, best)) = means.min_by(|a, b| a.0.total_cmp(&b.0)) else { return };
    for policy in policies.iter_mut().filter(|policy| policy.completed == policy.runs) {
        let difference = Sample::of_differences(&pairs(runs, &policy.policy, &best, 0));
        policy.standing = match difference {
            _ if policy.policy == best => Standing::Best,
            Some(difference) if difference.is_tie() => Standing::Tied,
            _ => Standing::Behind,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(policies: &[(&str, &[Option<f64>])]) -> Vec<RunNumbers> {
        let of_policy = |(policy, values): &(&str, &[Option<f64>])| {
            let run = |(seed, value): (u64, &Option<f64>)| RunNumbers {
                policy: (*policy).to_owned(),
                seed,
                numbers: vec![*value],
            };
            (1..).zip(values.iter()).map(run).collect::<Vec<_>>()
        };
        policies.iter().flat_map(of_policy).collect()
    }

    fn standings(policies: &[(&str, &[Option<f64>])]) -> Vec<&'static str> {
        let statistics = Statistics::of(&["cct_ns"], &runs(policies), policies[0].0);
        statistics.policies.iter().map(|policy| policy.standing.word()).collect()
    }

    /// Seeds differ by far more than policies do, which only the paired difference can see.
    #[test]
    fn differences_are_those_of_pairs() {
        let slow = [Some(101.0), Some(202.0), Some(303.5)];
        let fast = [Some(100.0), Some(201.0), Some(302.0)];
        let statistics = Statistics::of(&["cct_ns"], &runs(&[("a", &slow), ("b", &fast)]), "a");
        let [a, b] = &statistics.policies[..] else { panic!("two policies") };
        assert_eq!(a.metrics[0].difference, None);
        let difference = b.metrics[0].difference.unwrap();
        assert!((difference.mean + 7.0 / 6.0).abs() < 1e-9, "{difference:?}");
        assert!(!difference.is_tie());
        assert!(b.metrics[0].sample.unwrap().half_width().unwrap() > 100.0);
        assert_eq!(standings(&[("a", &slow), ("b", &fast)]), ["behind", "best"]);
    }

    #[test]
    fn a_policy_whose_difference_may_be_zero_is_tied_with_the_best() {
        let a = [Some(100.0), Some(110.0), Some(105.0)];
        let b = [Some(101.0), Some(109.0), Some(105.5)];
        assert_eq!(standings(&[("b", &b), ("a", &a)]), ["tie", "best"]);
        assert_eq!(standings(&[("a", &[Some(1.0)]), ("b", &[Some(1.0)])]), ["best", "tie"]);
        assert_eq!(standings(&[("a", &[Some(1.0)]), ("b", &[Some(1.1)])]), ["best", "behind"]);
    }

    #[test]
    fn a_run_that_did_not_complete_keeps_a_policy_from_being_the_best() {
        let a = [Some(1.0), None, Some(1.0)];
        let b = [Some(5.0), Some(6.0), Some(7.0)];
        assert_eq!(standings(&[("a", &a), ("b", &b)]), ["best", "incomplete"], "ranked last");
        assert_eq!(standings(&[("a", &[None]), ("b", &[None])]), ["incomplete", "incomplete"]);
    }

    /// `b` is the quickest, and has one of two runs; `d` was not begun.
    #[test]
    fn a_policy_with_a_missing_run_is_not_the_best_and_comes_after_those_with_all() {
        let policies = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        let of = |runs: &[RunNumbers], baseline: &str| {
            let planned = Planned { policies: policies.clone(), seeds: 2 };
            let statistics = Statistics::of_planned(&["cct_ns"], runs, baseline, &planned);
            let of_policy = |it: &PolicyStatistics| {
                let difference = it.metrics[0].difference.is_some();
                (it.policy.clone(), it.standing.word(), [it.completed, it.missing], difference)
            };
            (statistics.seeds, statistics.policies.iter().map(of_policy).collect::<Vec<_>>())
        };
        let finished = runs(&[
            ("a", &[Some(5.0), Some(6.0)]),
            ("b", &[Some(1.0)]),
            ("c", &[Some(7.0), Some(8.0)]),
        ]);
        let expected = |difference| {
            let all = [
                ("a", "best", [2, 0], false),
                ("c", "behind", [2, 0], difference),
                ("b", "interrupted", [1, 1], false),
                ("d", "interrupted", [0, 2], false),
            ];
            (2, all.map(|(name, word, counts, it)| (name.to_owned(), word, counts, it)).to_vec())
        };
        assert_eq!(of(&finished, "a"), expected(true));
        assert_eq!(of(&finished, "d"), expected(false), "nothing is paired with what is missing");
        let one = of(&finished[..1], "a").1;
        assert!(one.iter().all(|(_, word, ..)| *word == "interrupted"), "{one:?}");
    }

    /// Messages that completed before their run stalled are the quick ones.
    #[test]
    fn a_run_that_did_not_complete_has_no_times_of_messages_and_no_differences() {
        let run = |policy: &str, seed, cct: Option<f64>, p99, dropped| RunNumbers {
            policy: policy.to_owned(),
            seed,
            numbers: vec![cct, Some(p99), Some(dropped)],
        };
        let stalled = [run("a", 1, None, 1.0, 9.0), run("a", 2, Some(5.0), 4.0, 3.0)];
        let whole = [run("b", 1, Some(7.0), 6.0, 0.0), run("b", 2, Some(8.0), 7.0, 0.0)];
        let other = [run("c", 1, Some(9.0), 8.0, 1.0), run("c", 2, Some(9.0), 8.0, 1.0)];
        let runs = [&stalled[..], &whole, &other].concat();
        let metrics = ["cct_ns", "fct_ns.p99", "packets.dropped"];
        let of = |baseline| Statistics::of(&metrics, &runs, baseline);
        let statistics = of("b");
        let names: Vec<&str> = statistics.policies.iter().map(|it| it.policy.as_str()).collect();
        assert_eq!(names, ["b", "c", "a"], "the first of the runs did not complete: it comes last");
        let means = |index: usize| statistics.policies[2].metrics[index].sample.unwrap();
        assert_eq!((means(0).count, means(1).count, means(2).count), (1, 1, 2));
        assert_eq!((means(1).mean, means(2).mean), (4.0, 6.0));
        let differences = |statistics: &Statistics, policy: usize| {
            let metrics = statistics.policies[policy].metrics.iter();
            metrics.filter(|it| it.difference.is_some()).count()
        };
        assert_eq!([0, 1, 2].map(|policy| differences(&statistics, policy)), [0, 3, 0]);
        let of_incomplete = of("a");
        assert_eq!([0, 1, 2].map(|policy| differences(&of_incomplete, policy)), [0; 3]);
    }
}
