//! A port together with what its packets need: the pool, the event queue, the switch, the counters.
//!
//! Each hop touches two ports, the one behind the packet and the one before it. Either is looked up
//! once ([`Network::output`]), and everything that happens there happens on this view.

use super::Network;
use super::class_table::Classes;
use super::pfc::Frame;
use super::pool::{Aside, Pool, SlotId};
use super::port::{Port, Queued, Special};
use super::telemetry::Table;
use crate::fabric::counters::NetworkCounters;
use crate::fabric::event::Event;
use crate::fabric::event_queue::EventQueue;
use crate::fabric::trace_buffer::{PacketEvent, PacketRecord, TraceBuffer};
use crate::ids::{LinkClass, PortId, SwitchId};
use crate::packet::{Flags, PacketKind};
use crate::prefetch::prefetch;
use crate::switching::{Admission, Credit, EcnPoint, EnqueueRequest, Switching, Waiting};
use crate::topology::Node;
use crate::units::Time;

/// What all ports have in common, so that a port can be changed together with it.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) pool: Pool,
    pub(super) queue: EventQueue,
    pub(super) switching: Switching,
    pub(super) counters: NetworkCounters,
    /// The telemetry of packets, in runs that have some.
    pub(super) telemetry: Option<Box<Table>>,
    /// The queues of traffic classes, in runs that have some.
    pub(super) classes: Option<Box<Classes>>,
    /// The records of packets at traced ports.
    pub(super) trace: Option<Box<TraceBuffer>>,
}

/// A port of the network, with what it shares with the others.
#[derive(Debug)]
pub(super) struct Output<'a> {
    pub(super) id: PortId,
    pub(super) port: &'a mut Port,
    pub(super) shared: &'a mut Shared,
}

impl Network {
    /// The port of that id.
    #[inline(always)]
    pub(super) fn output(&mut self, id: PortId) -> Output<'_> {
        Output { id, port: &mut self.ports[id.index()], shared: &mut self.shared }
    }
}

