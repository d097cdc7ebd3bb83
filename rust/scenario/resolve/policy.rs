//! `[policy]`: from a name and its parameters to a scheme.

use crate::balance::{self, Parameters, Scheme, SchemeError};
use crate::scenario::file::PolicySection;
use crate::scenario::input::context::{AtLeast, Context};
use crate::scenario::input::error::{Fault, ScenarioError, nearest};
use crate::scenario::resolve::transport::parameter_fault;

/// The policy that a run uses: the typed one, or the one that overrides it, whose parameters are
/// its defaults.
pub(in crate::scenario) fn chosen(typed: &PolicySection, name: Option<&str>) -> PolicySection {
    match name {
        Some(name) if name != typed.name => {
            PolicySection { name: name.to_owned(), parameters: Parameters::new() }
        }
        _ => typed.clone(),
    }
}

/// The scheme of a section, and the section with its defaults.
pub(in crate::scenario) fn resolve(
    context: &Context<'_>,
    section: PolicySection,
) -> Result<(PolicySection, Scheme), ScenarioError> {
    let scheme = scheme(context, &section)?;
    let parameters = scheme.parameters();
    for (key, value) in &parameters {
        if let Some(Ok(span)) = value.as_str().map(str::parse) {
            context.span(&format!("policy.{key}"), span, AtLeast::Zero)?;
        }
    }
    // Presets may fix values of their own, which are no keys of theirs.
    if balance::build_scheme(&section.name, &parameters).as_ref() == Ok(&scheme) {
        return Ok((PolicySection { parameters, ..section }, scheme));
    }
    Ok((section, scheme))
}

fn scheme(context: &Context<'_>, section: &PolicySection) -> Result<Scheme, ScenarioError> {
    balance::build_scheme(&section.name, &section.parameters).map_err(|error| {
        let reason = match error {
            SchemeError::Unknown { name, known } => return unknown(context, name, known),
            SchemeError::Parameter { reason, .. } => reason,
        };
        let beside = [&["name"], &balance::SHARED_PARAMETERS[..]].concat();
        let (key, reason) = culprit(section).unwrap_or(("name".into(), reason));
        let path = format!("policy.{key}");
        context.fault(&path, parameter_fault("policy", &beside, &path, &reason))
    })
}

fn unknown(context: &Context<'_>, name: String, known: String) -> ScenarioError {
    let nearest = nearest(&name, balance::presets().map(|preset| preset.name));
    let key = "policy.name".to_owned();
    context.fault("policy.name", Fault::UnknownName { key, what: "policy", name, nearest, known })
}

/// The first parameter that is wrong by itself.
fn culprit(section: &PolicySection) -> Option<(String, String)> {
    section.parameters.iter().find_map(|(key, value)| {
        let alone = Parameters::from_iter([(key.clone(), value.clone())]);
        match balance::build_scheme(&section.name, &alone) {
            Err(SchemeError::Parameter { reason, .. }) => Some((key.clone(), reason)),
            _ => None,
        }
    })
}
