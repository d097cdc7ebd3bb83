//! Valiant's routing: each packet first goes to a random switch of another group and from there to
//! its destination, both on minimal routes.
//!
//! Source: Valiant, "A Scheme for Fast Parallel Communication" (SIAM Journal on Computing, 1982).
//! For the dragonfly: Kim, Dally, Scott and Abts, "Technology-Driven, Highly-Scalable Dragonfly
//! Topology" (ISCA 2008), section 4.1: a packet passes through a random group, which it leaves by a
//! minimal route as soon as it is there. In a torus each switch is a group. Any traffic is then
//! carried like uniform traffic, at half its throughput. \[inferred\]: packets within a group take
//! minimal routes. If several ports lead along a route, one is drawn for each packet.
//!
//! On fabrics with a top tier all routes are minimal, so the policy is `switch-random`.
//! Acknowledgements take minimal routes.

use serde::{Deserialize, Serialize};

use super::{DetourView, SwitchConfig, SwitchContext, SwitchPolicy, SwitchView, at_switches};
use crate::balance::{Preset, parse_config};
use crate::packet::Packet;
use crate::rng::Stream;
use crate::units::Time;

/// The policy has no parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {}

/// The random stream of the switch.
#[derive(Debug, Clone)]
pub struct Valiant(Stream);

/// The preset `valiant`: one entropy value for each queue pair, which switches ignore, and a
/// retransmission timer for each packet.
pub const PRESETS: &[Preset] = &[Preset {
    name: "valiant",
    summary: "via a random switch of another group (torus, dragonfly; Valiant)",
    source: "Kim et al., Technology-Driven, Highly-Scalable Dragonfly Topology (ISCA 2008), 4.1",
    build: |parameters| {
        let config = parse_config("valiant", parameters)?;
        Ok(at_switches("valiant", SwitchConfig::Valiant(config)))
    },
}];

impl Valiant {
    pub(super) fn new(_config: &Config, switch: &SwitchContext) -> Self {
        Self(switch.random())
    }
}

impl SwitchPolicy for Valiant {
    const TAKES_DETOURS: bool = true;

    #[inline]
    fn choose<V: SwitchView>(&mut self, _now: Time, _packet: &Packet, view: &mut V) -> u32 {
        self.0.below(view.candidates())
    }

    fn detour<V: DetourView>(&mut self, view: &V) -> Option<u32> {
        Some(self.0.below(view.candidates()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balance::detour::test_view::Routes;

    #[test]
    fn every_packet_detours_through_a_random_switch() {
        let mut valiant = Valiant::new(&Config {}, &SwitchContext::for_test());
        let routes = Routes { minimal: (1, 0), via: vec![(9, 1_000_000); 8] };
        let mut counts = [0; 8];
        for _ in 0..8_000 {
            counts[valiant.detour(&routes).unwrap() as usize] += 1;
        }
        assert!(counts.iter().all(|count| (850..1_150).contains(count)), "{counts:?}");
    }
}
