//! Equal-cost next hops, computed once and looked up once per packet and hop.
//!
//! Destinations are grouped by edge switch. For each switch and edge switch, the table packs the
//! number of candidate ports and their offset in a flat list into 32 bits. Equal groups of a switch
//! share an offset. At 8,192 hosts (k = 32) the table takes 2.6 MB, and a look-up touches two cache
//! lines.

mod search;
mod shared_fabric;

use std::collections::BTreeMap;

use super::Topology;
use crate::ids::{HostId, LinkId, PortId, SwitchId};
use crate::packet::PlaneMask;
use crate::prefetch::prefetch;
use crate::units::Span;
use search::{Neighbours, Search};

/// Table entry without candidates.
const UNREACHABLE: u32 = 0;
/// Low bits of a table entry: the offset of a group in `groups`, whose length precedes its ports.
/// The high bits hold the length.
const OFFSET_BITS: u32 = 26;
/// Length field of a group with this many candidates or more, and of a switch's own hosts.
const LONG: u32 = u32::MAX >> OFFSET_BITS;
/// Table entry of a switch of plane 0 towards its own hosts; plane `p` uses `OWN_EDGE - p`.
const OWN_EDGE: u32 = u32::MAX;
/// Smallest table entry of a switch towards its own hosts; no long group has so high an offset.
const LAST_OWN_EDGE: u32 = OWN_EDGE - (PlaneMask::MAX - 1);
/// Maximum number of source routes of a host pair: 16 bits identify them.
const MAX_PATHS: u32 = 1 << 16;

/// A host's attachment to its edge switch in one plane.
#[derive(Debug, Clone, Copy)]
struct Attachment {
    /// Table column of the edge switch.
    column: u32,
    /// Port towards the host, at its edge switch or at the host that it is wired to.
    down: PortId,
    /// Number of next hops from the edge switch: 1 if the host's link is usable, else 0.
    usable: u32,
    edge: SwitchId,
}

/// The candidate ports of a switch towards a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// No path exists.
    None,
    /// Exactly one port.
    One(PortId),
    /// Two or more ports.
    Multiple(CandidateGroup),
}

/// Position of a switch's candidate ports towards a host; resolved by [`Routes::candidates_at`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CandidateGroup {
    first: u32,
    count: u32,
}

/// Equal-cost (fewest links) next hops from every switch to every host.
///
/// Candidates are ordered by the neighbour's switch id, then by link id. With several planes, a
/// switch has next hops only to the hosts' ports in its own plane.
#[derive(Debug, Clone)]
pub struct Routes {
    /// By plane, then by host.
    attachments: Vec<Attachment>,
    /// Columns of the hosts in plane 0, packed so that look-ups touch few cache lines.
    host_columns: Vec<u32>,
    hosts: u32,
    planes: u32,
    /// Whether every port of a host reaches every port of every other host.
    share_fabric: bool,
    /// By host, then by plane.
    host_ports: Vec<PortId>,
    delays: Vec<Span>,
    port_switch: Vec<SwitchId>,
    /// `table[switch * columns + column]` is the entry of a switch towards an edge switch.
    table: Vec<u32>,
    /// Number of edge switches per plane.
    columns: u32,
    /// Groups of candidates, each preceded by its length.
    groups: Vec<PortId>,
}

impl Routes {
    /// The value of [`Self::edge_of`] for a host that is wired to another host.
    pub const NO_EDGE: SwitchId = SwitchId(u32::MAX);

    /// Computes the next hops over the links for which `usable` returns true.
    pub fn new(topology: &Topology, usable: &dyn Fn(LinkId) -> bool) -> Self {
        let usable: Vec<bool> =
            (0u32..).zip(topology.links()).map(|(id, _)| usable(LinkId(id))).collect();
        let (attachments, edges) = match topology.planes().share_fabric() {
            true => shared_fabric::attach(topology, &usable),
            false => attach(topology, &usable),
        };
        let (table, groups) = next_hop_table(topology, &usable, &edges);
        let arrives = |port: u32| topology.ends_of(PortId(port)).1;
        let ports = u32::try_from(2 * topology.links().len()).expect("ids are 32 bits");
        let hosts = topology.host_count() as usize;
        Self {
            host_columns: attachments.iter().take(hosts).map(|to| to.column).collect(),
            attachments,
            hosts: topology.host_count(),
            planes: topology.planes().count(),
            share_fabric: topology.planes().share_fabric(),
            host_ports: topology.planes().all_ports().to_vec(),
            delays: topology.links().iter().map(|link| link.delay).collect(),
            port_switch: (0..ports)
                .map(|port| arrives(port).switch().unwrap_or(Self::NO_EDGE))
                .collect(),
            table,
            columns: u32::try_from(edges[0].len()).expect("ids are 32 bits"),
            groups,
        }
    }

