//! Validation of a graph when it is built, so that later code can rely on it.

use super::{
    Link, MAX_HOSTS, MAX_LINKS, MAX_ROUTES, MAX_SWITCHES, Node, Planes, Switch, TopologyError,
    naming,
};
use crate::ids::{HostId, PortId};

/// Checks sizes against the limits of a [`super::Topology`]; call it before allocating.
pub(super) fn counts(hosts: u128, switches: u128, links: u128) -> Result<(), TopologyError> {
    limit("hosts", hosts, MAX_HOSTS)?;
    limit("switches", switches, MAX_SWITCHES)?;
    limit("links", links, MAX_LINKS)
}

fn limit(what: &'static str, count: u128, limit: u64) -> Result<(), TopologyError> {
    if count > u128::from(limit) {
        return Err(TopologyError::TooLarge { what, count, limit });
    }
    Ok(())
}

/// Checks that node names are unique.
pub(super) fn names(hosts: &[String], switches: &[Switch]) -> Result<(), TopologyError> {
    let mut names: Vec<&str> = hosts.iter().map(String::as_str).collect();
    names.extend(switches.iter().map(|switch| switch.name.as_str()));
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(TopologyError::DuplicateName { name: pair[0].to_owned() }),
        None => Ok(()),
    }
}

/// Checks that every link connects two different existing nodes at a positive rate.
pub(super) fn links(
    hosts: &[String],
    switches: &[Switch],
    links: &[Link],
) -> Result<(), TopologyError> {
    let exists = |node: Node| match node {
        Node::Host(host) => host.index() < hosts.len(),
        Node::Switch(switch) => switch.index() < switches.len(),
    };
    for (index, link) in links.iter().enumerate() {
        if let Some(end) = link.ends.into_iter().find(|end| !exists(*end)) {
            return Err(TopologyError::UnknownEnd {
                link: index,
                node: end.to_string(),
                hosts: hosts.len(),
                switches: switches.len(),
            });
        }
        let [a, b] = link.ends;
        if a == b {
            let node = naming::of_node(hosts, switches, a).to_owned();
            return Err(TopologyError::LinkToItself { link: index, node });
        }
        if link.rate.as_bps() == 0 {
            let name = naming::of_link(hosts, switches, link);
            return Err(TopologyError::RateZero { link: index, name });
        }
    }
    Ok(())
}

/// Checks that every host has exactly one link, and returns each host's port.
pub(super) fn host_ports(
    hosts: &[String],
    switches: &[Switch],
    links: &[Link],
) -> Result<Vec<PortId>, TopologyError> {
    if hosts.is_empty() {
        return Err(TopologyError::NoHosts);
    }
    let mut ports = vec![PortId::default(); hosts.len()];
    let mut counts = vec![0u32; hosts.len()];
    for (port, end) in (0u32..).zip(links.iter().flat_map(|link| link.ends)) {
        if let Node::Host(host) = end {
            ports[host.index()] = PortId(port);
            counts[host.index()] += 1;
        }
    }
    if let Some(unlinked) = counts.iter().position(|count| *count == 0) {
        return Err(TopologyError::HostWithoutLink { host: hosts[unlinked].clone() });
    }
    if let Some(many) = counts.iter().position(|count| *count > 1) {
        return Err(several_links(hosts, switches, links, many, counts[many]));
    }
    Ok(ports)
}

/// Returns the error for a host with several links. Other simulators support rings and meshes of
/// hosts, so the error for those explains that hosts do not forward here.
fn several_links(
    hosts: &[String],
    switches: &[Switch],
    links: &[Link],
    many: usize,
    count: u32,
) -> TopologyError {
    let host = hosts[many].clone();
    let ends = || links.iter().map(|link| link.ends);
    let are_linked = |a: Node, b: Node| ends().any(|ends| ends == [a, b] || ends == [b, a]);
    let node = |index: usize| Node::Host(HostId(u32::try_from(index).expect("ids are 32 bits")));
    // The first pair without a direct link is the best example of "hosts do not forward".
    let apart = (0..hosts.len()).find(|&to| to != many && !are_linked(node(many), node(to)));
    match apart {
        Some(to) if switches.is_empty() => TopologyError::HostsDoNotForward {
            from: host.clone(),
            host,
            links: count,
            to: hosts[to].clone(),
        },
        _ => TopologyError::HostWithSeveralLinks { host, links: count },
    }
}

/// Checks that every host reaches every other host of its rail over switches. Connected components
/// suffice: each host has one link, so no host lies between two others.
pub(super) fn reachability(
    rails: u32,
    hosts: &[String],
    switches: &[Switch],
    links: &[Link],
) -> Result<(), TopologyError> {
    let index = |node: Node| match node {
        Node::Host(host) => host.index(),
        Node::Switch(switch) => hosts.len() + switch.index(),
    };
    let mut sets = Sets::new(hosts.len() + switches.len());
    for link in links {
        sets.join(index(link.ends[0]), index(link.ends[1]));
    }
    let rails = rails as usize;
    match (0..hosts.len()).find(|&host| sets.root(host) != sets.root(host % rails)) {
        Some(host) => Err(TopologyError::Unreachable {
            from: hosts[host % rails].clone(),
            to: hosts[host].clone(),
        }),
        None => Ok(()),
    }
}

/// Checks the size of the routing table: one entry per switch and edge switch.
pub(super) fn routes(
    switches: &[Switch],
    links: &[Link],
    planes: &Planes,
) -> Result<(), TopologyError> {
    let mut is_edge = vec![false; switches.len()];
    for port in planes.all_ports() {
        let ends = links[port.link().index()].ends;
        for switch in ends.into_iter().filter_map(Node::switch) {
            is_edge[switch.index()] = true;
        }
    }
    // The table has one column per edge switch of a single plane.
    let edges = is_edge.iter().filter(|edge| **edge).count() / planes.count() as usize;
    limit("pairs of switch and edge switch", edges as u128 * switches.len() as u128, MAX_ROUTES)
}

/// Disjoint sets (union-find) with path halving.
pub(super) struct Sets {
    parent: Vec<usize>,
}

impl Sets {
    pub(super) fn new(count: usize) -> Self {
        Self { parent: (0..count).collect() }
    }

    pub(super) fn root(&mut self, mut node: usize) -> usize {
        while self.parent[node] != node {
            self.parent[node] = self.parent[self.parent[node]];
            node = self.parent[node];
        }
        node
    }

    pub(super) fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b)] = a.min(b);
    }
}
