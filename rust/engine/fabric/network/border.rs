//! The borders of a part of a divided run: ports whose wires end in another part.
//!
//! The port is in the part of the switch at its start, which decides what starts there, and has an
//! event when a packet has left its wire. The arrival itself, with everything that follows from it,
//! is an event of the part of the switch at its end. That part has a port of the same id, by which
//! nothing starts: it counts the packets on the wire, and has the rates of the link.

use super::Network;
use super::output::Shared;
use super::pool::Slot;
use super::port::Special;
use crate::fabric::event::{Event, Word};
use crate::ids::PortId;
use crate::units::Time;

/// A packet on its way into another part.
#[derive(Debug, Clone, Copy)]
pub(in crate::fabric) struct Crossing {
    /// When it arrives there.
    pub(in crate::fabric) at: Time,
    /// The port that it has left by.
    pub(in crate::fabric) port: PortId,
    slot: Slot,
}

impl Network {
    /// The wires of `ports` end in other parts.
    pub(in crate::fabric) fn set_borders(&mut self, ports: Vec<PortId>) {
        for id in &ports {
            let port = &mut self.ports[id.index()];
            port.special = port.special.with(Special::BORDER);
        }
        self.borders = ports;
    }

    /// Handles a packet that has left the wire of `id` for another part.
    pub(in crate::fabric) fn handle_crossing(&mut self, now: Time, id: PortId) {
        let port = &mut self.ports[id.index()];
        port.handle_arrival();
        if port.needs_settling(now) {
            self.settle_switch_port(now, id);
        }
    }

    /// Starts what starts before `end` at border ports, and gives up the packets that have started
    /// there since the last call, in the order of their starts at each port.
    pub(in crate::fabric) fn take_crossings(&mut self, end: Time, take: &mut dyn FnMut(Crossing)) {
        let Some(before) = end.as_ps().checked_sub(1).map(Time::from_ps) else { return };
        for index in 0..self.borders.len() {
            let id = self.borders[index];
            if self.ports[id.index()].is_due(before) {
                self.settle_switch_port(before, id);
            }
        }
        let Shared { queue, pool, .. } = &mut self.shared;
        for (at, port, slot) in queue.take_crossings() {
            take(Crossing { at, port, slot: pool.take(slot) });
        }
    }

    /// Takes a packet from another part.
    pub(in crate::fabric) fn receive(&mut self, crossing: Crossing) {
        let Crossing { at, port, slot } = crossing;
        let slot = self.shared.pool.put(slot);
        self.ports[port.index()].handle_crossing();
        self.shared.queue.push_arrival(at, port, slot);
    }

    /// The earliest time at which a packet that waits may start at a border port.
    pub(in crate::fabric) fn next_border_start(&self) -> Option<Time> {
        let ports = self.borders.iter().map(|id| &self.ports[id.index()]);
        ports.filter(|port| port.has_waiting()).map(|port| port.free).min()
    }

    /// The time and the rank of the next event.
    pub(in crate::fabric) fn peek(&mut self) -> Option<(Time, u32)> {
        self.shared.queue.peek()
    }

    /// The rank of an event.
    pub(in crate::fabric) fn rank(&self, at: Time, word: Word) -> u32 {
        self.shared.queue.rank(at, word)
    }
}

impl Event {
    /// True if every part of a divided run has this event, as changes of links and probes are.
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
    fn what_waits_at_a_border_starts_as_the_packet_before_it_leaves_the_wire() {
        let setup = setup(leaf_spine(2, 1, 1, 400), "ecmp", Vec::new());
        let mut network = Network::new(&setup);
        let [id, _] = setup.topology.link_named("leaf0-spine0").unwrap().ports();
        network.set_borders(vec![id]);
        for _ in 0..2 {
            let packet = Packet { dst: HostId(1), wire_bytes: 4_158, ..Packet::default() };
            network.forward_for_test(Time::ZERO, SwitchId(0), packet);
        }
        let state = |network: &Network| {
            let port = &network.ports[id.index()];
            (port.data_waiting(), port.carried, port.has_on_wire())
        };
        assert_eq!(state(&network), (4_158, 4_158, true));
        // The wire was free long before, at 83,560 ps.
        let leaves = Time::from_ps(4_158 * 20 + 500_000);
        network.handle_crossing(leaves, id);
        assert_eq!(state(&network), (0, 2 * 4_158, true));
        network.handle_crossing(leaves + Span::from_ps(4_178 * 20), id);
        assert_eq!(state(&network), (0, 2 * 4_158, false));
    }
}
