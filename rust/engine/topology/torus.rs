//! The torus: a grid of switches in one to three dimensions with wrap-around links.
//!
//! Source: Dally and Towles, "Principles and Practices of Interconnection Networks" (2004), chapter
//! 5 (tori): diameter, bisection, minimal routes. Jouppi et al., "TPU v4: An Optically
//! Reconfigurable Supercomputer" (ISCA 2023): a three-dimensional torus for training.

use super::leaf_spine::{host_names, no_zero, switch};
use super::{Direct, Link, Node, Topology, TopologyError, check};
use crate::ids::{HostId, SwitchId};
use crate::units::{BitRate, Span};

/// A torus of switches with hosts at each switch.
///
/// Switch `x + X·(y + Y·z)` is named after its coordinates, for example `x0y1z2`. Its hosts have
/// consecutive ids from `hosts_per_switch · switch`. A dimension of size 2 has one link between its
/// two switches, not two; a dimension of size 1 has no links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Torus {
    /// Switches in each dimension.
    pub sizes: [u32; 3],
    /// Hosts per switch.
    pub hosts_per_switch: u32,
    /// Rate of the hosts' links.
    pub host_rate: BitRate,
    /// Rate of the links between switches.
    pub fabric_rate: BitRate,
    /// Propagation delay of each link.
    pub delay: Span,
    /// Links between two neighbouring switches.
    pub parallel_links: u32,
}

impl Torus {
    /// Builds the topology.
    ///
    /// # Errors
    /// Fails if a count or a rate is zero, or a size exceeds the limits of a [`Topology`].
    pub fn build(&self) -> Result<Topology, TopologyError> {
        let [x, y, z] = self.sizes;
        let fields = [("x", x), ("y", y), ("z", z), ("hosts_per_switch", self.hosts_per_switch)];
        no_zero(&fields.map(|(field, value)| (field, value.into())))?;
        no_zero(&[("parallel_links", self.parallel_links.into())])?;
        no_zero(&[("host_rate", self.host_rate.as_bps())])?;
        no_zero(&[("fabric_rate", self.fabric_rate.as_bps())])?;
        let switches = self.sizes.iter().fold(1u128, |product, &size| product * u128::from(size));
        let hosts = switches.saturating_mul(self.hosts_per_switch.into());
        let between = 3 * switches.saturating_mul(self.parallel_links.into());
        check::counts(hosts, switches, hosts.saturating_add(between))?;
        let (switches, hosts) = (switches as u32, hosts as u32);
        let named = (0..switches).map(|id| {
            let [x, y, z] = self.place(id);
            switch(format!("x{x}y{y}z{z}"), 0)
        });
        let of_hosts = (0..hosts).map(|host| {
            let edge = SwitchId(host / self.hosts_per_switch);
            let ends = [Node::Host(HostId(host)), Node::Switch(edge)];
            Link { ends, rate: self.host_rate, delay: self.delay }
        });
        let between = (0..switches).flat_map(|id| self.neighbours_above(id));
        let between = between.flat_map(|ends| (0..self.parallel_links).map(move |_| ends));
        let between = between.map(|ends| {
            let ends = ends.map(|id| Node::Switch(SwitchId(id)));
            Link { ends, rate: self.fabric_rate, delay: self.delay }
        });
        let links = of_hosts.chain(between).collect();
        let topology = Topology::new(host_names(hosts), named.collect(), links)?;
        // Each switch is its own group: every link between switches costs the same.
        Ok(topology.with_direct(Direct { groups: (0..switches).collect(), global_cost: 1 }))
    }

    fn place(&self, id: u32) -> [u32; 3] {
        let [x, y, _] = self.sizes;
        [id % x, id / x % y, id / x / y]
    }

    /// Returns the pairs of a switch and its next neighbour in each dimension.
    fn neighbours_above(&self, id: u32) -> impl Iterator<Item = [u32; 2]> + use<> {
        let (place, sizes) = (self.place(id), self.sizes);
        let strides = [1, sizes[0], sizes[0] * sizes[1]];
        (0..3).filter_map(move |dimension| {
            let (at, size) = (place[dimension], sizes[dimension]);
            let is_joined = size > 2 || at + 1 < size;
            let next = (at + 1) % size;
            is_joined.then(|| [id, id + next * strides[dimension] - at * strides[dimension]])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Routes;

    fn torus(sizes: [u32; 3]) -> Torus {
        Torus {
            sizes,
            hosts_per_switch: 1,
            host_rate: BitRate::from_gbps(400),
            fabric_rate: BitRate::from_gbps(400),
            delay: Span::from_ns(500),
            parallel_links: 1,
        }
    }

    #[test]
    fn links_diameter_and_bisection_match_the_book() {
        for (sizes, links, diameter, bisection) in [
            ([4, 4, 1], 2 * 16, 4, 8),
            ([4, 4, 4], 3 * 64, 6, 32),
            ([8, 4, 2], 2 * 64 + 32, 4 + 2 + 1, 16),
            ([5, 1, 1], 5, 2, 2),
            ([2, 1, 1], 1, 1, 1),
        ] {
            let topology = torus(sizes).build().unwrap();
            let hosts = topology.host_count();
            assert_eq!(topology.links().len() as u32, hosts + links, "{sizes:?}");
            let routes = Routes::new(&topology, &|_| true);
            let farthest = (0..hosts).map(|to| routes.hops(HostId(0), HostId(to))).max().unwrap();
            assert_eq!(farthest, diameter + 2, "{sizes:?}");
            // Cut between the two halves of the first dimension.
            let half = |node: &Node| node.switch().map(|id| id.0 % sizes[0] < sizes[0] / 2);
            let cut = topology.links().iter().filter(|link| match link.ends.each_ref().map(half) {
                [Some(a), Some(b)] => a != b,
                _ => false,
            });
            assert_eq!(cut.count(), bisection, "{sizes:?}");
        }
    }

    #[test]
    fn minimal_routes_take_the_shorter_direction_in_any_dimension_order() {
        let topology = torus([4, 5, 1]).build().unwrap();
        let routes = Routes::new(&topology, &|_| true);
        for (a, b) in (0..20u32).flat_map(|a| (0..20).map(move |b| (a, b))) {
            let apart = |a: u32, b: u32, size: u32| a.abs_diff(b).min(size - a.abs_diff(b));
            let expected = apart(a % 4, b % 4, 4) + apart(a / 4, b / 4, 5);
            if a != b {
                assert_eq!(routes.hops(HostId(a), HostId(b)), expected + 2, "{a} {b}");
            }
        }
        // One step in each of two dimensions: two orders. Half-way round a ring: two directions.
        assert_eq!(routes.next_hops(SwitchId(0), HostId(5)).len(), 2);
        assert_eq!(routes.next_hops(SwitchId(0), HostId(2)).len(), 2);
        assert_eq!(routes.next_hops(SwitchId(0), HostId(1)).len(), 1);
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        let error = |sizes| torus(sizes).build().unwrap_err().to_string();
        assert!(error([0, 4, 1]).starts_with("x = 0"));
        assert!(error([u32::MAX; 3]).contains("too many"));
        assert!(error([1_000, 1_000, 1]).contains("pairs of switch and edge switch"));
    }
}
