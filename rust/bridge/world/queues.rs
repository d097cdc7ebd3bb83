//! Queues of switch ports: the simulator has them, and asks here whether a packet is queued,
//! trimmed, marked or dropped, and which links are paused.

use evenkeel_engine::ids::{ClassId, LinkClass, PortId, SwitchId};
use evenkeel_engine::packet::{Flags, Packet};
use evenkeel_engine::switching::{
    Admission, EcnPoint, EnqueueRequest, Flight, Headroom, PfcConfig, Waiting,
};
use evenkeel_engine::topology::Node;
use evenkeel_engine::units::{Bytes, Time};

use super::contract::{Enqueued, QueueState};
use super::convert::CLASS;
use super::core::{Core, NONE};
use super::enumerations::{FabricPacketKind, FabricPfcOrder};
use super::records::FabricPacket;

impl FabricPacket {
    /// Returns the packet for a policy or a queue, to which an IP packet is data.
    pub(super) fn as_data(&self) -> Packet {
        match self.kind {
            FabricPacketKind::IP => Packet::from(&Self { kind: FabricPacketKind::DATA, ..*self }),
            _ => Packet::from(self),
        }
    }

    /// Returns true if it is ECN-capable. `marked` is 1 in such an IP packet.
    fn is_markable(&self) -> bool {
        self.kind == FabricPacketKind::DATA || self.kind == FabricPacketKind::IP && self.marked != 0
    }

    /// Returns the link that sent the packet and its class, unless it has priority: such a packet
    /// is not counted there.
    fn ingress(&self, link: u32) -> Option<LinkClass> {
        let counts = link != NONE && !Flags::from_bits(self.flags).has(Flags::PRIORITY);
        counts.then_some(LinkClass { link: PortId(link), class: ClassId(self.ack >> CLASS) })
    }
}

impl Core {
    /// Returns the switch that sends through a port.
    fn switch_of(&self, port: PortId) -> SwitchId {
        match self.setup.topology.ends_of(port).0 {
            Node::Switch(switch) => switch,
            Node::Host(host) => panic!("port {} is of host {}, not of a switch", port.0, host.0),
        }
    }

    pub(super) fn enqueue(&mut self, queued: &QueueState, packet: &mut FabricPacket) -> Enqueued {
        let port = PortId(queued.port);
        let switch = self.switch_of(port);
        let has_priority = Flags::from_bits(packet.flags).has(Flags::PRIORITY);
        let before = if has_priority { queued.priority } else { queued.data };
        if self.switching.try_enqueue_fast(switch, before, packet.wire_bytes) {
            self.mark(EcnPoint::Enqueue, port, queued.of_class, packet);
            return Enqueued::Queued;
        }
        let mut admitted = packet.as_data();
        if !queued.is_settled && self.switching.exceeds_shared_buffer(switch, &admitted) {
            return Enqueued::Unsettled;
        }
        if packet.kind == FabricPacketKind::IP {
            // Like a packet that is trimmed already, an IP packet is not cut.
            admitted.flags = admitted.flags.with(Flags::TRIMMED);
        }
        // As in the Rust fabric: flow control looks at the packet's own class, buffers at the port.
        let data = if self.switching.has_flow_control() { queued.of_class } else { queued.data };
        let request = EnqueueRequest {
            switch,
            port,
            ingress: Some(queued.ingress).filter(|&link| link != NONE).map(PortId),
            waiting: Waiting { priority: queued.priority, data },
        };
        let admission = self.switching.admit(&request, &mut admitted);
        match admission {
            Admission::Dropped => return Enqueued::Dropped,
            Admission::Trimmed => {
                packet.wire_bytes = admitted.wire_bytes;
                packet.flags = admitted.flags.bits();
            }
            Admission::Admitted => {}
        }
        self.mark(EcnPoint::Enqueue, port, queued.of_class, packet);
        let (bytes, ingress) = (packet.wire_bytes.into(), packet.ingress(queued.ingress));
        match (self.switching.account_enqueue(switch, bytes, ingress), admission) {
            (Some(_), _) => Enqueued::Paused,
            (None, Admission::Trimmed) => Enqueued::Trimmed,
            (None, _) => Enqueued::Queued,
        }
    }

    pub(super) fn dequeue(
        &mut self,
        port: u32,
        ingress: u32,
        queued: u32,
        packet: &mut FabricPacket,
    ) -> FabricPfcOrder {
        let port = PortId(port);
        let (bytes, ingress) = (packet.wire_bytes.into(), packet.ingress(ingress));
        let order = self.switching.account_dequeue(self.switch_of(port), bytes, ingress);
        self.mark(EcnPoint::Dequeue, port, queued, packet);
        order.map_or(FabricPfcOrder::NOTHING, FabricPfcOrder::from)
    }

    pub(super) fn bypass(&mut self, port: u32, queued: u32, packet: &mut FabricPacket) {
        for point in [EcnPoint::Enqueue, EcnPoint::Dequeue] {
            self.mark(point, PortId(port), queued, packet);
        }
    }

    #[inline]
    fn mark(&mut self, point: EcnPoint, port: PortId, queued: u32, packet: &mut FabricPacket) {
        // The draw comes last, as in `Switching::mark`.
        if self.switching.may_mark(point, queued)
            && packet.is_markable()
            && self.switching.marks(port, Bytes::new(queued.into()))
        {
            packet.flags |= Flags::MARKED.bits();
        }
    }

    pub(super) fn count_frame(&mut self, port: u32, bytes: u16) {
        let switch = self.switch_of(PortId(port));
        self.switching.account_enqueue(switch, bytes.into(), None);
    }

    pub(super) fn loses(&mut self, port: u32, start_ps: u64, end_ps: u64) -> bool {
        let flight = Flight { start: Time::from_ps(start_ps), end: Time::from_ps(end_ps) };
        self.switching.loses(PortId(port), flight, &Packet::default())
    }

    pub(super) fn has_headroom_for(&self, wire_bytes: u32) -> bool {
        let (fabric, topology) = (&self.setup.fabric, &self.setup.topology);
        // A class without protection may drop packets, so it has no headroom.
        let mut classes = (0..fabric.class_count() as u32).map(ClassId);
        let is_protected = classes.any(|class| fabric.is_protected(class));
        let Some(pfc) = fabric.switch.pfc.filter(|_| is_protected) else { return true };
        let worst = Headroom::WorstCase { packet: Bytes::new(wire_bytes.into()) };
        let worst = PfcConfig { headroom: worst, ..pfc };
        let ports = (0..2 * topology.links().len() as u32).map(PortId);
        let mut links = ports.filter(|&port| matches!(topology.ends_of(port).1, Node::Switch(_)));
        links.all(|link| {
            pfc.headroom_of(fabric, topology, link) >= worst.headroom_of(fabric, topology, link)
        })
    }
}