    /// Returns the number of table entries: switches times edge switches.
    pub fn entries(&self) -> u64 {
        self.table.len() as u64
    }

    /// Returns the candidate ports of `switch` towards `dst`; empty if `dst` is unreachable. At the
    /// edge switch of `dst`, this is the one port towards the host.
    #[inline]
    pub fn next_hops(&self, switch: SwitchId, dst: HostId) -> &[PortId] {
        let entry = self.entry(switch, dst);
        if entry >= LAST_OWN_EDGE {
            // Last hop of every packet. A host whose link is down has no candidates, so `usable`
            // cuts the slice instead of a separate table entry.
            let to = self.attachment(OWN_EDGE - entry, dst);
            return &std::slice::from_ref(&to.down)[..to.usable as usize];
        }
        self.group(entry)
    }

    /// Looks up the same candidates as [`Self::next_hops`]; cheaper if there is only one port.
    #[inline(always)]
    pub(crate) fn lookup(&self, switch: SwitchId, dst: HostId) -> Lookup {
        let entry = self.entry(switch, dst);
        let first = first_of(entry);
        match entry >> OFFSET_BITS {
            0 => Lookup::None,
            1 => Lookup::One(self.groups[first as usize]),
            LONG if entry >= LAST_OWN_EDGE => {
                let to = self.attachment(OWN_EDGE - entry, dst);
                if to.usable == 0 { Lookup::None } else { Lookup::One(to.down) }
            }
            LONG => {
                Lookup::Multiple(CandidateGroup { first, count: self.groups[first as usize - 1].0 })
            }
            count => Lookup::Multiple(CandidateGroup { first, count }),
        }
    }

    /// Returns the table entry of `switch` towards a host.
    #[inline(always)]
    fn entry(&self, switch: SwitchId, dst: HostId) -> u32 {
        let column = self.host_columns[dst.index()];
        self.table[switch.index() * self.columns as usize + column as usize]
    }

    /// Prefetches the cache lines that [`Self::lookup`] reads.
    #[inline(always)]
    pub(crate) fn prefetch(&self, switch: SwitchId, dst: HostId) {
        prefetch(&self.attachments[dst.index()]);
        let column = self.host_columns[dst.index()];
        prefetch(&self.table[switch.index() * self.columns as usize + column as usize]);
    }

    #[inline]
    fn attachment(&self, plane: u32, host: HostId) -> &Attachment {
        &self.attachments[plane as usize * self.hosts as usize + host.index()]
    }

    /// Returns the candidate ports of a [`Lookup::Multiple`].
    #[inline]
    pub(crate) fn candidates_at(&self, group: CandidateGroup) -> &[PortId] {
        &self.groups[group.first as usize..][..group.count as usize]
    }

    /// Returns the number of edge switches per plane.
    pub(super) fn columns(&self) -> usize {
        self.columns as usize
    }

    /// Returns the index of `dst`'s edge switch among the edge switches of a plane.
    #[inline]
    pub(super) fn column_of(&self, dst: HostId) -> usize {
        self.attachments[dst.index()].column as usize
    }

    /// Returns a switch's candidate ports towards an edge switch, or `None` if it is that edge
    /// switch.
    pub(super) fn candidates(&self, switch: usize, column: usize) -> Option<&[PortId]> {
        let entry = self.table[switch * self.columns() + column];
        (entry < LAST_OWN_EDGE).then(|| self.group(entry))
    }

    /// Returns the switch at the other end of `port`.
    pub(super) fn switch_behind(&self, port: PortId) -> SwitchId {
        self.port_switch[port.index()]
    }

    #[inline]
    fn group(&self, entry: u32) -> &[PortId] {
        group(&self.groups, entry)
    }

    /// Returns the switch that `host` is attached to in plane 0, or [`Self::NO_EDGE`] if the host
    /// is wired to another host.
    #[inline]
    pub fn edge_of(&self, host: HostId) -> SwitchId {
        self.attachments[host.index()].edge
    }

    /// Returns true if both hosts are attached to the same switch, or to each other.
    #[inline]
    pub fn same_edge(&self, a: HostId, b: HostId) -> bool {
        self.edge_of(a) == self.edge_of(b)
    }