impl Output<'_> {
    /// Starts queued packets whose start is at or before `now`, at a port of a switch without flow
    /// control. The caller arms the port.
    #[inline(always)]
    pub(super) fn start_due_fast(&mut self, now: Time) {
        let Node::Switch(switch) = self.port.start.node() else { return };
        while self.port.free <= now {
            let Some(queued) = self.port.dequeue() else { return };
            // The start is when the wire was free, not when somebody looked: that is what makes
            // late settling exact.
            let start = self.port.free;
            self.shared.switching.account_dequeue(switch, queued.bytes().into(), None);
            self.start(start, queued);
        }
    }

    /// The same with flow control, up to the first start that lets a link be resumed: the frame to
    /// be sent, and the time.
    #[inline(always)]
    pub(super) fn start_due(&mut self, now: Time) -> Option<(Time, Frame)> {
        if self.port.special.has(Special::CLASSES) {
            return self.start_due_by_class(now);
        }
        // Each start moves `free` on: a port that was not looked at for a while makes up for
        // several.
        while self.port.is_due(now) {
            let queued = self.port.dequeue()?;
            let start = self.port.free;
            // Before `transmit`, which puts the rate in the place of the ingress on links that
            // fail.
            let frame = self.account_start(queued);
            self.start(start, queued);
            if let Some(frame) = frame {
                return Some((start, frame));
            }
        }
        None
    }

    /// Puts a packet from a queue on the wire.
    #[inline(always)]
    fn start(&mut self, start: Time, queued: Queued) {
        self.transmit(start, queued);
        self.mark(EcnPoint::Dequeue, queued.slot());
        self.trace_start(start, queued.slot());
    }

    /// Starts a packet that a switch has forwarded to this port, settled at `now`, if nothing
    /// precedes it there.
    #[inline(always)]
    pub(super) fn start_now(&mut self, now: Time, queued: Queued) -> bool {
        let slot = queued.slot();
        // Without a branch, since data and acknowledgements come in turn.
        let data = u64::from(queued.is_data());
        self.shared.counters.waiting_found += data * u64::from(self.port.data_waiting());
        self.shared.counters.arrivals += data;
        if !self.port.is_clear(now, queued.flags()) {
            return false;
        }
        // Nothing waits at a port that is clear but what a pause holds.
        if self.port.data_waiting() > 0 {
            self.mark_passing(slot);
        }
        self.transmit(now, queued);
        self.trace_passage(now, slot);
        true
    }

    /// Marks a packet that passes others, which a pause holds.
    #[cold]
    fn mark_passing(&mut self, slot: SlotId) {
        self.mark(EcnPoint::Enqueue, slot);
        self.mark(EcnPoint::Dequeue, slot);
    }

    /// Enqueues a packet that cannot start at once, if nothing but the room in the buffer has a say
    /// and there is room.
    #[inline(always)]
    pub(super) fn enqueue_fast(&mut self, now: Time, switch: SwitchId, slot: SlotId) -> bool {
        // Read anew: most packets start at once, and what waits is not made up for them.
        let queued = Queued::of(slot, &self.shared.pool.get(slot).packet);
        let (bytes, flags) = (queued.bytes(), queued.flags());
        let before = self.port.bytes_waiting(flags);
        if !self.shared.switching.adds_plainly(switch, before, bytes) {
            return false;
        }
        self.mark(EcnPoint::Enqueue, slot);
        self.trace_enqueue(now, slot);
        self.port.enqueue(queued);
        self.arm(|| false);
        true
    }

    /// Enqueues a packet; returns the PFC frame to be sent for it, if any.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, now: Time, switch: SwitchId, slot: SlotId) -> Option<Frame> {
        self.mark(EcnPoint::Enqueue, slot);
        let frame = self.account_enqueue(switch, slot);
        self.trace_enqueue(now, slot);
        self.port.enqueue(Queued::of(slot, &self.shared.pool.get(slot).packet));
        frame
    }

    /// Whether a packet that cannot start at once may be enqueued; the packet may be trimmed, or
    /// the last one of the queue in its place.
    #[inline(always)]
    pub(super) fn admit(&mut self, now: Time, switch: SwitchId, slot: SlotId) -> bool {
        self.admit_to(now, switch, slot, self.port.waiting())
    }

    /// The same, to a queue of which `waiting` is what admission looks at.
    #[inline(always)]
    pub(super) fn admit_to(
        &mut self,
        now: Time,
        switch: SwitchId,
        slot: SlotId,
        waiting: Waiting,
    ) -> bool {
        if self.shared.switching.may_displace() && self.displace(now, switch, slot) {
            return true;
        }
        let slot = self.shared.pool.get_mut(slot);
        let ingress = slot.aside.ingress();
        let request = EnqueueRequest { switch, port: self.id, ingress, waiting };
        let admission = self.shared.switching.admit(&request, &mut slot.packet);
        self.shared.counters.trimmed += u64::from(admission == Admission::Trimmed);
        admission != Admission::Dropped
    }

    /// Trims the last packet of the queue if the one that finds no room is to take its place.
    #[cold]
    fn displace(&mut self, now: Time, switch: SwitchId, slot: SlotId) -> bool {
        let Some(last) = self.port.last_data() else { return false };
        let (waiting, ingress) = (self.port.waiting(), None);
        let request = EnqueueRequest { switch, port: self.id, ingress, waiting };
        let arriving = self.shared.pool.get(slot).packet;
        if !self.shared.switching.displaces(&request, &arriving, last.bytes()) {
            return false;
        }
        let victim = &mut self.shared.pool.get_mut(last.slot()).packet;
        // Without room for its header the arriving packet is dropped, as where it is the victim.
        if !self.shared.switching.trim_displaced(&request, victim) {
            return false;
        }
        let header = Queued::of(last.slot(), victim);
        self.port.remove_last_data();
        self.shared.counters.trimmed += 1;
        self.shared.switching.account_dequeue(switch, last.bytes().into(), None);
        self.shared.switching.account_enqueue(switch, header.bytes().into(), None);
        self.trace_enqueue(now, header.slot());
        self.port.enqueue(header);
        true
    }

    /// Puts a packet on the wire at `start`, and schedules its arrival.
    #[inline(always)]
    pub(super) fn transmit(&mut self, start: Time, queued: Queued) {
        let arrives = self.port.transmit(queued.bytes(), start);
        if self.port.special.has(Special::AT_START) {
            return self.transmit_slow(start, arrives, queued);
        }
        self.shared.queue.push_arrival(arrives, self.id, queued.slot());
    }

    /// The same on a link that fails, that ends in another partition of a parallel run or that
    /// needs credit, or before which telemetry is written.
    #[cold]
    fn transmit_slow(&mut self, start: Time, arrives: Time, queued: Queued) {
        let slot = queued.slot();
        if self.port.special.has(Special::TELEMETRY) {
            self.write_telemetry(start, queued);
        }
        let mut arrives = arrives;
        if self.port.special.has(Special::CREDIT) {
            self.take_credit(queued);
        }
        if self.port.special.has(Special::FAULTY) {
            arrives = self.retry(start, arrives, slot);
            // The ingress was counted off before the start, so that its place is free for the rate.
            self.shared.pool.get_mut(slot).aside = Aside::from_rate_index(self.port.rate_index());
        }
        match self.port.special.has(Special::BOUNDARY) {
            true => self.shared.queue.push_handoff(arrives, self.id, slot),
            false => self.shared.queue.push_arrival(arrives, self.id, slot),
        }
    }

    /// Takes the credit of a packet that starts; without any left for the next one the port waits.
    fn take_credit(&mut self, queued: Queued) {
        if queued.flags().has(Flags::PRIORITY) {
            return;
        }
        if let Some(mut credits) = self.shared.switching.credits() {
            self.port.pause(credits.consume(self.id, queued.bytes()) == Credit::Exhausted);
        }
    }

    /// Sends a frame again that is corrupted on its way, with link-level retry: when it arrives.
    fn retry(&mut self, start: Time, arrives: Time, slot: SlotId) -> Time {
        if self.shared.pool.get(slot).packet.is_link_frame() {
            return arrives;
        }
        let busy = self.port.free.since(start);
        let later = self.shared.switching.retry_delay(self.id, start, busy);
        self.port.free += later;
        arrives + later
    }

    /// Marks a packet if ECN marks at this point and the queue is long enough.
    #[inline(always)]
    fn mark(&mut self, point: EcnPoint, slot: SlotId) {
        // One of the two points at most is in use: the other costs this comparison alone.
        let waiting = self.port.data_waiting();
        if self.shared.switching.may_mark(point, waiting) {
            self.shared.switching.mark(
                point,
                self.id,
                waiting,
                &mut self.shared.pool.get_mut(slot).packet,
            );
        }
    }

    /// Schedules the start of the next queued packet, with flow control. One start is pending at a
    /// time, for when the wire is free; no packet can go before.
    #[inline(always)]
    pub(super) fn arm_start(&mut self) {
        if self.port.has_waiting() && !self.port.start_armed {
            self.port.start_armed = true;
            self.shared.queue.push_start(self.port.free, self.id);
            // The packet was enqueued a while ago; where it has come from is read when it starts.
            if let Some(next) = self.port.first_waiting() {
                prefetch(self.shared.pool.get(next.slot()));
            }
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
        self.shared.queue.push(self.port.free, Event::Free(self.id));
    }
}

