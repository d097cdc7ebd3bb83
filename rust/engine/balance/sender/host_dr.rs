//! Destination rotation at hosts (Host DR): the packets to a destination cycle through all paths.
//!
//! Source: Cao et al., "Per-packet Load-balanced, Low-Latency Routing for Clos-based Data Center
//! Networks" (CoNEXT 2013), digit-reversal bouncing (DRB): a sender rotates over the switches of
//! the tier where it and the destination meet, packet by packet. The form is that of "Load
//! Balancing for AI Training Workloads" (arXiv 2507.21372 v2, 2026), Host DR: one pointer per
//! destination host and size bin. Each pointer starts at random and follows its own random order;
//! after failures it follows the weighted schedule of [`crate::balance::rotation`].
//!
//! \[inferred\] A queue pair does not see others: each has its own pointer and order. With one
//! stream between two hosts this is the source's pointer per destination host. Several streams to
//! one host rotate independently. Each loads the paths equally, so the totals of two paths differ
//! by at most one packet per stream. Only the size bin of data exists, since acknowledgements
//! return by the path of the packet that they acknowledge. A retransmitted packet takes the next
//! path like any other.

use serde::{Deserialize, Serialize};

use super::{QpContext, SenderConfig, SenderPolicy};
use crate::balance::rotation::{Rotation, fingerprint};
use crate::balance::{Forwarding, Preset, Scheme, Weights, parse_config};
use crate::nic::Recovery;
use crate::packet::PlaneMask;
use crate::rng::{Purpose, Stream};
use crate::units::Time;

/// The policy has no parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {}

/// A queue pair's rotations over the paths to its peer, one in each plane.
#[derive(Debug, Clone)]
pub struct HostDr {
    rotations: Box<[Rotation]>,
    /// The plane that is next in round-robin order.
    next_plane: u16,
    /// The [`fingerprint`] of the paths' weights.
    weights: u32,
    /// Draws the new order after a weight change. Boxed because few runs need it.
    random: Box<Stream>,
}

/// The preset `host-dr`: source routes, a retransmission timer for each packet, and weights by
/// capacity after failures.
pub const PRESETS: &[Preset] = &[Preset {
    name: "host-dr",
    summary: "all paths round-robin, packet by packet, routed by the source (DRB)",
    source: "Cao et al., DRB (CoNEXT 2013); Load Balancing for AI Training (arXiv 2507.21372 v2)",
    build: |parameters| {
        let sender = SenderConfig::HostDr(parse_config("host-dr", parameters)?);
        Ok(Scheme {
            forwarding: Forwarding::SourceRouted,
            recovery: Recovery::PER_PACKET,
            weights: Weights::Capacity,
            ..Scheme::new("host-dr", sender)
        })
    },
}];

impl HostDr {
    pub(super) fn new(_config: &Config, qp: &QpContext) -> Self {
        let mut random = qp.random(Purpose::Entropy);
        let equal = vec![1; qp.paths.count() as usize];
        let planes = (qp.network.planes.max(1) as usize).min(equal.len());
        let rotations = rotations(&equal, planes, &mut random);
        let next_plane = random.below(planes as u32) as u16;
        Self { rotations, next_plane, weights: 0, random: Box::new(random) }
    }

    fn advance(&mut self, plane: u16) -> u16 {
        let planes = self.rotations.len() as u16;
        // Without known paths, one rotation serves every plane.
        let plane = plane % planes;
        self.next_plane = if plane + 1 == planes { 0 } else { plane + 1 };
        self.rotations[usize::from(plane)].advance() * planes + plane
    }
}

/// Creates one rotation per plane over the paths in it. The plane of a path is its remainder modulo
/// `planes`.
fn rotations(weights: &[u32], planes: usize, random: &mut Stream) -> Box<[Rotation]> {
    let of_plane = |plane: usize| -> Vec<u32> {
        weights.iter().skip(plane).step_by(planes).copied().collect()
    };
    (0..planes).map(|plane| Rotation::new(&of_plane(plane), random)).collect()
}

