//! Boundary ports of a partition: their wires end in another partition.
//!
//! The partition of the switch at the start of the wire owns the port. It decides what starts
//! there, and has an event when a packet leaves the wire. The arrival, with all its effects, is an
//! event of the partition at the other end. That partition has a port with the same id, where
//! nothing starts. It counts the packets on the wire and holds the rates of the link.

use super::Network;
use super::output::Shared;
use super::pool::Slot;
use super::port::PortFeatures;
use crate::fabric::event::{Event, Word};
use crate::ids::PortId;
use crate::units::Time;

/// A packet handed off to another partition.
#[derive(Debug, Clone, Copy)]
pub(in crate::fabric) struct Handoff {
    /// Time of arrival.
    pub(in crate::fabric) at: Time,
    /// Port from which it was sent.
    pub(in crate::fabric) port: PortId,
    slot: Slot,
}

impl Network {
    /// Marks the ports whose wires end in other partitions.
    pub(in crate::fabric) fn set_boundaries(&mut self, ports: Vec<PortId>) {
        for id in &ports {
            let port = &mut self.ports[id.index()];
            port.features = port.features.with(PortFeatures::BOUNDARY);
        }
        self.boundaries = ports;
    }

    /// Handles a packet that has left the wire of `id` for another partition.
    pub(in crate::fabric) fn handle_handoff(&mut self, now: Time, id: PortId) {
        let port = &mut self.ports[id.index()];
        port.handle_arrival();
        if port.needs_settling(now) {
            self.settle_switch_port(now, id);
        }
    }

    /// Settles the boundary ports up to `end`, and passes the packets that started there since the
    /// last call to `take`. Each port's packets are in order of their starts.
    pub(in crate::fabric) fn take_handoffs(&mut self, end: Time, take: &mut dyn FnMut(Handoff)) {
        // A packet that starts at `end` belongs to the next window.
        let Some(before) = end.as_ps().checked_sub(1).map(Time::from_ps) else { return };
        for index in 0..self.boundaries.len() {
            let id = self.boundaries[index];
            // A port without a due packet needs no settling.
            if self.ports[id.index()].is_due(before) {
                self.settle_switch_port(before, id);
            }
        }
        let Shared { queue, pool, .. } = &mut self.shared;
        for (at, port, slot) in queue.take_handoffs() {
            take(Handoff { at, port, slot: pool.take(slot) });
        }
    }

    /// Receives a packet from another partition.
    pub(in crate::fabric) fn receive(&mut self, handoff: Handoff) {
        let Handoff { at, port, slot } = handoff;
        let slot = self.shared.pool.put(slot);
        // The wire carries it here until the arrival, which counts it off.
        self.ports[port.index()].handle_handoff();
        self.shared.queue.push_arrival(at, port, slot);
    }

    /// Returns the earliest time at which a waiting packet may start at a boundary port.
    pub(in crate::fabric) fn next_boundary_start(&self) -> Option<Time> {
        let ports = self.boundaries.iter().map(|id| &self.ports[id.index()]);
        ports.filter(|port| port.has_waiting()).map(|port| port.free).min()
    }

    /// Returns time and rank of the next event.
    pub(in crate::fabric) fn peek(&mut self) -> Option<(Time, u32)> {
        self.shared.queue.peek()
    }

    /// Returns the rank of an event.
    pub(in crate::fabric) fn rank(&self, at: Time, word: Word) -> u32 {
        self.shared.queue.rank(at, word)
    }
}

impl Event {
    /// True if every partition has this event: a change of links or routing, or a probe.
    pub(in crate::fabric) const fn is_common(self) -> bool {
        matches!(self, Self::Control(_) | Self::Probe(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::tests::{leaf_spine, setup};
    use crate::ids::{HostId, SwitchId};
    use crate::packet::Packet;
    use crate::units::Span;

    #[test]
    fn a_handoff_starts_the_packet_queued_at_the_boundary() {
        let setup = setup(leaf_spine(2, 1, 1, 400), "ecmp", Vec::new());
        let mut network = Network::new(&setup);
        let [id, _] = setup.topology.link_named("leaf0-spine0").unwrap().ports();
        network.set_boundaries(vec![id]);
        for _ in 0..2 {
            let packet = Packet { dst: HostId(1), wire_bytes: 4_158, ..Packet::default() };
            network.forward_for_test(Time::ZERO, SwitchId(0), packet);
        }
        let state = |network: &Network| {
            let port = &network.ports[id.index()];
            (port.data_waiting(), port.carried, port.has_on_wire())
        };
        assert_eq!(state(&network), (4_158, 4_158, true));
        // The wire has been free since 83,560 ps.
        let leaves = Time::from_ps(4_158 * 20 + 500_000);
        network.handle_handoff(leaves, id);
        assert_eq!(state(&network), (0, 2 * 4_158, true));
        network.handle_handoff(leaves + Span::from_ps(4_178 * 20), id);
        assert_eq!(state(&network), (0, 2 * 4_158, false));
    }
}
