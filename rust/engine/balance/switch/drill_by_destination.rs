//! DRILL with a memory for each destination, as in ConWeave's simulator.
//!
//! Source: conweave-project/conweave-ns3 (`SwitchNode::DoLbDrill`, `LB_MODE 2`). Two random next
//! hops of the packet's destination compete with the one that the last packet to it took. Apart
//! from the memory, it differs from [`super::drill`] in three rules:
//!
//! - A queue's length excludes the packet on the wire, so it is 0 at a port that keeps up.
//! - The remembered next hop wins ties: a destination keeps its port while no queue builds up
//!   there.
//! - Acknowledgements and other control packets are hashed.
//!
//! \[inferred\] A view reports the length including the packet on the wire; a full packet is
//! subtracted. Control packets are hashed by [`super::hash`], in the source by the family's own
//! hash.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::hash::{self, Hash};
use super::{
    StateSize, SwitchConfig, SwitchContext, SwitchPolicy, SwitchView, at_switches, index_bits,
};
use crate::balance::{Preset, SchemeError, parse_config};
use crate::ids::HostId;
use crate::packet::Packet;
use crate::rng::Stream;
use crate::units::Time;

/// The only parameter of `drill-by-destination`: the number of queues that it samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Number of random queues per packet, at least 1. Default 2 (`m_drill_candidate`).
    pub samples: u16,
}

impl Default for Config {
    fn default() -> Self {
        Self { samples: 2 }
    }
}

/// Memory of one switch.
#[derive(Debug, Clone)]
pub struct DrillByDestination {
    samples: u32,
    /// Candidates in arbitrary order; samples are swapped to the front.
    order: Vec<u16>,
    best: BTreeMap<HostId, u16>,
    random: Stream,
    control_hash: Hash,
    ports: u32,
}

/// The preset `drill-by-destination`, with a retransmission timer for each packet.
pub const PRESETS: &[Preset] = &[Preset {
    name: "drill-by-destination",
    summary: "DRILL as in ConWeave's simulator: one memory per destination, control packets \
              hashed",
    source: "conweave-project/conweave-ns3 at 236a801a, SwitchNode::DoLbDrill",
    build: |parameters| {
        let name = "drill-by-destination";
        let config: Config = parse_config(name, parameters)?;
        if config.samples == 0 {
            let reason = "'samples' must be at least 1, for example 2".into();
            return Err(SchemeError::Parameter { name, reason });
        }
        Ok(at_switches(name, SwitchConfig::DrillByDestination(config)))
    },
}];

impl DrillByDestination {
    pub(super) fn new(config: &Config, switch: &SwitchContext) -> Self {
        Self {
            samples: u32::from(config.samples),
            order: Vec::new(),
            best: BTreeMap::new(),
            random: switch.random(),
            control_hash: Hash::new(&hash::Config {}, switch),
            ports: switch.ports,
        }
    }

    /// Draws the sample at `index`, distinct from those at lower indices.
    #[inline]
    fn sample(&mut self, index: u32) -> u16 {
        let other = index + self.random.below(self.order.len() as u32 - index);
        self.order.swap(index as usize, other as usize);
        self.order[index as usize]
    }
}

/// Returns the bytes queued at a candidate, minus one packet of this size for the one on the wire.
fn waiting<V: SwitchView>(view: &mut V, candidate: u16, packet: &Packet) -> u64 {
    // Saturating: an empty queue has no packet to subtract.
    view.queue_bytes(u32::from(candidate)).saturating_sub(u64::from(packet.wire_bytes))
}

impl SwitchPolicy for DrillByDestination {
    const USES_QUEUE_LENGTHS: bool = true;

    #[inline]
    fn choose<V: SwitchView>(&mut self, now: Time, packet: &Packet, view: &mut V) -> u32 {
        if packet.is_control() {
            return self.control_hash.choose(now, packet, view);
        }
        let count = view.candidates();
        if self.order.len() != count as usize {
            self.order.clear();
            self.order.extend((0..=u16::MAX).take(count as usize));
        }
        // After a failure, the remembered index may exceed the candidates.
        let remembered = self.best.get(&packet.dst).copied().filter(|&it| u32::from(it) < count);
        let mut best = remembered.map(|it| (it, waiting(view, it, packet)));
        for index in 0..self.samples.min(self.order.len() as u32) {
            let sample = self.sample(index);
            let bytes = waiting(view, sample, packet);
            // Strictly less: the remembered candidate wins ties, then the earlier sample.
            if best.is_none_or(|(_, least)| bytes < least) {
                best = Some((sample, bytes));
            }
        }
        let chosen = best.map_or(0, |(candidate, _)| candidate);
        self.best.insert(packet.dst, chosen);
        u32::from(chosen)
    }

    /// One port index per destination.
    fn state_size(&self) -> StateSize {
        let entries = self.best.len() as u64;
        StateSize { entries, bits: entries * index_bits(u64::from(self.ports)) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_view::Ports;
    use super::*;
    use crate::packet::PacketKind;

    fn drill() -> DrillByDestination {
        DrillByDestination::new(&Config::default(), &SwitchContext::for_test())
    }

    fn to(dst: u32) -> Packet {
        Packet { dst: HostId(dst), wire_bytes: 1_000, ..Packet::default() }
    }

    fn choose(drill: &mut DrillByDestination, packet: &Packet, ports: &mut Ports) -> u32 {
        drill.choose(Time::ZERO, packet, ports)
    }

    #[test]
    fn a_destination_keeps_its_port_while_its_queue_is_empty() {
        let (mut drill, mut ports) = (drill(), Ports::empty(8));
        let first = [3, 4].map(|dst| choose(&mut drill, &to(dst), &mut ports));
        // A packet on the wire does not count as a queue.
        ports.bytes = vec![1_000; 8];
        for _ in 0..100 {
            assert_eq!([3, 4].map(|dst| choose(&mut drill, &to(dst), &mut ports)), first);
        }
        assert_eq!(drill.state_size(), StateSize { entries: 2, bits: 6 });
    }

    #[test]
    fn it_leaves_a_port_whose_queue_exceeds_that_of_a_sample() {
        let mut drill = drill();
        let mut ports = Ports::empty(2);
        let first = choose(&mut drill, &to(3), &mut ports);
        ports.bytes[first as usize] = 2_000;
        assert_eq!(choose(&mut drill, &to(3), &mut ports), 1 - first, "both are sampled");
        assert_eq!(choose(&mut drill, &to(3), &mut ports), 1 - first);
    }

    #[test]
    fn control_packets_are_hashed_and_leave_the_memory_unchanged() {
        let (mut drill, mut ports) = (drill(), Ports::empty(8));
        let answer = Packet { kind: PacketKind::Ack, entropy: 9, ..to(3) };
        let chosen: Vec<u32> = (0..20).map(|_| choose(&mut drill, &answer, &mut ports)).collect();
        assert!(chosen.iter().all(|port| *port == chosen[0]));
        assert_eq!((ports.reads, drill.state_size()), (0, StateSize::default()));
    }

    #[test]
    fn a_memory_beyond_the_candidates_is_ignored() {
        let (mut drill, mut ports) = (drill(), Ports::with_bytes(&[9_000, 9_000, 9_000, 0]));
        while choose(&mut drill, &to(3), &mut ports) != 3 {}
        assert!(choose(&mut drill, &to(3), &mut Ports::empty(3)) < 3);
    }
}
