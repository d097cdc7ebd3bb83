//! A port together with what its packets need: the pool, the event queue, the switch, the counters.
//!
//! Each hop touches two ports, the one behind the packet and the one before it. Either is looked up
//! once ([`Network::output`]), and everything that happens there happens on this view.

use super::Network;
use super::pfc::Frame;
use super::pool::{Aside, Pool, Slot, SlotId};
use super::port::{Port, Queued, Special, Traced};
use crate::fabric::counters::NetworkCounters;
use crate::fabric::event::Event;
use crate::fabric::event_queue::EventQueue;
use crate::fabric::trace_buffer::{PacketEvent, PacketRecord, TraceBuffer};
use crate::ids::{PortId, SwitchId};
use crate::packet::{Flags, PacketKind};
use crate::switching::{Admission, EcnPoint, EnqueueRequest, Switching};
use crate::topology::Node;
use crate::units::Time;

/// A port of the network, with the rest of the network without ports.
#[derive(Debug)]
pub(super) struct Output<'a> {
    pub(super) id: PortId,
    pub(super) port: &'a mut Port,
    pub(super) pool: &'a mut Pool,
    pub(super) queue: &'a mut EventQueue,
    pub(super) switching: &'a mut Switching,
    pub(super) counters: &'a mut NetworkCounters,
    trace: Option<&'a mut TraceBuffer>,
}

impl Network {
    /// The port of that id.
    #[inline(always)]
    pub(super) fn output(&mut self, id: PortId) -> Output<'_> {
        Output {
            id,
            port: &mut self.ports[id.index()],
            pool: &mut self.pool,
            queue: &mut self.queue,
            switching: &mut self.switching,
            counters: &mut self.counters,
            trace: self.trace.as_deref_mut(),
        }
    }
}

impl Output<'_> {
    /// Starts queued packets whose start is at or before `now`, up to the first that lets a link be
    /// resumed: the frame to be sent, and the time. The caller arms the port.
    #[inline(always)]
    pub(super) fn start_due(&mut self, now: Time) -> Option<(Time, Frame)> {
        // Each start moves `free` on: a port that was not looked at for a while makes up for
        // several.
        while self.port.is_due(now) {
            let queued = self.port.dequeue()?;
            // The start is when the wire was free, not when somebody looked: that is what makes
            // late settling exact.
            let start = self.port.free;
            // Before `transmit`, which puts the rate in the place of the ingress on links that
            // fail.
            let frame = self.account_start(queued);
            self.transmit(start, queued);
            self.mark(EcnPoint::Dequeue, queued.slot);
            self.trace_start(start, queued.slot);
            if let Some(frame) = frame {
                return Some((start, frame));
            }
        }
        None
    }

    /// Starts a packet that a switch has forwarded to this port, settled at `now`, if nothing
    /// precedes it there.
    #[inline(always)]
    pub(super) fn start_now(&mut self, now: Time, slot: SlotId) -> bool {
        let packet = &self.pool.get(slot).packet;
        let queued = Queued { slot, bytes: packet.wire_bytes };
        if !packet.is_control() {
            self.counters.waiting_found += u64::from(self.port.data_waiting());
            self.counters.arrivals += 1;
        }
        if !self.port.is_clear(now, packet.flags) {
            return false;
        }
        self.mark(EcnPoint::Enqueue, slot);
        self.transmit(now, queued);
        self.mark(EcnPoint::Dequeue, slot);
        self.trace_passage(now, slot);
        true
    }

    /// Enqueues a packet that cannot start at once, if nothing but the room in the buffer has a say
    /// and there is room.
    #[inline(always)]
    pub(super) fn enqueue_plainly(&mut self, now: Time, switch: SwitchId, slot: SlotId) -> bool {
        let packet = &self.pool.get(slot).packet;
        if !self.switching.adds_plainly(switch, self.port.waiting(), packet) {
            return false;
        }
        self.mark(EcnPoint::Enqueue, slot);
        self.trace_enqueue(now, slot);
        self.port.enqueue(slot, &self.pool.get(slot).packet);
        self.arm(|| false);
        true
    }

    /// Enqueues a packet; returns the PFC frame to be sent for it, if any.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, now: Time, switch: SwitchId, slot: SlotId) -> Option<Frame> {
        self.mark(EcnPoint::Enqueue, slot);
        let frame = self.account_enqueue(switch, slot);
        self.trace_enqueue(now, slot);
        self.port.enqueue(slot, &self.pool.get(slot).packet);
        frame
    }

    /// Whether a packet that cannot start at once may be enqueued; the packet may be trimmed.
    #[inline(always)]
    pub(super) fn admit(&mut self, switch: SwitchId, slot: SlotId) -> bool {
        let slot = self.pool.get_mut(slot);
        let ingress = slot.aside.ingress();
        let request =
            EnqueueRequest { switch, port: self.id, ingress, waiting: self.port.waiting() };
        let admission = self.switching.admit(&request, &mut slot.packet);
        self.counters.trimmed += u64::from(admission == Admission::Trimmed);
        admission != Admission::Dropped
    }

    /// Puts a packet on the wire at `start`, and schedules its arrival.
    #[inline(always)]
    pub(super) fn transmit(&mut self, start: Time, Queued { slot, bytes }: Queued) {
        let arrives = self.port.transmit(bytes, start);
        if self.port.special.has_none() {
            return self.queue.push_arrival(arrives, self.id, slot);
        }
        self.transmit_specially(arrives, slot);
    }

    /// The same on a link that fails, or that ends in another part of a divided run.
    #[inline(never)]
    fn transmit_specially(&mut self, arrives: Time, slot: SlotId) {
        if self.port.special.has(Special::FAULTY) {
            // The ingress was counted off before the start, so that its place is free for the rate.
            self.pool.get_mut(slot).aside = Aside::from_rate_index(self.port.rate_index());
        }
        match self.port.special.has(Special::BORDER) {
            true => self.queue.push_crossing(arrives, self.id, slot),
            false => self.queue.push_arrival(arrives, self.id, slot),
        }
    }

    /// Marks a packet if ECN marks at this point and the queue is long enough.
    #[inline(always)]
    fn mark(&mut self, point: EcnPoint, slot: SlotId) {
        // One of the two points at most is in use: the other costs this comparison alone.
        let waiting = self.port.data_waiting();
        if self.switching.may_mark(point, waiting) {
            self.switching.mark(point, self.id, waiting, &mut self.pool.get_mut(slot).packet);
        }
    }

    /// Schedules the event of a free wire for a port that has a packet to start (`more` for one of
    /// a NIC), unless an arrival precedes it.
    #[inline(always)]
    pub(super) fn arm(&mut self, more: impl FnOnce() -> bool) {
        // The next arrival does not come too late: what waits starts when the packets on the wire
        // have started, and arrives after them.
        if self.port.has_on_wire() || self.port.armed || !(self.port.has_waiting() || more()) {
            return;
        }
        self.port.armed = true;
        self.queue.push(self.port.free, Event::Free(self.id));
    }
}

