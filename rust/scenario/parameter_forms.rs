//! Notations of parameters, as the errors about a value of a wrong type describe them.

use crate::balance::sender::Trimming;
use crate::balance::{self, Parameters, SchemeError};
use crate::input::section::one_of;
use crate::nic::congestion;
use crate::nic::parameters::ParameterError;
use crate::nic::recovery::RecoveryName;
use crate::rail;
use crate::values::{self, ValueError};

/// Returns the notation of a parameter of a policy or an allocator.
pub(super) fn of_policy(policy: &str, parameter: &str) -> String {
    form(parameter, &|given| {
        let errors = [
            balance::build_scheme(policy, given).err(),
            rail::allocator_config(policy, given).err(),
        ];
        errors.into_iter().find_map(|error| match error? {
            SchemeError::Malformed { error, .. } => Some(error),
            SchemeError::Unknown { .. } | SchemeError::Parameter { .. } => None,
        })
    })
}

/// Returns the notation of a parameter of a congestion control.
pub(super) fn of_control(control: &str, parameter: &str) -> String {
    let Some(control) = congestion::find(control) else { return String::new() };
    match parameter {
        "preset" => one_of(&control.presets()).text,
        _ => form(parameter, &|given| malformed(control.configure(given, Trimming::Off).err()?)),
    }
}

/// Returns the notation of a parameter of a loss recovery.
pub(super) fn of_recovery(recovery: &str, parameter: &str) -> String {
    let name = values::read::<RecoveryName>(toml::Value::String(recovery.to_owned()));
    let recovery = name.map(|name| name.recovery(crate::nic::Recovery::ERASURE));
    form(parameter, &|given| malformed(recovery.as_ref().ok()?.configured(given).err()?))
}

fn malformed(error: ParameterError) -> Option<ValueError> {
    match error {
        ParameterError::Malformed { error, .. } => Some(error),
        _ => None,
    }
}

/// Returns what the errors about values of a parameter expect. No parameter accepts a date, and
/// none that takes text accepts a question mark.
fn form(parameter: &str, error_of: &dyn Fn(&Parameters) -> Option<ValueError>) -> String {
    let date = "1979-05-27".parse().expect("it is a date");
    let reason = |value: toml::Value| {
        let given = Parameters::from_iter([(parameter.to_owned(), value)]);
        error_of(&given).map_or_else(String::new, |error| error.reason.to_string())
    };
    let of_date = reason(toml::Value::Datetime(date));
    let form = of_date.split_once(", expected ").map(|(_, form)| form.to_owned());
    if form.as_deref() != Some("a quoted string") {
        return form.unwrap_or_default();
    }
    let of_text = reason(toml::Value::String("?".to_owned()));
    let examples = of_text.split_once("write for example ");
    examples.map_or("text".to_owned(), |(_, it)| format!("for example {}", in_double_quotes(it)))
}

/// Replaces single quotes, except apostrophes.
fn in_double_quotes(text: &str) -> String {
    let is_apostrophe = |at: usize| {
        let (before, after) = (&text[..at], &text[at + 1..]);
        before.ends_with(char::is_alphabetic) && after.starts_with(char::is_alphabetic)
    };
    let quote = |(at, character): (usize, char)| match character {
        '\'' if !is_apostrophe(at) => '"',
        other => other,
    };
    text.char_indices().map(quote).collect()
}

#[cfg(test)]
mod tests {
    use crate::{Notation, parameters};

    #[test]
    fn every_parameter_has_a_notation_that_its_default_fits() {
        let all = parameters();
        assert!(all.len() > 100, "{}", all.len());
        for entry in all {
            let read = Notation::of(&entry.form);
            let default = format!("it = {}", entry.default).parse::<toml::Table>();
            let fits = match &default.expect("a default is TOML")["it"] {
                toml::Value::Integer(_) => ["integer", "number"].contains(&read.kind),
                toml::Value::Float(_) => ["number", "fraction"].contains(&read.kind),
                toml::Value::Boolean(_) => read.kind == "boolean",
                toml::Value::String(text) => match read.kind {
                    "name" => read.choices.contains(text),
                    kind => !["integer", "number", "boolean", "table"].contains(&kind),
                },
                toml::Value::Array(_) => read.kind == "list",
                _ => read.kind == "table",
            };
            assert!(fits, "{entry:?} {read:?}");
        }
    }
}
