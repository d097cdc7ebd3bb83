//! Hash by part: each tier of switches goes by its own part of the entropy value.
//!
//! Source: our reconstruction of PRIME (Sobhani, Sadrhaghighi, Chu, "PRIME", arXiv 2507.23012,
//! 2025), of which only the abstract was to be had. It says that entropy has several parts in
//! step with the tiers of the topology; everything else here is \[inferred\]: the low byte is for
//! the edge, the high byte for the tier above, any tier beyond takes the whole value. A switch
//! adds its part to a salted hash of the flow: successive values of the part take successive
//! ports, so that a round of as many values as there are ports meets each port once, and flows
//! start their rounds at different ports.

use serde::{Deserialize, Serialize};

use super::{SwitchContext, SwitchPolicy, SwitchView};
use crate::balance::Preset;
use crate::packet::Packet;
use crate::rng::{Purpose, Stream, mix32};
use crate::units::Time;

/// Bits of a part.
const PART_BITS: u32 = 8;

/// There is nothing to set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {}

/// A switch's salt, and the part that it goes by.
#[derive(Debug, Clone, Copy)]
pub struct HashByPart {
    salt: u32,
    part: Part,
}

#[derive(Debug, Clone, Copy)]
enum Part {
    Low,
    High,
    Whole,
}

/// None of its own: it belongs to [`crate::balance::sender::prime`].
pub const PRESETS: &[Preset] = &[];

/// The entropy value of a part for the edge and one for the tier above, both below 256.
pub fn joined(edge: u16, above: u16) -> u16 {
    edge | above << PART_BITS
}

/// The two parts of an entropy value.
pub fn parts(entropy: u16) -> (u16, u16) {
    (entropy & ((1 << PART_BITS) - 1), entropy >> PART_BITS)
}

impl HashByPart {
    pub(super) fn new(_config: &Config, switch: &SwitchContext) -> Self {
        let salt = Stream::new(switch.seed, Purpose::SwitchSalt, u64::from(switch.id.0)).next_u32();
        let part = match switch.tier {
            0 => Part::Low,
            1 => Part::High,
            _ => Part::Whole,
        };
        Self { salt, part }
    }
}

impl SwitchPolicy for HashByPart {
    #[inline]
    fn choose<V: SwitchView>(&mut self, _now: Time, packet: &Packet, view: &mut V) -> u32 {
        let part = match self.part {
            Part::Low => parts(packet.entropy).0,
            Part::High => parts(packet.entropy).1,
            Part::Whole => packet.entropy,
        };
        let ports = view.candidates();
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
            let packet = Packet { label, entropy, ..Packet::default() };
            policy.choose(Time::ZERO, &packet, &mut CandidateCount(8))
        };
        entropies.map(&mut choose).collect()
    }

    #[test]
    fn each_tier_meets_each_port_once_in_a_round_of_its_own_part() {
        for (tier, low, high) in [(0, 1, 0), (1, 0, 1)] {
            let mut round = ports(tier, 7, (0..8).map(|n| joined(n * low, n * high)));
            assert!(round.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 8), "{round:?}");
            round.sort_unstable();
            assert_eq!(round, [0, 1, 2, 3, 4, 5, 6, 7]);
        }
        let other = ports(0, 7, (0..8).map(|n| joined(3, n)));
        assert!(other.iter().all(|port| port == &other[0]), "the edge heeds its part alone");
    }

    #[test]
    fn flows_start_their_rounds_at_different_ports() {
        let mut counts = [0u32; 8];
        (0..8_000).for_each(|label| counts[ports(0, label, 0..1)[0] as usize] += 1);
        assert!(counts.iter().all(|&n| (850..1_150).contains(&n)), "{counts:?}");
    }
}
