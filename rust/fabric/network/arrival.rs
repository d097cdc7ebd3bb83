//! The arrival of a packet at the end of a wire, and the wire that becomes free.

use super::Network;
use super::pool::SlotId;
use super::port::Traced;
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

impl Network {
    /// Handles the arrival of the packet at the head of a port's wire, or the wire that becomes
    /// free.
    #[inline]
    pub(in crate::fabric) fn handle_port(
        &mut self,
        now: Time,
        id: PortId,
        endpoints: &mut Endpoints,
    ) -> Arrival {
        // The packet leaves the list of the wire first: settling arms the port for the arrival
        // after it. What the packet changes comes last, when the port is as it was without it.
        let arrived = self.take_arrival(now, id);
        self.settle_port(now, id, endpoints);
        match arrived {
            Some(slot) => self.arrive(now, id, slot),
            None => Arrival::Nothing,
        }
    }

    /// The packet at the head of a port's wire, if it arrives at `now`.
    #[inline]
    fn take_arrival(&mut self, now: Time, id: PortId) -> Option<SlotId> {
        let port = &mut self.ports[id.index()];
        port.armed = false;
        let first = port.wire.first()?;
        let arrives = self.pool.get(first).arrives;
        // The event was for a wire that becomes free, and a packet has started on it since.
        if arrives > now {
            return None;
        }
        debug_assert_eq!(arrives, now, "an arrival was missed");
        self.pool.pop_front(&mut port.wire);
        self.counters.hops += 1;
        Some(first)
    }

    #[inline]
    fn arrive(&mut self, now: Time, id: PortId, slot: SlotId) -> Arrival {
        let port = &self.ports[id.index()];
        let (end, is_traced) = (port.end.node(), port.traced.at(Traced::END));
        // One flag in the first cache line of the port keeps the search for outages off every other
        // link.
        if port.faulty && self.is_lost(id, slot) {
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
        match end {
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
