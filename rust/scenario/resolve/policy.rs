//! `[policy]`: from a name and its parameters to a scheme.

use crate::balance::{self, Parameters, Scheme, SchemeError, Weights};
use crate::file::PolicySection;
use crate::input::context::{AtLeast, Context, Lookup};
use crate::input::error::ScenarioError;

/// The scheme of a section, whose parameters are completed.
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
    // Presets may fix values that are not among their keys.
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
            refused(context, section, reason, |given| build(given).err())
        }
    })
}

fn unknown(context: &Context<'_>, section: &PolicySection, name: &str) -> ScenarioError {
    let known: Vec<&str> = balance::presets().map(|preset| preset.name).collect();
    context.unknown(section.name.key(), Lookup { what: "policy", name, known: &known })
}

/// The weights of a scheme, as scenarios name them.
pub(super) fn weights_name(scheme: &Scheme) -> &'static str {
    match scheme.weights {
        Weights::Equal => "equal",
        Weights::Capacity => "capacity",
    }
}

/// The fault of the first parameter of a section that is refused by itself, or of its policy.
/// `reason` is why all of them together are refused.
pub(crate) fn refused(
    context: &Context<'_>,
    section: &PolicySection,
    reason: String,
    build: impl Fn(&Parameters) -> Option<SchemeError>,
) -> ScenarioError {
    let first = section.parameters.iter().find_map(|(name, value)| {
        let alone = Parameters::from_iter([(name.clone(), value.clone())]);
        let Some(SchemeError::Parameter { reason: of_it, .. }) = build(&alone) else { return None };
        // If it is the only one, the reason of all names the values that are given.
        let mut others = (*section.parameters).clone();
        others.remove(name);
        let is_only = build(&others).is_none();
        Some((name.as_str(), if is_only { reason.clone() } else { of_it }))
    });
    let (name, reason) = first.unwrap_or(("name", reason.clone()));
    context.bad_value(&section.parameters.key().child(name), reason)
}
