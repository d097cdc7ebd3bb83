//! `[transport] recovery` and its parameters.

use super::{parameters, policy};
use crate::balance::Scheme;
use crate::file::PolicySection;
use crate::file::transport::TransportSection;
use crate::input::context::Context;
use crate::input::error::ScenarioError;
use crate::nic::Recovery;

/// Drops recovery and congestion control parameters that are defaults of the file's own policy
/// (`own`), when the command line selects a policy with other defaults.
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

/// Resolves the loss recovery of a section and fills in its parameters. `policy_recovery` is the
/// recovery that the policy is designed for. If it is selected, its parameters are the defaults.
pub(crate) fn resolve(
    context: &Context<'_>,
    section: &mut TransportSection,
    policy_recovery: Recovery,
) -> Result<Recovery, ScenarioError> {
    let recovery = section.recovery.recovery(policy_recovery);
    let given = &section.recovery_parameters;
    let configured = recovery.configured(given);
    let configured = configured.map_err(|error| parameters::invalid(context, given, error))?;
    *section.recovery_parameters = configured.parameters;
    Ok(configured.value)
}
