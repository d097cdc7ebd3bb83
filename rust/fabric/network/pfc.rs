//! Priority flow control (PFC) in the network: counting packets in and out of queues, and the
//! frames.
//!
//! Without PFC a port decides late, and a packet costs one event a hop. With it the counts must be
//! right at every moment, because they decide when a link is paused. So each start from a queue is
//! an event of its own, which comes before everything but failures at its time: a packet that
//! waits costs two events a hop, one that passes through still one.
//!
//! A frame goes before everything that waits, as soon as the packet on the wire is out. While one
//! waits, a newer one replaces it: only the last order counts.

use super::pool::{Aside, SlotId};
use super::{Arrival, Event, Network};
use crate::fabric::outcome::PauseRecord;
use crate::ids::{PortId, SwitchId};
use crate::packet::{Flags, Packet, PacketKind, PauseFrame, PauseOrder};
use crate::switching::PFC_FRAME_BYTES;
use crate::topology::Node;
use crate::units::Time;

/// A PFC frame that a switch has to send.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    /// The port that the frame is for: it goes back over that port's link.
    pub(in crate::fabric) to: PortId,
    pub(in crate::fabric) order: PauseOrder,
}

impl Network {
    /// Remembers the port that a packet came by, until it is counted there or passes through.
    #[inline]
    pub(super) fn note_ingress(&mut self, id: PortId, slot: SlotId) {
        self.pool.get_mut(slot).aside = Aside::from_ingress(Some(id));
    }

    /// Counts a packet that is about to join a queue of `switch`; the frame that has to be sent
    /// for it, if any. Packets with priority are not counted against the link that they came by.
    #[inline]
    pub(super) fn account_enqueue(&mut self, switch: SwitchId, slot: SlotId) -> Option<Frame> {
        let slot = self.pool.get_mut(slot);
        let bytes = u64::from(slot.packet.wire_bytes);
        if !self.switching.has_pfc() {
            self.switching.account_enqueue(switch, bytes, None);
            return None;
        }
        if slot.packet.flags.has(Flags::PRIORITY) {
            // The start of this packet then finds no ingress either: what was not added is not
            // removed.
            slot.aside = Aside::default();
        }
        let ingress = slot.aside.ingress();
        let order = self.switching.account_enqueue(switch, bytes, ingress)?;
        ingress.map(|to| Frame { to, order })
    }

    /// Counts a packet that starts from the queue of a switch port; the frame that has to be sent
    /// for it, if any.
    #[inline]
    pub(super) fn account_start(&mut self, id: PortId, slot: SlotId) -> Option<Frame> {
        let Node::Switch(switch) = self.ports[id.index()].start.node() else { return None };
        let slot = self.pool.get(slot);
        let bytes = u64::from(slot.packet.wire_bytes);
        if !self.switching.has_pfc() {
            self.switching.account_dequeue(switch, bytes, None);
            return None;
        }
        let ingress = slot.aside.ingress();
        self.counters.pauses += u64::from(slot.packet.kind == PacketKind::Pause);
        let order = self.switching.account_dequeue(switch, bytes, ingress)?;
        ingress.map(|to| Frame { to, order })
    }

    /// Sends a frame back over a link, as soon as its wire is free.
    pub(super) fn send_frame(&mut self, now: Time, frame: Frame) {
        let id = frame.to.reverse();
        let port = &mut self.ports[id.index()];
        let (order, waiting) = (frame.order, u64::from(port.data_waiting()));
        let packet = Packet {
            wire_bytes: PFC_FRAME_BYTES,
            flags: Flags::PRIORITY,
            ..Packet::pause_frame(PauseFrame { order, waiting })
        };
        if let Some(first) = port.first_with_priority()
            && self.pool.get(first).packet.is_pause_frame()
        {
            self.pool.get_mut(first).packet = packet;
            return;
        }
        let slot = self.pool.insert(packet);
        // A pause does not hold frames: a wire that is free takes one at once.
        if port.free <= now {
            self.counters.pauses += u64::from(order == PauseOrder::Pause);
            port.transmit(&mut self.pool, slot, now);
            self.trace_passage(now, id, slot);
            self.arm(id, || false);
            return;
        }
        port.enqueue_first(&mut self.pool, slot);
        self.trace_enqueue(now, id, slot);
        if let Node::Switch(switch) = self.ports[id.index()].start.node() {
            // A frame takes memory while it waits, and `account_start` gives it back.
            self.switching.account_enqueue(switch, PFC_FRAME_BYTES.into(), None);
        }
        self.start_waiting(now, id);
    }

    /// The wire of a port is free for what waits.
    pub(in crate::fabric) fn handle_start(&mut self, now: Time, id: PortId) {
        self.ports[id.index()].start_armed = false;
        self.start_waiting(now, id);
    }

    /// Starts what may go now, and schedules the next start.
    pub(super) fn start_waiting(&mut self, now: Time, id: PortId) {
        let port = &mut self.ports[id.index()];
        if !port.has_waiting() {
            return;
        }
        // A wire that was paused, or had nothing to send, is free from now on, not from back then.
        port.free = port.free.max(now);
        self.settle_switch_port(now, id);
        let port = &mut self.ports[id.index()];
        // One start event is pending at a time, for when the wire is free; no packet can go before.
        if port.has_waiting() && !port.start_armed {
            port.start_armed = true;
            self.queue.push(port.free, Event::Start(id));
        }
    }

    /// Takes a PFC frame off the network; `None` if the packet is not a frame.
    pub(super) fn take_frame(&mut self, slot: SlotId) -> Option<PauseOrder> {
        let PauseFrame { order, .. } = self.pool.get(slot).packet.as_pause_frame()?;
        self.pool.remove(slot);
        Some(order)
    }

    /// A frame has come to the port that it is for. What a host sends is up to its NIC: there the
    /// frame takes effect when the world says so.
    pub(super) fn handle_frame(&mut self, now: Time, id: PortId, order: PauseOrder) -> Arrival {
        match self.ports[id.index()].start.node() {
            Node::Host(host) => Arrival::Pfc(host, order),
            Node::Switch(_) => {
                self.obey(now, id, order);
                Arrival::Nothing
            }
        }
    }

    /// A frame takes effect at the port that it is for.
    pub(in crate::fabric) fn obey(&mut self, now: Time, id: PortId, order: PauseOrder) {
        self.pauses.push(PauseRecord { at: now, port: id, order });
        // The packet on the wire is not cut short: a pause holds back those that have not started.
        self.ports[id.index()].paused = order == PauseOrder::Pause;
        self.start_waiting(now, id);
    }
}
