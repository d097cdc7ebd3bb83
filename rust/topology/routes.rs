//! The equal-cost next hops, computed once and looked up once a packet and hop.
//!
//! Destinations are grouped by the edge switch they are attached to. The table holds, for each
//! switch and edge switch, one 32-bit place in a flat list of ports, where the number of
//! candidates stands before the candidates; groups that are alike share a place. At 8,192 hosts
//! (k = 32) that is 2.6 MB, and a look-up touches two cache lines.

use std::collections::{BTreeMap, VecDeque};

use super::{Node, Topology};
use crate::ids::{HostId, LinkId, PortId, SwitchId};
use crate::units::Span;

/// Where the empty group is.
const UNREACHABLE: u32 = 0;
/// Stands in the table where a switch is the destination's own edge switch.
const OWN_EDGE: u32 = u32::MAX;
/// Distance of what was not reached.
const FAR: u32 = u32::MAX;
/// Source routes are told apart by 16 bits.
const MOST_PATHS: u32 = 1 << 16;

/// The way down to a host from its edge switch.
#[derive(Debug, Clone, Copy)]
struct Attachment {
    /// Which column of the table its edge switch has.
    column: u32,
    /// The port towards the host, at its edge switch or at the host it is wired to.
    down: PortId,
    /// 1 if its link is usable, else 0: how many next hops its edge switch has for it.
    usable: u32,
    edge: SwitchId,
}

/// Equal-cost (fewest links) next hops from every switch to every host.
///
/// Candidates are ordered by the neighbour's switch id, then by link id.
#[derive(Debug, Clone)]
pub struct Routes {
    attachments: Vec<Attachment>,
    host_ports: Vec<PortId>,
    delays: Vec<Span>,
    port_switch: Vec<SwitchId>,
    /// `table[switch * columns + column]`, see [`Self::next_hops`].
    table: Vec<u32>,
    columns: u32,
    /// Groups of candidates, each after its length.
    groups: Vec<PortId>,
}

impl Routes {
    /// What [`Self::edge_of`] says of a host that is wired to another host.
    pub const NO_EDGE: SwitchId = SwitchId(u32::MAX);

    /// The next hops over links that are `usable`.
    pub fn new(topology: &Topology, usable: &dyn Fn(LinkId) -> bool) -> Self {
        let usable: Vec<bool> =
            (0u32..).zip(topology.links()).map(|(id, _)| usable(LinkId(id))).collect();
        let (attachments, edges) = attach(topology, &usable);
        let neighbours = Neighbours::of(topology, &usable);
        let mut groups = Groups::new(topology.switches().len());
        let mut table = vec![UNREACHABLE; topology.switches().len() * edges.len()];
        let mut search = Search::new(topology.switches().len());
        for (column, &edge) in edges.iter().enumerate() {
            search.run(&neighbours, edge);
            for switch in 0..topology.switches().len() {
                let place = if switch == edge.index() {
                    OWN_EDGE
                } else {
                    groups.place(switch, search.closer(&neighbours, switch))
                };
                table[switch * edges.len() + column] = place;
            }
        }
        let arrives = |port: u32| topology.ends_of(PortId(port)).1;
        let ports = u32::try_from(2 * topology.links().len()).expect("ids are 32 bits");
        let hosts = 0..topology.host_count();
        Self {
            attachments,
            host_ports: hosts.map(|host| topology.host_port(HostId(host))).collect(),
            delays: topology.links().iter().map(|link| link.delay).collect(),
            port_switch: (0..ports)
                .map(|port| arrives(port).switch().unwrap_or(Self::NO_EDGE))
                .collect(),
            table,
            columns: u32::try_from(edges.len()).expect("ids are 32 bits"),
            groups: groups.ports,
        }
    }

    /// The ports by which `switch` may send towards `dst`; empty if there is no way. At the edge
    /// switch of `dst`, the one port of that host.
    #[inline]
    pub fn next_hops(&self, switch: SwitchId, dst: HostId) -> &[PortId] {
        let to = &self.attachments[dst.index()];
        let place = self.table[switch.index() * self.columns as usize + to.column as usize];
        if place == OWN_EDGE {
            return &std::slice::from_ref(&to.down)[..to.usable as usize];
        }
        self.group(place as usize)
    }

