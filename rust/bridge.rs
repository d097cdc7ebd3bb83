//! The contract with C++: all that another world's program can ask of evenkeel, and no more.
//!
//! The public C++ face is `cpp-bridge/evenkeel.h`; what is declared here is wrapped there, so
//! that nobody but its glue sees `cxx`. Constructors can fail, and an error becomes a C++
//! exception with its text; calls on the packet path cannot. The bridge sees policies and ids;
//! it knows no fabric, no scenario and no ns-3.

use thiserror::Error;

use crate::ids::SwitchId;
use crate::rng::{Purpose, Stream, mix32};

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

/// Policies whose switch side can be had here.
const POLICIES: [&str; 1] = ["ecmp"];

/// Why a chooser cannot be made.
#[derive(Debug, PartialEq, Eq, Error)]
enum ChooserError {
    /// No policy of that name has a switch side here.
    #[error("no switch policy '{name}' on the bridge; there is {}", POLICIES.join(", "))]
    Unknown {
        /// What was given.
        name: String,
    },
}

/// The load-balancing policy of one switch: picks one of the equal-cost ports for each packet.
#[derive(Debug)]
struct SwitchChooser {
    salt: u32,
}

impl SwitchChooser {
    /// An index below `candidates` for a packet with this flow label and entropy value; 0 where
    /// there is no candidate.
    ///
    /// It takes `&mut self` because policies with a memory will stand behind the same call.
    fn choose(&mut self, label: u32, entropy: u16, candidates: u32) -> u32 {
        hashed(self.salt, label, entropy, candidates)
    }
}

/// The chooser of `switch` under the policy of that name. A run's `seed` and the switch's number
/// fix its draws.
fn switch_chooser(
    policy: &str,
    seed: u64,
    switch_id: u32,
) -> Result<Box<SwitchChooser>, ChooserError> {
    if !POLICIES.contains(&policy) {
        return Err(ChooserError::Unknown { name: policy.to_owned() });
    }
    let id = u64::from(SwitchId(switch_id).0);
    let salt = Stream::new(seed, Purpose::SwitchSalt, id).next_u32();
    Ok(Box::new(SwitchChooser { salt }))
}

/// ECMP's choice: a hash of label and entropy, salted by switch, scaled to the candidates.
fn hashed(salt: u32, label: u32, entropy: u16, candidates: u32) -> u32 {
    let hash = mix32(label ^ salt ^ u32::from(entropy).wrapping_mul(0x9e37_79b1));
    let scaled = u64::from(hash) * u64::from(candidates);
    (scaled >> 32) as u32
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
    fn an_unknown_policy_is_told_which_exist() {
        let error = switch_chooser("conga", 1, 0).unwrap_err().to_string();
        assert_eq!(error, "no switch policy 'conga' on the bridge; there is ecmp");
    }
}
