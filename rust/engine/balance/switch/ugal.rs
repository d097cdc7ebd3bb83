//! UGAL: each packet takes a minimal route or one through a random switch of another group,
//! whichever promises the shorter wait by the queues of its first switch.
//!
//! Source: Singh, "Load-Balanced Routing in Interconnection Networks" (PhD thesis, Stanford, 2005),
//! chapter 5 (universal globally-adaptive load-balanced routing). For the dragonfly: Kim, Dally,
//! Scott and Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology" (ISCA 2008), section 4.2
//! (UGAL-L: local queues): minimal if `q_m · H_m <= q_n · H_n`, with the bytes queued at the first
//! port of each route and the routes' lengths in links. Local queues reveal an overloaded global
//! link only once its queue has backed up to them, which costs latency, as the paper shows.
//!
//! \[inferred\]: lengths count links between switches. If several ports lead along a route, the one
//! with the shortest queue counts and is taken, with random ties. On fabrics with a top tier all
//! routes are minimal, so the policy is `jsq` with random ties. Acknowledgements take minimal
//! routes.

use serde::{Deserialize, Serialize};

use super::{DetourView, SwitchConfig, SwitchContext, SwitchPolicy, SwitchView, at_switches};
use crate::balance::argmin::argmin_random;
use crate::balance::{Preset, parse_config};
use crate::packet::Packet;
use crate::rng::Stream;
use crate::units::{Bytes, Time};

/// The parameters of `ugal`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Advantage of the minimal route. A packet leaves it only if its product of queue and length
    /// exceeds the other route's by more than this. Default 0, as in the papers.
    pub threshold: Bytes,
}

impl Default for Config {
    fn default() -> Self {
        Self { threshold: Bytes::ZERO }
    }
}

/// Random stream of one switch; nothing else is kept between packets.
#[derive(Debug, Clone)]
pub struct Ugal {
    threshold: u64,
    random: Stream,
}

/// The preset `ugal`: one entropy value for each queue pair, which switches ignore, and a
/// retransmission timer for each packet.
pub const PRESETS: &[Preset] = &[Preset {
    name: "ugal",
    summary: "minimal or via another group, by local queues and lengths (torus, dragonfly; \
              UGAL-L)",
    source: "Kim et al., Technology-Driven, Highly-Scalable Dragonfly Topology (ISCA 2008), 4.2",
    build: |parameters| {
        let config = parse_config("ugal", parameters)?;
        Ok(at_switches("ugal", SwitchConfig::Ugal(config)))
    },
}];

impl Ugal {
    pub(super) fn new(config: &Config, switch: &SwitchContext) -> Self {
        Self { threshold: config.threshold.get(), random: switch.random() }
    }
}

impl SwitchPolicy for Ugal {
    const USES_QUEUE_LENGTHS: bool = true;
    const TAKES_DETOURS: bool = true;

    #[inline]
    fn choose<V: SwitchView>(&mut self, _now: Time, _packet: &Packet, view: &mut V) -> u32 {
        let count = view.candidates();
        argmin_random(count, |candidate| view.queue_bytes(candidate), &mut self.random)
    }

    fn detour<V: DetourView>(&mut self, view: &V) -> Option<u32> {
        let candidate = self.random.below(view.candidates());
        let (minimal, other) = (view.minimal(), view.via(candidate));
        // A tie goes to the minimal route.
        (minimal.cost() > other.cost().saturating_add(self.threshold)).then_some(candidate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balance::detour::test_view::Routes;

    fn takes(threshold: u64, minimal: (u32, u64), via: (u32, u64)) -> bool {
        let config = Config { threshold: Bytes::new(threshold) };
        let mut ugal = Ugal::new(&config, &SwitchContext::for_test());
        ugal.detour(&Routes { minimal, via: vec![via; 4] }).is_some()
    }

    #[test]
    fn a_packet_leaves_the_minimal_route_when_its_product_is_larger() {
        // Three links against five.
        assert!(!takes(0, (3, 0), (5, 0)));
        assert!(!takes(0, (3, 5_000), (5, 3_000)));
        assert!(takes(0, (3, 5_001), (5, 3_000)));
        assert!(!takes(3, (3, 5_001), (5, 3_000)));
        assert!(takes(2, (3, 5_001), (5, 3_000)));
        assert!(!takes(0, (3, 4_000), (5, u64::MAX)));
    }
}
