//! Forwarding in a switch: the output port of a packet, and whether the packet starts there, is
//! queued or is dropped.

use super::Network;
use super::pool::SlotId;
use super::port::Port;
use crate::ids::{HostId, PortId, SwitchId};
use crate::switching::{ForwardingDecision, PolicyChoice, PortLoads};
use crate::units::Time;

impl Network {
    /// Forwards a packet that has arrived at `switch`.
    #[inline(always)]
    pub(super) fn forward(&mut self, now: Time, switch: SwitchId, slot: SlotId) {
        let packet = &mut self.pool.get_mut(slot).packet;
        let port = match self.switching.decide(switch, packet) {
            ForwardingDecision::Port(port) => port,
            ForwardingDecision::Choose(choice) => self.choose(now, choice, slot),
            ForwardingDecision::Drop => return self.drop_unreachable(now, switch, slot),
        };
        // Before the packet is enqueued: a policy may write to it, and what waits is not looked at
        // again.
        if self.switching.tracks_departures() {
            self.switching.handle_departure(now, port, &mut self.pool.get_mut(slot).packet);
        }
        self.enqueue(now, switch, port, slot);
    }

    /// Drops a packet without a path.
    #[cold]
    fn drop_unreachable(&mut self, now: Time, switch: SwitchId, slot: SlotId) {
        // It has no port; its record names the first one of the switch.
        let port = self.switching.ports_of(switch)[0];
        self.trace_drop(now, port, slot);
        self.drop_packet(slot);
    }

    #[inline(always)]
    fn choose(&mut self, now: Time, choice: PolicyChoice, slot: SlotId) -> PortId {
        if self.switching.uses_queue_lengths() {
            self.settle_candidates(now, choice.switch(), self.pool.get(slot).packet.dst);
        }
        let loads = Loads { now, ports: &self.ports };
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

    #[inline(always)]
    fn enqueue(&mut self, now: Time, switch: SwitchId, id: PortId, slot: SlotId) {
        // Packets whose turn came by now leave first: a packet finds the queue that it would have
        // found if every start had been an event.
        let mut output = self.output(id);
        if output.port.is_due(now) {
            self.start_due(now, id);
            output = self.output(id);
        }
        if !output.start_now(now, slot) && !output.enqueue_plainly(now, switch, slot) {
            self.enqueue_behind(now, switch, id, slot);
        }
    }

    /// Enqueues a packet that cannot start at once, where flow control, trimming or a full buffer
    /// may have a say.
    #[inline(never)]
    fn enqueue_behind(&mut self, now: Time, switch: SwitchId, id: PortId, slot: SlotId) {
        // The count of a shared buffer includes packets that have left it since their ports were
        // last settled. All ports are settled only if the count is near the limit.
        if self.switching.exceeds_shared_buffer(switch, &self.pool.get(slot).packet) {
            self.settle_switch(now, switch);
        }
        let mut output = self.output(id);
        if !output.admit(switch, slot) {
            self.trace_drop(now, id, slot);
            self.drop_packet(slot);
            return;
        }
        let frame = output.enqueue(now, switch, slot);
        if !self.switching.has_pfc() {
            // A port at a switch never waits for more than its own queues.
            return self.output(id).arm(|| false);
        }
        if let Some(frame) = frame {
            self.send_frame(now, frame);
        }
        self.start_waiting(now, id);
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
}

impl PortLoads for Loads<'_> {
    #[inline]
    fn bytes(&self, port: PortId, _index: u32) -> u64 {
        u64::from(self.ports[port.index()].load(self.now))
    }
}
