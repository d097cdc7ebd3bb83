//! Traffic classes at switch ports: which queue a packet joins, and which one starts next.
//!
//! A port with classes is settled like any other. A packet bypasses the queues only if no queued
//! packet may start. Otherwise the scheduling of the classes decides, one packet at a time, when
//! the wire is free.

use super::Network;
use super::output::Output;
use super::pfc::Frame;
use super::pool::SlotId;
use super::port::{ClassQueues, PortFeatures, Queued};
use crate::ids::{ClassId, PortId, SwitchId};
use crate::packet::Flags;
use crate::switching::{EcnPoint, Waiting};
use crate::topology::Node;
use crate::units::Time;

impl Network {
    /// Gives switch ports a queue for each class, if the run has classes.
    pub(super) fn mark_class_ports(&mut self) {
        if self.shared.classes.is_none() {
            return;
        }
        for port in &mut self.ports {
            if let Node::Switch(_) = port.start.node() {
                port.features = port.features.with(PortFeatures::CLASSES);
                port.queue_all();
            }
        }
    }

    /// Starts or enqueues a packet at a port with classes.
    #[cold]
    pub(super) fn enqueue_by_class(
        &mut self,
        now: Time,
        switch: SwitchId,
        id: PortId,
        slot: SlotId,
    ) {
        if self.output(id).bypass_by_class(now, slot) {
            return;
        }
        // As at ports without classes, the count of a shared buffer may be stale.
        if self.shared.switching.exceeds_shared_buffer(switch, &self.shared.pool.get(slot).packet) {
            self.settle_switch(now, switch);
        }
        let mut output = self.output(id);
        let waiting = output.waiting_for(slot);
        if !output.admit_to(now, switch, slot, waiting) {
            return self.drop_at(now, id, slot);
        }
        let frame = output.enqueue_in_class(now, switch, slot);
        output.arm(|| false);
        if !self.shared.switching.has_flow_control() {
            // Without flow control, starts are lazy and need no event.
            return;
        }
        if let Some(frame) = frame {
            self.send_frame(now, frame);
        }
        self.output(id).arm_start();
    }

    /// Returns the dropped data packets of each class; empty without classes.
    pub(in crate::fabric) fn dropped_by_class(&self) -> Vec<u64> {
        let classes = self.shared.classes.as_ref();
        classes.map_or_else(Vec::new, |classes| classes.dropped[..classes.count].to_vec())
    }

    /// Returns the number of data classes; 1 without classes.
    pub(super) fn class_count(&self) -> usize {
        self.shared.classes.as_ref().map_or(1, |classes| classes.count)
    }

    /// Iterates over the queued packets of a port's paused classes, in no particular order.
    pub(super) fn held_class_slots(&self, id: PortId) -> impl Iterator<Item = SlotId> + '_ {
        let queues = self.shared.classes.iter().map(move |classes| classes.of_port(id));
        queues.flat_map(ClassQueues::held_slots)
    }

    /// Iterates over the queued packets of a port's classes, in no particular order.
    pub(super) fn class_slots(&self, id: PortId) -> impl Iterator<Item = SlotId> + '_ {
        let queues = self.shared.classes.iter().map(move |classes| classes.of_port(id));
        queues.flat_map(ClassQueues::slots)
    }
}

impl Output<'_> {
    /// Starts a packet immediately, if no queued packet may start and its class is not paused.
    fn bypass_by_class(&mut self, now: Time, slot: SlotId) -> bool {
        if self.port.free > now || self.port.has_waiting() {
            return false;
        }
        let Some(classes) = self.shared.classes.as_deref_mut() else { return false };
        let packet = &self.shared.pool.get(slot).packet;
        let queued = Queued::of(slot, packet);
        if !packet.flags.has(Flags::PRIORITY) {
            let queues = &mut classes.queues[self.id.index()];
            // A paused class must queue even on a free wire.
            if !queues.is_open(packet.class()) {
                return false;
            }
            // The class is charged although nothing was queued, because it used its turn.
            queues.charge_bypass(&classes.discipline, packet.class(), queued.bytes());
        }
        self.transmit(now, queued);
        self.trace_bypass(now, slot);
        true
    }

    /// Enqueues a packet: in its class, or with the packets that have priority.
    fn enqueue_in_class(&mut self, now: Time, switch: SwitchId, slot: SlotId) -> Option<Frame> {
        self.mark_by_class(EcnPoint::Enqueue, slot);
        let frame = self.account_enqueue(switch, slot);
        self.trace_enqueue(now, slot);
        let packet = &self.shared.pool.get(slot).packet;
        let queued = Queued::of(slot, packet);
        match self.shared.classes.as_deref_mut() {
            Some(classes) if !packet.flags.has(Flags::PRIORITY) => {
                let queues = &mut classes.queues[self.id.index()];
                self.port.enqueue_in_class(queues, packet.class(), queued);
            }
            _ => self.port.enqueue(queued),
        }
        frame
    }

    /// Returns the queued bytes that admission considers. With flow control these are the bytes of
    /// the packet's class. Otherwise they are all data bytes, because classes share the buffer.
    fn waiting_for(&self, slot: SlotId) -> Waiting {
        let waiting = self.port.waiting();
        match self.shared.classes.as_deref() {
            Some(classes) if self.shared.switching.has_flow_control() => {
                let class = self.shared.pool.get(slot).packet.class();
                Waiting { data: classes.of_port(self.id).bytes(class), ..waiting }
            }
            _ => waiting,
        }
    }

    /// Pauses a class, or resumes it, for the far end.
    pub(super) fn pause_class(&mut self, class: ClassId, is_paused: bool) {
        if let Some(classes) = self.shared.classes.as_deref_mut() {
            self.port.pause_class(&mut classes.queues[self.id.index()], class, is_paused);
        }
    }

    /// Starts the queued packets that are due by `now`, up to the first start that resumes a link.
    /// Returns that time and the frame to send.
    #[cold]
    pub(super) fn start_due_by_class(&mut self, now: Time) -> Option<(Time, Frame)> {
        while self.port.is_due(now) {
            let classes = self.shared.classes.as_deref_mut()?;
            let queues = &mut classes.queues[self.id.index()];
            let queued = self.port.dequeue_by_class(queues, &classes.discipline)?;
            let start = self.port.free;
            // Before `transmit`, which overwrites the ingress on links that fail.
            let frame = self.account_start(queued);
            self.transmit(start, queued);
            self.mark_by_class(EcnPoint::Dequeue, queued.slot());
            self.trace_start(start, queued.slot());
            if let Some(frame) = frame {
                return Some((start, frame));
            }
        }
        None
    }

    /// Marks a packet if ECN marks at this point and the queue of its class is long enough.
    fn mark_by_class(&mut self, point: EcnPoint, slot: SlotId) {
        let Some(classes) = self.shared.classes.as_deref() else { return };
        let packet = &mut self.shared.pool.get_mut(slot).packet;
        // Only data is marked.
        if packet.is_control() {
            return;
        }
        let waiting = classes.of_port(self.id).bytes(packet.class());
        self.shared.switching.mark(point, self.id, waiting, packet);
    }
}
