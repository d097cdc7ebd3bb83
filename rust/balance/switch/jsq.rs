//! Join the shortest queue: exact lengths at the moment of the choice.
//!
//! Source: "Load Balancing for AI Training Workloads" (arXiv 2507.21372 v2, 2026), theory: JSQ.
//! Lengths count the packet on the wire, as `queuesize()` of its simulator (htsim) does.
//!
//! Its theory needs ties that repeat: with equal queues the choice is the same again, so that hosts
//! that start together keep the match of their first packets, and the collisions on the way down
//! that follow from it. \[inferred\] That is what the lowest port of the routing table first does,
//! which is the default; with ties broken at random the match changes, and queues grow like those
//! of random choices.

use serde::{Deserialize, Serialize};

use super::{SwitchConfig, SwitchContext, SwitchPolicy, View, at_switches};
use crate::balance::least::{first_least, random_least};
use crate::balance::{Preset, configured};
use crate::packet::Packet;
use crate::rng::Stream;
use crate::units::Time;

/// How ties are broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Which of equally short queues is joined: `first` (Ofan's "the tie-break repeats").
    pub ties: Ties,
}

/// Which of equals is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ties {
    /// The first in the routing table.
    #[default]
    First,
    /// One at random.
    Random,
}

/// Nothing is kept from packet to packet.
#[derive(Debug, Clone)]
pub struct Jsq {
    ties: Ties,
    random: Stream,
}

/// `jsq`.
pub const PRESETS: &[Preset] = &[Preset {
    name: "jsq",
    summary: "the shortest queue of each switch, exactly (join the shortest queue)",
    source: "Load Balancing for AI Training Workloads (arXiv 2507.21372 v2, 2026), theory: JSQ",
    build: |parameters| {
        let config = configured("jsq", parameters)?;
        Ok(at_switches("jsq", SwitchConfig::Jsq(config)))
    },
}];

impl Jsq {
    pub(super) fn new(config: &Config, switch: &SwitchContext) -> Self {
        Self { ties: config.ties, random: switch.random() }
    }
}

impl SwitchPolicy for Jsq {
    const LOOKS_AT_QUEUES: bool = true;

    #[inline]
    fn choose<V: View>(&mut self, _now: Time, _packet: &Packet, view: &mut V) -> u32 {
        let count = view.candidates();
        match self.ties {
            Ties::First => first_least(count, |candidate| view.bytes(candidate)),
            Ties::Random => {
                random_least(count, |candidate| view.bytes(candidate), &mut self.random)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_view::Ports;
    use super::*;

    fn jsq(ties: Ties) -> Jsq {
        Jsq::new(&Config { ties }, &SwitchContext::for_test())
    }

    #[test]
    fn one_byte_decides() {
        let mut ports = Ports::with_bytes(&[100, 101, 99, 100]);
        for ties in [Ties::First, Ties::Random] {
            assert_eq!(jsq(ties).choose(Time::ZERO, &Packet::default(), &mut ports), 2);
        }
    }

    #[test]
    fn ties_repeat_or_are_drawn() {
        let mut ports = Ports::with_bytes(&[7, 5, 5, 5]);
        let mut choices = |ties| {
            let mut jsq = jsq(ties);
            let choose = |_| jsq.choose(Time::ZERO, &Packet::default(), &mut ports);
            (0..30).map(choose).collect::<std::collections::BTreeSet<_>>()
        };
        assert_eq!(choices(Ties::First), [1].into());
        assert_eq!(choices(Ties::Random), [1, 2, 3].into());
    }
}
