//! The round-trip time that NICs are told.

use crate::ids::HostId;
use crate::nic::NicConfig;
use crate::topology::{Node, Routes, Topology};
use crate::units::{Bytes, Span};

/// Who is wired to whom, and how long a switch takes.
struct Way<'a> {
    topology: &'a Topology,
    routes: &'a Routes,
    forwarding_delay: Span,
}

/// Round-trip time of a full packet and its acknowledgement on the longest idle path: the path
/// from the host farthest from host 0 to the host farthest from that one, which in leaf-spines
/// and fat-trees is a longest one. `forwarding_delay` is what each switch takes.
pub fn base_rtt(
    (topology, routes): (&Topology, &Routes),
    nic: &NicConfig,
    forwarding_delay: Span,
) -> Span {
    let way = Way { topology, routes, forwarding_delay };
    let hosts = || (0..topology.host_count()).map(HostId);
    let farthest = |from: HostId| hosts().max_by_key(|&to| way.round_trip(nic, from, to));
    let Some(from) = farthest(HostId(0)) else { return Span::ZERO };
    farthest(from).map_or(Span::ZERO, |to| way.round_trip(nic, from, to))
}

impl Way<'_> {
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
