//! Policies ranked by a metric at each point of some results.
//!
//! The ranking is that of [`Statistics`](crate::Statistics), so that a page and `evenkeel compare`
//! agree.

mod comparison;
mod runs;
mod study;

use crate::metrics::{Better, Metric};
use crate::statistics::Sample;
use crate::{Planned, PolicyStatistics, PolicyVerdict, Reason, RunNumbers, Statistics, Unranked};

/// Results that are compared with each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Standings {
    /// Subject: a study with its group of runs, or a scenario; empty if it is unknown.
    pub subject: String,
    /// Key whose values are compared: `policy`, or the key of a study without one.
    pub compared: String,
    /// Keys that distinguish the points; empty with a single point.
    pub keys: Vec<String>,
    /// Points, in the order of the results.
    pub points: Vec<StandingsPoint>,
    /// Reasons for the differences, if the results have them.
    pub reasons: Vec<Reason>,
}

/// Policies at one point.
#[derive(Debug, Clone, PartialEq)]
pub struct StandingsPoint {
    /// Value of each key.
    pub labels: Vec<String>,
    /// Policy that the ratios refer to; `None` if no policy completed.
    pub reference: Option<String>,
    /// Number of seeds.
    pub seeds: usize,
    /// Reason why no policy is best; `None` if there is a best one, or if the metric has no better
    /// direction.
    pub unranked: Option<Unranked>,
    /// Policies, in the order of the results.
    pub policies: Vec<Standing>,
}

/// A policy at one point.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// Name of the policy.
    pub policy: String,
    /// Number of runs, including those without a result.
    pub runs: usize,
    /// Number of runs that completed.
    pub completed: usize,
    /// Median of the metric over the completed runs.
    pub median: Option<f64>,
    /// Confidence interval of the median, if there are several runs.
    pub interval: Option<(f64, f64)>,
    /// Median ratio to the reference, and its interval if there are several runs.
    pub ratio: Option<(f64, Option<(f64, f64)>)>,
    /// Verdict; `None` if values of the metric cannot be ranked.
    pub verdict: Option<PolicyVerdict>,
    /// Names and medians of other metrics, for a single point.
    pub others: Vec<(&'static str, f64)>,
}

impl StandingsPoint {
    /// Returns the standing of a policy.
    pub fn of(&self, policy: &str) -> Option<&Standing> {
        self.policies.iter().find(|it| it.policy == policy)
    }

    /// Returns the policies with one of these verdicts.
    pub fn with(&self, verdicts: &[PolicyVerdict]) -> Vec<&Standing> {
        let is = |it: &&Standing| it.verdict.is_some_and(|verdict| verdicts.contains(&verdict));
        self.policies.iter().filter(is).collect()
    }
}

impl Standings {
    /// Returns the names of all policies, in the order of the results.
    pub fn policies(&self) -> Vec<&str> {
        let all = self.points.iter().flat_map(|point| &point.policies);
        distinct(all.map(|it| it.policy.as_str()))
    }
}

/// The value of a run that is ranked. `None` if the run has no result.
struct Ranked {
    policy: String,
    seed: u64,
    value: Option<f64>,
    /// Values of other metrics.
    others: Vec<Option<f64>>,
}

/// Ranks the runs of one point. Their `others` are values of `others`.
fn rank(
    labels: Vec<String>,
    runs: &[Ranked],
    metric: &str,
    others: &[&'static Metric],
) -> StandingsPoint {
    let better = Metric::find(metric).map_or(Better::Neither, |metric| metric.better);
    let values = || runs.iter().filter_map(|run| run.value);
    // Ratios to zero do not exist, so counts that may be zero are only shown.
    let is_ranked = better != Better::Neither && values().all(|value| value > 0.0);
    let numbers = |run: &Ranked| {
        // The least value ranks first.
        let rank = run.value.map(|value| if better == Better::More { 1.0 / value } else { value });
        let numbers = [rank, run.value].into_iter().chain(run.others.iter().copied()).collect();
        RunNumbers { policy: run.policy.clone(), seed: run.seed, numbers }
    };
    let numbers: Vec<RunNumbers> = runs.iter().map(numbers).collect();
    let names = distinct(runs.iter().map(|run| run.policy.as_str()));
    let count = |name: &&str| runs.iter().filter(|run| run.policy == **name).count();
    let seeds = names.iter().map(count).max().unwrap_or(0);
    let policies = names.iter().map(|name| (*name).to_owned()).collect();
    let planned = Planned { policies, seeds, is_random: true };
    let metrics: Vec<&'static str> =
        ["rank", "value"].into_iter().chain(others.iter().map(|it| it.name)).collect();
    let statistics = Statistics::of(&metrics, &numbers, None, &planned);
    let in_order = names.iter().filter_map(|name| {
        let found = statistics.policies.iter().find(|it| it.policy == *name)?;
        Some(standing(found, others, is_ranked))
    });
    StandingsPoint {
        labels,
        policies: in_order.collect(),
        seeds,
        unranked: statistics.unranked.filter(|_| is_ranked),
        reference: statistics.reference,
    }
}

fn standing(of: &PolicyStatistics, others: &[&'static Metric], is_ranked: bool) -> Standing {
    let sample = of.metrics[1].sample;
    let interval = |it: Sample| it.interval().map(|it| (it.low, it.high));
    let ratio = of.metrics[1].ratio.filter(|_| is_ranked);
    let other = |metric: &&'static Metric| {
        let found = of.metrics.iter().find(|it| it.metric == metric.name)?;
        Some((metric.name, found.sample?.median))
    };
    Standing {
        policy: of.policy.clone(),
        runs: of.runs,
        completed: of.completed,
        median: sample.map(|it| it.median),
        interval: sample.and_then(interval),
        ratio: ratio.map(|it| (it.median, interval(it))),
        verdict: (is_ranked || of.verdict.is_partial()).then_some(of.verdict),
        others: others.iter().filter_map(other).collect(),
    }
}

/// Returns the first occurrence of each name.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all: Vec<&str> = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}
