//! The rail-optimised fabric: each GPU of a server is attached to a different leaf.
//!
//! Source: NVIDIA, "DGX SuperPOD Reference Architecture" (rail-optimised full fat-tree), as
//! described in section 2 of Wang et al., "Rail-only: A Low-Cost High-Performance Network for
//! Training LLMs with Trillion Parameters" (2023).

use super::{LeafSpine, Topology, TopologyError};
use crate::units::{BitRate, Span};

/// A rail-optimised fabric. In each unit of servers, leaf `g` connects GPU `g` of every server (a
/// rail); spines connect rails and units.
///
/// A host is a GPU with one NIC, numbered server by server: host `h` is GPU `h % rails` of server
/// `h / rails`. [`super::ScaleUp`] adds the links within a server (NVLink). Without it, traffic
/// between GPUs of one server crosses leaves and spines like traffic between servers. The leaf of
/// rail `rail` in unit `unit` is switch `leaf{unit * rails + rail}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RailOptimized {
    /// GPUs per server, equal to the number of leaves per unit.
    pub rails: u32,
    /// Servers per unit, equal to the number of hosts per leaf.
    pub servers: u32,
    /// Number of units; the servers of a unit share its leaves.
    pub units: u32,
    /// Number of spine switches: `spine0`, `spine1`, ...
    pub spines: u32,
    /// Rate of the hosts' links.
    pub host_rate: BitRate,
    /// Rate of the links between leaves and spines.
    pub fabric_rate: BitRate,
    /// Propagation delay of each link.
    pub delay: Span,
    /// Links between each leaf and each spine.
    pub parallel_links: u32,
}

impl RailOptimized {
    /// Builds the topology.
    ///
    /// # Errors
    /// Fails if a count or a rate is zero, or a size exceeds the limits of a [`Topology`].
    pub fn build(&self) -> Result<Topology, TopologyError> {
        let fields = [("rails", self.rails), ("servers", self.servers), ("units", self.units)];
        super::leaf_spine::no_zero(&fields.map(|(field, value)| (field, u64::from(value))))?;
        let shape = LeafSpine {
            leaves: self.units.saturating_mul(self.rails),
            spines: self.spines,
            hosts_per_leaf: self.servers,
            host_rate: self.host_rate,
            fabric_rate: self.fabric_rate,
            delay: self.delay,
            parallel_links: self.parallel_links,
        };
        shape.build_with(&|host| {
            let (server, rail) = (host / self.rails, host % self.rails);
            server / self.servers * self.rails + rail
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{HostId, SwitchId};
    use crate::topology::Routes;

    const SMALL: RailOptimized = RailOptimized {
        rails: 4,
        servers: 3,
        units: 2,
        spines: 5,
        host_rate: BitRate::from_gbps(400),
        fabric_rate: BitRate::from_gbps(400),
        delay: Span::from_ns(500),
        parallel_links: 1,
    };

    #[test]
    fn only_hosts_of_the_same_rail_and_unit_share_a_leaf() {
        let topology = SMALL.build().unwrap();
        assert_eq!((topology.host_count(), topology.switches().len()), (24, 8 + 5));
        let routes = Routes::new(&topology, &|_| true);
        for (a, b) in (0..24).flat_map(|a| (0..24).map(move |b| (a, b))) {
            let unit_and_rail = |host: u32| (host / 4 / 3, host % 4);
            let same = unit_and_rail(a) == unit_and_rail(b);
            let (a, b) = (HostId(a), HostId(b));
            assert_eq!(routes.same_edge(a, b), same, "{a} {b}");
            if a != b {
                assert_eq!(routes.path_count(a, b), if same { 1 } else { 5 }, "{a} {b}");
            }
        }
        for (host, leaf) in [(0, 0), (3, 3), (4, 0), (11, 3), (12, 4), (23, 7)] {
            assert_eq!(topology.edge_of(HostId(host)), Some(SwitchId(leaf)));
        }
        let per_leaf = |leaf| topology.ports_of(SwitchId(leaf)).len();
        assert!((0..8).all(|leaf| per_leaf(leaf) == 3 + 5));
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        let error = |shape: RailOptimized| shape.build().unwrap_err().to_string();
        assert!(error(RailOptimized { rails: 0, ..SMALL }).starts_with("rails = 0"));
        assert!(error(RailOptimized { units: 0, ..SMALL }).starts_with("units = 0"));
        let vast = RailOptimized { units: u32::MAX, servers: u32::MAX, ..SMALL };
        assert!(error(vast).contains("too many"));
    }
}
