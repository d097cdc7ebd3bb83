//! Medians of each metric over seeds, and ratios between policies under the same seeds.

use std::collections::BTreeMap;

use super::reasons::{Reason, reasons};
use super::run_numbers::{Planned, RunNumbers};
use crate::run::Finished;
use crate::statistics::{Interval, MIN_SEEDS, Sample};

/// Statistics of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    /// Reference policy of the ratios: the requested one, otherwise the one with the least median
    /// completion time. `None` if no policy completed under every seed.
    pub reference: Option<String>,
    /// Number of seeds.
    pub seeds: usize,
    /// Reason why there is no best policy; `None` if there is one.
    pub unranked: Option<Unranked>,
    /// All policies in the order of the runs. Those with an incomplete or missing run come last.
    pub policies: Vec<PolicyStatistics>,
    /// Reasons for the differences from the reference, in the order of the policies.
    pub reasons: Vec<Reason>,
}

/// Reason why a comparison has no best policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unranked {
    /// The comparison was interrupted, so runs are missing.
    Interrupted,
    /// Every policy has a run that did not complete.
    Incomplete,
    /// Results depend on the seed, and fewer than [`MIN_SEEDS`] seeds give no interval to rank
    /// by.
    FewSeeds,
}

/// Statistics of a policy.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyStatistics {
    /// Name of the policy.
    pub policy: String,
    /// Number of runs, one per seed, including missing ones.
    pub runs: usize,
    /// Number of runs that are missing because the comparison was interrupted.
    pub missing: usize,
    /// Number of runs that completed.
    pub completed: usize,
    /// Verdict on its completion time, relative to the best policy.
    pub verdict: PolicyVerdict,
    /// Number of seeds under which it was slower than the policy with the least median. `None` for
    /// that policy itself, and if a run is incomplete or missing.
    pub slower_seeds: Option<usize>,
    /// Statistics of each metric.
    pub metrics: Vec<MetricStatistics>,
}

/// Verdict on the completion time of a policy, relative to the best under the same seeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyVerdict {
    /// The policy has the least median of those that completed under every seed.
    Best,
    /// The interval of the ratio to the best lies within [`EQUAL_WITHIN`] of 1, and contains it.
    Tied,
    /// The interval of the ratio to the best contains 1: the seeds do not distinguish the two.
    Unclear,
    /// The interval of the ratio to the best lies above 1.
    Behind,
    /// There is no best policy ([`Unranked`]).
    Unranked,
    /// A run did not complete.
    Incomplete,
    /// A run is missing, because the comparison was interrupted.
    Interrupted,
}

/// Greatest difference from 1 at which a ratio counts as equal: 1 % of the completion time.
pub const EQUAL_WITHIN: f64 = 0.01;

impl PolicyVerdict {
    /// Returns the label for tables and files.
    pub fn label(self) -> &'static str {
        match self {
            Self::Best => "best",
            Self::Tied => "tie",
            Self::Unclear => "unclear",
            Self::Behind => "behind",
            Self::Unranked => "unranked",
            Self::Incomplete => "incomplete",
            Self::Interrupted => "interrupted",
        }
    }

    /// Returns the verdict with this label; `None` for other texts.
    pub fn named(label: &str) -> Option<Self> {
        use PolicyVerdict::{Behind, Best, Incomplete, Interrupted, Tied, Unclear, Unranked};
        let all = [Best, Tied, Unclear, Behind, Unranked, Incomplete, Interrupted];
        all.into_iter().find(|verdict| verdict.label() == label)
    }

    /// Returns true if a completion time is missing, so the policy cannot be compared.
    pub fn is_partial(self) -> bool {
        matches!(self, Self::Incomplete | Self::Interrupted)
    }

    /// Returns the verdict for a ratio to the best policy.
    fn of(ratio: Option<Sample>) -> Self {
        let Some(ratio) = ratio else { return Self::Unclear };
        // Results that do not depend on the seed are exact.
        let one = Interval { low: ratio.median, high: ratio.median };
        let Interval { low, high } = ratio.interval().unwrap_or(one);
        match low > 1.0 {
            true => Self::Behind,
            false if low >= 1.0 - EQUAL_WITHIN && high <= 1.0 + EQUAL_WITHIN => Self::Tied,
            false => Self::Unclear,
        }
    }
}

