//! `[policy]`: from a name and its parameters to a scheme.

use super::parameters::{self, Refused};
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
        SchemeError::Parameter { reason, .. } => {
            let beside = [&["name"], &balance::SHARED_PARAMETERS[..]].concat();
            let alone = |given: &Parameters| build(given).err();
            refused(context, section, &Refusal { reason, build: alone, beside: &beside })
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

/// Parameters that a policy refuses.
#[derive(Debug)]
pub(crate) struct Refusal<'a, B> {
    /// Why it refuses all of them together.
    pub reason: String,
    /// Whether it refuses some of them.
    pub build: B,
    /// Keys of the section that are no parameters.
    pub beside: &'a [&'a str],
}

/// The fault of the first parameter of a section that is refused by itself, or of its policy.
pub(crate) fn refused<B: Fn(&Parameters) -> Option<SchemeError>>(
    context: &Context<'_>,
    section: &PolicySection,
    refusal: &Refusal<'_, B>,
) -> ScenarioError {
    let first = section.parameters.iter().find_map(|(name, value)| {
        let alone = Parameters::from_iter([(name.clone(), value.clone())]);
        match (refusal.build)(&alone) {
            Some(SchemeError::Parameter { reason, .. }) => {
                // If it is the only one, the reason of all names the values that are given.
                let mut others = (*section.parameters).clone();
                others.remove(name);
                let is_only = (refusal.build)(&others).is_none();
                let reason = if is_only { refusal.reason.clone() } else { reason };
                Some(Refused { name: name.clone(), reason })
            }
            _ => None,
        }
    });
    let name_is = || Refused { name: "name".into(), reason: refusal.reason.clone() };
    let refused = first.unwrap_or_else(name_is);
    parameters::fault(context, &section.parameters, refused, refusal.beside)
}
