//! Plane selection of Spectrum-X's multi-plane fabrics: each packet takes an unmasked plane whose
//! port is free; switches choose the path within the plane.
//!
//! Source: public notes on "Spectrum-X multiplane" (arXiv 2605.21187, 2026), loop 2: failed planes
//! are masked, then the shallowest local port queue wins.
//!
//! This is an approximation. \[inferred\] This simulator's NIC has no queues at its ports: a packet
//! is created when a port is free. The shallowest queue is therefore a free port, and free ports
//! are used round-robin. \[inferred\] By default, one congestion control covers all planes. With
//! `nscc` and `scope = "destination-plane"`, each destination and plane has its own window, as in
//! Spectrum-X, and a plane whose window is full is masked as well. Spectrum-X's own congestion
//! control is not public; it is not nscc.

use serde::{Deserialize, Serialize};

use super::{QpContext, SenderConfig, SenderPolicy};
use crate::balance::switch::{SwitchConfig, jsq};
use crate::balance::{Origin, Parameters, Preset, Scheme, parse_config};
use crate::nic::Recovery;
use crate::packet::PlaneMask;
use crate::rng::{Purpose, Stream};
use crate::units::Time;

/// The policy has no parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

/// The planes of one queue pair.
#[derive(Debug, Clone)]
pub struct PlaneJsq {
    planes: u16,
    /// The plane that is next in round-robin order.
    next_plane: u16,
    random: Stream,
}

/// The preset `plane-jsq`, with `jsq` in switches.
pub const PRESETS: &[Preset] = &[Preset {
    name: "plane-jsq",
    summary: "any plane whose port is free, shortest queues in switches (after Spectrum-X)",
    source: "public notes on Spectrum-X multiplane (arXiv 2605.21187), section on plane balancing",
    build: |parameters| {
        let _: Config = parse_config("plane-jsq", parameters)?;
        let switch = parse_config::<jsq::Config>("jsq", &Parameters::new())?;
        Ok(Scheme {
            switch: SwitchConfig::Jsq(switch),
            recovery: Recovery::PER_PACKET,
            origin: Origin::Reconstructed,
            ..Scheme::new("plane-jsq", SenderConfig::PlaneJsq(Config {}))
        })
    },
}];

impl PlaneJsq {
    pub(super) fn new(_config: &Config, qp: &QpContext) -> Self {
        let planes = u16::try_from(qp.network.planes).unwrap_or(1).max(1);
        let mut random = qp.random(Purpose::Entropy);
        // Spreads the first packets of queue pairs over all planes.
        let next_plane = random.next_u16() % planes;
        Self { planes, next_plane, random }
    }

    /// Returns a random value in a plane.
    fn value(&mut self, plane: u16) -> u16 {
        // Rounded down, so that row · planes + plane fits 16 bits.
        let rows = u32::from(u16::MAX / self.planes);
        let row = u16::try_from(self.random.below(rows)).expect("below 65,536");
        row * self.planes + plane
    }
}

impl SenderPolicy for PlaneJsq {
    fn entropy(&mut self, _now: Time) -> u16 {
        self.random.next_u16()
    }

    fn choose(&mut self, _now: Time, free: PlaneMask) -> Option<u16> {
        let plane = u16::try_from(free.next_from(self.next_plane.into())?).expect("at most 32");
        self.next_plane = (plane + 1) % self.planes;
        Some(self.value(plane))
    }

    /// The plane that is next in round-robin order.
    fn state_bits(&self) -> u64 {
        u64::from(u16::BITS - (self.planes - 1).leading_zeros())
    }
}

#[cfg(test)]
mod tests {
    use super::super::NetworkParameters;
    use super::*;

    #[test]
    fn free_planes_are_used_round_robin_and_busy_ones_skipped() {
        let network = NetworkParameters { planes: 4, ..NetworkParameters::default() };
        let mut policy = PlaneJsq::new(&Config {}, &QpContext { network, ..QpContext::for_test() });
        policy.next_plane = 2;
        let mut plane = |free| policy.choose(Time::ZERO, free).map(|value| value % 4);
        let all = PlaneMask::all(4);
        let planes: Vec<_> = (0..5).filter_map(|_| plane(all)).collect();
        assert_eq!(planes, [2, 3, 0, 1, 2]);
        assert_eq!([all.without(3), all.without(1)].map(&mut plane), [Some(0), Some(2)]);
        assert_eq!(plane(PlaneMask::NONE), None);
        assert_eq!(policy.state_bits(), 2);
    }
}
