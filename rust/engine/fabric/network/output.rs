//! A port together with the state that its packets need: pool, event queue, switch and counters.
//!
//! Each hop touches two ports: the one that the packet leaves and the one that it takes next. Each
//! is looked up once ([`Network::output`]), and everything at that port uses this view.

use super::Network;
use super::class_table::Classes;
use super::pfc::Frame;
use super::pool::{Pool, SlotId, SlotState};
use super::port::{Port, PortFeatures, Queued};
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

/// State shared by all ports. It is separate from them, so that both can be borrowed mutably.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) pool: Pool,
    pub(super) queue: EventQueue,
    pub(super) switching: Switching,
    pub(super) counters: NetworkCounters,
    /// Telemetry of packets, in runs that use it.
    pub(super) telemetry: Option<Box<Table>>,
    /// Queues of traffic classes, in runs that have them.
    pub(super) classes: Option<Box<Classes>>,
    /// Records of packets at traced ports.
    pub(super) trace: Option<Box<TraceBuffer>>,
}

/// A port of the network, with the shared state.
#[derive(Debug)]
pub(super) struct Output<'a> {
    pub(super) id: PortId,
    pub(super) port: &'a mut Port,
    pub(super) shared: &'a mut Shared,
}

impl Network {
    /// Returns the view of a port.
    #[inline(always)]
    pub(super) fn output(&mut self, id: PortId) -> Output<'_> {
        Output { id, port: &mut self.ports[id.index()], shared: &mut self.shared }
    }
}

