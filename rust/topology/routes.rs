//! The equal-cost next hops, computed once and looked up once per packet and hop.
//!
//! Destinations are grouped by the edge switch that they are attached to. The table holds, for
//! each switch and edge switch, a 32-bit offset into a flat list of ports, in which the number of
//! candidate ports precedes the candidates. Equal groups of a switch share an offset. At 8,192
//! hosts (k = 32) the table takes 2.6 MB, and a look-up touches two cache lines.

mod search;

use std::collections::BTreeMap;

use super::Topology;
use crate::ids::{HostId, LinkId, PortId, SwitchId};
use crate::units::Span;
use search::{Neighbours, Search};

/// Offset of the empty group of candidates.
const UNREACHABLE: u32 = 0;
/// Table entry of a switch towards its own hosts.
const OWN_EDGE: u32 = u32::MAX;
/// The maximum number of source routes of a pair of hosts: they are identified by 16 bits.
const MAX_PATHS: u32 = 1 << 16;

/// The attachment of a host to its edge switch.
#[derive(Debug, Clone, Copy)]
struct Attachment {
    /// The column of its edge switch in the table.
    column: u32,
    /// The port towards the host, at its edge switch or at the host that it is wired to.
    down: PortId,
    /// The number of next hops from its edge switch: 1 if its link is usable, else 0.
    usable: u32,
    edge: SwitchId,
}

/// The candidate ports of a switch towards a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// There is no path.
    None,
    /// There is one port.
    One(PortId),
    /// There are two or more, at this offset.
    Several(u32),
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
    /// `table[switch * columns + column]` is an offset into `groups`, or [`OWN_EDGE`].
    table: Vec<u32>,
    /// Number of edge switches.
    columns: u32,
    /// Groups of candidates, each preceded by its length.
    groups: Vec<PortId>,
}

impl Routes {
    /// The value of [`Self::edge_of`] for a host that is wired to another host.
    pub const NO_EDGE: SwitchId = SwitchId(u32::MAX);

