//! The wires of a host with several ports.
//!
//! As with one port, the NIC is polled lazily: before an input, for every time since the last one
//! at which a wire became free or a rate permitted a packet. The packets that it gives then start
//! on any of the ports that are free, so that one search serves all of them: each port has its
//! arrivals and its event of a free wire, and whichever comes first settles all ports.

use super::Network;
use crate::endpoint::{Endpoints, Host};
use crate::ids::{HostId, PortId};
use crate::nic::FreePorts;
use crate::packet::PlaneMask;
use crate::topology::{Node, Topology};
use crate::units::Time;

/// The wires of all hosts, where each has several.
#[derive(Debug, Default)]
pub(super) struct Wires {
    planes: usize,
    /// By host, then by plane.
    ports: Vec<PortId>,
    /// When each of these ports is free: kept beside the ports, since each look at a host reads
    /// those of all planes.
    free: Vec<Time>,
    /// By host.
    polls: Vec<Polls>,
}

/// Until when the NIC of a host has been polled.
#[derive(Debug, Clone, Copy)]
struct Polls {
    /// It has given all that it could by this time.
    at: Time,
    /// It gives nothing before this time, unless an input comes first.
    next: Time,
}

impl Wires {
    /// The wires of a fabric; empty if hosts have one port.
    pub(super) fn new(topology: &Topology) -> Self {
        let planes = topology.planes();
        if planes.count() == 1 {
            return Self::default();
        }
        let ports = planes.all_ports().to_vec();
        let idle = Polls { at: Time::ZERO, next: Time::ZERO };
        Self {
            planes: planes.count() as usize,
            free: vec![Time::ZERO; ports.len()],
            ports,
            polls: vec![idle; topology.host_count() as usize],
        }
    }

    /// True if hosts have one port.
    #[inline(always)]
    pub(super) fn are_single(&self) -> bool {
        self.polls.is_empty()
    }

    /// The ports of a host.
    fn ports(&self, host: HostId) -> &[PortId] {
        &self.ports[host.index() * self.planes..][..self.planes]
    }

    /// When each port of a host is free.
    fn free(&self, host: HostId) -> &[Time] {
        &self.free[host.index() * self.planes..][..self.planes]
    }

    /// Since when a host's packets wait for a port and not for their time: the first port is free
    /// then, and the NIC has been polled. A port that is free may still be paused.
    #[inline(never)]
    pub(super) fn ready(&self, host: HostId) -> Time {
        let first_free = self.free(host).iter().copied().min().unwrap_or(Time::ZERO);
        first_free.max(self.polls[host.index()].at)
    }

    /// The planes whose ports are free at `at`, and when the next of the others is.
    fn look(&self, host: HostId, at: Time) -> (PlaneMask, Time) {
        let (mut mask, mut next) = (PlaneMask::NONE, Time::NEVER);
        for (plane, &free) in (0u32..).zip(self.free(host)) {
            if free <= at {
                mask = mask.with(plane);
            } else {
                next = next.min(free);
            }
        }
        (mask, next)
    }
}

impl Network {
    /// Sends the packets that the NIC would have sent by now, each at the first time at which the
    /// wire of a port was free and its rate permitted.
    #[inline(never)]
    pub(super) fn transmit_from_ports(&mut self, now: Time, host: &mut Host) {
        let Node::Host(id) = self.ports[host.port.index()].start.node() else { return };
        if self.wires.polls[id.index()].next > now {
            // The last packet on a busy wire may just have arrived.
            return self.arm_ports(now, id, host);
        }
        let mut at = self.wires.polls[id.index()].at;
        let next = loop {
            if !host.nic.has_packets() {
                break Time::NEVER;
            }
            let (free, next_free) = self.wires.look(id, at);
            let free = self.free_ports(id, free);
            if let Some((packet, plane)) = host.nic.poll_transmit_on(at, free) {
                let port = self.wires.ports(id)[plane as usize];
                self.inject(port, at, host, packet);
                let wire = id.index() * self.wires.planes + plane as usize;
                self.wires.free[wire] = self.ports[port.index()].free;
                continue;
            }
            // One whose time has come already waits for a port.
            let paced = host.nic.next_paced().filter(|&start| start > at);
            let next = next_free.min(paced.unwrap_or(Time::NEVER));
            if next > now {
                break next;
            }
            at = next;
        };
        self.wires.polls[id.index()] = Polls { at, next };
        self.arm_ports(now, id, host);
    }

    /// Which free ports of a host take data, and which take answers.
    fn free_ports(&self, host: HostId, free: PlaneMask) -> FreePorts {
        if !self.shared.switching.has_flow_control() {
            return FreePorts { data: free, answers: free };
        }
        let ports = (0u32..).zip(self.wires.ports(host));
        let data = ports.fold(free, |data, (plane, port)| {
            if self.ports[port.index()].is_paused() { data.without(plane) } else { data }
        });
        FreePorts { data, answers: if self.ack_priority { free } else { data } }
    }

    /// Schedules the events of the ports of a host that are busy without a packet on the wire.
    fn arm_ports(&mut self, now: Time, id: HostId, host: &Host) {
        if !host.nic.has_packets() {
            return;
        }
        for plane in 0..self.wires.planes {
            if self.wires.free(id)[plane] > now {
                let port = self.wires.ports(id)[plane];
                self.output(port).arm(|| true);
            }
        }
    }

    /// Sends what a host with several ports can send at once after an input.
    #[inline(never)]
    pub(super) fn follow_up_ports(&mut self, now: Time, id: HostId, endpoints: &mut Endpoints) {
        // What the NIC could send before the input is sent: from now on it is polled anew.
        self.wires.polls[id.index()] = Polls { at: now, next: now };
        self.transmit_from_ports(now, endpoints.host_mut(id));
    }

    /// The NIC of a host detects that its port in a plane is dead, or works again.
    pub(super) fn handle_host_port(
        &mut self,
        now: Time,
        port: PortId,
        is_up: bool,
        endpoints: &mut Endpoints,
    ) {
        let Node::Host(id) = self.ports[port.index()].start.node() else { return };
        let plane = self.wires.ports(id).iter().position(|&it| it == port);
        let Some(plane) = plane.filter(|_| !self.wires.are_single()) else { return };
        self.settle_before(now, port, endpoints);
        endpoints.handle_plane(now, id, plane as u32, is_up);
        self.follow_up(now, id, endpoints);
    }
}
