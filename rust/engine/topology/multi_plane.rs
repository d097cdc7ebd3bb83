//! Several planes of leaf-spine fabrics, with one port of every host in each.
//!
//! Source: the published descriptions of HPN (SIGCOMM 2024), of Spectrum-X's multi-plane fabrics
//! (arXiv 2605.21187) and of MRC's clusters (arXiv 2605.04333); `docs/multi-plane.md`.

use super::leaf_spine::{host_names, no_zero, switch};
use super::{LeafSpine, Link, Node, Topology, TopologyError, check};
use crate::ids::SwitchId;
use crate::packet::PlaneMask;

/// A fabric of several planes, each a copy of the same leaf-spine.
///
/// Ids are those of the leaf-spine, plane by plane: switches, then links. One plane is identical to
/// that leaf-spine, names included. With several planes, switches are named `p0-leaf3` or
/// `p1-spine0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MultiPlane {
    /// Number of planes, equal to the number of ports per host.
    pub planes: u32,
    /// GPUs per server, each at a different leaf (rail-optimised); 1 attaches consecutive hosts to
    /// the same leaf.
    pub rails: u32,
    /// Shape of one plane; `host_rate` is the rate of one port.
    pub plane: LeafSpine,
}

impl MultiPlane {
    /// Builds the topology.
    ///
    /// # Errors
    /// Fails if a count or a rate is zero, leaves are not a multiple of rails, or a size exceeds
    /// the limits of a [`Topology`].
    pub fn build(&self) -> Result<Topology, TopologyError> {
        no_zero(&[("planes", self.planes.into()), ("rails", self.rails.into())])?;
        if self.planes > PlaneMask::MAX {
            let (planes, limit) = (self.planes, PlaneMask::MAX);
            return Err(TopologyError::Planes { planes, limit });
        }
        if !self.plane.leaves.is_multiple_of(self.rails) {
            let (rails, leaves) = (self.rails, self.plane.leaves);
            return Err(TopologyError::LeavesNotMultipleOfRails { rails, leaves });
        }
        self.check_size()?;
        let one = self.plane.build_with(&|host| self.leaf_of(host))?;
        if self.planes == 1 {
            return Ok(one);
        }
        let per_plane = u32::try_from(one.switches().len()).expect("ids are 32 bits");
        let (mut switches, mut links) = (Vec::new(), Vec::new());
        for plane in 0..self.planes {
            let named = |name: &str| format!("p{plane}-{name}");
            switches.extend(one.switches().iter().map(|it| switch(named(&it.name), it.tier)));
            let moved = |end: Node| match end {
                Node::Host(host) => Node::Host(host),
                Node::Switch(SwitchId(id)) => Node::Switch(SwitchId(plane * per_plane + id)),
            };
            links.extend(
                one.links().iter().map(|link| Link { ends: link.ends.map(moved), ..*link }),
            );
        }
        Topology::with_planes(self.planes, host_names(one.host_count()), switches, links)
    }

    /// Returns the leaf of a host. Equal rails of a group of servers share a leaf.
    fn leaf_of(&self, host: u32) -> u32 {
        let (server, rail) = (host / self.rails, host % self.rails);
        server / self.plane.hosts_per_leaf * self.rails + rail
    }

