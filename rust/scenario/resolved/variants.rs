//! The same scenario under another policy or with another seed.

use std::sync::Arc;

use super::super::input::error::ScenarioError;
use super::super::resolve::{
    buffering, class, fabric, failure, job, job_policy, limits, planes, policy, recovery, switch,
    transport,
};
use super::super::workloads::SharedInputs;
use super::{Scenario, check_policy};
use crate::balance::{Parameters, SHARED_PARAMETERS};

impl Scenario {
    /// Returns the same scenario under another policy, with that policy's default parameters unless
    /// it is the file's own. The topology and the workload are shared. Jobs with their own policy
    /// keep it.
    ///
    /// # Errors
    /// Fails if the policy is unknown, if the file's parameters are invalid, or if switches cannot
    /// serve both that policy and those of the jobs.
    pub fn with_policy(&self, name: &str) -> Result<Self, ScenarioError> {
        self.with_policy_parameters(name, &Parameters::new())
    }

    /// Returns the same scenario under another policy, as [`Self::with_policy`] does, with these
    /// parameters.
    ///
    /// # Errors
    /// Fails in the same cases, and for an unknown or invalid parameter.
    pub fn with_policy_parameters(
        &self,
        name: &str,
        parameters: &Parameters,
    ) -> Result<Self, ScenarioError> {
        let mut other = self.clone();
        let (context, written) = (self.origin.context(), &self.origin.file);
        let file = &mut other.file;
        file.policy = written.policy.clone();
        file.policy.override_with(name, &SHARED_PARAMETERS);
        if !parameters.is_empty() {
            let mut all = (*file.policy.parameters).clone();
            all.extend(parameters.clone());
            file.policy.parameters.override_with(all);
        }
        // Start from the written sections: resolved ones contain defaults of the previous policy.
        file.transport = written.transport.clone();
        file.switch = written.switch.clone();
        other.scheme = policy::resolve(&context, &mut file.policy)?;
        planes::check(&context, file, &self.topology, &other.scheme)?;
        let trim = &written.switch.trim;
        recovery::follow(&context, &written.policy, &mut file.transport, &other.scheme);
        other.nic = transport::resolve(&context, &mut file.transport, &other.scheme, trim)?;
        let (scheme, nic, workload) = (&other.scheme, &other.nic, &*other.workload);
        // The fabric is unchanged, except for what depends on packet lengths.
        other.fabric.switch =
            switch::resolve(&context, &mut file.switch, fabric::frames(nic, scheme))?;
        buffering::pool(&context, &file.switch, &other.fabric, &self.topology)?;
        let common =
            job_policy::Common { written, scheme, nic, workload, topology: &self.topology };
        other.job_policies = job_policy::resolve(&context, file, common)?;
        let jobs = &other.job_policies;
        let of = (scheme, nic, &*self.topology);
        let known = (other.traces.is_none() && other.tally.is_none()).then_some(workload);
        let checked = check_policy(&context, [written, &*file], of, jobs, known);
        other.warnings = [&self.file_warnings[..], &checked.warnings].concat();
        other.ignored = checked.ignored;
        other.omitted = checked.omitted;
        other.derived()
    }

    /// Returns the same scenario with another seed. Random workloads and failures are drawn again;
    /// the topology is shared.
    ///
    /// # Errors
    /// Fails if the seed exceeds TOML's largest integer.
    pub fn with_seed(&self, seed: u64) -> Result<Self, ScenarioError> {
        let mut other = self.clone();
        let (context, written) = (self.origin.context(), &self.origin.file);
        other.file.general.seed.override_with(seed);
        other.seed = limits::seed(&context, &other.file.general.seed)?;
        let run = failure::RandomContext { seed, time_limit: self.time_limit };
        other.fabric.failures = failure::resolve(&context, &written.failure, &self.topology, run)?;
        failure::add_known_down(&mut other.fabric.failures, &self.down);
        // Workloads from files are not random, and a file may have changed since it was read.
        if self.file.workload.iter().chain(&self.file.job).all(|it| it.is_recorded()) {
            return other.derived();
        }
        let shared = SharedInputs {
            may_generate: self.workload.chains.is_some(),
            ..SharedInputs::new(&self.topology, &self.host_of_node, seed, None)
        };
        other.workload = Arc::new(job::resolve(&context, &mut written.clone(), shared)?.workload);
        other.tally = None;
        // The range of streams depends on the redrawn messages.
        for own in &mut other.job_policies {
            own.streams = other.workload.jobs[own.job].streams(&other.workload);
        }
        other.job_classes = class::of_jobs(&context, &mut written.clone(), &other.workload)?;
        other.derived()
    }
}
