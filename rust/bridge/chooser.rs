//! Choosers: the load-balancing policy of one switch, for programs whose switches are their own.
//!
//! It sees policies and ids; it knows no fabric, no scenario and no ns-3.

use thiserror::Error;

use crate::balance::switch::SwitchConfig;
use crate::balance::switch::hash::Hash;
use crate::balance::{self, Forwarding, Parameters, SchemeError};
use crate::ids::SwitchId;

#[allow(unsafe_code, reason = "cxx generates the calls across the language border")]
#[cxx::bridge(namespace = "evenkeel::contract")]
mod contract {
    extern "Rust" {
        type SwitchChooser;

        fn switch_chooser(policy: &str, seed: u64, switch_id: u32) -> Result<Box<SwitchChooser>>;
        fn choose(self: &mut SwitchChooser, label: u32, entropy: u16, candidates: u32) -> u32;
        fn version() -> &'static str;
    }
}

/// Why a chooser cannot be made.
#[derive(Debug, PartialEq, Eq, Error)]
enum ChooserError {
    /// No policy of that name.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
    /// Senders choose the path, so there is nothing to ask a switch.
    #[error("policy '{0}' routes at the source: its switches choose nothing")]
    SourceRouted(&'static str),
    /// The policy decides by more than this call is told.
    #[error("policy '{0}' looks at queues, which the bridge does not carry; take one that hashes")]
    LooksAtQueues(&'static str),
    /// Likewise.
    #[error(
        "policy '{0}' decides by the destination, the time or what it keeps of packets, which the \
         bridge does not carry; take one that hashes"
    )]
    KeepsMore(&'static str),
}

/// The load-balancing policy of one switch: picks one of the equal-cost ports for each packet.
#[derive(Debug)]
struct SwitchChooser(Hash);

impl SwitchChooser {
    /// An index below `candidates` for a packet with this flow label and entropy value; 0 where
    /// there is no candidate.
    ///
    /// It takes `&mut self` because policies with a memory will stand behind the same call.
    fn choose(&mut self, label: u32, entropy: u16, candidates: u32) -> u32 {
        self.0.pick(label, entropy, candidates)
    }
}

/// The chooser of a switch under the policy of that name, with the policy's defaults. A run's
/// `seed` and the switch's number fix its draws, as they do in the fabric.
fn switch_chooser(
    policy: &str,
    seed: u64,
    switch_id: u32,
) -> Result<Box<SwitchChooser>, ChooserError> {
    let scheme = balance::preset(policy, &Parameters::new())?;
    if scheme.forwarding == Forwarding::SourceRouted {
        return Err(ChooserError::SourceRouted(scheme.name));
    }
    match scheme.switch {
        SwitchConfig::Hash(_) => Ok(Box::new(SwitchChooser(Hash::of(seed, SwitchId(switch_id))))),
        other if other.looks_at_queues() => Err(ChooserError::LooksAtQueues(scheme.name)),
        _ => Err(ChooserError::KeepsMore(scheme.name)),
    }
}

/// The version of evenkeel that is linked.
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_keeps_its_port_and_entropy_values_spread() {
        let mut chooser = switch_chooser("ecmp", 1, 0).unwrap();
        let mut counts = [0u32; 8];
        for entropy in 0..8_000 {
            let port = chooser.choose(7, entropy, 8);
            assert_eq!(port, chooser.choose(7, entropy, 8));
            counts[port as usize] += 1;
        }
        assert!(counts.iter().all(|&n| (850..1_150).contains(&n)), "{counts:?}");
    }

    #[test]
    fn without_a_candidate_nothing_breaks() {
        assert_eq!(switch_chooser("ecmp", 1, 0).unwrap().choose(7, 7, 0), 0);
    }

    #[test]
    fn a_policy_that_the_call_tells_too_little_is_refused() {
        let refusal = |policy| switch_chooser(policy, 1, 0).unwrap_err().to_string();
        assert!(refusal("sprey").starts_with("no policy is called 'sprey'; there are ecmp, "));
        assert_eq!(
            refusal("ethereal"),
            "policy 'ethereal' routes at the source: its switches choose nothing"
        );
        assert!(refusal("jsq").starts_with("policy 'jsq' looks at queues"));
        assert!(refusal("conga").starts_with("policy 'conga' decides by the destination"));
    }
}
