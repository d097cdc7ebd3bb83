//! A host's wire: packets leave the NIC when the wire is free and their rate lets them.
//!
//! A NIC is asked late for what it has to send, as the ports of switches are settled late. Before
//! anything goes into a host, what its NIC would have sent until then has to leave
//! ([`Network::transmit_from`]); afterwards its wire and its wake-up have to be looked at again
//! ([`Network::follow_up`]).

use super::{Event, Network};
use crate::endpoint::{Endpoints, Host};
use crate::ids::{HostId, PortId};
use crate::packet::Packet;
use crate::units::Time;

impl Network {
    /// Sends what the NIC would have sent by now, each packet at the moment it could go: when the
    /// wire was free and its rate let it. Nothing has gone into the NIC since, so it decides as it
    /// would have then.
    #[inline]
    pub(in crate::fabric) fn transmit_from(&mut self, now: Time, host: &mut Host) {
        let port = host.port;
        if self.ports[port.index()].paused {
            self.transmit_control_from(now, host);
            return;
        }
        while self.ports[port.index()].free <= now && host.nic.has_packets() {
            let free = self.ports[port.index()].free;
            match (host.nic.poll_transmit(free), host.nic.next_paced()) {
                (Some(packet), _) => self.inject(port, free, packet),
                // The wire was free and the rate was not: the packet goes when its rate let it.
                (None, Some(start)) if start <= now => self.ports[port.index()].free = start,
                (None, _) => break,
            }
        }
        // With the wire free, what is left waits for its rate: the host's own event will come.
        let busy = self.ports[port.index()].free > now;
        self.arm(port, || busy && host.nic.has_packets());
    }

    /// The same while the host's port is paused: only answers go, if they have priority.
    fn transmit_control_from(&mut self, now: Time, host: &mut Host) {
        let port = host.port;
        while self.ack_priority && self.ports[port.index()].free <= now {
            let free = self.ports[port.index()].free;
            let Some(packet) = host.nic.poll_transmit_control() else { break };
            self.inject(port, free, packet);
        }
        // Data that its rate let go meanwhile goes when the port is resumed, not before.
        let wire = &mut self.ports[port.index()];
        wire.free = wire.free.max(now);
        let busy = wire.free > now;
        self.arm(port, || busy && host.nic.has_packets());
    }

    /// Puts a packet from a NIC on its wire, which is free at `start`.
    fn inject(&mut self, id: PortId, start: Time, packet: Packet) {
        let slot = self.pool.insert(packet);
        self.ports[id.index()].transmit(&mut self.pool, slot, start);
        self.trace_start(start, id, slot);
    }

    /// Something went into a host: sends what goes at once, and schedules its wake-up.
    #[inline]
    pub(in crate::fabric) fn follow_up(
        &mut self,
        now: Time,
        id: HostId,
        endpoints: &mut Endpoints,
    ) {
        let host = endpoints.host_mut(id);
        let port = &mut self.ports[host.port.index()];
        if port.free <= now {
            // Until now there was nothing to send.
            port.free = now;
            self.transmit_from(now, host);
        } else {
            // In the gap behind a packet that has arrived no arrival is left to wake the host.
            self.arm(host.port, || host.nic.has_packets());
        }
        self.schedule_wake(now, id, endpoints);
    }

    /// Schedules the wake-up that a host asks for, unless an earlier one is scheduled.
    #[inline]
    pub(in crate::fabric) fn schedule_wake(
        &mut self,
        now: Time,
        id: HostId,
        endpoints: &mut Endpoints,
    ) {
        let host = endpoints.host_mut(id);
        let free = self.ports[host.port.index()].free;
        let Some(wake) = host.next_wake(now, free) else { return };
        // A later wake-up needs no event of its own: the earlier one finds nothing due, and
        // schedules it.
        if wake < host.wake {
            host.wake = wake;
            self.queue.push(wake, Event::Host(id));
        }
    }
}