    /// How many edge switches there are.
    pub(super) fn columns(&self) -> usize {
        self.columns as usize
    }

    /// Which of the edge switches `dst` is attached to.
    #[inline]
    pub(super) fn column_of(&self, dst: HostId) -> usize {
        self.attachments[dst.index()].column as usize
    }

    /// The ports by which a switch may send towards an edge switch; `None` if it is that one.
    pub(super) fn candidates(&self, switch: usize, column: usize) -> Option<&[PortId]> {
        let place = self.table[switch * self.columns() + column];
        (place != OWN_EDGE).then(|| self.group(place as usize))
    }

    /// The switch that packets which leave by `port` arrive at.
    pub(super) fn switch_behind(&self, port: PortId) -> SwitchId {
        self.port_switch[port.index()]
    }

    #[inline]
    fn group(&self, place: usize) -> &[PortId] {
        let candidates = self.groups[place].0 as usize;
        &self.groups[place + 1..place + 1 + candidates]
    }

    /// The switch that `host` is attached to; [`Self::NO_EDGE`] if it is wired to another host.
    #[inline]
    pub fn edge_of(&self, host: HostId) -> SwitchId {
        self.attachments[host.index()].edge
    }

    /// True if both hosts are attached to one switch (or to each other).
    #[inline]
    pub fn same_edge(&self, a: HostId, b: HostId) -> bool {
        self.edge_of(a) == self.edge_of(b)
    }

    /// Links on a shortest path from host to host; 0 if there is none.
    pub fn hops(&self, src: HostId, dst: HostId) -> u32 {
        let mut hops = 0;
        self.walk(src, dst, 0, |_, _| hops += 1);
        hops
    }

    /// Propagation delay of the first shortest path; zero if there is none.
    pub fn delay(&self, src: HostId, dst: HostId) -> Span {
        let mut delay = Span::ZERO;
        self.walk(src, dst, 0, |port, _| delay += self.delays[port.link().index()]);
        delay
    }

    /// How many source routes lead from host to host: the product of the numbers of candidates on
    /// the way that always takes the first, at most 65,536; 1 at one edge switch, 0 if there is
    /// no way.
    pub fn path_count(&self, src: HostId, dst: HostId) -> u32 {
        let mut paths = 0u32;
        self.walk(src, dst, 0, |_, candidates| {
            paths = paths.max(1).saturating_mul(candidates).min(MOST_PATHS);
        });
        paths
    }

    /// How many candidates there are at each switch on the way that always takes the first.
    pub fn choices(&self, src: HostId, dst: HostId) -> Vec<u32> {
        let mut choices = Vec::new();
        self.walk(src, dst, 0, |_, candidates| choices.push(candidates));
        choices
    }

    /// The ports of source route `path`, from the sending host's own to the last switch's port to
    /// the receiving host; empty if there is no way.
    ///
    /// Each switch with n > 1 candidates takes number `path % n` and goes on with `path / n`.
    pub fn path_ports(&self, src: HostId, dst: HostId, path: u32) -> Vec<PortId> {
        let mut ports = Vec::new();
        self.walk(src, dst, path, |port, _| ports.push(port));
        ports
    }

    /// Tells `visit` each port on the way and how many candidates it was taken from; nothing if
    /// there is no way to `dst`.
    fn walk(&self, src: HostId, dst: HostId, path: u32, mut visit: impl FnMut(PortId, u32)) {
        let (from, to) = (&self.attachments[src.index()], &self.attachments[dst.index()]);
        let first = self.host_ports[src.index()];
        if src == dst || from.usable * to.usable == 0 {
            return;
        }
        if from.edge == Self::NO_EDGE {
            visit(first, 1);
            return;
        }
        if self.next_hops(from.edge, dst).is_empty() {
            return;
        }
        visit(first, 1);
        let (mut switch, mut path) = (from.edge, path);
        // Every next hop is one link closer, so this ends at the edge switch of `dst`.
        while switch != Self::NO_EDGE {
            let candidates = self.next_hops(switch, dst);
            let count = u32::try_from(candidates.len()).expect("ids are 32 bits");
            let port = candidates[(path % count) as usize];
            path /= count;
            visit(port, count);
            switch = self.port_switch[port.index()];
        }
    }
}

