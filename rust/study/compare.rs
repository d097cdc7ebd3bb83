//! Several policies under several seeds.

use std::num::NonZeroUsize;
use std::sync::OnceLock;

use super::{Finished, Observers, Run, in_order, lower_bound, run};
use crate::fabric::Progress;
use crate::report::Identity;
use crate::scenario::{Scenario, ScenarioError};
use crate::units::Span;

/// One run of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// Its index in the comparison.
    pub index: usize,
    /// The index of its policy.
    pub policy: usize,
    /// Its seed.
    pub seed: u64,
}

/// Policies and seeds, every combination of which is to be run.
#[derive(Debug)]
pub struct Comparison {
    /// The scenario under each policy.
    policies: Vec<Scenario>,
    seeds: Vec<u64>,
}

/// Someone who observes the runs of a comparison, from any thread.
pub trait Observer: Sync {
    /// A run has started.
    fn started(&self, job: Job, identity: &Identity);
    /// A run goes on.
    fn progress(&self, job: Job, progress: &Progress);
    /// A run has ended.
    fn finished(&self, job: Job);
}

impl Comparison {
    /// The scenario under each of `policies` and each of `seeds`, which ascend.
    ///
    /// # Errors
    /// A policy that does not exist or whose parameters are invalid, or a seed that is: all of them
    /// are checked before anything runs.
    pub fn new(
        scenario: &Scenario,
        policies: &[String],
        seeds: Vec<u64>,
    ) -> Result<Self, ScenarioError> {
        let policies = policies.iter().map(|name| scenario.with_policy(name));
        let policies = policies.collect::<Result<Vec<Scenario>, _>>()?;
        // Only the size of a seed can be invalid: the ends of the range stand for all.
        for seed in [seeds.first(), seeds.last()].into_iter().flatten() {
            scenario.with_seed(*seed)?;
        }
        Ok(Self { policies, seeds })
    }

    /// Every run, policy by policy, each with all seeds.
    pub fn jobs(&self) -> Vec<Job> {
        let pairs = (0..self.policies.len())
            .flat_map(|policy| self.seeds.iter().map(move |&seed| (policy, seed)));
        pairs.enumerate().map(|(index, (policy, seed))| Job { index, policy, seed }).collect()
    }
}

/// Makes all runs of a comparison on at most that many threads. The results are in the order of
/// [`Comparison::jobs`], whichever finishes first.
///
/// # Errors
/// A workload that cannot be drawn under one of the seeds, or a fault of traces that shows when
/// they are replayed.
pub fn compare(
    comparison: &Comparison,
    threads: NonZeroUsize,
    observer: &dyn Observer,
) -> Result<Vec<Finished>, ScenarioError> {
    let jobs = comparison.jobs();
    // All policies run the workload of a seed, which has one bound.
    let bounds: Vec<OnceLock<Span>> = comparison.seeds.iter().map(|_| OnceLock::new()).collect();
    let results = in_order(jobs.len(), threads, |index| {
        let job = jobs[index];
        let scenario = comparison.policies[job.policy].with_seed(job.seed)?;
        let setup = scenario.setup();
        let identity = Identity {
            scenario: scenario.name.clone(),
            policy: scenario.scheme.name.to_owned(),
            seed: job.seed,
        };
        observer.started(job, &identity);
        let bound = &bounds[index % comparison.seeds.len()];
        let job_run = Run {
            identity: &identity,
            setup: &setup,
            bound: *bound.get_or_init(|| lower_bound(&setup).time),
            traces: scenario.traces.as_deref(),
        };
        let observers = Observers {
            watch: None,
            flows: &mut |_| {},
            progress: &mut |progress| observer.progress(job, progress),
        };
        let result = run(&job_run, observers);
        let (finished, _) = result.map_err(|fault| scenario.trace_fault(fault))?;
        observer.finished(job);
        Ok(finished)
    });
    results.into_iter().collect()
}
