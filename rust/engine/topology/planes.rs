//! The planes of a fabric: copies that share no switch, each with one port of every host.
//!
//! With dual-ToR, where each host has ports at several edge switches of one fabric, a plane is a
//! set of edge switches with their links. All other switches then count as plane 0.
//!
//! Hosts that share an edge switch in one plane share one in every plane. One column of the routing
//! table therefore stands for one edge switch per plane. A switch only sees packets of its own
//! plane, so it looks up the edge switch of that plane.

use super::check::Sets;
use super::{Link, Node, Switch, TopologyError};
use crate::ids::{HostId, LinkId, PortId, SwitchId};
use crate::packet::PlaneMask;

/// The hosts' ports by plane, and the plane of each switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planes {
    count: u32,
    /// By host, then by plane.
    ports: Vec<PortId>,
    /// By switch; empty with one plane.
    of_switch: Vec<u8>,
    /// True if all planes share the switches above the edge.
    share_fabric: bool,
}

impl Planes {
    /// Creates one plane with the port of each host.
    pub(super) fn single(ports: Vec<PortId>) -> Self {
        Self { count: 1, ports, of_switch: Vec::new(), share_fabric: false }
    }

    /// Creates several planes after checking their links.
    pub(super) fn several(
        count: u32,
        hosts: &[String],
        switches: &[Switch],
        links: &[Link],
    ) -> Result<Self, TopologyError> {
        let ports = host_ports(count, hosts, links)?;
        let of_switch = planes_of_switches(count, &ports, (hosts, switches, links))?;
        let planes = Self { count, ports, of_switch, share_fabric: false };
        planes.check_edges(hosts, links)?;
        Ok(planes)
    }

    /// Creates the planes of hosts with several ports to one fabric, after checking their links.
    pub(super) fn shared_fabric(
        count: u32,
        hosts: &[String],
        switches: &[Switch],
        links: &[Link],
    ) -> Result<Self, TopologyError> {
        let ports = host_ports(count, hosts, links)?;
        let mut of_switch = vec![None; switches.len()];
        let mut sets = Sets::new(switches.len());
        for link in links {
            if let [Node::Switch(a), Node::Switch(b)] = link.ends {
                sets.join(a.index(), b.index());
            }
        }
        let mut first = None;
        for (index, port) in ports.iter().enumerate() {
            let (host, plane) = (index / count as usize, (index % count as usize) as u32);
            let edge = links[port.link().index()].ends.into_iter().find_map(Node::switch);
            let root = edge.map(|edge| sets.root(edge.index()));
            let (Some(edge), true) = (edge, root == *first.get_or_insert(root)) else {
                let (from, to) = (hosts[0].clone(), hosts[host].clone());
                return Err(TopologyError::Unreachable { from, to });
            };
            if *of_switch[edge.index()].get_or_insert(plane as u8) != plane as u8 {
                return Err(TopologyError::SharedPlane { host: hosts[host].clone(), plane });
            }
        }
        let of_switch = of_switch.into_iter().map(|plane| plane.unwrap_or(0)).collect();
        let planes = Self { count, ports, of_switch, share_fabric: true };
        planes.check_edges(hosts, links)?;
        Ok(planes)
    }

    /// Returns true if all planes share the switches above the edge. Every port of a host then
    /// reaches every port of every other host.
    pub const fn share_fabric(&self) -> bool {
        self.share_fabric
    }

    /// Returns the number of planes.
    #[inline]
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// Returns a mask of all planes.
    pub const fn mask(&self) -> PlaneMask {
        PlaneMask::all(self.count)
    }

    /// Returns the ports of a host, by plane.
    #[inline]
    pub fn ports_of(&self, host: HostId) -> &[PortId] {
        let count = self.count as usize;
        &self.ports[host.index() * count..][..count]
    }

    /// Returns the plane of a switch.
    pub fn of_switch(&self, switch: SwitchId) -> u32 {
        self.of_switch.get(switch.index()).map_or(0, |&plane| plane.into())
    }

    /// Returns the ports of all hosts, by host and plane.
    pub fn all_ports(&self) -> &[PortId] {
        &self.ports
    }

    /// Fails if two hosts share an edge switch in one plane but not in another.
    fn check_edges(&self, hosts: &[String], links: &[Link]) -> Result<(), TopologyError> {
        let edge = |port: PortId| {
            let ends = links[port.link().index()].ends;
            ends.into_iter().find_map(Node::switch)
        };
        for plane in 1..self.count {
            let mut pairs: Vec<_> = (0u32..)
                .zip(self.ports.chunks_exact(self.count as usize))
                .map(|(host, ports)| (edge(ports[0]), edge(ports[plane as usize]), host))
                .collect();
            for swap in [false, true] {
                if swap {
                    pairs.iter_mut().for_each(|pair| *pair = (pair.1, pair.0, pair.2));
                }
                pairs.sort_unstable();
                let differs = |pair: &&[_]| {
                    let [(a, b, _), (c, d, _)]: [_; 2] = [pair[0], pair[1]];
                    a == c && b != d
                };
                if let Some(pair) = pairs.windows(2).find(differs) {
                    let host = hosts[pair[1].2 as usize].clone();
                    return Err(TopologyError::PlanesDiffer { host, plane });
                }
            }
        }
        Ok(())
    }
}