/// How each host is attached, and the edge switches in order of their ids.
fn attach(topology: &Topology, usable: &[bool]) -> (Vec<Attachment>, Vec<SwitchId>) {
    let hosts = || (0..topology.host_count()).map(HostId);
    let mut edges: Vec<SwitchId> = hosts().filter_map(|host| topology.edge_of(host)).collect();
    edges.sort_unstable();
    edges.dedup();
    let mut columns = vec![0; topology.switches().len()];
    for (column, edge) in (0u32..).zip(&edges) {
        columns[edge.index()] = column;
    }
    let attachment = |host| {
        let up = topology.host_port(host);
        let edge = topology.edge_of(host);
        Attachment {
            column: edge.map_or(0, |edge| columns[edge.index()]),
            down: up.reverse(),
            usable: u32::from(usable[up.link().index()]),
            edge: edge.unwrap_or(Routes::NO_EDGE),
        }
    };
    (hosts().map(attachment).collect(), edges)
}

/// Usable ports between switches with where they lead, by the switch that they leave.
struct Neighbours {
    first: Vec<usize>,
    ports: Vec<(SwitchId, PortId)>,
}

impl Neighbours {
    fn of(topology: &Topology, usable: &[bool]) -> Self {
        let mut first = vec![0];
        let mut ports: Vec<(SwitchId, PortId)> = Vec::new();
        for switch in 0..topology.switches().len() {
            let id = SwitchId(u32::try_from(switch).expect("ids are 32 bits"));
            let from = ports.len();
            let leads = |&port: &PortId| match topology.ends_of(port).1 {
                Node::Switch(next) if usable[port.link().index()] => Some((next, port)),
                _ => None,
            };
            ports.extend(topology.ports_of(id).iter().filter_map(leads));
            ports[from..].sort_unstable();
            first.push(ports.len());
        }
        Self { first, ports }
    }

    fn of_switch(&self, switch: usize) -> &[(SwitchId, PortId)] {
        &self.ports[self.first[switch]..self.first[switch + 1]]
    }
}

/// Breadth-first search over switches, with its memory kept from search to search.
struct Search {
    distance: Vec<u32>,
    queue: VecDeque<SwitchId>,
    closer: Vec<PortId>,
}

impl Search {
    fn new(switches: usize) -> Self {
        Self { distance: vec![FAR; switches], queue: VecDeque::new(), closer: Vec::new() }
    }

    /// Distances of all switches from `edge`.
    fn run(&mut self, neighbours: &Neighbours, edge: SwitchId) {
        self.distance.fill(FAR);
        self.distance[edge.index()] = 0;
        self.queue.push_back(edge);
        while let Some(switch) = self.queue.pop_front() {
            let next = self.distance[switch.index()] + 1;
            for &(neighbour, _) in neighbours.of_switch(switch.index()) {
                if self.distance[neighbour.index()] == FAR {
                    self.distance[neighbour.index()] = next;
                    self.queue.push_back(neighbour);
                }
            }
        }
    }

    /// The ports of `switch` to neighbours that are one link closer.
    fn closer(&mut self, neighbours: &Neighbours, switch: usize) -> &[PortId] {
        self.closer.clear();
        let own = self.distance[switch];
        if own != FAR {
            let nearer = neighbours.of_switch(switch).iter();
            let nearer = nearer.filter(|(next, _)| self.distance[next.index()] + 1 == own);
            self.closer.extend(nearer.map(|(_, port)| *port));
        }
        &self.closer
    }
}

/// Groups of candidates, each stored once.
struct Groups {
    ports: Vec<PortId>,
    /// For each switch, its groups and the one used last: neighbouring columns are mostly alike.
    known: Vec<BTreeMap<Box<[PortId]>, u32>>,
    last: Vec<u32>,
}

impl Groups {
    fn new(switches: usize) -> Self {
        let known = vec![BTreeMap::new(); switches];
        Self { ports: vec![PortId(0)], known, last: vec![UNREACHABLE; switches] }
    }

