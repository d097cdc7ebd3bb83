//! Parameter tables, whose keys depend on the selected control, recovery or policy.

use crate::balance::Parameters;
use crate::input::context::{Context, Lookup};
use crate::input::error::ScenarioError;
use crate::input::located::Located;
use crate::nic::parameters::{InvalidValue, ParameterError};

/// Returns the fault of parameters that a congestion control or a loss recovery rejects.
pub(super) fn invalid(
    context: &Context<'_>,
    given: &Located<Parameters>,
    error: ParameterError,
) -> ScenarioError {
    let preset = || given.key().child("preset");
    match error {
        ParameterError::Malformed { error, extra_keys } => {
            context.unreadable(given.key(), error, extra_keys)
        }
        ParameterError::PresetType { value, example } => {
            let reason = format!("{value} is not a string; use for example \"{example}\"");
            context.bad_value(&preset(), reason)
        }
        ParameterError::UnknownPreset { name, known } => {
            context.unknown(&preset(), Lookup { what: "preset", name: &name, known: &known })
        }
        ParameterError::Invalid(InvalidValue { key, value, expected }) => {
            context.invalid(&given.with_child(key, value), expected)
        }
    }
}
