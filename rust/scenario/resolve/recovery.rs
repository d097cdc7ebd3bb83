//! `[transport] recovery` and its parameters.

use super::{parameters, policy};
use crate::balance::Scheme;
use crate::nic::Recovery;
use crate::scenario::file::PolicySection;
use crate::scenario::file::transport::TransportSection;
use crate::scenario::input::context::Context;
use crate::scenario::input::error::ScenarioError;

/// Leaves out the parameters of a recovery that the file's own policy, `own`, is made for, where
/// the command line names a policy that is made for another: `auto` follows the policy.
pub(in crate::scenario) fn follow(
    context: &Context<'_>,
    own: &PolicySection,
    section: &mut TransportSection,
    policy: &Scheme,
) {
    let Ok(own) = policy::resolve(context, &mut own.clone()) else { return };
    let [own, now] = [own.recovery, policy.recovery].map(|it| section.recovery.recovery(it).name());
    if own != now {
        section.recovery_parameters.clear();
    }
}

/// The loss recovery of a section, whose parameters are completed. `of_the_policy` is the one for
/// which the policy is designed; its parameters are the defaults if it is selected.
pub(in crate::scenario) fn resolve(
    context: &Context<'_>,
    section: &mut TransportSection,
    of_the_policy: Recovery,
) -> Result<Recovery, ScenarioError> {
    let recovery = section.recovery.recovery(of_the_policy);
    let given = &section.recovery_parameters;
    let configured = recovery.configured(given);
    let configured = configured.map_err(|error| parameters::invalid(context, given, error))?;
    *section.recovery_parameters = configured.parameters;
    Ok(configured.value)
}
