//! The round-trip time that NICs are configured with.

use crate::ids::HostId;
use crate::nic::NicConfig;
use crate::topology::{Node, Routes, Topology};
use crate::units::{Bytes, Span};

/// What the time of a packet on an idle path depends on.
struct IdlePaths<'a> {
    topology: &'a Topology,
    routes: &'a Routes,
    forwarding_delay: Span,
}

/// Round-trip time of a full packet and its acknowledgement on the longest idle path: the path
/// from the host farthest from host 0 to the host farthest from that one, which in leaf-spines
/// and fat-trees is a longest one. `forwarding_delay` is that of each switch.
pub fn base_rtt(
    topology: &Topology,
    routes: &Routes,
    nic: &NicConfig,
    forwarding_delay: Span,
) -> Span {
    let paths = IdlePaths { topology, routes, forwarding_delay };
    let hosts = || (0..topology.host_count()).map(HostId);
    let farthest = |from: HostId| hosts().max_by_key(|&to| paths.round_trip(nic, from, to));
    let Some(from) = farthest(HostId(0)) else { return Span::ZERO };
    farthest(from).map_or(Span::ZERO, |to| paths.round_trip(nic, from, to))
}

impl IdlePaths<'_> {
    fn round_trip(&self, nic: &NicConfig, from: HostId, to: HostId) -> Span {
        self.one_way(from, to, nic.payload + nic.header) + self.one_way(to, from, nic.ack.bytes)
    }

    fn one_way(&self, from: HostId, to: HostId, bytes: Bytes) -> Span {
        self.routes.path_ports(from, to, 0).into_iter().fold(Span::ZERO, |sum, port| {
            let link = self.topology.link(port.link());
            let forwarding = match self.topology.ends_of(port).1 {
                Node::Switch(_) => self.forwarding_delay,
                Node::Host(_) => Span::ZERO,
            };
            sum + link.rate.time_for(bytes) + link.delay + forwarding
        })
    }
}