/// Accounts of packet memory and PFC.
impl Output<'_> {
    /// Counts a packet that is about to be enqueued at `switch`; returns the frame to be sent for
    /// it, if any. Packets with priority are not counted against their ingress link.
    #[inline(always)]
    pub(super) fn account_enqueue(&mut self, switch: SwitchId, slot: SlotId) -> Option<Frame> {
        let bytes = u64::from(self.shared.pool.get(slot).packet.wire_bytes);
        if !self.shared.switching.has_flow_control() {
            self.shared.switching.account_enqueue(switch, bytes, None);
            return None;
        }
        count_ingress(self.shared, switch, slot)
    }

    /// Counts a packet that starts from the queue of a switch port, with flow control, off its
    /// ingress link; returns the frame to be sent for it, if any.
    #[inline(always)]
    pub(super) fn account_start(&mut self, queued: Queued) -> Option<Frame> {
        let Node::Switch(switch) = self.port.start.node() else { return None };
        let slot = self.shared.pool.get(queued.slot());
        // A frame that waits may have become another one since it was enqueued.
        self.shared.counters.pauses += u64::from(slot.packet.kind == PacketKind::Pause);
        let class = slot.packet.class();
        let ingress = slot.aside.ingress().map(|link| LinkClass { link, class });
        let bytes = u64::from(queued.bytes());
        let order = self.shared.switching.account_dequeue(switch, bytes, ingress)?;
        ingress.map(|to| Frame { to, order })
    }
}

