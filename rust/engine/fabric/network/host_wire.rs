//! A host's wire: packets leave the NIC when the wire is free and their rate permits.
//!
//! NICs are polled lazily, just as switch ports are settled lazily. Before a host handles a packet,
//! a frame or a timeout, its NIC sends the packets that it would have sent by then
//! ([`Network::transmit_from`]). Afterwards, its wire and its timeout are updated
//! ([`Network::follow_up`]).

use super::pool::SlotId;
use super::port::{PortFeatures, Queued};
use super::{Event, Network};
use crate::endpoint::{Endpoints, Host};
use crate::ids::{HostId, PortId};
use crate::packet::Packet;
use crate::units::Time;

impl Network {
    /// Sends the packets that the NIC would have sent by now, each at the first time at which the
    /// wire was free and its rate permitted. The NIC has had no input since, so it decides as it
    /// would have decided then.
    #[inline(always)]
    pub(in crate::fabric) fn transmit_from(&mut self, now: Time, host: &mut Host) {
        // Hosts with several ports share one poll, on a separate path.
        if !self.wires.are_single() {
            return self.transmit_from_ports(now, host);
        }
        if self.is_transmit_due(now, host) {
            self.transmit_due(now, host);
        }
    }

    /// True if the only port of a host has something to do.
    #[inline(always)]
    fn is_transmit_due(&self, now: Time, host: &Host) -> bool {
        // Usually there is nothing to send, or the wire is busy and its next arrival comes before
        // it is free.
        let port = &self.ports[host.port.index()];
        let may_send = port.free <= now || !port.has_on_wire();
        may_send && (host.nic.has_packets() || port.is_paused())
    }

    /// Settles the port of a host at which a packet has left the wire.
    #[inline(always)]
    pub(super) fn settle_host(&mut self, now: Time, id: HostId, endpoints: &mut Endpoints) {
        let host = endpoints.host(id);
        let port = &self.ports[host.port.index()];
        // If nothing is to be sent, the host has not changed since its wake-up was scheduled.
        if self.is_transmit_due(now, host)
            || port.features.has_any(PortFeatures::FLOW_CONTROL.with(PortFeatures::PLANES))
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
        // A pause holds data only. Control packets may still pass.
        if self.ports[port.index()].is_paused() {
            self.transmit_control_from(now, host);
            return;
        }
        while self.ports[port.index()].free <= now && host.nic.has_packets() {
            let free = self.ports[port.index()].free;
            // The NIC writes the packet into its slot, which avoids a copy.
            let slot = self.shared.pool.reserve();
            if host.nic.poll_transmit_to(free, &mut self.shared.pool.get_mut(slot).packet) {
                self.inject_from(port, free, host, slot);
                // The packet may have used the link's last credit.
                if self.ports[port.index()].is_paused() {
                    return self.transmit_control_from(now, host);
                }
                continue;
            }
            // The NIC had no packet to send now: the reserved slot is returned.
            self.shared.pool.release(slot);
            // The wire was free, but the rate was not: the packet starts when its rate permits.
            match host.nic.next_paced() {
                Some(start) if start <= now => self.ports[port.index()].free = start,
                _ => break,
            }
        }
        // On a free wire the remaining packets wait for their rate, and the host's timeout follows.
        let busy = self.ports[port.index()].free > now;
        self.output(port).arm(|| busy && host.nic.has_packets());
    }

    /// Sends packets while the host's port is paused: only control packets, and only if they have
    /// priority.
    fn transmit_control_from(&mut self, now: Time, host: &mut Host) {
        let port = host.port;
        while host.nic.control_has_priority() && self.ports[port.index()].free <= now {
            let free = self.ports[port.index()].free;
            let Some(packet) = host.nic.poll_transmit_control() else { break };
            self.inject(port, free, host, packet);
        }
        // Data whose rate permits a start during the pause starts when the port is resumed.
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

    /// Puts a packet that is already in its slot on the wire.
    #[inline(always)]
    fn inject_from(&mut self, id: PortId, start: Time, host: &mut Host, slot: SlotId) {
        if let Some(table) = &mut self.shared.telemetry {
            // The slot may hold the telemetry of an earlier packet.
            table.set(slot, host.nic.take_telemetry());
        }
        let queued = Queued::of(slot, &self.shared.pool.get(slot).packet);
        let mut output = self.output(id);
        output.transmit(start, queued);
        output.trace_start(start, slot);
    }

    /// Sends what a host can send immediately after an input, and schedules its timeout.
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
            // The host had nothing to send while the wire was free.
            output.port.free = now;
            if host.nic.has_packets() || output.port.is_paused() {
                self.transmit_due(now, host);
            }
        } else {
            // In the gap behind a packet that has arrived, no arrival is left to wake the host.
            output.arm(|| host.nic.has_packets());
        }
        self.schedule_wake_of(now, id, host);
    }

    /// Schedules the timeout of a host, unless an earlier one is pending.
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
                    // A free port may have nothing to send.
                    host.next_expiry(now, self.wires.next_free(now, id)),
                ];
                wakes.into_iter().flatten().min()
            }
        };
        let Some(wake) = wake else { return };
        // A later wake-up needs no event: the earlier one finds nothing due, and schedules it.
        if wake < host.wake {
            host.wake = wake;
            self.shared.queue.push(wake, Event::Host(id));
        }
    }
}
