//! Join the shortest queue, with exact queue lengths at the moment of the decision.
//!
//! Source: "Load Balancing for AI Training Workloads" (arXiv 2507.21372 v2, 2026), theory: JSQ.
//! Lengths include the packet in transmission, as in `queuesize()` of its simulator (htsim).
//!
//! The theory needs ties that repeat: equal queues lead to the same choice again. Hosts that start
//! together then keep the matching of their first packets and the resulting downstream collisions.
//! \[inferred\] The first port of the forwarding table (`ties = "first"`) has that property, but
//! all leaves then crowd into the same spines. With random ties, the default, the matching changes,
//! and queues grow like those of random choices.
//! The simulator of "REPS: Recycled Entropy Packet Spraying" (EuroSys 2026) has a third rule for
//! its "Adaptive RoCE": the first port in an order that each switch draws once. Weights by capacity
//! have little effect here: a port that appears twice among the candidates has the same queue
//! twice, so only next hops of weight 0 are excluded.

use serde::{Deserialize, Serialize};

use super::{SwitchConfig, SwitchContext, SwitchPolicy, SwitchView, at_switches};
use crate::balance::argmin::{argmin_first, argmin_random};
use crate::balance::{Preset, parse_config};
use crate::packet::Packet;
use crate::rng::Stream;
use crate::units::Time;

/// The only parameter of `jsq`: the tie-break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Tie-break between equally short queues. Default `random`; `first` is Ofan's "the tie-break
    /// repeats".
    pub ties: Ties,
}

/// Tie-break between equally short queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ties {
    /// The first port in the forwarding table wins.
    First,
    /// A random port wins.
    #[default]
    Random,
    /// The first port in the switch's own random order wins (REPS' artifact: `adaptive_nvidia` over
    /// paths that `permute_paths` has shuffled).
    OwnOrder,
}

/// Tie-break of one switch; nothing else is kept between packets.
#[derive(Debug, Clone)]
pub struct Jsq {
    ties: Ties,
    random: Stream,
    /// Rank of each port in the switch's own order; empty with other tie-breaks.
    ranks: Box<[u32]>,
}

/// The preset `jsq`: one entropy value for each queue pair, which switches ignore, and a
/// retransmission timer for each packet.
pub const PRESETS: &[Preset] = &[Preset {
    name: "jsq",
    summary: "the shortest queue of each switch, with exact lengths (join the shortest queue)",
    source: "Load Balancing for AI Training Workloads (arXiv 2507.21372 v2, 2026), theory: JSQ",
    build: |parameters| {
        let config = parse_config("jsq", parameters)?;
        Ok(at_switches("jsq", SwitchConfig::Jsq(config)))
    },
}];

impl Jsq {
    pub(super) fn new(config: &Config, switch: &SwitchContext) -> Self {
        let mut random = switch.random();
        let mut ranks = match config.ties {
            Ties::First | Ties::Random => Vec::new(),
            Ties::OwnOrder => (0..switch.ports).collect(),
        };
        // Draws nothing for an empty list, so the other tie-breaks keep their random stream.
        random.shuffle(&mut ranks);
        Self { ties: config.ties, random, ranks: ranks.into() }
    }
}

impl SwitchPolicy for Jsq {
    const USES_QUEUE_LENGTHS: bool = true;

    #[inline]
    fn choose<V: SwitchView>(&mut self, _now: Time, _packet: &Packet, view: &mut V) -> u32 {
        let count = view.candidates();
        match self.ties {
            Ties::First => argmin_first(count, |candidate| view.queue_bytes(candidate)),
            Ties::Random => {
                argmin_random(count, |candidate| view.queue_bytes(candidate), &mut self.random)
            }
            // The rank is the second key. Ranks are distinct, so there are no ties.
            Ties::OwnOrder => argmin_first(count, |candidate| {
                (view.queue_bytes(candidate), self.ranks[view.port(candidate) as usize])
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_view::Ports;
    use super::*;
    use crate::ids::SwitchId;

    fn jsq(ties: Ties) -> Jsq {
        Jsq::new(&Config { ties }, &SwitchContext::for_test())
    }

    #[test]
    fn a_difference_of_one_byte_decides() {
        let mut ports = Ports::with_bytes(&[100, 101, 99, 100]);
        for ties in [Ties::First, Ties::Random] {
            assert_eq!(jsq(ties).choose(Time::ZERO, &Packet::default(), &mut ports), 2);
        }
    }

    #[test]
    fn each_switch_keeps_its_own_order() {
        let mut firsts = std::collections::BTreeSet::new();
        for id in 0..40 {
            let switch = SwitchContext { id: SwitchId(id), ..SwitchContext::for_test() };
            let mut jsq = Jsq::new(&Config { ties: Ties::OwnOrder }, &switch);
            let mut choose = |bytes: &[u64]| {
                jsq.choose(Time::ZERO, &Packet::default(), &mut Ports::with_bytes(bytes))
            };
            let first = choose(&[5, 5, 5, 5]);
            assert!((0..9).all(|_| choose(&[5, 5, 5, 5]) == first));
            assert_eq!(choose(&[5, 5, 4, 5]), 2);
            firsts.insert(first);
        }
        assert_eq!(firsts, [0, 1, 2, 3].into());
    }

    #[test]
    fn ties_repeat_or_are_random() {
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
