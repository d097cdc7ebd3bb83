//! Wires of hosts with several ports.
//!
//! The NIC is polled lazily ([`PortPolls`]), as with one port. Its packets start on any free port,
//! so one poll serves all ports. Each port has its own arrivals and its own event of a free wire,
//! and the earliest of them settles all ports of the host.

use super::Network;
use crate::endpoint::{Endpoints, Host, PortPolls, PortStart, Ports};
use crate::ids::{HostId, PortId};
use crate::packet::PlaneMask;
use crate::topology::{Node, Topology};
use crate::units::Time;

/// Wires of all hosts, if hosts have several.
#[derive(Debug, Default)]
pub(super) struct Wires {
    planes: usize,
    /// Ports, by host and then by plane.
    ports: Vec<PortId>,
    /// Time at which each of these ports is free. A copy next to each other, because every poll of
    /// a host reads the times of all planes.
    free: Vec<Time>,
    /// Polling state, by host.
    polls: Vec<PortPolls>,
}

impl Wires {
    /// Creates the wires of a fabric; empty if hosts have one port.
    pub(super) fn new(topology: &Topology) -> Self {
        let planes = topology.planes();
        if planes.count() == 1 {
            return Self::default();
        }
        let ports = planes.all_ports().to_vec();
        Self {
            planes: planes.count() as usize,
            free: vec![Time::ZERO; ports.len()],
            ports,
            polls: vec![PortPolls::from(Time::ZERO); topology.host_count() as usize],
        }
    }

    /// True if hosts have one port.
    #[inline(always)]
    pub(super) fn are_single(&self) -> bool {
        self.polls.is_empty()
    }

    /// Returns the ports of a host.
    fn ports(&self, host: HostId) -> &[PortId] {
        &self.ports[host.index() * self.planes..][..self.planes]
    }

    /// Returns the time at which each port of a host is free.
    fn free(&self, host: HostId) -> &[Time] {
        &self.free[host.index() * self.planes..][..self.planes]
    }

    /// Returns the time from which a host's packets wait for a port and not for their rate: the
    /// first port is free, and the NIC has been polled. A free port may still be paused.
    #[inline(never)]
    pub(super) fn ready(&self, host: HostId) -> Time {
        let first_free = self.free(host).iter().copied().min().unwrap_or(Time::ZERO);
        first_free.max(self.polls[host.index()].at())
    }
}

impl Wires {
    /// Returns when the first busy port of a host becomes free; `now` if no port is busy.
    pub(super) fn next_free(&self, now: Time, host: HostId) -> Time {
        self.free(host).iter().copied().filter(|free| *free > now).min().unwrap_or(now)
    }
}

impl Network {
    /// Sends the packets that the NIC would have sent by now, each at the first time at which a
    /// wire was free and its rate permitted.
    #[inline(never)]
    pub(super) fn transmit_from_ports(&mut self, now: Time, host: &mut Host) {
        let Node::Host(id) = self.ports[host.port.index()].start.node() else { return };
        // Also when all wires are busy: the last packet on one of them may just have arrived.
        while self.wires.polls[id.index()].is_due(now) {
            let paused = self.paused_ports(id);
            let free = &self.wires.free[id.index() * self.wires.planes..][..self.wires.planes];
            let free = free.iter().copied();
            let ports = Ports { free, paused, answers_pass: host.nic.control_has_priority() };
            let next = self.wires.polls[id.index()].poll(now, &mut host.nic, ports);
            let Some(PortStart { at, plane, packet }) = next else { break };
            let port = self.wires.ports(id)[plane as usize];
            self.inject(port, at, host, packet);
            let wire = id.index() * self.wires.planes + plane as usize;
            // Keeps the copy of the port's time up to date.
            self.wires.free[wire] = self.ports[port.index()].free;
        }
        self.arm_ports(now, id, host);
    }

    /// Returns the paused ports of a host.
    fn paused_ports(&self, host: HostId) -> PlaneMask {
        // Without flow control nothing pauses a port: skip the ports.
        if !self.shared.switching.has_flow_control() {
            return PlaneMask::NONE;
        }
        let ports = (0u32..).zip(self.wires.ports(host));
        ports.fold(PlaneMask::NONE, |paused, (plane, port)| {
            if self.ports[port.index()].is_paused() { paused.with(plane) } else { paused }
        })
    }

    /// Arms the busy ports of a host that have no packet on the wire.
    fn arm_ports(&mut self, now: Time, id: HostId, host: &Host) {
        // Without packets no port needs an event: the next input polls the NIC anyway.
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

    /// Sends what a host with several ports can send immediately after an input.
    #[inline(never)]
    pub(super) fn follow_up_ports(&mut self, now: Time, id: HostId, endpoints: &mut Endpoints) {
        // Everything before the input has been sent, so polling restarts now.
        self.wires.polls[id.index()] = PortPolls::from(now);
        self.transmit_from_ports(now, endpoints.host_mut(id));
    }

    /// Notifies the NIC of a host that its port in a plane has failed, or works again.
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
        // Packets that started before the failure was detected keep their port.
        self.settle_before(now, port, endpoints);
        endpoints.handle_plane(now, id, plane as u32, is_up);
        self.follow_up(now, id, endpoints);
    }
}
