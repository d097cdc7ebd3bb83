//! Several policies under several seeds.

use std::num::NonZeroUsize;
use std::sync::OnceLock;

use super::{Finished, Watch, in_order, lower_bound, replay, run};
use crate::fabric::Progress;
use crate::report::Identity;
use crate::scenario::{Scenario, ScenarioError};
use crate::units::Span;

/// One run of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// Its place in the comparison, from 0.
    pub index: usize,
    /// Which of the policies, from 0.
    pub policy: usize,
    /// Its seed.
    pub seed: u64,
}

/// Policies and seeds whose every combination can be run.
#[derive(Debug)]
pub struct Comparison {
    /// The scenario under each policy.
    policies: Vec<Scenario>,
    seeds: Vec<u64>,
}

/// Who watches the runs of a comparison, from any thread.
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
    /// A policy that does not exist or whose parameters are wrong, or a seed that cannot be: all
    /// of them are looked at before anything runs.
    pub fn new(
        scenario: &Scenario,
        policies: &[String],
        seeds: Vec<u64>,
    ) -> Result<Self, ScenarioError> {
        let policies = policies.iter().map(|name| scenario.with_policy(name));
        let policies = policies.collect::<Result<Vec<Scenario>, _>>()?;
        // What can be wrong with a seed is its size: the ends of the range stand for all.
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

/// Runs a whole comparison on at most that many threads. The results are in the order of
/// [`Comparison::jobs`], whoever finishes first.
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
    // Policies share the workload of a seed, and thereby its bound.
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
        let place = index % comparison.seeds.len();
        let bound = *bounds[place].get_or_init(|| lower_bound(&setup).time);
        let mut progress = |progress: &Progress| observer.progress(job, progress);
        let (finished, _) = match &scenario.traces {
            None => run(&identity, &setup, bound, &mut progress),
            Some(traces) => {
                let watch = Watch { flows: &mut |_| {}, progress: &mut progress };
                replay(&identity, &setup, (traces, bound), watch)
                    .map_err(|fault| scenario.trace_fault(fault))?
            }
        };
        observer.finished(job);
        Ok(finished)
    });
    results.into_iter().collect()
}
