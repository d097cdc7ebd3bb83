//! Policies that a chooser rejects, and why.

use evenkeel_engine::balance::sender::{SenderConfig, flowlet};
use evenkeel_engine::balance::switch::SwitchConfig;
use evenkeel_engine::balance::{Forwarding, Parameters, Preset, Scheme, SchemeError, presets_like};
use evenkeel_engine::split::SplitConfig;
use thiserror::Error;

use super::Senders;

/// An error of [`super::switch_chooser`].
#[derive(Debug, PartialEq, Eq, Error)]
pub(super) enum ChooserError {
    /// No policy has that name.
    #[error("unknown policy '{name}': use '{nearest}', or another that a switch can run: {others}")]
    Unknown { name: String, nearest: &'static str, others: String },
    /// One of the policy's parameters is unknown or invalid.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
    /// The parameters are not TOML.
    #[error("parameters must be lines of TOML, such as 'gap = \"50us\"': {0} in '{1}'")]
    Parameters(String, String),
    /// Senders choose the whole path, so switches choose nothing.
    #[error("policy '{0}' uses source routing: its switches make no choices")]
    SourceRouted(&'static str),
    /// The policy splits messages.
    #[error(
        "policy '{0}' splits messages into queue pairs, but a switch sees only packets: it needs \
         evenkeel's NIC"
    )]
    Splits(&'static str),
    /// The policy's sender learns from acknowledgements.
    #[error(
        "policy '{0}' learns from acknowledgements, which a switch does not receive: it needs \
         evenkeel's NIC; use ecmp, spray, spray-rr, flowlet or a switch policy"
    )]
    Learns(&'static str),
    /// The policy's switches write into headers.
    #[error(
        "policy '{0}' writes switch measurements into headers that only evenkeel's packets have: \
         it needs a fabric of evenkeel's NICs and switches; drill, adaptive and jsq use only \
         local measurements"
    )]
    WritesHeaders(&'static str),
    /// The policy's switches send packets through other groups and note that in headers.
    #[error(
        "policy '{0}' sends packets through other switch groups and notes the group in headers \
         that only evenkeel's packets have; jsq and switch-random use minimal routes"
    )]
    TakesDetours(&'static str),
    /// The policy's switches count the packets that leave their ports.
    #[error(
        "policy '{0}' with this 'by' measures port utilisation, but the bridge sees only packets \
         with a choice of port; use by = \"queue\""
    )]
    Meters(&'static str),
    /// The policy's switches read fields that an [`super::Arrival`] does not have.
    #[error(
        "policy '{0}' hashes the node numbers of both ends, but the bridge has only a flow hash; \
         use ecmp"
    )]
    ReadsAddresses(&'static str),
}

/// Returns the error for an unknown name. It proposes only policies that work with these senders; a
/// known name in another case is rejected for the same reason as that name.
pub(super) fn unknown_policy(name: &str, senders: Senders) -> ChooserError {
    let reason = |preset: &Preset| {
        let scheme = (preset.build)(&Parameters::new()).ok()?;
        unsupported_reason(&scheme, senders)
    };
    let mut usable = Vec::new();
    for preset in presets_like(name) {
        match reason(preset) {
            None => usable.push(preset.name),
            Some(error) if preset.name.eq_ignore_ascii_case(name) => return error,
            Some(_) => {}
        }
    }
    ChooserError::Unknown {
        name: name.to_owned(),
        nearest: usable[0],
        others: usable[1..].join(", "),
    }
}

/// Returns why a scheme cannot be used with these senders; `None` if it can.
pub(super) fn unsupported_reason(scheme: &Scheme, senders: Senders) -> Option<ChooserError> {
    let name = scheme.name;
    if scheme.forwarding == Forwarding::SourceRouted {
        return Some(ChooserError::SourceRouted(name));
    }
    if matches!(scheme.switch, SwitchConfig::Adaptive(_)) && scheme.switch.tracks_departures() {
        return Some(ChooserError::Meters(name));
    }
    if scheme.switch.tracks_departures() {
        return Some(ChooserError::WritesHeaders(name));
    }
    if scheme.switch.uses_detours() {
        return Some(ChooserError::TakesDetours(name));
    }
    if matches!(scheme.switch, SwitchConfig::Murmur(_)) {
        return Some(ChooserError::ReadsAddresses(name));
    }
    if senders == Senders::Evenkeel {
        return None;
    }
    if !matches!(scheme.split, SplitConfig::Whole(_)) {
        return Some(ChooserError::Splits(name));
    }
    match &scheme.sender {
        SenderConfig::Ecmp(_)
        | SenderConfig::AnyPlane(_)
        | SenderConfig::Spray(_)
        | SenderConfig::SprayRr(_) => None,
        SenderConfig::Flowlet(config) if config.after == flowlet::After::Packet => None,
        _ => Some(ChooserError::Learns(name)),
    }
}
