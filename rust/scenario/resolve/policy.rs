//! `[policy]`: from a name and its parameters to a scheme.

use super::parameters::{self, Refused};
use crate::balance::{self, Parameters, Scheme, SchemeError};
use crate::scenario::file::PolicySection;
use crate::scenario::input::context::{AtLeast, Context, Lookup};
use crate::scenario::input::error::ScenarioError;

/// The scheme of a section, whose parameters are completed.
pub(in crate::scenario) fn resolve(
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
    balance::build_scheme(&section.name, &section.parameters).map_err(|error| {
        let reason = match error {
            SchemeError::Unknown { name, .. } => return unknown(context, section, &name),
            SchemeError::Parameter { reason, .. } => reason,
        };
        let name_is = Refused { name: "name".into(), reason };
        let refused = first_refused(section).unwrap_or(name_is);
        let others = [&["name"], &balance::SHARED_PARAMETERS[..]].concat();
        parameters::fault(context, &section.parameters, refused, &others)
    })
}

fn unknown(context: &Context<'_>, section: &PolicySection, name: &str) -> ScenarioError {
    let known: Vec<&str> = balance::presets().map(|preset| preset.name).collect();
    context.unknown(section.name.key(), Lookup { what: "policy", name, known: &known })
}

/// The first parameter that is rejected on its own.
fn first_refused(section: &PolicySection) -> Option<Refused> {
    section.parameters.iter().find_map(|(name, value)| {
        let alone = Parameters::from_iter([(name.clone(), value.clone())]);
        match balance::build_scheme(&section.name, &alone) {
            Err(SchemeError::Parameter { reason, .. }) => {
                Some(Refused { name: name.clone(), reason })
            }
            _ => None,
        }
    })
}
