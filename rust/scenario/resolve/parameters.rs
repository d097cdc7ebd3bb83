//! Tables of parameters, whose keys are those of the control, recovery or policy that is chosen.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::balance::Parameters;
use crate::scenario::input::context::Context;
use crate::scenario::input::error::ScenarioError;
use crate::scenario::input::located::Located;
use crate::scenario::input::message::{fault_of, unknown_key, unknown_name};

/// The parameter that is refused.
#[derive(Debug, Clone)]
pub(super) struct Refused {
    pub name: String,
    /// serde's reason.
    pub reason: String,
}

/// A configuration as a table, which is what its parameters are.
pub(super) fn table<C: Serialize>(config: &C) -> Parameters {
    Parameters::try_from(config).expect("a configuration is a table of plain values")
}

/// A configuration from the keys that are given and, for those left out, `defaults`. `beside` are
/// keys of the table that are no parameters.
pub(super) fn configured<C: DeserializeOwned + Serialize>(
    context: &Context<'_>,
    given: &Located<Parameters>,
    defaults: &C,
    beside: &[&str],
) -> Result<C, ScenarioError> {
    let mut all = table(defaults);
    all.extend((**given).clone());
    all.try_into().map_err(|error: toml::de::Error| {
        let refused = first_refused(given, |alone| alone.try_into::<C>().err());
        let unknown = Refused { name: String::new(), reason: error.message().to_owned() };
        fault(context, given, refused.unwrap_or(unknown), beside)
    })
}

/// The first parameter that is refused by itself.
fn first_refused(
    given: &Parameters,
    refuse: impl Fn(Parameters) -> Option<toml::de::Error>,
) -> Option<Refused> {
    given.iter().find_map(|(name, value)| {
        let alone = Parameters::from_iter([(name.clone(), value.clone())]);
        let reason = refuse(alone)?.message().to_owned();
        Some(Refused { name: name.clone(), reason })
    })
}

/// The fault of a parameter; `beside` are keys of its table that are no parameters.
pub(super) fn fault(
    context: &Context<'_>,
    given: &Located<Parameters>,
    refused: Refused,
    beside: &[&str],
) -> ScenarioError {
    let (section, key) = (given.key(), given.key().child(&refused.name));
    let fault = match unknown_name(&refused.reason, "unknown field ") {
        Some((unknown, known)) => {
            let known = beside.iter().map(|&name| name.to_owned()).chain(known);
            unknown_key(section.path(), &unknown, &known.collect::<Vec<_>>())
        }
        None => fault_of(key.path(), refused.reason.lines().next().unwrap_or_default()),
    };
    context.fault(&key, fault)
}