/// Counts a packet that is about to be enqueued against its ingress link.
#[inline(always)]
fn count_ingress(shared: &mut Shared, switch: SwitchId, slot: SlotId) -> Option<Frame> {
    let slot = shared.pool.get_mut(slot);
    if slot.packet.flags.has(Flags::PRIORITY) {
        // The start of this packet then finds no ingress either: what was not added is not removed.
        slot.aside = Aside::default();
    }
    let class = slot.packet.class();
    let ingress = slot.aside.ingress().map(|link| LinkClass { link, class });
    let bytes = slot.packet.wire_bytes.into();
    let order = shared.switching.account_enqueue(switch, bytes, ingress)?;
    ingress.map(|to| Frame { to, order })
}

/// Records of packets, where the port is traced.
impl Output<'_> {
    /// Records a packet that starts on the wire from its queue.
    #[inline(always)]
    pub(super) fn trace_start(&mut self, at: Time, slot: SlotId) {
        if self.port.special.has(Special::TRACED_START) {
            self.record(at, slot, PacketEvent::Dequeued);
        }
    }

    /// Records a packet that is about to join its queue.
    #[inline(always)]
    pub(super) fn trace_enqueue(&mut self, at: Time, slot: SlotId) {
        if self.port.special.has(Special::TRACED_START) {
            self.record(at, slot, PacketEvent::Enqueued);
        }
    }

    /// Records a packet that starts without being queued.
    #[inline(always)]
    pub(super) fn trace_passage(&mut self, at: Time, slot: SlotId) {
        if self.port.special.has(Special::TRACED_START) {
            self.record(at, slot, PacketEvent::Enqueued);
            self.record(at, slot, PacketEvent::Dequeued);
        }
    }

    /// Records what happens to a packet, with the length of the queue that it joins here.
    #[inline(always)]
    pub(super) fn record(&mut self, at: Time, slot: SlotId, event: PacketEvent) {
        record(self.shared, self.port, (at, self.id, slot, event));
    }
}

/// Records what happens to a packet at a port: the time, the port, the packet's slot, and what.
#[cold]
fn record(
    shared: &mut Shared,
    port: &Port,
    (at, id, slot, event): (Time, PortId, SlotId, PacketEvent),
) {
    let packet = shared.pool.get(slot).packet;
    let waiting = match event {
        PacketEvent::Received => port.bytes_waiting(Flags::PRIORITY),
        _ => match &shared.classes {
            Some(classes) if !packet.flags.has(Flags::PRIORITY) => {
                classes.of_port(id).bytes(packet.class())
            }
            _ => port.bytes_waiting(packet.flags),
        },
    };
    if let Some(trace) = &mut shared.trace {
        trace.record(PacketRecord { at, port: id, event, waiting, packet });
    }
}
