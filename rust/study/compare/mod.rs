//! Runs of several policies under several seeds.

mod assertion;
mod indicators;
mod reasons;
mod run_numbers;
mod statistics;

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::OnceLock;

use super::statistics::MIN_SEEDS;
use super::{Finished, Run, RunObservers, identity, lower_bound, map_in_order, run, wire};
use crate::bound::Wire;
use crate::fabric::Progress;
use crate::fluid::Fidelity;
use crate::report::Identity;
use crate::scenario::{Scenario, ScenarioError};
use crate::units::Span;

pub use assertion::{AssertedRun, Assertion, AssertionOutcome};
pub use indicators::{Indicators, reference_topology};
pub use reasons::{Facts, Reason};
pub use run_numbers::{Planned, RunNumbers};
pub use statistics::{
    EQUAL_WITHIN, MetricStatistics, PolicyStatistics, PolicyVerdict, Statistics, Unranked,
};

/// One run of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComparisonRun {
    /// Index in the comparison.
    pub index: usize,
    /// Index of the policy.
    pub policy: usize,
    /// Seed of every random draw of the run.
    pub seed: u64,
}

/// Consecutive seeds of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seeds {
    /// First seed.
    pub first: u64,
    /// Number of seeds. The default is [`MIN_SEEDS`] if results depend on the seed, otherwise 1.
    pub count: Option<NonZeroU32>,
}

/// A scenario under every combination of some policies and seeds.
#[derive(Debug)]
pub struct Comparison {
    /// Scenario under each policy.
    policies: Vec<Scenario>,
    seeds: Vec<u64>,
    is_random: bool,
}

/// Panic payload with which an observer stops a run, and thereby its comparison or sweep. A sweep
/// does not record such a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped;

/// Observer of the runs of a comparison. Its methods may be called from any thread. They stop all
/// runs by unwinding with [`Stopped`].
pub trait Observer: Sync {
    /// Called when a run starts.
    fn started(&self, run: ComparisonRun, identity: &Identity);
    /// Called when a run makes progress.
    fn progress(&self, run: ComparisonRun, progress: &Progress);
    /// Called with the result of a run, before [`Self::finished`].
    fn result(&self, _run: ComparisonRun, _result: &(Finished, Indicators)) {}
    /// Called when a run ends.
    fn finished(&self, run: ComparisonRun);
}

impl Comparison {
    /// Combines the scenario with each of `policies` and each of `seeds`.
    ///
    /// # Errors
    /// Fails for an unknown policy, invalid parameters of a policy, or an invalid seed. All
    /// policies and seeds are checked before the first run starts.
    pub fn new(
        scenario: &Scenario,
        policies: &[String],
        seeds: Seeds,
    ) -> Result<Self, ScenarioError> {
        let policies = policies.iter().map(|name| scenario.with_policy(name));
        let policies = policies.collect::<Result<Vec<Scenario>, _>>()?;
        Self::of(policies, seeds)
    }

    /// Combines scenarios that differ in their policies with each of `seeds`.
    ///
    /// # Errors
    /// Fails for an invalid seed.
    pub fn of(policies: Vec<Scenario>, seeds: Seeds) -> Result<Self, ScenarioError> {
        let is_random = policies.iter().any(Scenario::is_random);
        let default = if is_random { MIN_SEEDS as u64 } else { 1 };
        let count = seeds.count.map_or(default, |count| count.get().into());
        let last = seeds.first.saturating_add(count - 1);
        // A seed is invalid only if it is too large, so checking the last one suffices.
        policies.first().map_or(Ok(()), |scenario| scenario.with_seed(last).map(drop))?;
        Ok(Self { policies, seeds: (seeds.first..=last).collect(), is_random })
    }

    /// Returns the warnings about the scenario under any of the policies, each one once.
    pub fn warnings(&self) -> Vec<&str> {
        let all = self.policies.iter().flat_map(|scenario| &scenario.warnings);
        let mut warnings: Vec<&str> = Vec::new();
        for warning in all {
            if !warnings.contains(&warning.as_str()) {
                warnings.push(warning);
            }
        }
        warnings
    }

    /// Returns the planned runs. An interrupted comparison completes fewer.
    pub fn planned(&self) -> Planned {
        Planned {
            policies: self.policies.iter().map(|it| it.scheme.name.to_owned()).collect(),
            seeds: self.seeds.len(),
            is_random: self.is_random,
        }
    }

