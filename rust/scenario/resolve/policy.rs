//! `[policy]`: resolves a name and its parameters to a scheme.

use crate::balance::{self, Parameters, Scheme, SchemeError, Weights};
use crate::file::PolicySection;
use crate::input::context::{AtLeast, Context, Lookup};
use crate::input::error::ScenarioError;

/// Resolves the scheme of a section and fills in its parameters.
pub(crate) fn resolve(
    context: &Context<'_>,
    section: &mut PolicySection,
) -> Result<Scheme, ScenarioError> {
    let scheme = scheme(context, section)?;
    let all = scheme.parameters();
    for (name, value) in &all {
        if let Some(Ok(span)) = value.as_str().map(str::parse) {
            context.span(&section.parameters.with_child(name, span), AtLeast::Zero)?;
        }
    }
    // A preset may fix values that are not among its keys. List the parameters only if they rebuild
    // the same scheme.
    if balance::build_scheme(&section.name, &all).as_ref() == Ok(&scheme) {
        *section.parameters = all;
    }
    Ok(scheme)
}

fn scheme(context: &Context<'_>, section: &PolicySection) -> Result<Scheme, ScenarioError> {
    let build = |given: &Parameters| balance::build_scheme(&section.name, given);
    build(&section.parameters).map_err(|error| match error {
        SchemeError::Unknown { name, .. } => unknown(context, section, &name),
        SchemeError::Malformed { error, .. } => {
            let beside = [&["name"], &balance::SHARED_PARAMETERS[..]].concat();
            context.unreadable(section.parameters.key(), error, &beside)
        }
        SchemeError::Parameter { reason, .. } => {
            fault_of(context, section, reason, |given| build(given).err())
        }
    })
}

fn unknown(context: &Context<'_>, section: &PolicySection, name: &str) -> ScenarioError {
    let known: Vec<&str> = balance::presets().map(|preset| preset.name).collect();
    context.unknown(section.name.key(), Lookup { what: "policy", name, known: &known })
}

/// Returns the name of a scheme's weights in scenarios.
pub(super) fn weights_name(scheme: &Scheme) -> &'static str {
    match scheme.weights {
        Weights::Equal => "equal",
        Weights::Capacity => "capacity",
    }
}

/// Returns the fault of the first parameter that is invalid on its own, or else of the policy.
/// `reason` says why the combination is rejected.
pub(crate) fn fault_of(
    context: &Context<'_>,
    section: &PolicySection,
    reason: String,
    build: impl Fn(&Parameters) -> Option<SchemeError>,
) -> ScenarioError {
    let first = section.parameters.iter().find_map(|(name, value)| {
        let alone = Parameters::from_iter([(name.clone(), value.clone())]);
        let Some(SchemeError::Parameter { reason: of_it, .. }) = build(&alone) else { return None };
        // With a single parameter, the reason for the combination already names its value.
        let mut others = (*section.parameters).clone();
        others.remove(name);
        let is_only = build(&others).is_none();
        Some((name.as_str(), if is_only { reason.clone() } else { of_it }))
    });
    let (name, reason) = first.unwrap_or(("name", reason.clone()));
    context.bad_value(&section.parameters.key().child(name), reason)
}
