//! Forwarding in a switch: selects the output port of a packet, and starts, queues or drops it.

use super::Network;
use super::pool::SlotId;
use super::port::{Port, PortFeatures, Queued};
use crate::ids::{HostId, PortId, SwitchId};
use crate::switching::{ForwardingDecision, PolicyChoice, PortLoads};
use crate::units::Time;

impl Network {
    /// Forwards a packet that has arrived at `switch`.
    #[inline(always)]
    pub(super) fn forward(&mut self, now: Time, switch: SwitchId, slot: SlotId) {
        // Fast path: ECMP needs no policy and no mutable packet.
        let packet = &self.shared.pool.get(slot).packet;
        let hashed = self.shared.switching.hashed_port(switch, packet);
        // Taken before the policy runs: policies do not change these fields.
        let queued = Queued::of(slot, packet);
        let port = match hashed {
            Some(port) => Some(port),
            None => self.decide(now, switch, slot),
        };
        if let Some(port) = port {
            self.enqueue(now, switch, port, queued);
        }
    }

    /// Returns the output port of a packet at a switch; `None` if the packet was dropped.
    #[inline(always)]
    fn decide(&mut self, now: Time, switch: SwitchId, slot: SlotId) -> Option<PortId> {
        let packet = &mut self.shared.pool.get_mut(slot).packet;
        let decision = match self.shared.switching.uses_detours() {
            false => self.shared.switching.decide(switch, packet),
            true => self.decide_detour(now, switch, slot),
        };
        let port = match decision {
            ForwardingDecision::Port(port) => port,
            ForwardingDecision::Choose(choice) => self.choose(now, choice, slot),
            ForwardingDecision::Drop => {
                self.drop_unreachable(now, switch, slot);
                return None;
            }
        };
        // Before the packet is enqueued: the policy may write to it, and queued packets are not
        // touched.
        if self.shared.switching.tracks_departures() {
            self.shared.switching.handle_departure(
                now,
                port,
                &mut self.shared.pool.get_mut(slot).packet,
            );
        }
        Some(port)
    }

    /// Forwards a packet that may take a detour through another group of switches.
    #[cold]
    fn decide_detour(&mut self, now: Time, switch: SwitchId, slot: SlotId) -> ForwardingDecision {
        if self.shared.switching.uses_queue_lengths() {
            self.settle_switch(now, switch);
        }
        let loads = Loads { now, ports: &self.ports };
        self.shared.switching.decide_detour(
            switch,
            &mut self.shared.pool.get_mut(slot).packet,
            &loads,
        )
    }

    /// Drops a packet without a path.
    #[cold]
    fn drop_unreachable(&mut self, now: Time, switch: SwitchId, slot: SlotId) {
        // It has no output port. Its record names the first port of the switch.
        let port = self.shared.switching.ports_of(switch)[0];
        self.trace_drop(now, port, slot);
        // Before the slot is released: the credit of the dropped packet returns.
        self.release_dropped(now, switch, slot);
        self.drop_packet(slot);
    }

    /// Asks the switch's policy. Not inlined, because hashed and source-routed packets skip it.
    #[inline(never)]
    fn choose(&mut self, now: Time, choice: PolicyChoice, slot: SlotId) -> PortId {
        // Only policies that read queue lengths need settled ports.
        if self.shared.switching.uses_queue_lengths() {
            let target = self.shared.switching.next_target(&self.shared.pool.get(slot).packet);
            self.settle_candidates(now, choice.switch(), target);
        }
        let loads = Loads { now, ports: &self.ports };
        self.shared.switching.choose(now, choice, &self.shared.pool.get(slot).packet, &loads)
    }

    /// Settles the ports whose loads a policy is about to read.
    fn settle_candidates(&mut self, now: Time, switch: SwitchId, dst: HostId) {
        for candidate in 0..self.shared.switching.next_hops(switch, dst).len() {
            let port = self.shared.switching.next_hops(switch, dst)[candidate];
            // Ports with queued packets already have a pending event, so arming is not needed.
            self.start_due(now, port);
        }
    }

    #[inline(always)]
    fn enqueue(&mut self, now: Time, switch: SwitchId, id: PortId, queued: Queued) {
        // Due packets leave first, so that the packet finds the same queue as if every start had
        // been an event.
        let mut output = self.output(id);
        if output.port.is_due(now) {
            self.start_due(now, id);
            // Looked up again, because settling borrowed the whole network.
            output = self.output(id);
        }
        if output.start_now(now, queued) {
            return;
        }
        let slot = queued.slot();
        if output.port.features.has_any(PortFeatures::SLOW_QUEUES) {
            self.enqueue_with_flow_control(now, switch, id, slot);
        } else if !output.enqueue_fast(now, switch, slot) {
            self.enqueue_slow(now, switch, id, slot);
        }
    }

    /// Slow path of enqueueing: the packet may be trimmed or dropped.
    #[cold]
    fn enqueue_slow(&mut self, now: Time, switch: SwitchId, id: PortId, slot: SlotId) {
        // A shared buffer's count includes packets that have left since their ports were last
        // settled. All ports are settled only if the count is near the limit.
        if self.shared.switching.exceeds_shared_buffer(switch, &self.shared.pool.get(slot).packet) {
            self.settle_switch(now, switch);
        }
        let mut output = self.output(id);
        if !output.admit(now, switch, slot) {
            return self.drop_at(now, id, slot);
        }
        output.enqueue(now, switch, slot);
        // Switch ports have no packets outside their queues.
        output.arm(|| false);
    }

    /// Enqueues a packet that cannot start immediately, with flow control.
    // Out of line: runs without flow control never enter it.
    #[inline(never)]
    fn enqueue_with_flow_control(&mut self, now: Time, switch: SwitchId, id: PortId, slot: SlotId) {
        let mut output = self.output(id);
        if output.port.features.has_any(PortFeatures::CLASSES) {
            return self.enqueue_by_class(now, switch, id, slot);
        }
        if !output.admit(now, switch, slot) {
            return self.drop_at(now, id, slot);
        }
        if let Some(frame) = output.enqueue(now, switch, slot) {
            self.send_frame(now, frame);
            output = self.output(id);
        }
        // Usually the wire is busy, and nothing starts now.
        if output.port.free <= now {
            return self.start_waiting(now, id);
        }
        output.arm(|| false);
        output.arm_start();
    }

    #[cold]
    pub(super) fn drop_at(&mut self, now: Time, id: PortId, slot: SlotId) {
        self.trace_drop(now, id, slot);
        self.drop_packet(slot);
    }

    /// Counts a lost packet and removes it.
    pub(super) fn drop_packet(&mut self, slot: SlotId) {
        let packet = self.shared.pool.remove(slot);
        if packet.is_control() {
            self.shared.counters.control_dropped += 1;
        } else {
            self.shared.counters.data_dropped += 1;
            if let Some(classes) = &mut self.shared.classes {
                classes.dropped[packet.class().index()] += 1;
            }
        }
    }
}

#[cfg(test)]
impl Network {
    /// Passes a packet to a switch as if it had just arrived there.
    pub(in crate::fabric) fn forward_for_test(
        &mut self,
        now: Time,
        switch: SwitchId,
        packet: crate::packet::Packet,
    ) {
        let slot = self.shared.pool.insert(packet);
        self.forward(now, switch, slot);
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