    /// Computes the next hops over the links that are `usable`.
    pub fn new(topology: &Topology, usable: &dyn Fn(LinkId) -> bool) -> Self {
        let usable: Vec<bool> =
            (0u32..).zip(topology.links()).map(|(id, _)| usable(LinkId(id))).collect();
        let (attachments, edges) = attach(topology, &usable);
        let neighbours = Neighbours::of(topology, &usable);
        let mut groups = CandidateGroups::new(topology.switches().len());
        let mut table = vec![UNREACHABLE; topology.switches().len() * edges.len()];
        let mut search = Search::new(topology.switches().len());
        // One search for each edge switch, not for each host: all its hosts share the column.
        for (column, &edge) in edges.iter().enumerate() {
            search.run(&neighbours, edge);
            for switch in 0..topology.switches().len() {
                let offset = if switch == edge.index() {
                    OWN_EDGE
                } else {
                    groups.insert(switch, search.closer(&neighbours, switch))
                };
                table[switch * edges.len() + column] = offset;
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

    /// The candidate ports of `switch` towards `dst`; empty if `dst` is unreachable. At the edge
    /// switch of `dst`, the one port towards that host.
    #[inline]
    pub fn next_hops(&self, switch: SwitchId, dst: HostId) -> &[PortId] {
        let to = &self.attachments[dst.index()];
        let offset = self.table[switch.index() * self.columns as usize + to.column as usize];
        if offset == OWN_EDGE {
            // Every packet ends with this look-up. A host whose link is down has an empty group,
            // without a group of its own in the table.
            return &std::slice::from_ref(&to.down)[..to.usable as usize];
        }
        self.group(offset as usize)
    }

    /// Where the candidate ports of a switch towards a host stand ([`Self::candidates_at`]).
    #[inline(always)]
    pub(crate) fn lookup(&self, switch: SwitchId, dst: HostId) -> Lookup {
        let to = &self.attachments[dst.index()];
        let offset = self.table[switch.index() * self.columns as usize + to.column as usize];
        match offset {
            OWN_EDGE if to.usable == 0 => Lookup::None,
            OWN_EDGE => Lookup::One(to.down),
            _ => match self.group(offset as usize) {
                [] => Lookup::None,
                [only] => Lookup::One(*only),
                _ => Lookup::Several(offset),
            },
        }
    }

    /// The candidate ports of [`Lookup::Several`].
    #[inline]
    pub(crate) fn candidates_at(&self, offset: u32) -> &[PortId] {
        self.group(offset as usize)
    }

    /// Number of edge switches.
    pub(super) fn columns(&self) -> usize {
        self.columns as usize
    }

    /// The index, among the edge switches, of the one that `dst` is attached to.
    #[inline]
    pub(super) fn column_of(&self, dst: HostId) -> usize {
        self.attachments[dst.index()].column as usize
    }

    /// The candidate ports of a switch towards an edge switch; `None` if it is that edge switch.
    pub(super) fn candidates(&self, switch: usize, column: usize) -> Option<&[PortId]> {
        let offset = self.table[switch * self.columns() + column];
        (offset != OWN_EDGE).then(|| self.group(offset as usize))
    }

    /// The switch at the other end of `port`.
    pub(super) fn switch_behind(&self, port: PortId) -> SwitchId {
        self.port_switch[port.index()]
    }

    #[inline]
    fn group(&self, offset: usize) -> &[PortId] {
        let candidates = self.groups[offset].0 as usize;
        &self.groups[offset + 1..offset + 1 + candidates]
    }

    /// The switch that `host` is attached to; [`Self::NO_EDGE`] if it is wired to another host.
    #[inline]
    pub fn edge_of(&self, host: HostId) -> SwitchId {
        self.attachments[host.index()].edge
    }

    /// Whether both hosts are attached to the same switch, or to each other.
    #[inline]
    pub fn same_edge(&self, a: HostId, b: HostId) -> bool {
        self.edge_of(a) == self.edge_of(b)
    }

    /// Number of links on a shortest path from host to host; 0 if there is no path.
    pub fn hops(&self, src: HostId, dst: HostId) -> u32 {
        let mut hops = 0;
        self.walk(src, dst, 0, |_, _| hops += 1);
        hops
    }

    /// Propagation delay of the first shortest path; zero if there is no path.
    pub fn delay(&self, src: HostId, dst: HostId) -> Span {
        let mut delay = Span::ZERO;
        self.walk(src, dst, 0, |port, _| delay += self.delays[port.link().index()]);
        delay
    }

    /// Number of source routes from host to host: the product of the numbers of candidates along
    /// the path of first candidates, at most 65,536; 1 under one edge switch, 0 if there is no
    /// path.
    pub fn path_count(&self, src: HostId, dst: HostId) -> u32 {
        let mut paths = 0u32;
        self.walk(src, dst, 0, |_, candidates| {
            paths = paths.max(1).saturating_mul(candidates).min(MAX_PATHS);
        });
        paths
    }

    /// Number of candidates at each switch along the path of first candidates.
    pub fn choices(&self, src: HostId, dst: HostId) -> Vec<u32> {
        let mut choices = Vec::new();
        self.walk(src, dst, 0, |_, candidates| choices.push(candidates));
        choices
    }

    /// The ports of source route `path`, from the sending host's own to the last switch's port to
    /// the receiving host; empty if there is no path.
    ///
    /// A switch with n candidates takes candidate `path % n`; the next one continues with
    /// `path / n`.
    pub fn path_ports(&self, src: HostId, dst: HostId, path: u32) -> Vec<PortId> {
        let mut ports = Vec::new();
        self.walk(src, dst, path, |port, _| ports.push(port));
        ports
    }

    /// Calls `visit` with each port of source route `path` and the number of candidates that it
    /// was selected from; never if there is no path to `dst`.
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
        // Every next hop is one link closer to `dst`, so the loop ends at its edge switch.
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

/// The attachment of each host, and the edge switches in order of their ids.
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

/// Groups of candidates, each stored once per switch.
struct CandidateGroups {
    ports: Vec<PortId>,
    /// By switch, the offset of each of its groups.
    known: Vec<BTreeMap<Box<[PortId]>, u32>>,
    /// By switch, the offset of the group used last: neighbouring columns mostly have the same.
    last: Vec<u32>,
}

impl CandidateGroups {
    fn new(switches: usize) -> Self {
        let known = vec![BTreeMap::new(); switches];
        // A length of 0 at offset 0 is the empty group, so that a look-up has no branch for it.
        Self { ports: vec![PortId(0)], known, last: vec![UNREACHABLE; switches] }
    }

    /// The offset of this group of candidates of `switch`; adds the group if it is new.
    fn insert(&mut self, switch: usize, candidates: &[PortId]) -> u32 {
        if candidates.is_empty() {
            return UNREACHABLE;
        }
        let last = self.last[switch] as usize;
        let length = self.ports[last].0 as usize;
        if &self.ports[last + 1..last + 1 + length] == candidates {
            return self.last[switch];
        }
        let offset = self.known[switch].get(candidates).copied().unwrap_or_else(|| {
            let offset = u32::try_from(self.ports.len()).expect("ids are 32 bits");
            self.ports.push(PortId(u32::try_from(candidates.len()).expect("ids are 32 bits")));
            self.ports.extend_from_slice(candidates);
            self.known[switch].insert(candidates.into(), offset);
            offset
        });
        self.last[switch] = offset;
        offset
    }
}

#[cfg(test)]
mod tests;