/// Accounts of packet memory and PFC.
impl Output<'_> {
    /// Counts a packet that is about to be enqueued at `switch`; returns the frame to be sent for
    /// it, if any. Packets with priority are not counted against their ingress link.
    #[inline(always)]
    fn account_enqueue(&mut self, switch: SwitchId, slot: SlotId) -> Option<Frame> {
        let bytes = u64::from(self.pool.get(slot).packet.wire_bytes);
        if !self.switching.has_pfc() {
            self.switching.account_enqueue(switch, bytes, None);
            return None;
        }
        count_ingress(self.switching, self.pool, switch, slot)
    }

    /// Counts a packet that starts from the queue of a switch port; returns the frame to be sent
    /// for it, if any.
    #[inline(always)]
    fn account_start(&mut self, queued: Queued) -> Option<Frame> {
        let Node::Switch(switch) = self.port.start.node() else { return None };
        let bytes = u64::from(queued.bytes);
        if !self.switching.has_pfc() {
            self.switching.account_dequeue(switch, bytes, None);
            return None;
        }
        let slot = self.pool.get(queued.slot);
        self.counters.pauses += u64::from(slot.packet.kind == PacketKind::Pause);
        count_off_ingress(self.switching, slot, switch, queued.bytes)
    }
}

/// Counts a packet that is about to be enqueued against its ingress link.
#[inline(never)]
fn count_ingress(
    switching: &mut Switching,
    pool: &mut Pool,
    switch: SwitchId,
    slot: SlotId,
) -> Option<Frame> {
    let slot = pool.get_mut(slot);
    if slot.packet.flags.has(Flags::PRIORITY) {
        // The start of this packet then finds no ingress either: what was not added is not removed.
        slot.aside = Aside::default();
    }
    let ingress = slot.aside.ingress();
    let order = switching.account_enqueue(switch, slot.packet.wire_bytes.into(), ingress)?;
    ingress.map(|to| Frame { to, order })
}

/// Counts a packet that starts from its queue off its ingress link.
#[inline(never)]
fn count_off_ingress(
    switching: &mut Switching,
    slot: &Slot,
    switch: SwitchId,
    bytes: u16,
) -> Option<Frame> {
    let ingress = slot.aside.ingress();
    let order = switching.account_dequeue(switch, bytes.into(), ingress)?;
    ingress.map(|to| Frame { to, order })
}

/// Records of packets, where the port is traced.
impl Output<'_> {
    /// Records a packet that starts on the wire from its queue.
    #[inline(always)]
    pub(super) fn trace_start(&mut self, at: Time, slot: SlotId) {
        if self.port.traced.at(Traced::START) {
            self.record(at, slot, PacketEvent::Dequeued);
        }
    }

    /// Records a packet that is about to join its queue.
    #[inline(always)]
    pub(super) fn trace_enqueue(&mut self, at: Time, slot: SlotId) {
        if self.port.traced.at(Traced::START) {
            self.record(at, slot, PacketEvent::Enqueued);
        }
    }

    /// Records a packet that starts without being queued.
    #[inline(always)]
    pub(super) fn trace_passage(&mut self, at: Time, slot: SlotId) {
        if self.port.traced.at(Traced::START) {
            self.record(at, slot, PacketEvent::Enqueued);
            self.record(at, slot, PacketEvent::Dequeued);
        }
    }

    /// Records what happens to a packet, with the length of the queue that it joins here.
    #[inline(always)]
    pub(super) fn record(&mut self, at: Time, slot: SlotId, event: PacketEvent) {
        record(self.trace.as_deref_mut(), self.port, self.pool, (at, self.id, slot, event));
    }
}

/// Records what happens to a packet at a port: the time, the port, the packet's slot, and what.
#[cold]
fn record(
    trace: Option<&mut TraceBuffer>,
    port: &Port,
    pool: &Pool,
    (at, id, slot, event): (Time, PortId, SlotId, PacketEvent),
) {
    let packet = pool.get(slot).packet;
    let waiting = match event {
        PacketEvent::Received => port.bytes_waiting(Flags::PRIORITY),
        _ => port.bytes_waiting(packet.flags),
    };
    if let Some(trace) = trace {
        trace.record(PacketRecord { at, port: id, event, waiting, packet });
    }
}