    /// Checks the size of all planes before allocating anything.
    fn check_size(&self) -> Result<(), TopologyError> {
        let LeafSpine { leaves, spines, hosts_per_leaf, parallel_links, .. } = self.plane;
        let [leaves, spines, planes] = [leaves, spines, self.planes].map(u128::from);
        let hosts = leaves * u128::from(hosts_per_leaf);
        let links = hosts + leaves * spines * u128::from(parallel_links);
        check::counts(hosts, planes * (leaves + spines), planes * links)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{HostId, LinkId};
    use crate::topology::Routes;
    use crate::units::{BitRate, Span};

    const PLANE: LeafSpine = LeafSpine {
        leaves: 4,
        spines: 3,
        hosts_per_leaf: 2,
        host_rate: BitRate::from_gbps(100),
        fabric_rate: BitRate::from_gbps(200),
        delay: Span::from_ns(500),
        parallel_links: 1,
    };
    const SMALL: MultiPlane = MultiPlane { planes: 2, rails: 1, plane: PLANE };

    /// Planes of switches with `radix` ports each, half of them towards hosts (MRC card, test 1).
    fn of_radix(radix: u32, planes: u32) -> MultiPlane {
        let plane = LeafSpine {
            leaves: radix,
            spines: radix / 2,
            hosts_per_leaf: radix / 2,
            fabric_rate: BitRate::from_gbps(100),
            ..PLANE
        };
        MultiPlane { planes, rails: 1, plane }
    }

    #[test]
    fn sizes_follow_from_the_radix_of_the_switches() {
        let small = of_radix(8, 2).build().unwrap();
        assert_eq!((small.host_count(), small.planes().count()), (32, 2));
        let leaves = small.switches().iter().filter(|switch| switch.tier == 0).count();
        assert_eq!((leaves, small.switches().len() - leaves), (16, 8));
        assert_eq!(small.links().len(), 2 * (32 + 8 * 4));
        assert_eq!(Routes::new(&small, &|_| true).hops(HostId(0), HostId(31)), 4);
        assert_eq!(small.host_rate(HostId(7)), BitRate::from_gbps(200));
        // The largest fabric is too big to build here; its counts are enough: 512 ports and 8
        // planes.
        let MultiPlane { planes, plane, .. } = of_radix(512, 8);
        assert_eq!(plane.leaves * plane.hosts_per_leaf, 131_072);
        assert_eq!((planes * plane.leaves, planes * plane.spines), (4_096, 2_048));
        assert_eq!(planes * 131_072 + planes * plane.leaves * plane.spines, 2 * 1_048_576);
        assert_eq!(of_radix(512, 8).check_size(), Ok(()));
    }

    #[test]
    fn one_plane_is_the_leaf_spine() {
        assert_eq!(MultiPlane { planes: 1, ..SMALL }.build(), PLANE.build());
    }

    #[test]
    fn planes_are_copies_with_prefixed_names() {
        let topology = SMALL.build().unwrap();
        let names: Vec<_> = topology.switches().iter().map(|it| it.name.as_str()).collect();
        assert_eq!((names[0], names[6], names[7], names[13]), {
            ("p0-leaf0", "p0-spine2", "p1-leaf0", "p1-spine2")
        });
        assert!(topology.link_named("host5-p1-leaf2").is_some());
        let ports = topology.planes().ports_of(HostId(5));
        let names = ports.iter().map(|port| topology.link_name(port.link()));
        assert_eq!(names.collect::<Vec<_>>(), ["host5-p0-leaf2", "host5-p1-leaf2"]);
        let of_plane: Vec<_> = topology.links_of_plane(1).collect();
        assert_eq!(of_plane.len(), 8 + 12);
        assert!(of_plane.iter().all(|&link| topology.link_name(link).contains("p1-")));
    }

    #[test]
    fn a_switch_routes_to_the_port_of_its_own_plane() {
        let topology = SMALL.build().unwrap();
        let routes = Routes::new(&topology, &|_| true);
        let dst = HostId(7);
        for plane in 0..2 {
            let leaf = topology.switch_named(&format!("p{plane}-leaf3")).unwrap();
            let down = topology.planes().ports_of(dst)[plane as usize].reverse();
            assert_eq!(routes.next_hops(leaf, dst), [down]);
            let spine = topology.switch_named(&format!("p{plane}-spine1")).unwrap();
            let [to_leaf] = routes.next_hops(spine, dst) else { panic!("one link to a leaf") };
            assert_eq!(topology.ends_of(*to_leaf).1, Node::Switch(leaf));
            let other = topology.switch_named(&format!("p{plane}-leaf0")).unwrap();
            let uplinks = routes.next_hops(other, dst);
            assert_eq!(uplinks.len(), 3);
            assert!(uplinks.iter().all(|&port| {
                topology.node_name(topology.ends_of(port).1).starts_with(&format!("p{plane}-"))
            }));
        }
        // The plane is the lowest digit of a path id.
        assert_eq!(routes.choices(HostId(0), dst)[..2], [2, 3]);
        assert_eq!(routes.path_count(HostId(0), dst), 6);
        let first = |path| routes.path_ports(HostId(0), dst, path)[0];
        assert_eq!([first(0), first(1)], topology.planes().ports_of(HostId(0)));
    }

    #[test]
    fn a_pair_stays_connected_while_one_plane_connects_it() {
        let topology = SMALL.build().unwrap();
        let dead = |planes: u32| {
            let topology = &topology;
            move |link: LinkId| (0..planes).all(|it| topology.links_of_plane(it).all(|l| l != link))
        };
        let count = |planes| Routes::new(&topology, &dead(planes)).path_count(HostId(0), HostId(7));
        assert_eq!([0, 1, 2].map(count), [6, 6, 0]);
    }

    #[test]
    fn rails_attach_the_hosts_of_a_server_to_different_leaves() {
        let rails = MultiPlane { rails: 2, ..SMALL };
        let topology = rails.build().unwrap();
        let leaf = |host| topology.edge_of(HostId(host)).unwrap().0;
        assert_eq!((0..8).map(leaf).collect::<Vec<_>>(), [0, 1, 0, 1, 2, 3, 2, 3]);
        let error = MultiPlane { rails: 3, ..SMALL }.build().unwrap_err().to_string();
        assert!(error.contains("leaves must be a multiple of rails"), "{error}");
        let error = MultiPlane { planes: 33, ..SMALL }.build().unwrap_err().to_string();
        assert_eq!(error, "planes = 33 exceeds the limit of 32");
        let error = MultiPlane { planes: 0, ..SMALL }.build().unwrap_err().to_string();
        assert!(error.starts_with("planes = 0"), "{error}");
    }
}
