//! Sender for switches that balance packet by packet: one entropy value per queue pair. A NIC with
//! several ports sends each packet through the next free one.
//!
//! Source: ultraethernet/uet-htsim, whose NIC sends round-robin over its ports. \[inferred\] for
//! these switch policies: their own sources have hosts with one port.

use serde::{Deserialize, Serialize};

use super::{QpContext, SenderPolicy, ecmp};
use crate::balance::Preset;
use crate::packet::PlaneMask;
use crate::units::Time;

/// The policy has no parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {}

/// The entropy value of a queue pair, and the plane that is next in round-robin order.
#[derive(Debug, Clone, Copy)]
pub struct AnyPlane {
    row: u16,
    planes: u16,
    next_plane: u16,
}

/// No preset of its own: presets of switch policies use it.
pub const PRESETS: &[Preset] = &[];

impl AnyPlane {
    pub(super) fn new(_config: &Config, qp: &QpContext) -> Self {
        let value = ecmp::Ecmp::new(&ecmp::Config {}, qp).entropy(Time::ZERO);
        let planes = u16::try_from(qp.network.planes).unwrap_or(1).max(1);
        // The plane is the value's remainder; the rest is the row.
        let next_plane = value % planes;
        // Keep every value of the row below 65,536.
        let row = (value - next_plane).min(u16::MAX - (planes - 1));
        Self { row: row - row % planes, planes, next_plane }
    }
}

impl SenderPolicy for AnyPlane {
    const KEEPS_VALUE: bool = true;

    fn entropy(&mut self, _now: Time) -> u16 {
        self.row + self.next_plane
    }

    fn choose(&mut self, _now: Time, free: PlaneMask) -> Option<u16> {
        let plane = u16::try_from(free.next_from(self.next_plane.into())?).expect("at most 32");
        self.next_plane = (plane + 1) % self.planes;
        Some(self.row + plane)
    }

    fn state_bits(&self) -> u64 {
        16
    }
}

#[cfg(test)]
mod tests {
    use super::super::NetworkParameters;
    use super::*;

    #[test]
    fn with_one_port_the_value_equals_that_of_ecmp() {
        let of = |qp_index| QpContext { qp_index, ..QpContext::for_test() };
        for qp in (0..100).map(of) {
            let ecmp = ecmp::Ecmp::new(&ecmp::Config {}, &qp).entropy(Time::ZERO);
            let own = AnyPlane::new(&Config {}, &qp).entropy(Time::ZERO);
            assert_eq!(own, ecmp);
        }
    }

    #[test]
    fn free_planes_are_used_round_robin_within_one_row_of_values() {
        let network = NetworkParameters { planes: 3, ..NetworkParameters::default() };
        let mut policy = AnyPlane::new(&Config {}, &QpContext { network, ..QpContext::for_test() });
        policy.next_plane = 1;
        let row = policy.row;
        let mut plane = |free| policy.choose(Time::ZERO, free).map(|value| value - row);
        let all = PlaneMask::all(3);
        let planes: Vec<_> = (0..4).filter_map(|_| plane(all)).collect();
        assert_eq!(planes, [1, 2, 0, 1]);
        assert_eq!([plane(all.without(2)), plane(PlaneMask::NONE)], [Some(0), None]);
        assert_eq!(row % 3, 0);
    }
}
