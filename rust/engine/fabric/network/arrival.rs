//! Arrivals of packets at the end of a wire, and events of free wires.

use super::Network;
use super::pfc::LinkOrder;
use super::pool::SlotId;
use super::port::{Port, PortFeatures};
use crate::endpoint::Endpoints;
use crate::ids::{HostId, PortId};
use crate::packet::Packet;
use crate::topology::Node;
use crate::units::Time;

/// Result of a port's event, for the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fabric) enum Arrival {
    /// The network has handled the event completely.
    Handled,
    /// A packet has arrived at a host.
    Delivered(DeliveredPacket),
    /// A flow-control frame for the port of a host has arrived there.
    Pfc(PortId, LinkOrder),
}

/// A packet that has arrived at a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fabric) struct DeliveredPacket {
    pub(in crate::fabric) host: HostId,
    pub(in crate::fabric) slot: SlotId,
    /// True if the host's acknowledgements are traced.
    pub(in crate::fabric) is_traced: bool,
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
        // The packet leaves the wire first, because settling arms the port if no other packet is on
        // it. The effects of the packet come last, once the port is in the state that it has
        // without the packet.
        self.shared.counters.hops += 1;
        let port = &mut self.ports[id.index()];
        port.handle_arrival();
        // Copied, because settling needs the whole network.
        let (end, features) = (port.end, port.features);
        // Usually nothing is queued at a switch's port.
        match port.start.node() {
            Node::Host(host) => self.settle_host(now, host, endpoints),
            Node::Switch(_) if port.needs_settling(now) => self.settle_switch_port(now, id),
            Node::Switch(_) => {}
        }
        // One test of both flags keeps plain ports on the fast path.
        if features.has_any(PortFeatures::AT_END.with(PortFeatures::FLOW_CONTROL)) {
            if features.has_any(PortFeatures::AT_END)
                && let Some(arrival) = self.handle_arrival_slow(now, id, slot, endpoints)
            {
                return arrival;
            }
            if features.has_any(PortFeatures::FLOW_CONTROL) {
                // A frame ends here, at either end of a link. It is never forwarded, and not
                // counted at an ingress.
                if let Some(order) = self.take_frame(slot) {
                    return self.handle_frame(now, id.reverse(), order);
                }
                self.store_ingress(id, slot);
            }
        }
        match end.node() {
            Node::Switch(switch) => {
                self.forward(now, switch, slot);
                Arrival::Handled
            }
            Node::Host(host) => {
                let is_traced = features.has_any(PortFeatures::TRACED_END);
                Arrival::Delivered(DeliveredPacket { host, slot, is_traced })
            }
        }
    }

    /// Removes a delivered packet from the network.
    #[inline(always)]
    pub(in crate::fabric) fn take(&mut self, slot: SlotId) -> Packet {
        self.shared.pool.remove(slot)
    }

    /// Handles the event of a free wire that carries no packet.
    pub(in crate::fabric) fn handle_free(
        &mut self,
        now: Time,
        id: PortId,
        endpoints: &mut Endpoints,
    ) {
        // This event was the armed one.
        self.ports[id.index()].armed = false;
        self.settle_port(now, id, endpoints);
    }

    /// Slow path of an arrival: links that fail or are traced, and telemetry. Returns `None` if the
    /// packet then continues like any other.
    #[cold]
    fn handle_arrival_slow(
        &mut self,
        now: Time,
        id: PortId,
        slot: SlotId,
        endpoints: &mut Endpoints,
    ) -> Option<Arrival> {
        let Port { end, features, .. } = self.ports[id.index()];
        if features.has_any(PortFeatures::FAULTY) && self.is_lost(now, id, slot) {
            if features.has_any(PortFeatures::CREDIT) {
                self.lose_credit(now, id, slot);
            }
            // Traced before the slot is released.
            self.trace_drop(now, id.reverse(), slot);
            self.drop_packet(slot);
            return Some(Arrival::Handled);
        }
        if features.has_any(PortFeatures::TRACED_END) {
            self.trace_arrival(now, id.reverse(), slot);
        }
        // Flow-control frames carry no telemetry.
        if features.has_any(PortFeatures::TELEMETRY)
            && !self.shared.pool.get(slot).packet.is_link_frame()
            && let Node::Host(host) = end.node()
        {
            self.deliver_telemetry(slot, host, endpoints);
        }
        None
    }
}
