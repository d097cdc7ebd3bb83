//! Packet records at traced ports.
//!
//! Without a watch the cost is one comparison per packet and port. All other code is cold.

use super::Network;
use super::pool::SlotId;
use super::port::PortFeatures;
use crate::endpoint::{Endpoints, Host};
use crate::fabric::trace_buffer::{PacketEvent, PacketRecord, TraceBuffer};
use crate::ids::PortId;
use crate::topology::Node;
use crate::units::Time;

impl Network {
    /// Starts recording packets at the nodes for which `traced` is true.
    pub(in crate::fabric) fn trace_nodes(
        &mut self,
        traced: &dyn Fn(Node) -> bool,
        buffer: TraceBuffer,
    ) {
        for port in &mut self.ports {
            if traced(port.start.node()) {
                port.features = port.features.with(PortFeatures::TRACED_START);
            }
            if traced(port.end.node()) {
                port.features = port.features.with(PortFeatures::TRACED_END);
            }
        }
        self.shared.trace = Some(Box::new(buffer));
    }

    /// Returns the records, if nodes are traced.
    pub(in crate::fabric) fn trace_mut(&mut self) -> Option<&mut TraceBuffer> {
        self.shared.trace.as_deref_mut()
    }

    /// Starts the packets that are due by `now` at traced ports, so that they are recorded at the
    /// end of a run.
    pub(in crate::fabric) fn settle_traced(&mut self, now: Time, endpoints: &mut Endpoints) {
        for id in (0..self.ports.len() as u32).map(PortId) {
            if self.is_traced(id) {
                self.settle_port(now, id, endpoints);
            }
        }
    }

    #[inline]
    fn is_traced(&self, id: PortId) -> bool {
        self.ports[id.index()].features.has_any(PortFeatures::TRACED_START)
    }

    /// Records a packet that is lost at port `id`.
    #[cold]
    pub(super) fn trace_drop(&mut self, at: Time, id: PortId, slot: SlotId) {
        if self.is_traced(id) {
            self.settle_start(at, id);
            self.output(id).record(at, slot, PacketEvent::Dropped);
        }
    }

    /// Records a packet that has arrived over the link whose reverse direction is port `id`.
    #[cold]
    pub(super) fn trace_arrival(&mut self, at: Time, id: PortId, slot: SlotId) {
        self.settle_start(at, id);
        self.output(id).record(at, slot, PacketEvent::Received);
    }

    /// Records the acknowledgements that have joined the queue of a host's NIC, from the `first`
    /// on.
    #[cold]
    pub(in crate::fabric) fn trace_control(&mut self, at: Time, host: &Host, first: usize) {
        let Some(trace) = &mut self.shared.trace else { return };
        for &packet in host.nic.control_packets().skip(first) {
            let (port, event) = (host.port, PacketEvent::Enqueued);
            trace.record(PacketRecord { at, port, event, waiting: 0, packet });
        }
    }

    /// Settles a switch port, so that the recorded queue length is exact.
    fn settle_start(&mut self, now: Time, id: PortId) {
        if matches!(self.ports[id.index()].start.node(), Node::Switch(_)) {
            self.settle_switch_port(now, id);
        }
    }
}