    /// Returns the number of links on a shortest path between two hosts; 0 if there is no path.
    pub fn hops(&self, src: HostId, dst: HostId) -> u32 {
        let mut hops = 0;
        self.walk(src, dst, self.first_plane(src, dst), |_, _| hops += 1);
        hops
    }

    /// Returns the number of switch-to-switch links on the first shortest path from a switch to a
    /// host's edge switch.
    pub(crate) fn links_from(&self, mut switch: SwitchId, dst: HostId) -> u32 {
        let (edge, mut links) = (self.edge_of(dst), 0);
        while switch != edge {
            let Some(port) = self.next_hops(switch, dst).first() else { break };
            switch = self.port_switch[port.index()];
            links += 1;
        }
        links
    }

    /// Returns the propagation delay of the first shortest path; zero if there is no path.
    pub fn delay(&self, src: HostId, dst: HostId) -> Span {
        let mut delay = Span::ZERO;
        let add = |port: PortId, _| delay += self.delays[port.link().index()];
        self.walk(src, dst, self.first_plane(src, dst), add);
        delay
    }

    /// Returns the number of source routes from `src` to `dst`, at most 65,536: the product of
    /// planes and candidates along the first path. 1 under one edge switch of one plane; 0 without
    /// a path.
    pub fn path_count(&self, src: HostId, dst: HostId) -> u32 {
        let mut paths = 0u32;
        self.walk(src, dst, self.first_plane(src, dst), |_, candidates| {
            paths = paths.max(1).saturating_mul(candidates).min(MAX_PATHS);
        });
        paths
    }

    /// Returns the number of planes, then the number of candidates at each switch of the first
    /// path.
    pub fn choices(&self, src: HostId, dst: HostId) -> Vec<u32> {
        let mut choices = Vec::new();
        let path = self.first_plane(src, dst);
        self.walk(src, dst, path, |_, candidates| choices.push(candidates));
        choices
    }

    /// Returns the ports of source route `path`, from the sender's port to the last switch's port
    /// to the receiver; empty if there is no path.
    ///
    /// With n planes the host uses its port in plane `path % n`. A switch with n candidates uses
    /// candidate `path % n`. Each next hop continues with `path / n`.
    pub fn path_ports(&self, src: HostId, dst: HostId, path: u32) -> Vec<PortId> {
        let mut ports = Vec::new();
        self.walk(src, dst, path, |port, _| ports.push(port));
        ports
    }

    /// Returns the first plane that connects two hosts; 0 if none does.
    fn first_plane(&self, src: HostId, dst: HostId) -> u32 {
        let joins = |&plane: &u32| {
            let mut is_connected = false;
            self.walk(src, dst, plane, |_, _| is_connected = true);
            is_connected
        };
        if self.planes == 1 { 0 } else { (0..self.planes).find(joins).unwrap_or(0) }
    }

