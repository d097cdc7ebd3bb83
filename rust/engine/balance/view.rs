//! The information that a switch policy receives.

use crate::ids::SwitchId;
use crate::rng::{Purpose, Stream};
use crate::units::{BitRate, Bytes};

/// Static properties of a switch that its policy knows from the start.
#[derive(Debug, Clone, Copy)]
pub struct SwitchContext {
    /// Seed of the run.
    pub seed: u64,
    /// Id of the switch, unique within the run.
    pub id: SwitchId,
    /// Number of switch tiers between the switch and the hosts: 0 at the edge.
    pub tier: u8,
    /// Number of ports of the switch, to hosts and to other switches.
    pub ports: u32,
    /// Rate of the fastest port.
    pub port_rate: BitRate,
    /// Usual upper bound of the bytes queued at one port: its own buffer, or the share of a common
    /// buffer that marking leaves. Policies express thresholds as fractions of it.
    pub port_buffer: Bytes,
}

impl SwitchContext {
    /// Returns the policy's random stream.
    pub(super) fn random(&self) -> Stream {
        Stream::new(self.seed, Purpose::SwitchPolicy, u64::from(self.id.0))
    }
}

#[cfg(test)]
impl SwitchContext {
    /// Edge switch 0 with 8 ports of 400 Gbps and 800 KB each.
    pub(crate) fn for_test() -> Self {
        Self {
            seed: 1,
            id: SwitchId(0),
            tier: 0,
            ports: 8,
            port_rate: BitRate::from_gbps(400),
            port_buffer: Bytes::new(800_000),
        }
    }
}

/// The state of a switch at the moment of a forwarding decision.
///
/// A candidate is an index into the equal-cost ports, from 0, in the order of the forwarding table.
pub trait SwitchView {
    /// Returns the number of candidates: the equal-cost ports that the switch does not know to be
    /// down.
    fn candidates(&self) -> u32;

    /// Returns the port of a candidate as an index into all ports of the switch. A port has the
    /// same index in every group of equal-cost ports.
    fn port(&self, candidate: u32) -> u32;

    /// Returns the bytes queued at a candidate, including the packet in transmission. Always 0 for
    /// policies without `USES_QUEUE_LENGTHS`.
    fn queue_bytes(&mut self, candidate: u32) -> u64;

    /// Returns the rate of a candidate's link when it is not degraded.
    fn rate(&self, candidate: u32) -> BitRate;

    /// Returns the edge switch of the packet's destination.
    fn destination_edge(&self) -> SwitchId;

    /// Returns the pod of the packet's destination. A pod is a set of switches connected below the
    /// top tier.
    fn destination_pod(&self) -> u32;

    /// Returns a counter that changes whenever routing, weights or the state of the switch's own
    /// ports may have changed. Tables built from candidates stay valid until it does.
    fn epoch(&self) -> u32 {
        0
    }

    /// Returns the routing weight of a candidate. Without failures every weight is 1.
    fn weight(&self, _candidate: u32) -> u32 {
        1
    }

    /// Returns the length of the weighted schedule, or `None` if all weights are equal. In this
    /// round-robin sequence each candidate appears as often as its weight.
    fn schedule_len(&self) -> Option<u32> {
        None
    }

    /// Returns the candidate at an index of the weighted schedule.
    fn schedule_entry(&self, index: u32) -> u32 {
        index
    }
}

/// A view with a number of candidates and nothing else, for policies that decide by headers alone.
#[derive(Debug, Clone, Copy)]
pub struct CandidateCount(
    /// The number of candidates.
    pub u32,
);

impl SwitchView for CandidateCount {
    fn candidates(&self) -> u32 {
        self.0
    }

    fn port(&self, candidate: u32) -> u32 {
        candidate
    }

    fn queue_bytes(&mut self, _candidate: u32) -> u64 {
        0
    }

    fn rate(&self, _candidate: u32) -> BitRate {
        BitRate::MAX
    }

    fn destination_edge(&self) -> SwitchId {
        SwitchId(0)
    }

    fn destination_pod(&self) -> u32 {
        0
    }
}

/// Port and edge switches of a packet that leaves a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departure {
    /// Output port, as an index into all ports of the switch.
    pub port: u32,
    /// Edge switch through which the packet entered the fabric.
    pub source_edge: SwitchId,
    /// Edge switch of the packet's destination.
    pub destination_edge: SwitchId,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_candidates_have_empty_queues_and_an_unlimited_rate() {
        let mut view = CandidateCount(3);
        assert_eq!((view.candidates(), view.port(2), view.queue_bytes(2)), (3, 2, 0));
        assert_eq!(view.rate(2), BitRate::MAX);
        assert_eq!((view.destination_edge(), view.destination_pod()), (SwitchId(0), 0));
    }

    #[test]
    fn a_view_without_weights_has_weight_1_everywhere_and_no_schedule() {
        let view = CandidateCount(3);
        assert_eq!([0, 1, 2].map(|candidate| view.weight(candidate)), [1; 3]);
        assert_eq!((view.schedule_len(), view.epoch()), (None, 0));
        assert_eq!([0, 1, 2].map(|index| view.schedule_entry(index)), [0, 1, 2]);
    }
}