impl Output<'_> {
    /// Starts the queued packets that are due by `now`, at a switch port without flow control. The
    /// caller arms the port.
    #[inline(always)]
    pub(super) fn start_due_fast(&mut self, now: Time) {
        let Node::Switch(switch) = self.port.start.node() else { return };
        while self.port.free <= now {
            // Nothing queued: `free` stays in the past, which marks an idle wire.
            let Some(queued) = self.port.dequeue() else { return };
            // The start is the time at which the wire became free, not `now`. This makes late
            // settling exact.
            let start = self.port.free;
            self.shared.switching.account_dequeue(switch, queued.bytes().into(), None);
            self.start(start, queued);
        }
    }

    /// Starts the queued packets that are due by `now`, with flow control, up to the first start
    /// that resumes a link. Returns that time and the frame to send.
    #[inline(always)]
    pub(super) fn start_due(&mut self, now: Time) -> Option<(Time, Frame)> {
        if self.port.features.has_any(PortFeatures::CLASSES) {
            return self.start_due_by_class(now);
        }
        // Each start advances `free`: a port that was not settled for a while catches up on
        // several.
        while self.port.is_due(now) {
            let queued = self.port.dequeue()?;
            let start = self.port.free;
            // Before `transmit`, which overwrites the ingress with the rate on links that fail.
            let frame = self.account_start(queued);
            self.start(start, queued);
            if let Some(frame) = frame {
                return Some((start, frame));
            }
        }
        None
    }

    /// Puts a queued packet on the wire.
    #[inline(always)]
    fn start(&mut self, start: Time, queued: Queued) {
        self.transmit(start, queued);
        self.mark(EcnPoint::Dequeue, queued.slot());
        self.trace_start(start, queued.slot());
    }

    /// Starts a packet at a port that is settled at `now`, if no queued packet precedes it. Returns
    /// false if the packet must be queued.
    #[inline(always)]
    pub(super) fn start_now(&mut self, now: Time, queued: Queued) -> bool {
        let slot = queued.slot();
        // Branchless, because data and acknowledgements alternate.
        let data = u64::from(queued.is_data());
        self.shared.counters.waiting_found += data * u64::from(self.port.data_waiting());
        self.shared.counters.arrivals += data;
        if !self.port.is_clear(now, queued.flags()) {
            return false;
        }
        // At a clear port only packets held by a pause are queued.
        if self.port.data_waiting() > 0 {
            self.mark_bypassing(slot);
        }
        self.transmit(now, queued);
        self.trace_bypass(now, slot);
        true
    }

    /// Marks a packet that bypasses queued packets, which a pause holds back.
    #[cold]
    fn mark_bypassing(&mut self, slot: SlotId) {
        // It passes both points, although it was never queued.
        self.mark(EcnPoint::Enqueue, slot);
        self.mark(EcnPoint::Dequeue, slot);
    }

    /// Fast path of enqueueing: only the room in the buffer decides. Returns false for the slow
    /// path.
    #[inline(always)]
    pub(super) fn enqueue_fast(&mut self, now: Time, switch: SwitchId, slot: SlotId) -> bool {
        // Read again, rather than kept in registers: most packets start immediately.
        let queued = Queued::of(slot, &self.shared.pool.get(slot).packet);
        let (bytes, flags) = (queued.bytes(), queued.flags());
        let before = self.port.bytes_waiting(flags);
        if !self.shared.switching.try_enqueue_fast(switch, before, bytes) {
            return false;
        }
        self.mark(EcnPoint::Enqueue, slot);
        self.trace_enqueue(now, slot);
        self.port.enqueue(queued);
        self.arm(|| false);
        true
    }

    /// Enqueues a packet, and returns the PFC frame to send for it, if any.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, now: Time, switch: SwitchId, slot: SlotId) -> Option<Frame> {
        // Marked before it is counted: the packet must not see itself in the queue.
        self.mark(EcnPoint::Enqueue, slot);
        let frame = self.account_enqueue(switch, slot);
        self.trace_enqueue(now, slot);
        self.port.enqueue(Queued::of(slot, &self.shared.pool.get(slot).packet));
        frame
    }

    /// Decides whether a packet may be enqueued. The packet itself or the last queued one may be
    /// trimmed.
    #[inline(always)]
    pub(super) fn admit(&mut self, now: Time, switch: SwitchId, slot: SlotId) -> bool {
        self.admit_to(now, switch, slot, self.port.waiting())
    }

    /// Like [`Self::admit`], for a queue with the given queued bytes.
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
        let ingress = slot.state.ingress();
        let request = EnqueueRequest { switch, port: self.id, ingress, waiting };
        let admission = self.shared.switching.admit(&request, &mut slot.packet);
        self.shared.counters.trimmed += u64::from(admission == Admission::Trimmed);
        admission != Admission::Dropped
    }

    /// Trims the last queued packet, if the arriving packet is to take its place.
    #[cold]
    fn displace(&mut self, now: Time, switch: SwitchId, slot: SlotId) -> bool {
        // Only a data packet can be trimmed.
        let Some(last) = self.port.last_data() else { return false };
        let (waiting, ingress) = (self.port.waiting(), None);
        let request = EnqueueRequest { switch, port: self.id, ingress, waiting };
        let arriving = self.shared.pool.get(slot).packet;
        if !self.shared.switching.displaces_last(&request, &arriving, last.bytes()) {
            return false;
        }
        let victim = &mut self.shared.pool.get_mut(last.slot()).packet;
        // Without room for the header, the arriving packet is dropped, as if it were the victim.
        if !self.shared.switching.trim_displaced(&request, victim) {
            return false;
        }
        let header = Queued::of(last.slot(), victim);
        // Trimming changed its length and flags, so it leaves the queue and rejoins as a header.
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
        // One test of all flags keeps plain ports on the fast path.
        if self.port.features.has_any(PortFeatures::AT_START) {
            return self.transmit_slow(start, arrives, queued);
        }
        self.shared.queue.push_arrival(arrives, self.id, queued.slot());
    }

    /// Slow path of transmission: links that fail, end in another partition or need credit, and
    /// telemetry.
    #[cold]
    fn transmit_slow(&mut self, start: Time, arrives: Time, queued: Queued) {
        let slot = queued.slot();
        if self.port.features.has_any(PortFeatures::TELEMETRY) {
            self.write_telemetry(start, queued);
        }
        let mut arrives = arrives;
        if self.port.features.has_any(PortFeatures::CREDIT) {
            self.take_credit(queued);
        }
        if self.port.features.has_any(PortFeatures::FAULTY) {
            arrives = self.retry(start, arrives, slot);
            // The ingress was accounted before the start, so the rate may take its place.
            self.shared.pool.get_mut(slot).state =
                SlotState::from_rate_index(self.port.rate_index());
        }
        match self.port.features.has_any(PortFeatures::BOUNDARY) {
            true => self.shared.queue.push_handoff(arrives, self.id, slot),
            false => self.shared.queue.push_arrival(arrives, self.id, slot),
        }
    }

    /// Consumes the credit of a packet that starts. Pauses the port if none is left for the next
    /// one.
    fn take_credit(&mut self, queued: Queued) {
        // Packets with priority need no credit.
        if queued.flags().has(Flags::PRIORITY) {
            return;
        }
        if let Some(mut credits) = self.shared.switching.credits() {
            self.port.pause(credits.consume(self.id, queued.bytes()) == Credit::Exhausted);
        }
    }

    /// Delays the arrival of a frame that is corrupted and resent by link-level retry.
    fn retry(&mut self, start: Time, arrives: Time, slot: SlotId) -> Time {
        // Link-level retry protects packets, not the frames of the link itself.
        if self.shared.pool.get(slot).packet.is_link_frame() {
            return arrives;
        }
        let busy = self.port.free.since(start);
        let later = self.shared.switching.retry_delay(self.id, start, busy);
        // A retransmitted frame occupies the wire again, which delays later packets.
        self.port.free += later;
        arrives + later
    }

    /// Marks a packet if ECN marks at this point and the queue is long enough.
    #[inline(always)]
    fn mark(&mut self, point: EcnPoint, slot: SlotId) {
        // At most one of the two points is used. The other costs only this comparison.
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

    /// Schedules the start of the next queued packet, with flow control. At most one start is
    /// pending, for the time at which the wire is free, because no packet can start earlier.
    #[inline(always)]
    pub(super) fn arm_start(&mut self) {
        if self.port.has_waiting() && !self.port.start_armed {
            self.port.start_armed = true;
            self.shared.queue.push_start(self.port.free, self.id);
            // The packet was enqueued a while ago, and its ingress is read when it starts.
            if let Some(next) = self.port.first_waiting() {
                prefetch(self.shared.pool.get(next.slot()));
            }
        }
    }

    /// Schedules the event of a free wire for a port with a packet to start, unless an arrival
    /// precedes it. For a NIC's port, `nic_has_packets` tells whether the NIC has any.
    #[inline(always)]
    pub(super) fn arm(&mut self, nic_has_packets: impl FnOnce() -> bool) {
        // The next arrival is early enough: queued packets start after those on the wire, and
        // arrive later.
        if self.port.has_on_wire()
            || self.port.armed
            || !(self.port.has_waiting() || nic_has_packets())
        {
            return;
        }
        self.port.armed = true;
        self.shared.queue.push(self.port.free, Event::Free(self.id));
    }
}

