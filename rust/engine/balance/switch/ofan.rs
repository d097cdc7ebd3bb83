//! Ofan: destination rotation. Edge switches rotate over their uplinks separately for each
//! destination edge switch, aggregation switches for each destination pod. Both have separate
//! rotations for data and for small packets.
//!
//! Source: "Load Balancing for AI Training Workloads" (arXiv 2507.21372 v2, 2026), Ofan. There is
//! one pointer per (destination edge switch, packet size bin) in an edge switch and per
//! (destination pod, packet size bin) in an aggregation switch. Each has a random start and its own
//! random order. There are two bins, data and ACK. After failures (W-ECMP) the order is an
//! interleaved weighted schedule, see [`crate::balance::rotation`].
//!
//! \[inferred\]: a packet is in the small bin if it has at most 128 bytes or is not data. A trimmed
//! packet of 64 bytes is in it by its length. A pointer is created at its first use. When the
//! candidates or their weights change, a pointer is redrawn at its next use. It then uses the
//! weights for that packet's edge switch, even if it stands for a pod. The schedule counts as state
//! of its pointer. Schedules shared by the pointers of a pod, which the source mentions, are not
//! modelled.

use serde::{Deserialize, Serialize};

use super::{
    StateSize, SwitchConfig, SwitchContext, SwitchPolicy, SwitchView, at_switches, index_bits,
};
use crate::balance::rotation::{Rotation, fingerprint};
use crate::balance::{Preset, Scheme, Weights, parse_config};
use crate::ids::SwitchId;
use crate::packet::Packet;
use crate::rng::{Purpose, Stream, mix64};
use crate::units::{Bytes, Time};

/// The only parameter of `ofan`: the upper end of the small size bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Longest packet of the small bin, on the wire. Default 128 B \[inferred\]; an acknowledgement
    /// of Ofan has 64 B.
    pub small: Bytes,
}

impl Default for Config {
    fn default() -> Self {
        Self { small: Bytes::new(128) }
    }
}

/// The pointers of one switch.
#[derive(Debug, Clone)]
pub struct Ofan {
    small: u64,
    seed: u64,
    id: SwitchId,
    key: DestinationKey,
    /// Indexed by destination, then by size bin: small, data.
    pointers: Vec<Option<Pointer>>,
}

/// Unit of destinations that has its own pointers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DestinationKey {
    EdgeSwitch,
    Pod,
}

/// A rotation, and the state of the switch for which it was drawn.
#[derive(Debug, Clone)]
struct Pointer {
    rotation: Rotation,
    candidates: u32,
    /// [`fingerprint`] of the candidates' weights at `epoch`.
    weights: u64,
    epoch: u32,
}

/// The preset `ofan`: weights by capacity after failures, and a retransmission timer for each
/// packet.
pub const PRESETS: &[Preset] = &[Preset {
    name: "ofan",
    summary: "rotation per destination in edge and aggregation switches (Ofan)",
    source: "Load Balancing for AI Training Workloads (arXiv 2507.21372 v2, 2026), Ofan",
    build: |parameters| {
        let config = parse_config("ofan", parameters)?;
        let scheme = at_switches("ofan", SwitchConfig::Ofan(config));
        Ok(Scheme { weights: Weights::Capacity, ..scheme })
    },
}];

/// Number of size bins.
const BINS: usize = 2;

impl Ofan {
    pub(super) fn new(config: &Config, switch: &SwitchContext) -> Self {
        Self {
            small: config.small.get(),
            seed: switch.seed,
            id: switch.id,
            key: if switch.tier == 0 { DestinationKey::EdgeSwitch } else { DestinationKey::Pod },
            pointers: Vec::new(),
        }
    }

