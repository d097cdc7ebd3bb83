//! `[transport] recovery` and its parameters: from names to a loss recovery.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::balance::Parameters;
use crate::nic::Recovery;
use crate::nic::recovery::go_back_n::{self, BackTo};
use crate::nic::recovery::sack::{self, FlowControl};
use crate::scenario::file::sections::{RecoveryName, TransportSection};
use crate::scenario::input::context::{AtLeast, Context};
use crate::scenario::input::error::ScenarioError;
use crate::scenario::resolve::transport::{culprit, parameter_fault};
use crate::units::Bytes;

/// Where the parameters are in a scenario.
const SECTION: &str = "transport.recovery_parameters";

/// A recovery that has none.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoParameters {}

/// The recovery of a section, and all its parameters. `of_the_policy` is the one that the policy
/// is made for; its parameters are the defaults where it is the one chosen.
pub(in crate::scenario) fn resolve(
    context: &Context<'_>,
    typed: &TransportSection,
    of_the_policy: Recovery,
) -> Result<(Recovery, Parameters), ScenarioError> {
    let given = &typed.recovery_parameters;
    let chosen = match (typed.recovery, of_the_policy) {
        (RecoveryName::Auto, of_the_policy) => of_the_policy,
        (RecoveryName::GoBackN, made_for @ Recovery::GoBackToZero) => made_for,
        (RecoveryName::GoBackN, _) => Recovery::GoBackN,
        (RecoveryName::Sack, made_for @ Recovery::Sack(_)) => made_for,
        (RecoveryName::Sack, _) => Recovery::Sack(sack::Config::default()),
        (RecoveryName::PerPacket, _) => Recovery::PerPacket,
        (RecoveryName::Erasure, _) => Recovery::Erasure,
    };
    match chosen {
        Recovery::GoBackN => go_back_n(context, BackTo::Missing, given),
        Recovery::GoBackToZero => go_back_n(context, BackTo::Message, given),
        Recovery::Sack(config) => sack(context, &config, given),
        Recovery::PerPacket | Recovery::Erasure => {
            let (_, all) = configured(context, &NoParameters {}, given)?;
            Ok((chosen, all))
        }
    }
}

fn go_back_n(
    context: &Context<'_>,
    back_to: BackTo,
    given: &Parameters,
) -> Result<(Recovery, Parameters), ScenarioError> {
    let (config, all) = configured(context, &go_back_n::Config { back_to }, given)?;
    let recovery = match config.back_to {
        BackTo::Missing => Recovery::GoBackN,
        BackTo::Message => Recovery::GoBackToZero,
    };
    Ok((recovery, all))
}

fn sack(
    context: &Context<'_>,
    defaults: &sack::Config,
    given: &Parameters,
) -> Result<(Recovery, Parameters), ScenarioError> {
    let (config, all) = configured(context, defaults, given)?;
    context.span(&format!("{SECTION}.rto_low"), config.rto_low, AtLeast::OnePicosecond)?;
    if config.flow_control == FlowControl::Bytes(Bytes::ZERO) {
        let key = format!("{SECTION}.flow_control");
        return Err(context.senseless(&key, "0B", "it must be at least 1B, or 'off', or 'bdp'"));
    }
    Ok((Recovery::Sack(config), all))
}

/// A configuration from its keys, and all its keys with the defaults of those left out.
fn configured<C: DeserializeOwned + Serialize>(
    context: &Context<'_>,
    defaults: &C,
    given: &Parameters,
) -> Result<(C, Parameters), ScenarioError> {
    let table = |config: &C| {
        Parameters::try_from(config).expect("a configuration is a table of plain values")
    };
    let mut all = table(defaults);
    all.extend(given.clone());
    let config: C = all.try_into().map_err(|error: toml::de::Error| {
        let (key, reason) = culprit::<C>(given).unwrap_or((String::new(), error));
        let path = format!("{SECTION}.{key}");
        context.fault(&path, parameter_fault(SECTION, &[], &path, reason.message()))
    })?;
    let all = table(&config);
    Ok((config, all))
}
