//! A random port for each packet, drawn in the switch (RSQ).
//!
//! Source: "Load Balancing for AI Training Workloads" (arXiv 2507.21372 v2, 2026). RSQ, a random
//! uplink per packet at switches, is one of the schemes of its theory: queues grow as the square
//! root of a message's packets.

use serde::{Deserialize, Serialize};

use super::{SwitchConfig, SwitchContext, SwitchPolicy, SwitchView, at_switches};
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
pub struct Random(Stream);

/// The preset `switch-random`: one entropy value for each queue pair, which switches ignore, and a
/// retransmission timer for each packet.
pub const PRESETS: &[Preset] = &[Preset {
    name: "switch-random",
    summary: "a random port for each packet, drawn in each switch (RSQ)",
    source: "Load Balancing for AI Training Workloads (arXiv 2507.21372 v2, 2026), theory: RSQ",
    build: |parameters| {
        let config = parse_config("switch-random", parameters)?;
        Ok(at_switches("switch-random", SwitchConfig::Random(config)))
    },
}];

impl Random {
    pub(super) fn new(_config: &Config, switch: &SwitchContext) -> Self {
        Self(switch.random())
    }
}

impl SwitchPolicy for Random {
    #[inline]
    fn choose<V: SwitchView>(&mut self, _now: Time, _packet: &Packet, view: &mut V) -> u32 {
        self.0.below(view.candidates())
    }
}

#[cfg(test)]
mod tests {
    use super::super::CandidateCount;
    use super::*;
    use crate::ids::SwitchId;

    #[test]
    fn packets_and_switches_draw_independently() {
        let choices = |id| {
            let context = SwitchContext { id: SwitchId(id), ..SwitchContext::for_test() };
            let mut random = Random::new(&Config {}, &context);
            let packet = Packet::default();
            let choose = |_| random.choose(Time::ZERO, &packet, &mut CandidateCount(8));
            (0..8_000).map(choose).collect::<Vec<_>>()
        };
        let (first, second) = (choices(0), choices(1));
        for port in 0..8 {
            let count = first.iter().filter(|&&choice| choice == port).count();
            assert!((850..1_150).contains(&count), "{count} packets on port {port}");
        }
        let alike = first.iter().zip(&second).filter(|(a, b)| a == b).count();
        assert!((850..1_150).contains(&alike), "{alike} of 8000 alike, 1000 expected");
    }
}
