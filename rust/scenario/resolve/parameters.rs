//! Tables of parameters, whose keys are those of the selected control, recovery or policy.

use crate::balance::Parameters;
use crate::input::context::{Context, Lookup};
use crate::input::error::{Fault, ScenarioError};
use crate::input::located::Located;
use crate::input::message::{fault_of, unknown_key, unknown_name};
use crate::nic::parameters::{InvalidValue, ParameterError};

/// The parameter that is rejected.
#[derive(Debug, Clone)]
pub(super) struct Refused {
    pub name: String,
    /// The message of the serde error.
    pub reason: String,
}

/// The fault of parameters that a congestion control or a loss recovery rejects.
pub(super) fn invalid(
    context: &Context<'_>,
    given: &Located<Parameters>,
    error: ParameterError,
) -> ScenarioError {
    let preset = || given.key().child("preset");
    match error {
        ParameterError::Malformed { key, message, beside } => {
            fault(context, given, Refused { name: key, reason: message }, beside)
        }
        ParameterError::PresetType { value, example } => {
            let key = preset();
            let reason = format!("{value} is not a name; write for example \"{example}\"");
            context.fault(&key, Fault::BadValue { key: key.to_string(), reason })
        }
        ParameterError::UnknownPreset { name, known } => {
            context.unknown(&preset(), Lookup { what: "preset", name: &name, known: &known })
        }
        ParameterError::Invalid(InvalidValue { key, value, right }) => {
            context.invalid(&given.with_child(key, value), right)
        }
    }
}

/// The fault of a parameter; `others` are the other keys of its table.
pub(super) fn fault(
    context: &Context<'_>,
    given: &Located<Parameters>,
    refused: Refused,
    others: &[&str],
) -> ScenarioError {
    let (section, key) = (given.key(), given.key().child(&refused.name));
    let fault = match unknown_name(&refused.reason, "unknown field ") {
        Some((unknown, known)) => {
            let known = others.iter().map(|&name| name.to_owned()).chain(known);
            unknown_key(section.path(), &unknown, &known.collect::<Vec<_>>())
        }
        None => fault_of(key.path(), refused.reason.lines().next().unwrap_or_default()),
    };
    context.fault(&key, fault)
}
