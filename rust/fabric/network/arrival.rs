//! The arrival of a packet at the end of a wire, and the wire that is free.

use super::Network;
use super::pool::SlotId;
use super::port::{End, Special, Traced};
use crate::endpoint::Endpoints;
use crate::ids::{HostId, PortId};
use crate::packet::{Packet, PauseOrder};
use crate::topology::Node;
use crate::units::Time;

/// The result of a port's event for the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fabric) enum Arrival {
    /// The network has handled the event completely.
    Nothing,
    /// A packet has arrived at a host.
    Delivered(DeliveredPacket),
    /// A PFC frame has arrived at a host, whose port it pauses or resumes.
    Pfc(HostId, PauseOrder),
}

/// A packet that has arrived at a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fabric) struct DeliveredPacket {
    pub(in crate::fabric) host: HostId,
    pub(in crate::fabric) packet: Packet,
    /// Whether the host's acknowledgements are traced.
    pub(in crate::fabric) is_traced: bool,
}

/// What the arrival of a packet needs of the port that it left by.
#[derive(Debug, Clone, Copy)]
struct Arrived {
    end: End,
    special: Special,
    traced: Traced,
}

impl Network {
    /// Handles the arrival of a packet at the end of a port's wire.
    #[inline(always)]
    pub(in crate::fabric) fn handle_arrival(
        &mut self,
        now: Time,
        id: PortId,
        slot: SlotId,
        endpoints: &mut Endpoints,
    ) -> Arrival {
        // The packet leaves the wire first: settling arms the port if no other is on it. What the
        // packet changes comes last, when the port is as it was without it.
        self.counters.hops += 1;
        let port = &mut self.ports[id.index()];
        port.handle_arrival();
        let arrived = Arrived { end: port.end, special: port.special, traced: port.traced };
        // Mostly nothing waits at a switch's port.
        match port.start.node() {
            Node::Host(host) => self.settle_host(now, host, endpoints),
            Node::Switch(_) if port.needs_settling(now) => self.settle_switch_port(now, id),
            Node::Switch(_) => {}
        }
        self.arrive(now, id, slot, arrived)
    }

    /// Handles a port's wire that is free, without a packet on it.
    pub(in crate::fabric) fn handle_free(
        &mut self,
        now: Time,
        id: PortId,
        endpoints: &mut Endpoints,
    ) {
        self.ports[id.index()].armed = false;
        self.settle_port(now, id, endpoints);
    }

    #[inline(always)]
    fn arrive(&mut self, now: Time, id: PortId, slot: SlotId, arrived: Arrived) -> Arrival {
        let is_traced = arrived.traced.at(Traced::END);
        // One flag in the first cache line of the port keeps the search for outages off every other
        // link.
        if arrived.special.has(Special::FAULTY) && self.is_lost(now, id, slot) {
            self.trace_drop(now, id.reverse(), slot);
            self.drop_packet(slot);
            return Arrival::Nothing;
        }
        if is_traced {
            self.trace_arrival(now, id.reverse(), slot);
        }
        if self.switching.has_pfc() {
            // A frame ends here, at either end of a link: it is never forwarded nor counted at an
            // ingress.
            if let Some(order) = self.take_frame(slot) {
                return self.handle_frame(now, id.reverse(), order);
            }
            self.note_ingress(id, slot);
        }
        match arrived.end.node() {
            Node::Switch(switch) => {
                self.forward(now, switch, slot);
                Arrival::Nothing
            }
            Node::Host(host) => {
                let packet = self.pool.remove(slot);
                Arrival::Delivered(DeliveredPacket { host, packet, is_traced })
            }
        }
    }
}
