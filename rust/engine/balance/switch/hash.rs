//! The hash of ECMP: 5-tuple and entropy value, with a salt per switch.
//!
//! Source: RFC 2992, "Analysis of an Equal-Cost Multi-Path Algorithm" (2000), section 2. The 16-bit
//! entropy value of Ultra Ethernet replaces the UDP source port. Salts differ between switches, so
//! that the choices of different tiers are independent (no polarisation).

use serde::{Deserialize, Serialize};

use super::{SwitchContext, SwitchPolicy, SwitchView};
use crate::balance::Preset;
use crate::ids::SwitchId;
use crate::packet::Packet;
use crate::rng::{Purpose, Stream, mix32};
use crate::units::Time;

/// The policy has no parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {}

/// The salt of a switch.
#[derive(Debug, Clone, Copy)]
pub struct Hash(u32);

/// No preset of its own: it is the default switch policy of sender policies.
pub const PRESETS: &[Preset] = &[];

impl Hash {
    pub(super) fn new(_config: &Config, switch: &SwitchContext) -> Self {
        Self::of(switch.seed, switch.id)
    }

    /// Returns the hash of a switch in a run with this seed.
    pub fn of(seed: u64, switch: SwitchId) -> Self {
        Self(Stream::new(seed, Purpose::SwitchSalt, u64::from(switch.0)).next_u32())
    }

    /// Returns the index of one of `ports` ports for a flow label and an entropy value.
    #[inline]
    pub fn pick(self, label: u32, entropy: u16, ports: u32) -> u32 {
        // The odd constant spreads entropy values over all 32 bits. Without it, a label and a value
        // that differ in the same low bits would cancel out.
        let hash = mix32(label ^ self.0 ^ u32::from(entropy).wrapping_mul(0x9e37_79b1));
        // The upper half of the product replaces a remainder: no division, and an equally small
        // bias.
        let scaled = u64::from(hash) * u64::from(ports);
        (scaled >> 32) as u32
    }
}

impl SwitchPolicy for Hash {
    const PINS_PATH: bool = true;

    #[inline]
    fn choose<V: SwitchView>(&mut self, _now: Time, packet: &Packet, view: &mut V) -> u32 {
        self.pick(packet.label, packet.entropy, view.candidates())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_of_a_flow_take_the_same_port_and_values_spread_over_all_ports() {
        let hash = Hash::new(&Config {}, &SwitchContext::for_test());
        let mut counts = [0u32; 16];
        for entropy in 0..16_000 {
            let port = hash.pick(7, entropy, 16);
            assert_eq!(port, hash.pick(7, entropy, 16));
            counts[port as usize] += 1;
        }
        assert!(counts.iter().all(|&n| (850..1_150).contains(&n)), "{counts:?}");
    }

    #[test]
    fn two_switches_choose_independently() {
        let [a, b] = [0, 1].map(|id| Hash::of(1, SwitchId(id)));
        let same = (0..16_000).filter(|&e| a.pick(7, e, 16) == b.pick(7, e, 16)).count();
        assert!((850..1_150).contains(&same), "{same} of 16000 alike, 1000 expected");
    }
}
