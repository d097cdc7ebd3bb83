//! Flow control in the network: counting packets in and out of queues, and the frames.
//!
//! Without it a port decides late, and a packet costs one event a hop. With it the counts must be
//! right at every moment, because they decide when a link is told to stop. So each start from a
//! queue is an event of its own, which comes before everything but failures at its time: a packet
//! that waits costs two events a hop, one that passes through still one.
//!
//! A frame goes before everything that waits, in its turn on the wire. While one waits, a newer
//! one takes its place: what counts is the last word.

use super::event::Event;
use super::network::Network;
use super::outcome::{PauseOrder, PauseRecord};
use super::pfc::FRAME_BYTES;
use super::pool::{Aside, Place};
use super::port::Noted;
use crate::ids::PortId;
use crate::packet::{Flags, Packet, PacketKind, PauseFrame};
use crate::topology::Node;
use crate::units::Time;

impl Network {
    /// Notes by which port a packet came into a switch, until it is counted or passes through.
    pub fn note_ingress(&mut self, id: PortId, place: Place) {
        self.pool.get_mut(place).aside = Aside::counted_at(id);
    }

    /// A packet has joined the queue of port `id`: it counts from now on, where it has no priority.
    pub(super) fn stay(&mut self, now: Time, id: PortId, place: Place) {
        let slot = self.pool.get_mut(place);
        let bytes = u64::from(slot.packet.wire_bytes);
        if slot.packet.flags.has(Flags::PRIORITY) {
            slot.aside = Aside::NONE;
        }
        let counted = slot.aside.ingress();
        if let (Some(link), Some(pfc)) = (counted, &mut self.pfc)
            && let Some(order) = pfc.add(link, bytes)
        {
            self.tell(now, link, order);
        }
        self.start_waiting(now, id);
    }

    /// A packet starts from a queue; what the link that it came by is to be told, if anything.
    pub(super) fn leave(&mut self, place: Place) -> Option<(PortId, PauseOrder)> {
        let slot = self.pool.get(place);
        self.counters.pauses += u64::from(slot.packet.kind == PacketKind::Pause);
        let link = slot.aside.ingress()?;
        let order = self.pfc.as_mut()?.remove(link, u64::from(slot.packet.wire_bytes))?;
        Some((link, order))
    }

    /// Sends a frame back over a link, as soon as its wire is free.
    pub(super) fn tell(&mut self, now: Time, link: PortId, order: PauseOrder) {
        let id = link.reverse();
        let port = &mut self.ports[id.index()];
        let frame = PauseFrame { order, waiting: port.data_waiting().into() };
        let frame = Packet {
            wire_bytes: FRAME_BYTES,
            flags: Flags::PRIORITY,
            ..Packet::pause_frame(frame)
        };
        if let Some(first) = port.first_with_priority()
            && self.pool.get(first).packet.is_pause_frame()
        {
            self.pool.get_mut(first).packet = frame;
            return;
        }
        let place = self.pool.insert(frame);
        if port.free <= now {
            self.counters.pauses += u64::from(order == PauseOrder::Pause);
            port.transmit(&mut self.pool, place, now);
            if port.noted.at(Noted::START) {
                self.note_passage(now, id, place);
            }
            self.arm(id, || false);
            return;
        }
        port.wait_first(&mut self.pool, place);
        if port.noted.at(Noted::START) {
            self.note_wait(now, id, place);
        }
        let port = &self.ports[id.index()];
        if let Node::Switch(switch) = port.start.node() {
            self.switches[switch.index()].buffered += u64::from(FRAME_BYTES);
        }
        self.start_waiting(now, id);
    }

    /// The wire of a port is free.
    pub fn handle_start(&mut self, now: Time, id: PortId) {
        self.ports[id.index()].start_armed = false;
        self.start_waiting(now, id);
    }

    /// Starts what may go now, and sees to it that an event comes when the next may.
    fn start_waiting(&mut self, now: Time, id: PortId) {
        let port = &mut self.ports[id.index()];
        if !port.has_waiting() {
            return;
        }
        // A wire that was held, or had nothing to do, is free from now on, not from back then.
        port.free = port.free.max(now);
        self.settle(now, id);
        self.arm(id, || false);
        let port = &mut self.ports[id.index()];
        if port.has_waiting() && !port.start_armed {
            port.start_armed = true;
            self.queue.push(port.free, Event::Start(id));
        }
    }

    /// Takes a frame off the network; which port it is for, and what it says.
    pub fn take_frame(&mut self, came_by: PortId, place: Place) -> Option<(PortId, PauseOrder)> {
        let PauseFrame { order, .. } = self.pool.get(place).packet.as_pause_frame()?;
        self.pool.remove(place);
        Some((came_by.reverse(), order))
    }

    /// A frame takes effect at the port that it is for. What a host sends is up to its NIC.
    pub fn obey(&mut self, now: Time, id: PortId, order: PauseOrder) {
        if let Some(pfc) = &mut self.pfc {
            pfc.records.push(PauseRecord { at: now, port: id, order });
        }
        self.ports[id.index()].paused = order == PauseOrder::Pause;
        self.start_waiting(now, id);
    }
}
