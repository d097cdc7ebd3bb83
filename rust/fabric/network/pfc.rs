//! Priority flow control (PFC) in the network: counting packets in and out of queues, and the
//! frames.
//!
//! Without PFC ports are settled lazily, and a packet costs one event per hop. With PFC the counts
//! of queued bytes must be exact at all times, because they decide when a link is paused. Each
//! start from a queue is therefore an event of its own, which precedes all events except failures
//! at its time: a queued packet costs two events per hop, a packet that starts at once still one.
//!
//! A frame precedes all queued packets and follows the packet on the wire. A newer frame replaces
//! one that still waits.

use super::pool::{Aside, SlotId};
use super::port::Queued;
use super::{Arrival, Event, Network};
use crate::fabric::outcome::PauseRecord;
use crate::ids::PortId;
use crate::packet::{Flags, Packet, PauseFrame, PauseOrder};
use crate::switching::PFC_FRAME_BYTES;
use crate::topology::Node;
use crate::units::Time;

/// A PFC frame to be sent by a switch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    /// The port that the frame pauses or resumes: the frame crosses that port's link in reverse.
    pub(in crate::fabric) to: PortId,
    pub(in crate::fabric) order: PauseOrder,
}

impl Network {
    /// Stores the ingress port of a packet, until it is counted there or starts at once.
    #[inline]
    pub(super) fn note_ingress(&mut self, id: PortId, slot: SlotId) {
        self.pool.get_mut(slot).aside = Aside::from_ingress(Some(id));
    }

    /// Sends a frame over the reverse direction of a link, as soon as its wire is free.
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
            let mut output = self.output(id);
            output.transmit(now, Queued { slot, bytes: PFC_FRAME_BYTES });
            output.trace_passage(now, slot);
            return;
        }
        let mut output = self.output(id);
        output.trace_enqueue(now, slot);
        output.port.enqueue_first(slot, PFC_FRAME_BYTES);
        if let Node::Switch(switch) = self.ports[id.index()].start.node() {
            // A frame takes memory while it waits, and `account_start` gives it back.
            self.switching.account_enqueue(switch, PFC_FRAME_BYTES.into(), None);
        }
        self.start_waiting(now, id);
    }

    /// Handles a wire that is free for queued packets.
    pub(in crate::fabric) fn handle_start(&mut self, now: Time, id: PortId) {
        self.ports[id.index()].start_armed = false;
        self.start_waiting(now, id);
    }

    /// Starts the packets that may be sent now, and schedules the next start.
    pub(super) fn start_waiting(&mut self, now: Time, id: PortId) {
        let port = &mut self.ports[id.index()];
        if !port.has_waiting() {
            return;
        }
        // A wire that was paused or idle is free from now on, not from an earlier time.
        port.free = port.free.max(now);
        self.settle_switch_port(now, id);
        let port = &mut self.ports[id.index()];
        // One start event is pending at a time, for when the wire is free; no packet can go before.
        if port.has_waiting() && !port.start_armed {
            port.start_armed = true;
            self.queue.push(port.free, Event::Start(id));
        }
    }

    /// Removes a PFC frame from the network; `None` if the packet is not a frame.
    pub(super) fn take_frame(&mut self, slot: SlotId) -> Option<PauseOrder> {
        let PauseFrame { order, .. } = self.pool.get(slot).packet.as_pause_frame()?;
        self.pool.remove(slot);
        Some(order)
    }

    /// Handles a frame that has arrived at its port. At a host, the frame takes effect when the
    /// world applies it, because the NIC decides what is sent.
    pub(super) fn handle_frame(&mut self, now: Time, id: PortId, order: PauseOrder) -> Arrival {
        match self.ports[id.index()].start.node() {
            Node::Host(host) => Arrival::Pfc(host, order),
            Node::Switch(_) => {
                self.obey(now, id, order);
                Arrival::Nothing
            }
        }
    }

    /// Applies a frame to its port.
    pub(in crate::fabric) fn obey(&mut self, now: Time, id: PortId, order: PauseOrder) {
        self.pauses.push(PauseRecord { at: now, port: id, order });
        // The packet on the wire is not cut short: a pause holds back those that have not started.
        self.ports[id.index()].paused = order == PauseOrder::Pause;
        self.start_waiting(now, id);
    }
}
