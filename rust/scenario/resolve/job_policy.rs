//! `[[job]] policy`: jobs with their own policy.

use super::{planes, policy, transport};
use crate::balance::Scheme;
use crate::endpoint::JobPolicy;
use crate::file::ScenarioFile;
use crate::input::context::Context;
use crate::input::error::ScenarioError;
use crate::input::located::Located;
use crate::nic::{NicConfig, Recovery};
use crate::topology::Topology;
use crate::workload::Workload;

/// The file's policy, and the other inputs for resolving those of jobs.
#[derive(Clone, Copy)]
pub(crate) struct Common<'a> {
    /// The file as written.
    pub written: &'a ScenarioFile,
    /// The scheme of `[policy]`.
    pub scheme: &'a Scheme,
    pub nic: &'a NicConfig,
    pub workload: &'a Workload,
    pub topology: &'a Topology,
}

/// Resolves the policies of jobs that have their own, and fills in their parameters.
pub(crate) fn resolve(
    context: &Context<'_>,
    file: &mut ScenarioFile,
    common: Common<'_>,
) -> Result<Vec<JobPolicy>, ScenarioError> {
    let (mut own, mut names, mut without) = (Vec::new(), Vec::new(), file.job.is_empty());
    for (job, section) in file.job.iter_mut().enumerate() {
        let Some(policy) = &mut *section.job.policy else {
            without = true;
            continue;
        };
        let scheme = policy::resolve(context, policy)?;
        planes::check_paths(context, &policy.name, common.topology, &scheme)?;
        let recovery = recovery(context, &scheme, common)?;
        let of_job = &common.workload.jobs[job];
        let streams = of_job.streams(common.workload);
        names.push(policy.name.clone());
        own.push(JobPolicy { job, streams, scheme, recovery });
    }
    let file_name = file.policy.name.clone();
    // The file's policy matters only if some job uses it.
    let common = without.then_some((common.scheme, &file_name));
    let jobs = own.iter().map(|job| &job.scheme).zip(&names);
    check(context, &common.into_iter().chain(jobs).collect::<Vec<_>>())?;
    Ok(own)
}

/// Returns the loss recovery of a job with that policy. Parameters in the file apply if they belong
/// to this recovery. All other NIC settings follow the file's policy.
fn recovery(
    context: &Context<'_>,
    scheme: &Scheme,
    common: Common<'_>,
) -> Result<Recovery, ScenarioError> {
    let mut section = common.written.transport.clone();
    let selected = section.recovery.recovery(scheme.recovery);
    if selected.name() != common.nic.recovery.name() {
        // The file's parameters belong to another recovery, and this one may not have them.
        section.recovery_parameters.clear();
    }
    let trim = &common.written.switch.trim;
    let scheme = Scheme { transport: common.scheme.transport, ..scheme.clone() };
    Ok(transport::resolve(context, &mut section, &scheme, trim)?.recovery)
}

/// Fails for policies that cannot share switches. Each is paired with the key that names it.
fn check(
    context: &Context<'_>,
    policies: &[(&Scheme, &Located<String>)],
) -> Result<(), ScenarioError> {
    let Some((first, first_name)) = policies.first() else { return Ok(()) };
    for (scheme, name) in &policies[1..] {
        if scheme.weights != first.weights {
            let expected = format!(
                "its weights are \"{}\" and those of {} = {} are \"{}\"; all switches share one \
                 set of weights, so set weights = \"capacity\" or \"equal\" for both",
                policy::weights_name(scheme),
                first_name.key(),
                first_name.as_str(),
                policy::weights_name(first),
            );
            return Err(context.invalid(name, expected));
        }
    }
    let mut others = policies.iter().filter(|(scheme, _)| !scheme.only_hashes());
    let Some((other, other_name)) = others.next() else { return Ok(()) };
    let Some((_, name)) = others.find(|(scheme, _)| !scheme.has_same_switch_behavior(other)) else {
        return Ok(());
    };
    let expected = format!(
        "switches balance the packets of {} = {}, and can only hash other packets; use the same \
         policy with the same parameters, or one that hashes, such as \
         ecmp, subflow-k, spray or reps",
        other_name.key(),
        other_name.as_str(),
    );
    Err(context.invalid(name, expected))
}