    /// Draws the pointer at `index` for the current candidates, unless they and their weights are
    /// unchanged.
    // Cold: runs only at a pointer's first use and after changes of routing.
    #[cold]
    fn renew<V: SwitchView>(&mut self, index: usize, view: &V) {
        if self.pointers.len() <= index {
            self.pointers.resize(index + 1, None);
        }
        let (candidates, epoch) = (view.candidates(), view.epoch());
        let weights: Vec<u32> = (0..candidates).map(|candidate| view.weight(candidate)).collect();
        let fingerprint = fingerprint(&weights);
        if let Some(pointer) = &mut self.pointers[index]
            && (pointer.candidates, pointer.weights) == (candidates, fingerprint)
        {
            pointer.epoch = epoch;
            return;
        }
        // Each pointer has its own random stream. The key contains the weights but not the epoch,
        // which counts changes anywhere in the fabric.
        let pointer_key = mix64((index as u64) << 32) ^ fingerprint;
        let id = mix64(u64::from(self.id.0)) ^ pointer_key;
        let mut random = Stream::new(self.seed, Purpose::SwitchPolicy, id);
        let rotation = Rotation::new(&weights, &mut random);
        self.pointers[index] = Some(Pointer { rotation, candidates, weights: fingerprint, epoch });
    }
}

impl SwitchPolicy for Ofan {
    const USES_WEIGHTS: bool = true;

    #[inline]
    fn choose<V: SwitchView>(&mut self, _now: Time, packet: &Packet, view: &mut V) -> u32 {
        let destination = match self.key {
            DestinationKey::EdgeSwitch => view.destination_edge().0,
            DestinationKey::Pod => view.destination_pod(),
        };
        // Small packets have separate pointers: control packets must not skip ports of the data
        // rotation.
        let is_small = packet.is_control() || u64::from(packet.wire_bytes) <= self.small;
        // Ids are dense, so a vector serves as the map: one lookup per packet.
        let index = destination as usize * BINS + usize::from(!is_small);
        let (candidates, epoch) = (view.candidates(), view.epoch());
        // At most two rounds: a missing or outdated pointer is renewed, and then matches.
        loop {
            match self.pointers.get_mut(index) {
                Some(Some(pointer))
                    if pointer.epoch == epoch && pointer.candidates == candidates =>
                {
                    return u32::from(pointer.rotation.advance());
                }
                _ => self.renew(index, view),
            }
        }
    }

