//! What the network notes of packets at ports that somebody follows.

use super::network::Network;
use super::pool::Place;
use super::port::Noted;
use super::tape::{PacketEvent, PacketRecord};
use crate::ids::PortId;
use crate::nic::Nic;
use crate::packet::Flags;
use crate::topology::Node;
use crate::units::Time;

impl Network {
    /// A packet starts on the wire of port `id`, out of its queue.
    #[cold]
    pub(super) fn note_start(&mut self, at: Time, id: PortId, place: Place) {
        let packet = self.pool.get(place).packet;
        let waiting = self.ports[id.index()].bytes_waiting(packet.flags);
        self.note(PacketRecord { at, port: id, event: PacketEvent::Dequeued, waiting, packet });
    }

    /// A packet has gone through port `id` without waiting: nothing was before it.
    #[cold]
    pub(super) fn note_passage(&mut self, at: Time, id: PortId, place: Place) {
        let packet = self.pool.get(place).packet;
        let waiting = self.ports[id.index()].bytes_waiting(packet.flags);
        for event in [PacketEvent::Enqueued, PacketEvent::Dequeued] {
            self.note(PacketRecord { at, port: id, event, waiting, packet });
        }
    }

    /// A packet has joined the queue of port `id`.
    #[cold]
    pub(super) fn note_wait(&mut self, at: Time, id: PortId, place: Place) {
        let packet = self.pool.get(place).packet;
        let with_it = self.ports[id.index()].bytes_waiting(packet.flags);
        let waiting = with_it - u32::from(packet.wire_bytes);
        self.note(PacketRecord { at, port: id, event: PacketEvent::Enqueued, waiting, packet });
    }

    /// A packet is lost at port `id`, which nobody may follow.
    #[cold]
    pub(super) fn note_drop(&mut self, at: Time, id: PortId, place: Place) {
        if !self.ports[id.index()].noted.at(Noted::START) {
            return;
        }
        self.settle_start(at, id);
        let packet = self.pool.get(place).packet;
        let waiting = self.ports[id.index()].bytes_waiting(packet.flags);
        self.note(PacketRecord { at, port: id, event: PacketEvent::Dropped, waiting, packet });
    }

    /// A packet has arrived over the link whose way back is port `id`.
    #[cold]
    pub(super) fn note_arrival(&mut self, at: Time, id: PortId, place: Place) {
        self.settle_start(at, id);
        let waiting = self.ports[id.index()].bytes_waiting(Flags::PRIORITY);
        let packet = self.pool.get(place).packet;
        self.note(PacketRecord { at, port: id, event: PacketEvent::Received, waiting, packet });
    }

    /// The answers of a NIC from the `first` on join its queue, which it keeps itself.
    #[cold]
    pub(super) fn note_answers(&mut self, at: Time, (port, nic): (PortId, &Nic), first: usize) {
        for &packet in nic.answers().skip(first) {
            let event = PacketEvent::Enqueued;
            self.note(PacketRecord { at, port, event, waiting: 0, packet });
        }
    }

    /// Starts what has started by now at a switch's port, so that what waits is what waits.
    fn settle_start(&mut self, now: Time, id: PortId) {
        if matches!(self.ports[id.index()].start.node(), Node::Switch(_)) {
            self.settle(now, id);
            self.arm(id, || false);
        }
    }

    fn note(&mut self, record: PacketRecord) {
        if let Some(tape) = &mut self.tape {
            tape.note(record);
        }
    }
}