/// Statistics of a metric of one policy, over its seeds.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricStatistics {
    /// Name of the metric in the JSON object.
    pub metric: &'static str,
    /// Values; `None` if there are no values. Times of messages come only from completed runs.
    pub sample: Option<Sample>,
    /// Ratios to the values of the reference under the same seeds. `None` for the reference itself,
    /// if a run of either policy is incomplete or missing, and if a value is zero.
    pub ratio: Option<Sample>,
}

impl Statistics {
    /// Computes the statistics of `runs`, whose numbers are those of `metrics`. The first metric is
    /// the completion time. Planned runs may be missing. Ratios are relative to the policy
    /// `baseline`, or to the one with the least median completion time.
    pub fn of(
        metrics: &[&'static str],
        runs: &[RunNumbers],
        baseline: Option<&str>,
        planned: &Planned,
    ) -> Self {
        let Planned { policies: names, seeds, is_random } = planned;
        let all = names.iter().map(|name| of_policy(metrics, runs, name, *seeds));
        let mut policies: Vec<PolicyStatistics> = all.collect();
        let fastest = fastest(&policies);
        let unranked = match &fastest {
            _ if policies.iter().any(|policy| policy.missing > 0) => Some(Unranked::Interrupted),
            None => Some(Unranked::Incomplete),
            Some(_) if *is_random && *seeds < MIN_SEEDS => Some(Unranked::FewSeeds),
            Some(_) => None,
        };
        let reference = baseline.map(str::to_owned).or_else(|| fastest.clone());
        if let Some(reference) = &reference {
            set_ratios(&mut policies, runs, reference);
        }
        if let Some(fastest) = &fastest {
            rank(&mut policies, runs, fastest, unranked);
        }
        policies.sort_by_key(|policy| policy.verdict.is_partial());
        let samples = || policies.iter().flat_map(|policy| &policy.metrics);
        let mut unused = RunNumbers::OPTIONAL_METRICS.to_vec();
        unused.retain(|name| samples().all(|it| it.metric != *name || it.sample.is_none()));
        for policy in &mut policies {
            policy.metrics.retain(|it| !unused.contains(&it.metric));
        }
        Self { reference, seeds: *seeds, unranked, policies, reasons: Vec::new() }
    }

    /// Adds the reasons for the differences from the reference, from the facts of all runs.
    #[must_use]
    pub fn with_reasons<'a>(self, runs: impl IntoIterator<Item = &'a Finished>) -> Self {
        let facts = runs.into_iter().map(|run| (run.summary.policy.as_str(), &run.facts));
        let reasons = reasons(&self, &facts.collect::<Vec<_>>());
        Self { reasons, ..self }
    }

    /// Returns the best policy, if there is one.
    pub fn best(&self) -> Option<&PolicyStatistics> {
        self.policies.iter().find(|policy| policy.verdict == PolicyVerdict::Best)
    }
}

fn of_policy(
    metrics: &[&'static str],
    runs: &[RunNumbers],
    policy: &str,
    seeds: usize,
) -> PolicyStatistics {
    let own = || runs.iter().filter(|run| run.policy == policy);
    let of_metric = |(index, metric): (usize, &&'static str)| {
        let counts = |run: &&RunNumbers| run.is_complete() || !is_biased_if_incomplete(metric);
        let values = own().filter(counts).filter_map(|run| run.numbers[index]);
        let sample = Sample::of(&values.collect::<Vec<f64>>());
        MetricStatistics { metric, sample, ratio: None }
    };
    let missing = seeds.saturating_sub(own().count());
    PolicyStatistics {
        policy: policy.to_owned(),
        runs: seeds,
        missing,
        completed: own().filter(|run| run.is_complete()).count(),
        verdict: if missing > 0 { PolicyVerdict::Interrupted } else { PolicyVerdict::Incomplete },
        slower_seeds: None,
        metrics: metrics.iter().enumerate().map(of_metric).collect(),
    }
}

/// Returns true for metrics that an incomplete run measures only on the messages or operations that
/// did complete. Those are the quick ones, so the value would be biased.
fn is_biased_if_incomplete(metric: &str) -> bool {
    let biased = ["fct_ns", "operation_ns", "bytes_per_s", "breakdown"];
    biased.iter().any(|name| metric.starts_with(name))
}

/// Returns the policy with the least median completion time among those that completed under every
/// seed.
fn fastest(policies: &[PolicyStatistics]) -> Option<String> {
    let complete = policies.iter().filter(|policy| policy.completed == policy.runs);
    let medians = complete
        .filter_map(|policy| Some((policy.metrics.first()?.sample?.median, &policy.policy)));
    medians.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, policy)| policy.clone())
}

