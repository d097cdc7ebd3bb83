//! Round-trip times and bandwidth-delay products, computed as in the family's `third.cc`: twice the
//! propagation, plus the serialization of one packet's payload on each link in one direction.

use std::collections::BTreeMap;

use crate::ids::{HostId, SwitchId};
use crate::nic::RoundTrips;
use crate::topology::{Routes, Topology};
use crate::units::{BitRate, Bytes, Span};

/// The largest values over all pairs of hosts (`GLOBAL_T 1`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Largest {
    /// `maxRtt`.
    pub(super) round_trip: Span,
    /// `maxBdp`.
    pub(super) product: Bytes,
}

/// The paths between hosts, grouped: a path depends only on how its two hosts are attached.
struct Pairs<'a> {
    topology: &'a Topology,
    routes: Routes,
    payload: Bytes,
    /// The kind of each host.
    kinds: Vec<u32>,
    /// Up to two hosts of each kind, because a pair of hosts of the same kind is a path too.
    examples: Vec<Vec<HostId>>,
}

/// How a host is attached: the switch, and the rate and the delay of the link. A host without a
/// switch forms a kind of its own.
type Attachment = (Option<SwitchId>, Option<HostId>, BitRate, Span);

/// Returns the largest round trip and bandwidth-delay product of all pairs of hosts.
pub(super) fn largest(topology: &Topology, payload: Bytes) -> Largest {
    let pairs = Pairs::new(topology, payload);
    let mut largest = Largest::default();
    for (from, to) in pairs.all() {
        if let Some((span, product)) = pairs.example(from, to).and_then(|pair| pairs.of(pair)) {
            largest.round_trip = largest.round_trip.max(span);
            largest.product = largest.product.max(product);
        }
    }
    largest
}

/// Returns the round trip of each pair of hosts (`GLOBAL_T 0`).
pub(super) fn of_pairs(topology: &Topology, payload: Bytes) -> RoundTrips {
    let pairs = Pairs::new(topology, payload);
    let mut spans = vec![vec![Span::ZERO; pairs.examples.len()]; pairs.examples.len()];
    for (from, to) in pairs.all() {
        if let Some((span, _)) = pairs.example(from, to).and_then(|pair| pairs.of(pair)) {
            spans[from][to] = span;
        }
    }
    RoundTrips::new(pairs.kinds, spans)
}

impl<'a> Pairs<'a> {
    fn new(topology: &'a Topology, payload: Bytes) -> Self {
        let mut numbers: BTreeMap<Attachment, usize> = BTreeMap::new();
        let (mut kinds, mut examples) = (Vec::new(), Vec::<Vec<HostId>>::new());
        for host in (0..topology.host_count()).map(HostId) {
            let link = topology.link(topology.host_port(host).link());
            let edge = topology.edge_of(host);
            let alone = edge.is_none().then_some(host);
            let next = numbers.len();
            let kind = *numbers.entry((edge, alone, link.rate, link.delay)).or_insert(next);
            if kind == examples.len() {
                examples.push(Vec::new());
            }
            if examples[kind].len() < 2 {
                examples[kind].push(host);
            }
            kinds.push(u32::try_from(kind).expect("host ids are 32 bits"));
        }
        let routes = Routes::new(topology, &|_| true);
        Self { topology, routes, payload, kinds, examples }
    }

    /// Iterates over all pairs of kinds.
    fn all(&self) -> impl Iterator<Item = (usize, usize)> {
        let count = self.examples.len();
        (0..count).flat_map(move |from| (0..count).map(move |to| (from, to)))
    }

    /// Returns two different hosts of these kinds, if they exist.
    fn example(&self, from: usize, to: usize) -> Option<(HostId, HostId)> {
        let first = *self.examples[from].first()?;
        let other = self.examples[to].iter().find(|&&host| host != first)?;
        Some((first, *other))
    }

    /// Returns the round trip and the bandwidth-delay product of a pair, in whole nanoseconds and
    /// bytes.
    fn of(&self, (from, to): (HostId, HostId)) -> Option<(Span, Bytes)> {
        let ports = self.routes.path_ports(from, to, 0);
        let links = || ports.iter().map(|port| self.topology.link(port.link()));
        let slowest = links().map(|link| link.rate).min()?;
        let packet = |rate: BitRate| self.payload.get() * 8_000_000_000 / rate.as_bps().max(1);
        let ns = links().map(|link| 2 * (link.delay.as_ps() / 1_000) + packet(link.rate)).sum();
        let span = Span::from_ns(ns);
        Some((span, slowest.bytes_in(span)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hpcc::topology;

    const STAR: &str =
        "4 1 3\n0\n0 1 100Gbps 0.001ms 0\n0 2 100Gbps 0.001ms 0\n0 3 100Gbps 0.001ms 0\n";
    const TIERS: &str = "7 3 6\n0 1 2\n0 2 400Gbps 0.001ms 0\n1 2 400Gbps 0.001ms 0\n\
                         0 3 100Gbps 0.001ms 0\n0 4 100Gbps 0.001ms 0\n1 5 100Gbps 0.001ms 0\n\
                         1 6 100Gbps 0.001ms 0\n";

    #[test]
    fn largest_round_trips_equal_those_of_the_simulator() {
        let of = |text| {
            let read = topology::read(text, "topology.txt").unwrap();
            let Largest { round_trip, product } = largest(&read.topology, Bytes::new(1_000));
            (round_trip.as_ps() / 1_000, product.get())
        };
        // maxRtt=4160 maxBdp=52000 and maxRtt=8200 maxBdp=102500.
        assert_eq!((of(STAR), of(TIERS)), ((4_160, 52_000), (8_200, 102_500)));
    }

    #[test]
    fn each_pair_has_its_own_round_trip() {
        let read = topology::read(TIERS, "topology.txt").unwrap();
        let trips = of_pairs(&read.topology, Bytes::new(1_000));
        let between = |from, to| trips.between(HostId(from), HostId(to)).unwrap();
        assert_eq!(between(0, 1), Span::from_ns(4_160));
        assert_eq!((between(0, 2), between(3, 1)), (Span::from_ns(8_200), Span::from_ns(8_200)));
    }
}
