//! `[transport] recovery` and its parameters: from names to a loss recovery.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::parameters::{configured, table};
use crate::nic::Recovery;
use crate::nic::recovery::go_back_n::{self, BackTo};
use crate::nic::recovery::sack::{self, FlowControl};
use crate::scenario::file::transport::{RecoveryName, TransportSection};
use crate::scenario::input::context::{AtLeast, Context};
use crate::scenario::input::error::ScenarioError;
use crate::units::Bytes;

/// A recovery that has none.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoParameters {}

/// The recovery of a section. `of_the_policy` is the one that the policy is made for; its
/// parameters are the defaults where it is the one chosen.
pub(in crate::scenario) fn resolve(
    context: &Context<'_>,
    section: &mut TransportSection,
    of_the_policy: Recovery,
) -> Result<Recovery, ScenarioError> {
    let chosen = match (*section.recovery, of_the_policy) {
        (RecoveryName::Auto, of_the_policy) => of_the_policy,
        (RecoveryName::GoBackN, made_for @ Recovery::GoBackToZero) => made_for,
        (RecoveryName::GoBackN, _) => Recovery::GoBackN,
        (RecoveryName::Sack, made_for @ Recovery::Sack(_)) => made_for,
        (RecoveryName::Sack, _) => Recovery::Sack(sack::Config::default()),
        (RecoveryName::PerPacket, _) => Recovery::PerPacket,
        (RecoveryName::Erasure, _) => Recovery::Erasure,
    };
    match chosen {
        Recovery::GoBackN => go_back_n(context, section, BackTo::Missing),
        Recovery::GoBackToZero => go_back_n(context, section, BackTo::Message),
        Recovery::Sack(config) => sack(context, section, &config),
        Recovery::PerPacket | Recovery::Erasure => {
            complete(context, section, &NoParameters {})?;
            Ok(chosen)
        }
    }
}

fn go_back_n(
    context: &Context<'_>,
    section: &mut TransportSection,
    back_to: BackTo,
) -> Result<Recovery, ScenarioError> {
    let config = complete(context, section, &go_back_n::Config { back_to })?;
    Ok(match config.back_to {
        BackTo::Missing => Recovery::GoBackN,
        BackTo::Message => Recovery::GoBackToZero,
    })
}

fn sack(
    context: &Context<'_>,
    section: &mut TransportSection,
    defaults: &sack::Config,
) -> Result<Recovery, ScenarioError> {
    let config = complete(context, section, defaults)?;
    let parameters = &section.recovery_parameters;
    let rto_low = parameters.with_child("rto_low", config.rto_low);
    context.span(&rto_low, AtLeast::OnePicosecond)?;
    if config.flow_control == FlowControl::Bytes(Bytes::ZERO) {
        let flow_control = parameters.with_child("flow_control", "0B");
        let expected = "it must be at least 1B, or 'off', or 'bdp'";
        return Err(context.invalid(&flow_control, expected));
    }
    Ok(Recovery::Sack(config))
}

/// A configuration from the section's parameters, which become all of them.
fn complete<C: DeserializeOwned + Serialize>(
    context: &Context<'_>,
    section: &mut TransportSection,
    defaults: &C,
) -> Result<C, ScenarioError> {
    let config = configured(context, &section.recovery_parameters, defaults, &[])?;
    *section.recovery_parameters = table(&config);
    Ok(config)
}