    /// Returns all runs: policy by policy, and seed by seed within a policy.
    pub fn runs(&self) -> Vec<ComparisonRun> {
        let pairs = (0..self.policies.len())
            .flat_map(|policy| self.seeds.iter().map(move |&seed| (policy, seed)));
        let runs = pairs.enumerate();
        runs.map(|(index, (policy, seed))| ComparisonRun { index, policy, seed }).collect()
    }
}

/// Simulates all runs of a comparison on at most `threads` threads. The results are in the order of
/// [`Comparison::runs`], regardless of the order in which the runs finish.
///
/// # Errors
/// Fails if a workload cannot be drawn under one of the seeds, or if the replay of traces finds a
/// fault in them.
///
/// # Examples
/// ```
/// use std::{num::NonZero, path::Path};
///
/// use evenkeel_scenario::{Overrides, Scenario};
/// use evenkeel_study::report::Identity;
/// use evenkeel_study::{
///     Comparison, ComparisonRun, Observer, RunNumbers, Seeds, Statistics, compare,
/// };
///
/// /// Shows nothing.
/// struct Silent;
///
/// impl Observer for Silent {
///     fn started(&self, _: ComparisonRun, _: &Identity) {}
///     fn progress(&self, _: ComparisonRun, _: &evenkeel_engine::fabric::Progress) {}
///     fn finished(&self, _: ComparisonRun) {}
/// }
///
/// let text = "[topology]
/// kind = 'leaf-spine'
/// leaves = 4
/// spines = 4
/// hosts_per_leaf = 4
/// [workload]
/// kind = 'shift'
/// shift = 4
/// bytes = '1MB'";
/// let scenario = Scenario::parse(text, "small", Path::new("."), &Overrides::default())?;
/// let policies = ["ecmp", "ethereal"].map(str::to_owned);
/// let seeds = Seeds { first: 1, count: NonZero::new(5) };
/// let comparison = Comparison::new(&scenario, &policies, seeds)?;
/// let runs = compare(&comparison, NonZero::<usize>::MIN, &Silent)?;
///
/// let summaries: Vec<_> = runs.iter().map(|(run, _)| &run.summary).collect();
/// let metrics = RunNumbers::FABRIC_METRICS;
/// let numbers = RunNumbers::of_summaries(&summaries, metrics);
/// let statistics = Statistics::of(metrics, &numbers, None, &comparison.planned());
/// assert_eq!(statistics.reference.as_deref(), Some("ethereal"));
/// # Ok::<(), evenkeel_scenario::ScenarioError>(())
/// ```
pub fn compare(
    comparison: &Comparison,
    threads: NonZeroUsize,
    observer: &dyn Observer,
) -> Result<Vec<(Finished, Indicators)>, ScenarioError> {
    let runs = comparison.runs();
    // Policies that cut messages into the same packets share one bound per seed.
    let wires: Vec<Wire> = comparison.policies.iter().map(|it| wire(&it.setup())).collect();
    let first_alike = |policy: usize| wires.iter().position(|other| *other == wires[policy]);
    let bounds: Vec<OnceLock<Span>> = runs.iter().map(|_| OnceLock::new()).collect();
    let results = map_in_order(runs.len(), threads, |index| {
        let this = runs[index];
        let scenario = comparison.policies[this.policy].with_seed(this.seed)?;
        let setup = scenario.setup();
        let identity = identity(&scenario);
        observer.started(this, &identity);
        let seeds = comparison.seeds.len();
        let alike = first_alike(this.policy).unwrap_or(this.policy);
        let bound = &bounds[alike * seeds + index % seeds];
        let simulation = Run {
            identity: &identity,
            setup: &setup,
            bound: *bound.get_or_init(|| lower_bound(&setup).time),
            fidelity: scenario.fidelity,
            // Parallelism is across runs.
            threads: 1,
            traces: scenario.traces.as_deref(),
        };
        let observers = RunObservers {
            watch: None,
            flows: &mut |_| {},
            progress: &mut |progress| observer.progress(this, progress),
        };
        let result = run(&simulation, observers);
        let (finished, outcome) = result.map_err(|error| scenario.trace_fault(error))?;
        let has_packets = scenario.fidelity == Fidelity::Packet;
        let indicators = Indicators::of(&setup, &outcome, has_packets);
        let result = (finished, indicators);
        observer.result(this, &result);
        observer.finished(this);
        Ok(result)
    });
    results.into_iter().collect()
}