/// Accounting of packet memory and PFC.
impl Output<'_> {
    /// Counts a packet that is about to be enqueued at `switch`, and returns the frame to send for
    /// it, if any. Packets with priority are not counted against their ingress link.
    #[inline(always)]
    pub(super) fn account_enqueue(&mut self, switch: SwitchId, slot: SlotId) -> Option<Frame> {
        let bytes = u64::from(self.shared.pool.get(slot).packet.wire_bytes);
        // Without flow control only the buffer counts, so the ingress is not read.
        if !self.shared.switching.has_flow_control() {
            self.shared.switching.account_enqueue(switch, bytes, None);
            return None;
        }
        count_ingress(self.shared, switch, slot)
    }

    /// Removes a packet that starts at a switch port from its ingress account, with flow control.
    /// Returns the frame to send for it, if any.
    #[inline(always)]
    pub(super) fn account_start(&mut self, queued: Queued) -> Option<Frame> {
        let Node::Switch(switch) = self.port.start.node() else { return None };
        let slot = self.shared.pool.get(queued.slot());
        // Counted here, because a queued frame may have been replaced since it was enqueued.
        self.shared.counters.pauses += u64::from(slot.packet.kind == PacketKind::Pause);
        let class = slot.packet.class();
        let ingress = slot.state.ingress().map(|link| LinkClass { link, class });
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
        // Its start then finds no ingress either, so nothing is subtracted that was not added.
        slot.state = SlotState::default();
    }
    let class = slot.packet.class();
    let ingress = slot.state.ingress().map(|link| LinkClass { link, class });
    let bytes = slot.packet.wire_bytes.into();
    let order = shared.switching.account_enqueue(switch, bytes, ingress)?;
    ingress.map(|to| Frame { to, order })
}

/// Packet records at traced ports.
impl Output<'_> {
    /// Records a packet that starts on the wire from its queue.
    #[inline(always)]
    pub(super) fn trace_start(&mut self, at: Time, slot: SlotId) {
        if self.port.features.has_any(PortFeatures::TRACED_START) {
            self.record(at, slot, PacketEvent::Dequeued);
        }
    }

    /// Records a packet that is about to join its queue.
    #[inline(always)]
    pub(super) fn trace_enqueue(&mut self, at: Time, slot: SlotId) {
        if self.port.features.has_any(PortFeatures::TRACED_START) {
            self.record(at, slot, PacketEvent::Enqueued);
        }
    }

    /// Records a packet that starts without being queued.
    #[inline(always)]
    pub(super) fn trace_bypass(&mut self, at: Time, slot: SlotId) {
        if self.port.features.has_any(PortFeatures::TRACED_START) {
            self.record(at, slot, PacketEvent::Enqueued);
            self.record(at, slot, PacketEvent::Dequeued);
        }
    }

    /// Records an event of a packet, with the length of its queue at this port.
    #[inline(always)]
    pub(super) fn record(&mut self, at: Time, slot: SlotId, event: PacketEvent) {
        record(self.shared, self.port, (at, self.id, slot, event));
    }
}

/// Records an event of a packet at a port. The tuple is time, port, slot and event.
// Cold: traced ports are rare, and the packet is copied.
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