    fn place(&mut self, switch: usize, candidates: &[PortId]) -> u32 {
        if candidates.is_empty() {
            return UNREACHABLE;
        }
        let last = self.last[switch] as usize;
        let length = self.ports[last].0 as usize;
        if &self.ports[last + 1..last + 1 + length] == candidates {
            return self.last[switch];
        }
        let place = self.known[switch].get(candidates).copied().unwrap_or_else(|| {
            let place = u32::try_from(self.ports.len()).expect("ids are 32 bits");
            self.ports.push(PortId(u32::try_from(candidates.len()).expect("ids are 32 bits")));
            self.ports.extend_from_slice(candidates);
            self.known[switch].insert(candidates.into(), place);
            place
        });
        self.last[switch] = place;
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{FatTree, LeafSpine};
    use crate::units::{BitRate, Fraction};

    const RATE: BitRate = BitRate::from_gbps(400);

    fn leaf_spine(leaves: u32, spines: u32, parallel_links: u32) -> Topology {
        let shape = LeafSpine {
            leaves,
            spines,
            hosts_per_leaf: 2,
            host_rate: RATE,
            fabric_rate: RATE,
            delay: Span::from_ns(500),
            parallel_links,
        };
        shape.build().unwrap()
    }

    fn fat_tree(k: u32) -> Topology {
        let shape = FatTree {
            k,
            tiers: 3,
            oversubscription: Fraction::ONE,
            host_rate: RATE,
            fabric_rate: RATE,
            delay: Span::from_ns(500),
            parallel_links: 1,
        };
        shape.build().unwrap()
    }

    fn names(topology: &Topology, ports: &[PortId]) -> Vec<String> {
        let name = |port: &PortId| topology.node_name(topology.ends_of(*port).1).to_owned();
        ports.iter().map(name).collect()
    }

    #[test]
    fn a_leaf_spine_offers_every_spine_up_and_one_port_down() {
        let topology = leaf_spine(3, 4, 1);
        let routes = Routes::new(&topology, &|_| true);
        let hops = |switch, dst| names(&topology, routes.next_hops(SwitchId(switch), HostId(dst)));
        assert_eq!(hops(0, 5), ["spine0", "spine1", "spine2", "spine3"]);
        assert_eq!(hops(0, 1), ["host1"]);
        assert_eq!(hops(4, 5), ["leaf2"]);
        assert_eq!(routes.edge_of(HostId(3)), SwitchId(1));
        assert!(routes.same_edge(HostId(2), HostId(3)) && !routes.same_edge(HostId(1), HostId(2)));
        assert_eq!((routes.hops(HostId(0), HostId(5)), routes.hops(HostId(0), HostId(1))), (4, 2));
        assert_eq!(routes.delay(HostId(0), HostId(5)), Span::from_us(2));
        let counts =
            (routes.path_count(HostId(0), HostId(5)), routes.path_count(HostId(0), HostId(1)));
        assert_eq!(counts, (4, 1));
    }

    #[test]
    fn parallel_links_are_candidates_of_their_own_in_order_of_spine_and_link() {
        let topology = leaf_spine(2, 2, 2);
        let routes = Routes::new(&topology, &|_| true);
        let up = routes.next_hops(SwitchId(0), HostId(2));
        let links: Vec<_> = up.iter().map(|port| topology.link_name(port.link())).collect();
        assert_eq!(links, ["leaf0-spine0#0", "leaf0-spine0#1", "leaf0-spine1#0", "leaf0-spine1#1"]);
        assert_eq!(routes.path_count(HostId(0), HostId(2)), 8, "two links down from each spine");
    }

    #[test]
    fn every_next_hop_is_one_link_closer() {
        for topology in [leaf_spine(4, 3, 2), fat_tree(4), fat_tree(6)] {
            let routes = Routes::new(&topology, &|_| true);
            let rest = |switch: SwitchId, dst| {
                let (mut at, mut links) = (Node::Switch(switch), 0);
                while let Node::Switch(switch) = at {
                    at = topology.ends_of(routes.next_hops(switch, dst)[0]).1;
                    links += 1;
                }
                assert_eq!(at, Node::Host(dst));
                links
            };
            for switch in (0..topology.switches().len() as u32).map(SwitchId) {
                for dst in (0..topology.host_count()).map(HostId) {
                    for &port in routes.next_hops(switch, dst) {
                        let (from, to) = topology.ends_of(port);
                        assert_eq!(from, Node::Switch(switch));
                        let left = to.switch().map_or(0, |next| rest(next, dst));
                        assert_eq!(left + 1, rest(switch, dst));
                    }
                }
            }
        }
    }

    #[test]
    fn a_source_route_means_the_same_core_from_every_pod_and_back() {
        let k = 8;
        let half = k / 2;
        let topology = fat_tree(k);
        let routes = Routes::new(&topology, &|_| true);
        let per_pod = half * half;
        for (src, dst) in [(0, per_pod), (3 * per_pod + 5, 1), (7 * per_pod + 2, 2 * per_pod)] {
            let (src, dst) = (HostId(src), HostId(dst));
            assert_eq!(routes.path_count(src, dst), half * half);
            for path in 0..half * half {
                let core = format!("core{}", path % half * half + path / half);
                for (from, to) in [(src, dst), (dst, src)] {
                    let ports = routes.path_ports(from, to, path);
                    assert_eq!(ports.len() as u32, routes.hops(from, to));
                    assert_eq!(names(&topology, &ports)[2], core, "path {path}");
                    assert_eq!(topology.ends_of(ports[5]).1, Node::Host(to));
                }
            }
        }
        let in_pod = routes.path_ports(HostId(0), HostId(half), 3);
        assert_eq!(names(&topology, &in_pod), ["pod0-edge0", "pod0-agg3", "pod0-edge1", "host4"]);
    }

    #[test]
    fn unusable_links_are_routed_around_until_nothing_is_left() {
        let topology = leaf_spine(3, 2, 1);
        let dead = [topology.link_named("leaf0-spine0").unwrap()];
        let routes = Routes::new(&topology, &|link| !dead.contains(&link));
        let hops = |switch, dst| names(&topology, routes.next_hops(SwitchId(switch), HostId(dst)));
        assert_eq!(hops(0, 4), ["spine1"]);
        assert_eq!(hops(1, 0), ["spine1"], "routing elsewhere avoids the dead end");
        assert_eq!(hops(1, 4), ["spine0", "spine1"]);
        let cut = topology.links_of(SwitchId(0)).filter(|link| topology.is_fabric_link(*link));
        let cut: Vec<_> = cut.chain([LinkId(5)]).collect();
        let routes = Routes::new(&topology, &|link| !cut.contains(&link));
        assert!(routes.next_hops(SwitchId(0), HostId(4)).is_empty());
        assert!(routes.next_hops(SwitchId(2), HostId(5)).is_empty(), "the host's own link");
        for (src, dst) in [(0, 4), (4, 0), (4, 5), (5, 4), (3, 3)] {
            let (src, dst) = (HostId(src), HostId(dst));
            assert_eq!((routes.hops(src, dst), routes.path_count(src, dst)), (0, 0));
            assert!(routes.path_ports(src, dst, 0).is_empty());
        }
        assert_eq!(routes.hops(HostId(0), HostId(1)), 2);
    }

    #[test]
    fn hosts_back_to_back_have_one_path_of_one_link() {
        let ends = [Node::Host(HostId(0)), Node::Host(HostId(1))];
        let link = crate::topology::Link { ends, rate: RATE, delay: Span::from_ns(7) };
        let topology = Topology::new(vec!["a".into(), "b".into()], vec![], vec![link]).unwrap();
        let routes = Routes::new(&topology, &|_| true);
        let (a, b) = (HostId(0), HostId(1));
        assert_eq!((routes.hops(a, b), routes.path_count(a, b)), (1, 1));
        assert_eq!(routes.delay(b, a), Span::from_ns(7));
        assert_eq!(routes.path_ports(b, a, 9), [PortId(1)]);
        assert_eq!(routes.edge_of(a), Routes::NO_EDGE);
        assert!(routes.same_edge(a, b));
    }

    #[test]
    fn eight_thousand_hosts_fit_into_a_few_megabytes() {
        let topology = fat_tree(32);
        let routes = Routes::new(&topology, &|_| true);
        assert_eq!((topology.host_count(), topology.switches().len()), (8_192, 1_280));
        assert_eq!(routes.table.len() * size_of::<u32>(), 1_280 * 512 * 4);
        assert!(routes.groups.len() < 100_000, "{}", routes.groups.len());
        assert_eq!(routes.path_count(HostId(0), HostId(8_191)), 256);
    }
}
