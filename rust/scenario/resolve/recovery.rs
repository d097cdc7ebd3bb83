//! `[transport] recovery` and its parameters.

use super::parameters;
use crate::nic::Recovery;
use crate::scenario::file::transport::TransportSection;
use crate::scenario::input::context::Context;
use crate::scenario::input::error::ScenarioError;

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
