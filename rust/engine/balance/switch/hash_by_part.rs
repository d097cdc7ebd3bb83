//! Hash by part: each tier of switches uses its own part of the entropy value.
//!
//! Source: this project's reconstruction of PRIME (Sobhani, Sadrhaghighi, Chu, "PRIME", arXiv
//! 2507.23012, 2025). Only its abstract was available, which says that entropy has several parts
//! that match the tiers of the topology. Everything else here is \[inferred\]: the edge uses the
//! low byte, the tier above the high byte, and any further tier the whole value. A switch adds its
//! part to a salted hash of the flow, so successive values of the part take successive ports. A
//! round of as many values as ports then takes each port once, and flows start their rounds at
//! different ports.

use serde::{Deserialize, Serialize};

use super::{SwitchContext, SwitchPolicy, SwitchView};
use crate::balance::Preset;
use crate::packet::Packet;
use crate::rng::{Purpose, Stream, mix32};
use crate::units::Time;

/// Size of a part, in bits.
const PART_BITS: u32 = 8;

/// The policy has no parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {}

/// Salt of a switch and the part that it uses.
#[derive(Debug, Clone, Copy)]
pub struct HashByPart {
    salt: u32,
    part: EntropyPart,
}

#[derive(Debug, Clone, Copy)]
enum EntropyPart {
    Low,
    High,
    Whole,
}

/// No preset of its own: [`crate::balance::sender::prime`] uses this policy.
pub const PRESETS: &[Preset] = &[];

/// Joins the parts of the edge and of the tier above, both below 256, into an entropy value.
pub fn joined(edge: u16, above: u16) -> u16 {
    edge | above << PART_BITS
}

/// Splits an entropy value into its parts: (edge, tier above).
pub fn parts(entropy: u16) -> (u16, u16) {
    (entropy & ((1 << PART_BITS) - 1), entropy >> PART_BITS)
}

impl HashByPart {
    pub(super) fn new(_config: &Config, switch: &SwitchContext) -> Self {
        let salt = Stream::new(switch.seed, Purpose::SwitchSalt, u64::from(switch.id.0)).next_u32();
        let part = match switch.tier {
            0 => EntropyPart::Low,
            1 => EntropyPart::High,
            _ => EntropyPart::Whole,
        };
        Self { salt, part }
    }
}

impl SwitchPolicy for HashByPart {
    const PINS_PATH: bool = true;

    #[inline]
    fn choose<V: SwitchView>(&mut self, _now: Time, packet: &Packet, view: &mut V) -> u32 {
        let part = match self.part {
            // The route is the part of the value that the host's port choice leaves: all of it, or
            // the digits above the plane.
            EntropyPart::Low => parts(packet.route).0,
            EntropyPart::High => parts(packet.route).1,
            // Two parts serve two tiers; no bits are left for a third.
            EntropyPart::Whole => packet.route,
        };
        let ports = view.candidates();
        // The flow's hash picks the start of the round; the part counts on from there.
        let start = (u64::from(mix32(packet.label ^ self.salt)) * u64::from(ports)) >> 32;
        (start as u32 + u32::from(part)) % ports
    }
}

#[cfg(test)]
mod tests {
    use super::super::CandidateCount;
    use super::*;

    fn ports(tier: u8, label: u32, entropies: impl Iterator<Item = u16>) -> Vec<u32> {
        let mut policy =
            HashByPart::new(&Config {}, &SwitchContext { tier, ..SwitchContext::for_test() });
        let mut choose = |entropy| {
            let packet = Packet { label, entropy, route: entropy, ..Packet::default() };
            policy.choose(Time::ZERO, &packet, &mut CandidateCount(8))
        };
        entropies.map(&mut choose).collect()
    }

    #[test]
    fn each_tier_takes_each_port_once_in_a_round_of_its_part() {
        for (tier, low, high) in [(0, 1, 0), (1, 0, 1)] {
            let mut round = ports(tier, 7, (0..8).map(|n| joined(n * low, n * high)));
            assert!(round.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 8), "{round:?}");
            round.sort_unstable();
            assert_eq!(round, [0, 1, 2, 3, 4, 5, 6, 7]);
        }
        let other = ports(0, 7, (0..8).map(|n| joined(3, n)));
        assert!(other.iter().all(|port| port == &other[0]), "the edge uses only its own part");
    }

    #[test]
    fn flows_start_their_rounds_at_different_ports() {
        let mut counts = [0u32; 8];
        (0..8_000).for_each(|label| counts[ports(0, label, 0..1)[0] as usize] += 1);
        assert!(counts.iter().all(|&n| (850..1_150).contains(&n)), "{counts:?}");
    }

    #[test]
    fn each_tier_uses_only_its_part_whatever_the_number_of_ports() {
        let chosen = |tier, entropy| {
            let context = SwitchContext { tier, ..SwitchContext::for_test() };
            let packet = Packet { label: 7, entropy, route: entropy, ..Packet::default() };
            let mut policy = HashByPart::new(&Config {}, &context);
            policy.choose(Time::ZERO, &packet, &mut CandidateCount(7))
        };
        for n in 0..20 {
            assert_eq!(chosen(0, joined(3, n)), chosen(0, joined(3, 0)));
            assert_eq!(chosen(1, joined(n, 3)), chosen(1, joined(0, 3)));
        }
        // A third tier uses both parts: 256 is 4 more than a multiple of 7.
        let ports = [joined(0, 0), joined(1, 0), joined(0, 1)].map(|value| chosen(2, value));
        assert_eq!([1, 2].map(|n| (ports[n] + 7 - ports[0]) % 7), [1, 4]);
    }

    #[test]
    fn a_flow_starts_its_rounds_at_different_ports_in_different_switches() {
        for label in [0, u32::MAX] {
            let mut counts = [0u32; 8];
            for id in (0..8_000).map(crate::ids::SwitchId) {
                let context = SwitchContext { id, ..SwitchContext::for_test() };
                let packet = Packet { label, ..Packet::default() };
                let mut policy = HashByPart::new(&Config {}, &context);
                let port = policy.choose(Time::ZERO, &packet, &mut CandidateCount(8));
                counts[port as usize] += 1;
            }
            assert!(counts.iter().all(|&n| (850..1_150).contains(&n)), "{label}: {counts:?}");
        }
    }
}