/// Sets the ratios of all policies that completed under every seed, if the reference did too. A
/// ratio over only the completed runs would be biased towards easy seeds.
fn set_ratios(policies: &mut [PolicyStatistics], runs: &[RunNumbers], reference: &str) {
    let is_complete = |it: &PolicyStatistics| it.completed == it.runs;
    if !policies.iter().any(|it| it.policy == reference && is_complete(it)) {
        return;
    }
    for policy in policies.iter_mut().filter(|it| it.policy != reference && is_complete(it)) {
        for (index, metric) in policy.metrics.iter_mut().enumerate() {
            metric.ratio = Sample::of_ratios(&pairs(runs, [&policy.policy, reference], index));
        }
    }
}

/// Returns the values of two policies under each seed that has both.
fn pairs(runs: &[RunNumbers], [policy, reference]: [&str; 2], index: usize) -> Vec<(f64, f64)> {
    let of =
        |name: &str| -> Vec<&RunNumbers> { runs.iter().filter(|run| run.policy == name).collect() };
    let others: BTreeMap<u64, &RunNumbers> =
        of(reference).into_iter().map(|run| (run.seed, run)).collect();
    let pair =
        |run: &RunNumbers| Some((run.numbers[index]?, others.get(&run.seed)?.numbers[index]?));
    of(policy).into_iter().filter_map(pair).collect()
}