/// Returns the hosts' ports, by host and plane: the p-th link of a host is in plane p.
fn host_ports(count: u32, hosts: &[String], links: &[Link]) -> Result<Vec<PortId>, TopologyError> {
    if count == 0 {
        return Err(TopologyError::Zero { field: "planes" });
    }
    if count > PlaneMask::MAX {
        return Err(TopologyError::Planes { planes: count, limit: PlaneMask::MAX });
    }
    if hosts.is_empty() {
        return Err(TopologyError::NoHosts);
    }
    let mut ports = vec![PortId::default(); hosts.len() * count as usize];
    let mut found = vec![0u32; hosts.len()];
    for (port, end) in (0u32..).zip(links.iter().flat_map(|link| link.ends)) {
        if let Node::Host(host) = end {
            let plane = found[host.index()];
            if plane < count {
                ports[host.index() * count as usize + plane as usize] = PortId(port);
            }
            found[host.index()] += 1;
        }
    }
    match found.iter().position(|&links| links != count) {
        Some(host) => Err(TopologyError::WrongLinkCount {
            host: hosts[host].clone(),
            links: found[host],
            planes: count,
        }),
        None => Ok(ports),
    }
}

/// Returns the plane of each switch. Each host port is a separate node because hosts do not
/// forward.
fn planes_of_switches(
    count: u32,
    ports: &[PortId],
    (hosts, switches, links): (&[String], &[Switch], &[Link]),
) -> Result<Vec<u8>, TopologyError> {
    let mut sets = Sets::new(switches.len() + ports.len());
    for link in links {
        if let [Node::Switch(a), Node::Switch(b)] = link.ends {
            sets.join(a.index(), b.index());
        }
    }
    for (index, port) in ports.iter().enumerate() {
        let LinkId(link) = port.link();
        if let Some(edge) = links[link as usize].ends.into_iter().find_map(Node::switch) {
            sets.join(edge.index(), switches.len() + index);
        }
    }
    let count = count as usize;
    let roots: Vec<usize> = (0..count).map(|plane| sets.root(switches.len() + plane)).collect();
    for index in 0..ports.len() {
        let root = sets.root(switches.len() + index);
        // `position` finds the first plane with this root: planes that share a switch have the same
        // root.
        if roots.iter().position(|&other| other == root) != Some(index % count) {
            let plane = (index % count) as u32;
            return Err(TopologyError::SharedPlane { host: hosts[index / count].clone(), plane });
        }
    }
    let plane = |switch| roots.iter().position(|&root| root == sets.root(switch)).unwrap_or(0);
    Ok((0..switches.len()).map(plane).map(|plane| plane as u8).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Topology;
    use crate::units::{BitRate, Span};

    /// Returns the error for four switches, `hosts` hosts and these links from hosts to switches.
    fn fault(hosts: u32, links: &[(u32, u32)]) -> String {
        let link = |&(host, switch): &(u32, u32)| Link {
            ends: [Node::Host(HostId(host)), Node::Switch(SwitchId(switch))],
            rate: BitRate::from_gbps(100),
            delay: Span::from_ns(500),
        };
        let names = (0..hosts).map(|host| HostId(host).to_string()).collect();
        let switches = (0..4).map(|id| Switch { name: format!("s{id}"), tier: 0 }).collect();
        let links = links.iter().map(link).collect();
        Topology::with_planes(2, names, switches, links).unwrap_err().to_string()
    }

    #[test]
    fn each_host_has_a_port_in_each_plane_and_planes_share_no_switch() {
        assert_eq!(
            fault(2, &[(0, 0), (0, 1), (1, 0)]),
            "host1 has 1 links; expected 2, one in each plane"
        );
        assert_eq!(
            fault(2, &[(0, 0), (0, 0), (1, 0), (1, 0)]),
            "host0: its port in plane 1 is not attached to that plane alone"
        );
        assert_eq!(
            fault(2, &[(0, 0), (0, 1), (1, 1), (1, 0)]),
            "host1: its port in plane 0 is not attached to that plane alone"
        );
        let apart = fault(2, &[(0, 0), (0, 1), (1, 2), (1, 3)]);
        assert!(apart.starts_with("host1: its port in plane 0"), "{apart}");
    }

    #[test]
    fn joined_ports_need_hosts_and_a_valid_port_count() {
        let shared = |ports| Topology::with_host_ports(ports, vec![], vec![], vec![]);
        let fault = |ports| shared(ports).unwrap_err().to_string();
        assert_eq!(fault(2), "the topology has no hosts; expected at least 1");
        assert_eq!(fault(0), TopologyError::Zero { field: "planes" }.to_string());
        let most = PlaneMask::MAX;
        let many = TopologyError::Planes { planes: most + 1, limit: most };
        assert_eq!(fault(most + 1), many.to_string());
    }
}
