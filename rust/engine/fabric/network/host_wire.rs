//! A host's wire: packets leave the NIC when the wire is free and their rate permits.
//!
//! A NIC is polled lazily for packets, as the ports of switches are settled lazily. Before a
//! packet, a frame or a timeout is handled by a host, the packets that its NIC would have sent
//! until then are sent ([`Network::transmit_from`]); afterwards its wire and its timeout are
//! updated ([`Network::follow_up`]).

use super::pool::SlotId;
use super::port::{Queued, Special};
use super::{Event, Network};
use crate::endpoint::{Endpoints, Host};
use crate::ids::{HostId, PortId};
use crate::packet::Packet;
use crate::units::Time;

impl Network {
    /// Sends the packets that the NIC would have sent by now, each at the first time at which the
    /// wire was free and its rate permitted. The NIC has had no input since, so its decisions are
    /// the same as at those times.
    #[inline(always)]
    pub(in crate::fabric) fn transmit_from(&mut self, now: Time, host: &mut Host) {
        if !self.wires.are_single() {
            return self.transmit_from_ports(now, host);
        }
        if self.is_transmit_due(now, host) {
            self.transmit_due(now, host);
        }
    }

    /// Whether the only port of a host has something to do.
    #[inline(always)]
    fn is_transmit_due(&self, now: Time, host: &Host) -> bool {
        // Mostly the wire is busy, and the next arrival at its end comes before it is free; or
        // there is nothing to send.
        let port = &self.ports[host.port.index()];
        let may_send = port.free <= now || !port.has_on_wire();
        may_send && (host.nic.has_packets() || port.is_paused())
    }

    /// The same for the port of a host at which a packet has left the wire.
    #[inline(always)]
    pub(super) fn settle_host(&mut self, now: Time, id: HostId, endpoints: &mut Endpoints) {
        let host = endpoints.host(id);
        let port = &self.ports[host.port.index()];
        // Where nothing is to be sent, nothing has gone into the host or left it since its wake-up
        // was scheduled.
        if self.is_transmit_due(now, host)
            || port.special.has(Special::FLOW_CONTROL.with(Special::PLANES))
        {
            self.settle_host_now(now, id, endpoints);
        }
    }

    #[inline(never)]
    fn settle_host_now(&mut self, now: Time, id: HostId, endpoints: &mut Endpoints) {
        let host = endpoints.host_mut(id);
        self.transmit_from(now, host);
        self.schedule_wake_of(now, id, host);
    }

    #[inline(never)]
    fn transmit_due(&mut self, now: Time, host: &mut Host) {
        let port = host.port;
        if self.ports[port.index()].is_paused() {
            self.transmit_control_from(now, host);
            return;
        }
        while self.ports[port.index()].free <= now && host.nic.has_packets() {
            let free = self.ports[port.index()].free;
            let slot = self.shared.pool.reserve();
            if host.nic.poll_transmit_to(free, &mut self.shared.pool.get_mut(slot).packet) {
                self.inject_from(port, free, host, slot);
                // It may have taken the last credit of its link.
                if self.ports[port.index()].is_paused() {
                    return self.transmit_control_from(now, host);
                }
                continue;
            }
            self.shared.pool.release(slot);
            // The wire was free and the rate was not: the packet goes when its rate let it.
            match host.nic.next_paced() {
                Some(start) if start <= now => self.ports[port.index()].free = start,
                _ => break,
            }
        }
        // The wire is free, so the remaining packets wait for their rate: the host's timeout
        // follows.
        let busy = self.ports[port.index()].free > now;
        self.output(port).arm(|| busy && host.nic.has_packets());
    }

    /// The same while the host's port is paused: only acknowledgements are sent, if they have
    /// priority.
    fn transmit_control_from(&mut self, now: Time, host: &mut Host) {
        let port = host.port;
        while host.nic.answers_pass() && self.ports[port.index()].free <= now {
            let free = self.ports[port.index()].free;
            let Some(packet) = host.nic.poll_transmit_control() else { break };
            self.inject(port, free, host, packet);
        }
        // Data whose rate permits sending meanwhile is sent when the port is resumed.
        let wire = &mut self.ports[port.index()];
        wire.free = wire.free.max(now);
        let busy = wire.free > now;
        self.output(port).arm(|| busy && host.nic.has_packets());
    }

    /// Puts a packet from a NIC on its wire, which is free at `start`.
    #[inline(always)]
    pub(super) fn inject(&mut self, id: PortId, start: Time, host: &mut Host, packet: Packet) {
        let slot = self.shared.pool.insert(packet);
        self.inject_from(id, start, host, slot);
    }

    /// The same with a packet that is in its slot already.
    #[inline(always)]
    fn inject_from(&mut self, id: PortId, start: Time, host: &mut Host, slot: SlotId) {
        if let Some(table) = &mut self.shared.telemetry {
            table.set(slot, host.nic.take_telemetry());
        }
        let queued = Queued::of(slot, &self.shared.pool.get(slot).packet);
        let mut output = self.output(id);
        output.transmit(start, queued);
        output.trace_start(start, slot);
    }

    /// Sends what a host can send at once after an input, and schedules its timeout.
    #[inline(always)]
    pub(in crate::fabric) fn follow_up(
        &mut self,
        now: Time,
        id: HostId,
        endpoints: &mut Endpoints,
    ) {
        if !self.wires.are_single() {
            self.follow_up_ports(now, id, endpoints);
            return self.schedule_wake(now, id, endpoints);
        }
        let host = endpoints.host_mut(id);
        let mut output = self.output(host.port);
        if output.port.free <= now {
            // Until now the host had nothing to send.
            output.port.free = now;
            if host.nic.has_packets() || output.port.is_paused() {
                self.transmit_due(now, host);
            }
        } else {
            // During the gap behind a packet that has arrived no arrival remains to wake the host.
            output.arm(|| host.nic.has_packets());
        }
        self.schedule_wake_of(now, id, host);
    }

    /// Schedules the timeout of a host, unless an earlier one is scheduled.
    #[inline(always)]
    pub(in crate::fabric) fn schedule_wake(
        &mut self,
        now: Time,
        id: HostId,
        endpoints: &mut Endpoints,
    ) {
        self.schedule_wake_of(now, id, endpoints.host_mut(id));
    }

    #[inline(always)]
    fn schedule_wake_of(&mut self, now: Time, id: HostId, host: &mut Host) {
        let wake = match self.wires.are_single() {
            true => host.next_wake(now, self.ports[host.port.index()].free),
            false => {
                let wakes = [
                    host.next_wake(now, self.wires.ready(id)),
                    // A port that is free already may have nothing to send.
                    host.next_expiry(now, self.wires.next_free(now, id)),
                ];
                wakes.into_iter().flatten().min()
            }
        };
        let Some(wake) = wake else { return };
        // A later wake-up needs no event of its own: the earlier one finds nothing due, and
        // schedules it.
        if wake < host.wake {
            host.wake = wake;
            self.shared.queue.push(wake, Event::Host(id));
        }
    }
}