/// Compares the policies that completed under every seed with the fastest of them.
fn rank(
    policies: &mut [PolicyStatistics],
    runs: &[RunNumbers],
    fastest: &str,
    unranked: Option<Unranked>,
) {
    for policy in policies.iter_mut().filter(|policy| policy.completed == policy.runs) {
        let times = pairs(runs, [&policy.policy, fastest], 0);
        let is_fastest = policy.policy == fastest;
        let slower = times.iter().filter(|(time, least)| time > least).count();
        policy.slower_seeds = (!is_fastest).then_some(slower);
        policy.verdict = match unranked {
            Some(_) => PolicyVerdict::Unranked,
            None if is_fastest => PolicyVerdict::Best,
            None => PolicyVerdict::of(Sample::of_ratios(&times)),
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

    /// Returns the statistics of completion times that depend on the seed.
    fn statistics(policies: &[(&str, &[Option<f64>])], baseline: Option<&str>) -> Statistics {
        let runs = runs(policies);
        Statistics::of(&["cct_ns"], &runs, baseline, &Planned::of(&runs, true))
    }

    fn verdicts(policies: &[(&str, &[Option<f64>])]) -> Vec<&'static str> {
        words(&statistics(policies, None))
    }

    fn words(statistics: &Statistics) -> Vec<&'static str> {
        statistics.policies.iter().map(|policy| policy.verdict.label()).collect()
    }

    fn times(values: &[f64]) -> Vec<Option<f64>> {
        values.iter().map(|&value| Some(value)).collect()
    }

    /// Times of `evenkeel init failure`, in microseconds. Student's t interval of the mean
    /// difference would include 0.
    #[test]
    fn a_policy_slower_under_every_seed_is_behind_despite_any_spread() {
        let ecmp = times(&[6546.0, 1194.0, 1065.0, 1245.0, 1200.0]);
        let ethereal = times(&[415.0, 484.0, 375.0, 459.0, 438.0]);
        let statistics = statistics(&[("ecmp", &ecmp), ("ethereal", &ethereal)], None);
        assert_eq!(words(&statistics), ["behind", "best"]);
        assert_eq!(statistics.reference.as_deref(), Some("ethereal"));
        let [ecmp, ethereal] = &statistics.policies[..] else { panic!("two policies") };
        assert_eq!((ecmp.slower_seeds, ethereal.slower_seeds), (Some(5), None));
        let ratio = ecmp.metrics[0].ratio.unwrap();
        let Interval { low, high } = ratio.interval().unwrap();
        assert!((ratio.median - 2.74).abs() < 0.01, "{ratio:?}");
        assert!(low > 2.46 && high < 15.8, "{ratio:?}");
        assert_eq!(ethereal.metrics[0].ratio, None);
        let interval = ecmp.metrics[0].sample.unwrap().interval().unwrap();
        assert_eq!(interval, Interval { low: 1065.0, high: 6546.0 }, "between two of the values");
    }

    /// Seeds differ by far more than policies do; only paired ratios distinguish the policies.
    #[test]
    fn ratios_are_computed_per_seed() {
        let slow = times(&[103.0, 206.0, 309.5, 412.0, 1030.0]);
        let fast = times(&[100.0, 200.0, 300.0, 400.0, 1000.0]);
        assert_eq!(verdicts(&[("a", &slow), ("b", &fast)]), ["behind", "best"]);
        let of_slow = statistics(&[("a", &slow), ("b", &fast)], Some("a"));
        assert_eq!(of_slow.reference.as_deref(), Some("a"));
        let [a, b] = &of_slow.policies[..] else { panic!("two policies") };
        assert_eq!(a.metrics[0].ratio, None);
        assert!((b.metrics[0].ratio.unwrap().median - 1.0 / 1.03).abs() < 1e-9);
        assert_eq!(
            (a.slower_seeds, b.slower_seeds),
            (Some(5), None),
            "seeds in which it is slower than the fastest"
        );
        assert_eq!(words(&of_slow), ["behind", "best"], "whatever the reference");
    }

    #[test]
    fn a_ratio_near_1_is_a_tie_and_an_interval_from_1_to_2_is_unclear() {
        let a = times(&[100.0; 5]);
        let near = times(&[100.5, 99.5, 100.9, 100.1, 100.0]);
        let far = times(&[200.0, 99.5, 270.0, 300.0, 400.0]);
        let once = times(&[60.0, 100.1, 100.2, 100.3, 100.4]);
        let policies: &[(&str, &[Option<f64>])] =
            &[("near", &near), ("a", &a), ("far", &far), ("once", &once)];
        assert_eq!(verdicts(policies), ["tie", "best", "unclear", "unclear"]);
        let slower_seeds: Vec<Option<usize>> =
            statistics(policies, None).policies.iter().map(|it| it.slower_seeds).collect();
        assert_eq!(slower_seeds, [Some(3), None, Some(4), Some(4)]);
        assert_eq!(verdicts(&[("a", &a), ("b", &a)]), ["best", "tie"]);
    }

    #[test]
    fn fewer_than_five_seeds_do_not_rank_unless_results_are_deterministic() {
        let (a, b) = (times(&[1.0, 1.0, 1.0, 1.0]), times(&[5.0, 6.0, 7.0, 8.0]));
        for seeds in 1..=4 {
            let policies = &[("b", &b[..seeds]), ("a", &a[..seeds])];
            let drawn = statistics(policies, None);
            assert_eq!(words(&drawn), ["unranked"; 2], "{seeds} seeds");
            assert_eq!(drawn.unranked, Some(Unranked::FewSeeds));
            assert_eq!(drawn.best(), None);
            assert!(drawn.policies[0].metrics[0].ratio.is_some(), "the numbers stay");
            let runs = runs(policies);
            let planned = Planned::of(&runs, false);
            let exact = Statistics::of(&["cct_ns"], &runs, None, &planned);
            assert_eq!(words(&exact), ["behind", "best"], "{seeds} seeds");
        }
        let equal = runs(&[("a", &a[..1]), ("b", &a[..1])]);
        let exact = Statistics::of(&["cct_ns"], &equal, None, &Planned::of(&equal, false));
        assert_eq!(words(&exact), ["best", "tie"]);
    }

    #[test]
    fn a_policy_with_an_incomplete_run_cannot_be_best() {
        let a = [Some(1.0), None, Some(1.0), Some(1.0), Some(1.0)];
        let b = times(&[5.0, 6.0, 7.0, 8.0, 9.0]);
        assert_eq!(verdicts(&[("a", &a), ("b", &b)]), ["best", "incomplete"], "ranked last");
        let none = statistics(&[("a", &[None]), ("b", &[None])], None);
        assert_eq!(words(&none), ["incomplete", "incomplete"]);
        assert_eq!((none.unranked, none.reference), (Some(Unranked::Incomplete), None));
    }

    /// `b` is the fastest but has one of its two runs; `d` was not started.
    #[test]
    fn an_interrupted_comparison_has_no_best_and_lists_partial_policies_last() {
        let policies = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        let of = |runs: &[RunNumbers], baseline: &str| {
            let planned = Planned { policies: policies.clone(), seeds: 2, is_random: false };
            let statistics = Statistics::of(&["cct_ns"], runs, Some(baseline), &planned);
            assert_eq!(statistics.unranked, Some(Unranked::Interrupted));
            let of_policy = |it: &PolicyStatistics| {
                let ratio = it.metrics[0].ratio.is_some();
                (it.policy.clone(), it.verdict.label(), [it.completed, it.missing], ratio)
            };
            statistics.policies.iter().map(of_policy).collect::<Vec<_>>()
        };
        let finished = runs(&[
            ("a", &[Some(5.0), Some(6.0)]),
            ("b", &[Some(1.0)]),
            ("c", &[Some(7.0), Some(8.0)]),
        ]);
        let expected = |ratio| {
            let all = [
                ("a", "unranked", [2, 0], false),
                ("c", "unranked", [2, 0], ratio),
                ("b", "interrupted", [1, 1], false),
                ("d", "interrupted", [0, 2], false),
            ];
            all.map(|(name, label, counts, it)| (name.to_owned(), label, counts, it)).to_vec()
        };
        assert_eq!(of(&finished, "a"), expected(true));
        assert_eq!(of(&finished, "d"), expected(false), "nothing is paired with what is missing");
        let one = of(&finished[..1], "a");
        assert!(one.iter().all(|(_, label, ..)| *label == "interrupted"), "{one:?}");
    }

    /// Messages that completed before their run stalled are the quick ones.
    #[test]
    fn an_incomplete_run_has_no_message_times_and_no_ratios() {
        let run = |policy: &str, seed, cct: Option<f64>, p99, dropped| RunNumbers {
            policy: policy.to_owned(),
            seed,
            numbers: vec![cct, Some(p99), Some(dropped)],
        };
        let stalled = [run("a", 1, None, 1.0, 9.0), run("a", 2, Some(5.0), 4.0, 3.0)];
        let whole = [run("b", 1, Some(7.0), 6.0, 1.0), run("b", 2, Some(8.0), 7.0, 1.0)];
        let other = [run("c", 1, Some(9.0), 8.0, 1.0), run("c", 2, Some(9.0), 8.0, 0.0)];
        let runs = [&stalled[..], &whole, &other].concat();
        let metrics = ["cct_ns", "fct_ns.p99", "packets.dropped"];
        let of =
            |baseline| Statistics::of(&metrics, &runs, Some(baseline), &Planned::of(&runs, true));
        let statistics = of("b");
        let names: Vec<&str> = statistics.policies.iter().map(|it| it.policy.as_str()).collect();
        assert_eq!(names, ["b", "c", "a"], "the first of the runs did not complete: it comes last");
        let medians = |index: usize| statistics.policies[2].metrics[index].sample.unwrap();
        assert_eq!((medians(0).count, medians(1).count, medians(2).count), (1, 1, 2));
        assert_eq!((medians(1).median, medians(2).median), (4.0, 6.0));
        let ratios = |statistics: &Statistics, policy: usize| {
            let metrics = statistics.policies[policy].metrics.iter();
            metrics.filter(|it| it.ratio.is_some()).count()
        };
        assert_eq!([0, 1, 2].map(|it| ratios(&statistics, it)), [0, 2, 0], "none to zero");
        let of_incomplete = of("a");
        assert_eq!([0, 1, 2].map(|it| ratios(&of_incomplete, it)), [0; 3]);
    }
}
