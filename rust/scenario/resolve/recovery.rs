//! `[transport] recovery` and its parameters.

use super::{parameters, policy};
use crate::balance::Scheme;
use crate::file::PolicySection;
use crate::file::transport::TransportSection;
use crate::input::context::Context;
use crate::input::error::ScenarioError;
use crate::nic::Recovery;

/// Leaves out the parameters of the recovery and of the congestion control that are defaults of the
/// file's own policy, `own`, where the command line names a policy that has others.
pub(crate) fn follow(
    context: &Context<'_>,
    own: &PolicySection,
    section: &mut TransportSection,
    policy: &Scheme,
) {
    let Ok(own) = policy::resolve(context, &mut own.clone()) else { return };
    let recovery = |it: &Scheme| section.recovery.recovery(it.recovery).name();
    let control =
        |it: &Scheme| section.congestion_control.unwrap_or(it.transport.congestion_control).name();
    let [is_other_recovery, is_other_control] =
        [recovery(&own) != recovery(policy), control(&own) != control(policy)];
    if is_other_recovery {
        section.recovery_parameters.clear();
    }
    if is_other_control {
        section.parameters.clear();
    }
}

/// The loss recovery of a section, whose parameters are completed. `of_the_policy` is the one for
/// which the policy is designed; its parameters are the defaults if it is selected.
pub(crate) fn resolve(
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
