//! The round-trip time that NICs are told.

use super::simulation::Setup;
use crate::ids::HostId;
use crate::topology::{Node, Routes};
use crate::units::{Bytes, Span};

/// Round-trip time of a full packet and its acknowledgement on the longest idle path: the path
/// from the host farthest from host 0 to the host farthest from that one, which in leaf-spines
/// and fat-trees is a longest one.
pub(super) fn base_rtt(setup: &Setup, routes: &Routes) -> Span {
    let hosts = || (0..setup.topology.host_count()).map(HostId);
    let farthest = |from: HostId| hosts().max_by_key(|&to| round_trip(setup, routes, from, to));
    let Some(from) = farthest(HostId(0)) else { return Span::ZERO };
    farthest(from).map_or(Span::ZERO, |to| round_trip(setup, routes, from, to))
}

fn round_trip(setup: &Setup, routes: &Routes, from: HostId, to: HostId) -> Span {
    let data = setup.nic.payload + setup.nic.header;
    one_way(setup, routes, from, to, data) + one_way(setup, routes, to, from, setup.nic.ack.bytes)
}

fn one_way(setup: &Setup, routes: &Routes, from: HostId, to: HostId, bytes: Bytes) -> Span {
    routes.path_ports(from, to, 0).into_iter().fold(Span::ZERO, |sum, port| {
        let link = setup.topology.link(port.link());
        let forwarding = match setup.topology.ends_of(port).1 {
            Node::Switch(_) => setup.fabric.forwarding_delay,
            Node::Host(_) => Span::ZERO,
        };
        sum + link.rate.time_for(bytes) + link.delay + forwarding
    })
}