impl SenderPolicy for HostDr {
    #[inline]
    fn entropy(&mut self, _now: Time) -> u16 {
        self.advance(self.next_plane)
    }

    /// Takes the next path of the next plane whose port is free \[inferred\]: the source has one
    /// port.
    fn choose(&mut self, _now: Time, free: PlaneMask) -> Option<u16> {
        let plane = free.next_from(self.next_plane.into())?;
        Some(self.advance(u16::try_from(plane).expect("at most 32")))
    }

    fn handle_weights(&mut self, weights: &[u32]) {
        // A change elsewhere in the fabric leaves these weights as they are and must not restart
        // the rotation.
        let before = std::mem::replace(&mut self.weights, fingerprint(weights) as u32);
        if self.weights == before {
            return;
        }
        // The new schedule may have another length, for which the old pointer has no meaning.
        self.rotations = rotations(weights, self.rotations.len(), &mut self.random);
    }

    /// The pointers and the schedules that they point into.
    fn state_bits(&self) -> u64 {
        self.rotations.iter().map(|it| it.pointer_bits() + it.schedule_bits()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NetworkParameters, PathSpace};
    use super::*;

    fn host_dr(qp_index: u32, tiers: &[usize]) -> HostDr {
        let paths = tiers.iter().try_fold(PathSpace::SINGLE, |paths, &n| paths.with_tier(n));
        HostDr::new(
            &Config {},
            &QpContext { qp_index, paths: paths.unwrap(), ..QpContext::for_test() },
        )
    }

    fn sent(policy: &mut HostDr, count: usize) -> Vec<u16> {
        (0..count).map(|_| policy.entropy(Time::ZERO)).collect()
    }

    #[test]
    fn each_cycle_visits_every_path_once_in_the_queue_pairs_own_order() {
        let mut policy = host_dr(0, &[4, 4]);
        let first = sent(&mut policy, 16);
        let mut sorted = first.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..16).collect::<Vec<u16>>());
        assert_ne!(first, sorted, "the order is random");
        assert_eq!(sent(&mut policy, 16), first);
        assert_ne!(sent(&mut host_dr(1, &[4, 4]), 16), first, "another queue pair, another order");
    }

    #[test]
    fn after_a_failure_paths_are_taken_by_weight() {
        let mut policy = host_dr(0, &[4]);
        sent(&mut policy, 3);
        policy.handle_weights(&[1_600, 1_600, 1_600, 800]);
        for _ in 0..3 {
            let cycle = sent(&mut policy, 7);
            let count = |path| cycle.iter().filter(|&&it| it == path).count();
            assert_eq!([0, 1, 2, 3].map(count), [2, 2, 2, 1], "{cycle:?}");
        }
        let mut before = policy.clone();
        policy.handle_weights(&[16, 16, 16, 8]);
        assert_eq!(sent(&mut policy, 7), sent(&mut before, 7), "the same proportions");
        policy.handle_weights(&[1, 0, 1, 1]);
        assert!(!sent(&mut policy, 30).contains(&1));
    }

    #[test]
    fn queue_pairs_begin_in_any_plane() {
        let paths = PathSpace::SINGLE.with_tier(4).and_then(|paths| paths.with_tier(2)).unwrap();
        let network = NetworkParameters { planes: 4, ..NetworkParameters::default() };
        let of = |qp_index| QpContext { qp_index, paths, network, ..QpContext::for_test() };
        let mut first = [0; 4];
        for qp in (0..400).map(of) {
            let entropy = HostDr::new(&Config {}, &qp).entropy(Time::ZERO);
            first[usize::from(entropy % 4)] += 1;
        }
        assert!(first.iter().all(|&count| count > 60), "{first:?}");
    }

    #[test]
    fn within_the_rack_there_is_one_path_and_no_state() {
        let mut policy = host_dr(0, &[]);
        assert_eq!(sent(&mut policy, 3), [0; 3]);
        assert_eq!(policy.state_bits(), 0);
    }

    #[test]
    fn its_state_is_a_pointer_and_a_schedule() {
        assert_eq!(host_dr(0, &[4, 4]).state_bits(), 4 + 16 * 4);
    }
}
