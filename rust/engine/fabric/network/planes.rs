//! The wires of a host with several ports.
//!
//! As with one port, the NIC is polled lazily ([`PortPolls`]). The packets that it gives start on
//! any of the ports that are free, so that one search serves all of them: each port has its
//! arrivals and its event of a free wire, and whichever comes first settles all ports.

use super::Network;
use crate::endpoint::{Endpoints, Host, PortPolls, PortStart, Ports};
use crate::ids::{HostId, PortId};
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
    polls: Vec<PortPolls>,
}

impl Wires {
    /// The wires of a fabric; empty if hosts have one port.
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
        first_free.max(self.polls[host.index()].at())
    }
}

impl Wires {
    /// When the first of the ports of a host that are busy at `now` is free; `now` without one.
    pub(super) fn next_free(&self, now: Time, host: HostId) -> Time {
        self.free(host).iter().copied().filter(|free| *free > now).min().unwrap_or(now)
    }
}

impl Network {
    /// Sends the packets that the NIC would have sent by now, each at the first time at which the
    /// wire of a port was free and its rate permitted.
    #[inline(never)]
    pub(super) fn transmit_from_ports(&mut self, now: Time, host: &mut Host) {
        let Node::Host(id) = self.ports[host.port.index()].start.node() else { return };
        // The last packet on a busy wire may just have arrived.
        while self.wires.polls[id.index()].is_due(now) {
            let paused = self.paused_ports(id);
            let free = &self.wires.free[id.index() * self.wires.planes..][..self.wires.planes];
            let free = free.iter().copied();
            let ports = Ports { free, paused, answers_pass: host.nic.answers_pass() };
            let next = self.wires.polls[id.index()].poll(now, &mut host.nic, ports);
            let Some(PortStart { at, plane, packet }) = next else { break };
            let port = self.wires.ports(id)[plane as usize];
            self.inject(port, at, host, packet);
            let wire = id.index() * self.wires.planes + plane as usize;
            self.wires.free[wire] = self.ports[port.index()].free;
        }
        self.arm_ports(now, id, host);
    }

    /// Which ports of a host are paused.
    fn paused_ports(&self, host: HostId) -> PlaneMask {
        if !self.shared.switching.has_flow_control() {
            return PlaneMask::NONE;
        }
        let ports = (0u32..).zip(self.wires.ports(host));
        ports.fold(PlaneMask::NONE, |paused, (plane, port)| {
            if self.ports[port.index()].is_paused() { paused.with(plane) } else { paused }
        })
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
        self.wires.polls[id.index()] = PortPolls::from(now);
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
