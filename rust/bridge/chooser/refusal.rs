//! Which policies a chooser cannot serve, and why.

use thiserror::Error;

use super::Senders;
use crate::balance::sender::{SenderConfig, flowlet};
use crate::balance::switch::SwitchConfig;
use crate::balance::{Forwarding, Scheme, SchemeError};
use crate::split::SplitConfig;

/// Why a chooser cannot be made.
#[derive(Debug, PartialEq, Eq, Error)]
pub(super) enum ChooserError {
    /// No policy of that name, or a parameter that it does not have.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
    /// The parameters are no TOML.
    #[error("parameters must be lines of TOML, such as 'gap = \"50us\"': {0} in '{1}'")]
    Parameters(String, String),
    /// Senders choose the path, so there is nothing to ask a switch.
    #[error("policy '{0}' routes at the source: its switches choose nothing")]
    SourceRouted(&'static str),
    /// The policy does something to messages.
    #[error(
        "policy '{0}' splits messages into queue pairs, and a switch knows no messages: it needs \
         evenkeel's NIC"
    )]
    Splits(&'static str),
    /// The policy's sender learns from what comes back.
    #[error(
        "policy '{0}' learns from acknowledgements, which a switch does not get: it needs \
         evenkeel's NIC; without feedback there are ecmp, spray, spray-rr, flowlet and the \
         policies of switches"
    )]
    Learns(&'static str),
    /// The policy's switches tell each other.
    #[error(
        "policy '{0}' writes what its switches measure into headers of packets, which other packets \
         than evenkeel's do not have: it needs a fabric of evenkeel's NICs and switches; by what a \
         switch sees itself choose drill, adaptive, jsq and, on flowlets, flowlet"
    )]
    WritesHeaders(&'static str),
    /// The policy's switches read what an [`super::Arrival`] has not.
    #[error(
        "policy '{0}' hashes the node numbers of both ends, and the bridge carries a hash of the \
         flow alone; take ecmp"
    )]
    ReadsAddresses(&'static str),
}

/// Why this scheme cannot be served for these senders, if it cannot.
pub(super) fn refusal(scheme: &Scheme, senders: Senders) -> Option<ChooserError> {
    let name = scheme.name;
    if scheme.forwarding == Forwarding::SourceRouted {
        return Some(ChooserError::SourceRouted(name));
    }
    if scheme.switch.tracks_departures() {
        return Some(ChooserError::WritesHeaders(name));
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
        SenderConfig::Ecmp(_) | SenderConfig::Spray(_) | SenderConfig::SprayRr(_) => None,
        SenderConfig::Flowlet(config) if config.after == flowlet::After::Packet => None,
        _ => Some(ChooserError::Learns(name)),
    }
}