    /// Calls `visit` with each port of source route `path` and the number of candidates at that
    /// hop. Never calls it if there is no path to `dst`.
    fn walk(&self, src: HostId, dst: HostId, path: u32, mut visit: impl FnMut(PortId, u32)) {
        let (plane, mut path) = (path % self.planes, path / self.planes);
        let from = self.attachment(plane, src);
        let reaches = |plane: u32| self.attachment(plane, dst).usable > 0;
        let is_reached = reaches(plane) || self.share_fabric && (0..self.planes).any(reaches);
        let first = self.host_ports[src.index() * self.planes as usize + plane as usize];
        if src == dst || from.usable == 0 || !is_reached {
            return;
        }
        if from.edge == Self::NO_EDGE {
            visit(first, 1);
            return;
        }
        if self.next_hops(from.edge, dst).is_empty() {
            return;
        }
        visit(first, self.planes);
        let mut switch = from.edge;
        // Every next hop is one link closer to `dst`: the loop ends at its edge switch.
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

/// Builds the table of all switches and the candidate groups that it refers to.
fn next_hop_table(
    topology: &Topology,
    usable: &[bool],
    edges: &[Vec<SwitchId>],
) -> (Vec<u32>, Vec<PortId>) {
    let switches = topology.switches().len();
    let columns = edges[0].len();
    let neighbours = Neighbours::of(topology, usable);
    let mut groups = CandidateGroups::new(switches);
    let mut table = vec![UNREACHABLE; switches * columns];
    let mut search = Search::new(switches);
    if topology.planes().share_fabric() {
        shared_fabric::fill(&neighbours, edges, (&mut table, &mut groups));
        return (table, groups.ports);
    }
    for (plane, edges) in (0u32..).zip(edges) {
        let is_in_plane = |&switch: &u32| topology.planes().of_switch(SwitchId(switch)) == plane;
        let of_plane: Vec<u32> = (0u32..).take(switches).filter(is_in_plane).collect();
        // One search per edge switch instead of one per host: all its hosts share the column.
        for (column, &edge) in edges.iter().enumerate() {
            search.run(&neighbours, edge);
            for &switch in &of_plane {
                let offset = if switch == edge.0 {
                    OWN_EDGE - plane
                } else {
                    groups.insert(switch as usize, search.closer(&neighbours, switch as usize))
                };
                table[switch as usize * columns + column] = offset;
            }
        }
    }
    (table, groups.ports)
}

/// Returns the hosts' attachments by plane and host, and the edge switches of each plane by column.
/// Plane 0 is ordered by switch id; other planes follow the order of plane 0.
fn attach(topology: &Topology, usable: &[bool]) -> (Vec<Attachment>, Vec<Vec<SwitchId>>) {
    let hosts = || (0..topology.host_count()).map(HostId);
    let edge = |port: PortId| topology.ends_of(port).1.switch();
    let mut first: Vec<SwitchId> = hosts().filter_map(|host| topology.edge_of(host)).collect();
    first.sort_unstable();
    first.dedup();
    let mut columns = vec![0; topology.switches().len()];
    for (column, edge) in (0u32..).zip(&first) {
        columns[edge.index()] = column;
    }
    let mut edges = vec![first; topology.planes().count() as usize];
    let mut attachments = Vec::new();
    for (plane, edges) in edges.iter_mut().enumerate() {
        attachments.extend(hosts().map(|host| {
            let column = topology.edge_of(host).map_or(0, |edge| columns[edge.index()]);
            let up = topology.planes().ports_of(host)[plane];
            if let Some(edge) = edge(up) {
                edges[column as usize] = edge;
            }
            Attachment {
                column,
                down: up.reverse(),
                usable: u32::from(usable[up.link().index()]),
                edge: edge(up).unwrap_or(Routes::NO_EDGE),
            }
        }));
    }
    (attachments, edges)
}

/// Returns the index of the first port of an entry's group.
#[inline(always)]
const fn first_of(entry: u32) -> u32 {
    (entry & ((1 << OFFSET_BITS) - 1)) + 1
}

/// Returns the ports of an entry's group.
#[inline]
fn group(groups: &[PortId], entry: u32) -> &[PortId] {
    let first = first_of(entry) as usize;
    &groups[first..][..groups[first - 1].0 as usize]
}

/// Candidate groups, each stored once per switch.
struct CandidateGroups {
    ports: Vec<PortId>,
    /// By switch: the entry of each of its groups.
    known: Vec<BTreeMap<Box<[PortId]>, u32>>,
    /// By switch: the entry used last. Neighbouring columns mostly share a group.
    last: Vec<u32>,
}

impl CandidateGroups {
    fn new(switches: usize) -> Self {
        let known = vec![BTreeMap::new(); switches];
        // A length of 0 at offset 0 is the empty group: look-ups need no branch for it.
        Self { ports: vec![PortId(0)], known, last: vec![UNREACHABLE; switches] }
    }

    /// Returns the entry of a candidate group of `switch`, adding the group if it is new.
    fn insert(&mut self, switch: usize, candidates: &[PortId]) -> u32 {
        if candidates.is_empty() {
            return UNREACHABLE;
        }
        let last = self.last[switch];
        if group(&self.ports, last) == candidates {
            return last;
        }
        let entry = self.known[switch].get(candidates).copied().unwrap_or_else(|| {
            let offset = u32::try_from(self.ports.len()).expect("ids are 32 bits");
            let length = u32::try_from(candidates.len()).expect("ids are 32 bits");
            let entry = length.min(LONG) << OFFSET_BITS | offset;
            let is_free = offset >> OFFSET_BITS == 0 && entry < LAST_OWN_EDGE;
            assert!(is_free, "next hops of a switch to a host have room for 67 million ports");
            self.ports.push(PortId(length));
            self.ports.extend_from_slice(candidates);
            self.known[switch].insert(candidates.into(), entry);
            entry
        });
        self.last[switch] = entry;
        entry
    }
}

#[cfg(test)]
mod tests;
