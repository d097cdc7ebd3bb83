//! Forwarding in a switch: the output port of a packet, and whether the packet starts there, is
//! queued or is dropped.

use super::Network;
use super::pool::{Pool, SlotId};
use super::port::Port;
use crate::ids::{HostId, PortId, SwitchId};
use crate::switching::{
    Admission, EcnPoint, EnqueueRequest, ForwardingDecision, PolicyChoice, PortLoads,
};
use crate::units::Time;

impl Network {
    /// Forwards a packet that has arrived at `switch`.
    #[inline]
    pub(super) fn forward(&mut self, now: Time, switch: SwitchId, slot: SlotId) {
        let packet = &mut self.pool.get_mut(slot).packet;
        let port = match self.switching.decide(switch, packet) {
            ForwardingDecision::Port(port) => port,
            ForwardingDecision::Choose(choice) => self.choose(now, choice, slot),
            ForwardingDecision::Drop => {
                // A packet without a path has no port; its record names the first one of the
                // switch.
                let port = self.switching.ports_of(switch)[0];
                self.trace_drop(now, port, slot);
                self.drop_packet(slot);
                return;
            }
        };
        // Before the packet is enqueued: a policy may write to it, and what waits is not looked at
        // again.
        self.switching.handle_departure(now, port, &mut self.pool.get_mut(slot).packet);
        self.enqueue(now, switch, port, slot);
    }

    #[inline]
    fn choose(&mut self, now: Time, choice: PolicyChoice, slot: SlotId) -> PortId {
        let packet = &self.pool.get(slot).packet;
        if self.switching.uses_queue_lengths() {
            self.settle_candidates(now, choice.switch(), packet.dst);
        }
        let loads = Loads { now, ports: &self.ports, pool: &self.pool };
        self.switching.choose(now, choice, &self.pool.get(slot).packet, &loads)
    }

    /// Settles the ports whose loads a policy is about to read.
    fn settle_candidates(&mut self, now: Time, switch: SwitchId, dst: HostId) {
        for candidate in 0..self.switching.next_hops(switch, dst).len() {
            let port = self.switching.next_hops(switch, dst)[candidate];
            // A port with queued packets has a pending event, so it need not be armed.
            self.start_due(now, port);
        }
    }

    #[inline]
    fn enqueue(&mut self, now: Time, switch: SwitchId, id: PortId, slot: SlotId) {
        // Packets whose turn came by now leave first: a packet finds the queue that it would have
        // found if every start had been an event.
        self.start_due(now, id);
        let packet = &self.pool.get(slot).packet;
        if !packet.is_control() {
            let found = self.ports[id.index()].data_waiting();
            self.counters.waiting_found += u64::from(found);
            self.counters.arrivals += 1;
        }
        if self.ports[id.index()].is_clear(now, packet.flags) {
            // The queue is empty: the packet starts at once, without being enqueued.
            self.mark(EcnPoint::Enqueue, id, slot);
            self.ports[id.index()].transmit(&mut self.pool, slot, now);
            self.mark(EcnPoint::Dequeue, id, slot);
            self.trace_passage(now, id, slot);
        } else if self.admit(now, switch, id, slot) {
            self.mark(EcnPoint::Enqueue, id, slot);
            let frame = self.account_enqueue(switch, slot);
            self.ports[id.index()].enqueue(&mut self.pool, slot);
            self.trace_enqueue(now, id, slot);
            if self.switching.has_pfc() {
                if let Some(frame) = frame {
                    self.send_frame(now, frame);
                }
                self.start_waiting(now, id);
            }
        } else {
            self.trace_drop(now, id, slot);
            self.drop_packet(slot);
            return;
        }
        // A port at a switch never waits for more than its own lists.
        self.arm(id, || false);
    }

    /// Whether a packet that cannot start at once may be enqueued at port `id`; the packet may be
    /// trimmed.
    #[inline]
    fn admit(&mut self, now: Time, switch: SwitchId, id: PortId, slot: SlotId) -> bool {
        // The count of a shared buffer includes packets that have left it since their ports were
        // last settled. All ports are settled only if the count is near the limit.
        if self.switching.exceeds_shared_buffer(switch, &self.pool.get(slot).packet) {
            self.settle_switch(now, switch);
        }
        let waiting = self.ports[id.index()].waiting();
        let slot = self.pool.get_mut(slot);
        let ingress = slot.aside.ingress();
        let request = EnqueueRequest { switch, port: id, ingress, waiting };
        let admission = self.switching.admit(&request, &mut slot.packet);
        self.counters.trimmed += u64::from(admission == Admission::Trimmed);
        admission != Admission::Dropped
    }

    /// Marks a packet at a switch port if ECN marks at this point and the queue is long enough.
    #[inline]
    pub(super) fn mark(&mut self, point: EcnPoint, id: PortId, slot: SlotId) {
        // One of the two points at most is in use: the other costs this comparison alone.
        if !self.switching.marks_at(point) {
            return;
        }
        let waiting = self.ports[id.index()].data_waiting();
        self.switching.mark(point, id, waiting, &mut self.pool.get_mut(slot).packet);
    }

    /// Counts a lost packet and removes it.
    pub(super) fn drop_packet(&mut self, slot: SlotId) {
        let packet = self.pool.remove(slot);
        if packet.is_control() {
            self.counters.control_dropped += 1;
        } else {
            self.counters.data_dropped += 1;
        }
    }
}

#[cfg(test)]
impl Network {
    /// Hands a packet to a switch at time zero, as if it had just arrived there.
    pub(in crate::fabric) fn forward_for_test(
        &mut self,
        switch: SwitchId,
        packet: crate::packet::Packet,
    ) {
        let slot = self.pool.insert(packet);
        self.forward(Time::ZERO, switch, slot);
    }
}

/// The current loads of ports.
struct Loads<'a> {
    now: Time,
    ports: &'a [Port],
    pool: &'a Pool,
}

impl PortLoads for Loads<'_> {
    #[inline]
    fn bytes(&self, port: PortId, _index: u32) -> u64 {
        u64::from(self.ports[port.index()].load(self.now, self.pool))
    }
}