    /// The pointers, including the size of their schedules.
    fn state_size(&self) -> StateSize {
        let pointers = self.pointers.iter().flatten();
        pointers.fold(StateSize::default(), |sum, pointer| {
            let schedule = pointer.rotation.schedule().len() as u64;
            let entry = index_bits(u64::from(pointer.candidates));
            let bits = pointer.rotation.pointer_bits() + schedule * entry;
            StateSize { entries: sum.entries + 1, bits: sum.bits + bits }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::test_view::Ports;
    use super::*;
    use crate::packet::PacketKind;

    fn data() -> Packet {
        Packet { wire_bytes: 4_158, ..Packet::default() }
    }

    fn ack() -> Packet {
        Packet { wire_bytes: 64, kind: PacketKind::Ack, ..Packet::default() }
    }

    fn switch(tier: u8) -> Ofan {
        Ofan::new(&Config::default(), &SwitchContext { tier, ..SwitchContext::for_test() })
    }

    fn chosen(ofan: &mut Ofan, ports: &mut Ports, packet: &Packet, count: usize) -> Vec<u32> {
        (0..count).map(|_| ofan.choose(Time::ZERO, packet, ports)).collect()
    }

    #[test]
    fn each_destination_has_its_own_order_and_start() {
        let (mut ofan, mut ports) = (switch(0), Ports::empty(8));
        let mut orders = BTreeSet::new();
        let mut starts = BTreeSet::new();
        for edge in 0..40 {
            ports.edge = SwitchId(edge);
            let order = chosen(&mut ofan, &mut ports, &data(), 8);
            let sorted: BTreeSet<u32> = order.iter().copied().collect();
            assert_eq!(sorted.len(), 8, "each port once per cycle: {order:?}");
            starts.insert(order[0]);
            orders.insert(order);
        }
        assert_eq!((orders.len(), starts.len()), (40, 8));
        // Packets to other destinations in between change nothing.
        ports.edge = SwitchId(3);
        let next = chosen(&mut ofan, &mut ports, &data(), 8);
        assert!(orders.contains(&next));
    }

    #[test]
    fn small_packets_have_separate_pointers() {
        let (mut ofan, mut ports) = (switch(0), Ports::empty(4));
        let alone = chosen(&mut switch(0), &mut ports, &data(), 6);
        let mut mixed = Vec::new();
        for _ in 0..6 {
            mixed.extend(chosen(&mut ofan, &mut ports, &data(), 1));
            chosen(&mut ofan, &mut ports, &ack(), 3);
            chosen(&mut ofan, &mut ports, &Packet { wire_bytes: 128, ..data() }, 2);
        }
        assert_eq!(mixed, alone);
        assert_eq!(ofan.state_size().entries, 2);
        chosen(&mut ofan, &mut ports, &Packet { wire_bytes: 129, ..data() }, 1);
        assert_eq!(ofan.state_size().entries, 2, "129 bytes are data");
    }

    #[test]
    fn edge_switches_have_a_pointer_per_edge_switch_and_others_one_per_pod() {
        for (tier, expected) in [(0, 12), (1, 3), (2, 3)] {
            let (mut ofan, mut ports) = (switch(tier), Ports::empty(4));
            for edge in 0..12 {
                (ports.edge, ports.pod) = (SwitchId(edge), edge / 4);
                chosen(&mut ofan, &mut ports, &data(), 1);
            }
            assert_eq!(ofan.state_size().entries, expected, "tier {tier}");
        }
    }

    /// Section 4 of the source: k = 64, two size bins; an order takes 32 entries of 5 bits.
    #[test]
    fn at_k_64_there_are_2047_and_63_pointers_per_size_bin() {
        let (k, own_edge, own_pod) = (64u32, SwitchId(1_000), 1_000 / 32);
        for (tier, pointers) in [(0, 2_047), (1, 63)] {
            let (mut ofan, mut ports) = (switch(tier), Ports::empty(32));
            for edge in (0..k * k / 2).map(SwitchId) {
                (ports.edge, ports.pod) = (edge, edge.0 / (k / 2));
                // A destination below the switch leaves no choice.
                let stays = if tier == 0 { edge == own_edge } else { ports.pod == own_pod };
                if !stays {
                    chosen(&mut ofan, &mut ports, &data(), 2);
                    chosen(&mut ofan, &mut ports, &ack(), 2);
                }
            }
            let bits = 2 * pointers * (5 + 32 * 5);
            assert_eq!(ofan.state_size(), StateSize { entries: 2 * pointers, bits }, "tier {tier}");
        }
    }

    #[test]
    fn weights_apply_from_the_next_change_of_the_epoch() {
        let (mut ofan, mut ports) = (switch(0), Ports::empty(4));
        chosen(&mut ofan, &mut ports, &data(), 3);
        let expected = chosen(&mut ofan.clone(), &mut ports, &data(), 4);
        ports.epoch = 7;
        let after = chosen(&mut ofan, &mut ports, &data(), 4);
        assert_eq!(after, expected, "nothing has changed for this switch");
        (ports.epoch, ports.weights) = (1, vec![1_600, 1_600, 1_600, 800]);
        let round = chosen(&mut ofan, &mut ports, &data(), 7);
        let shares = [0, 1, 2, 3].map(|port| round.iter().filter(|&&turn| turn == port).count());
        assert_eq!(shares, [2, 2, 2, 1]);
        (ports.epoch, ports.weights, ports.bytes) = (2, vec![1, 1], vec![0, 0]);
        let round = chosen(&mut ofan, &mut ports, &data(), 4);
        assert_eq!(round[..2], round[2..]);
        assert_ne!(round[0], round[1]);
    }
}
