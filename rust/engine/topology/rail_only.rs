//! The rail-only fabric: each rail is a separate network, and only servers connect the rails.
//!
//! Source: Wang et al., "Rail-only: A Low-Cost High-Performance Network for Training LLMs with
//! Trillion Parameters" (HotI 2024), section 3: the rail-optimised fabric without the spines
//! between rails. Traffic across rails uses a server's high-bandwidth domain.

use super::leaf_spine::{host_names, no_zero, switch};
use super::{Link, Node, Topology, TopologyError, check};
use crate::ids::{HostId, SwitchId};
use crate::units::{BitRate, Span};

/// A rail-only fabric. In each unit of servers, leaf `g` connects GPU `g` of every server. With
/// several units, spines of a rail connect the leaves of that rail.
///
/// A host is a GPU with one NIC, numbered server by server: host `h` is GPU `h % rails` of server
/// `h / rails`. The leaf of rail `rail` in unit `unit` is switch `leaf{unit * rails + rail}`. The
/// spines of a rail are named `rail0-spine1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RailOnly {
    /// GPUs per server, equal to the number of rails.
    pub rails: u32,
    /// Servers per unit, equal to the number of hosts per leaf.
    pub servers: u32,
    /// Number of units; the servers of a unit share its leaves.
    pub units: u32,
    /// Spines per rail; unused with one unit.
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

impl RailOnly {
    /// Builds the topology.
    ///
    /// # Errors
    /// Fails if a count or a rate is zero, or a size exceeds the limits of a [`Topology`].
    pub fn build(&self) -> Result<Topology, TopologyError> {
        let fields = [
            ("rails", self.rails),
            ("servers", self.servers),
            ("units", self.units),
            ("spines", self.spines),
            ("parallel_links", self.parallel_links),
        ];
        no_zero(&fields.map(|(field, value)| (field, value.into())))?;
        let rates = [("host_rate", self.host_rate), ("fabric_rate", self.fabric_rate)];
        no_zero(&rates.map(|(field, rate)| (field, rate.as_bps())))?;
        let spines = if self.units == 1 { 0 } else { self.spines };
        let leaves = u128::from(self.units) * u128::from(self.rails);
        let hosts = leaves.saturating_mul(self.servers.into());
        let all_spines = u128::from(spines) * u128::from(self.rails);
        let uplinks = leaves.saturating_mul(u128::from(spines) * u128::from(self.parallel_links));
        check::counts(hosts, leaves + all_spines, hosts.saturating_add(uplinks))?;
        let (leaves, hosts) = (leaves as u32, hosts as u32);
        let mut switches: Vec<_> =
            (0..leaves).map(|leaf| switch(format!("leaf{leaf}"), 0)).collect();
        let of_rails = (0..self.rails).flat_map(|rail| (0..spines).map(move |it| (rail, it)));
        switches.extend(of_rails.map(|(rail, it)| switch(format!("rail{rail}-spine{it}"), 1)));
        let of_hosts = (0..hosts).map(|host| {
            let (server, rail) = (host / self.rails, host % self.rails);
            let leaf = SwitchId(server / self.servers * self.rails + rail);
            let ends = [Node::Host(HostId(host)), Node::Switch(leaf)];
            Link { ends, rate: self.host_rate, delay: self.delay }
        });
        let up = (0..leaves).flat_map(|leaf| (0..spines).map(move |spine| (leaf, spine)));
        let up = up.flat_map(|pair| (0..self.parallel_links).map(move |_| pair));
        let up = up.map(|(leaf, spine)| {
            let spine = leaves + leaf % self.rails * spines + spine;
            let ends = [leaf, spine].map(|id| Node::Switch(SwitchId(id)));
            Link { ends, rate: self.fabric_rate, delay: self.delay }
        });
        Topology::of_rails(self.rails, host_names(hosts), switches, of_hosts.chain(up).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Routes;

    const SMALL: RailOnly = RailOnly {
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
    fn only_hosts_of_the_same_rail_have_paths() {
        let topology = SMALL.build().unwrap();
        assert_eq!((topology.host_count(), topology.switches().len()), (24, 8 + 4 * 5));
        assert_eq!(topology.links().len(), 24 + 8 * 5);
        let routes = Routes::new(&topology, &|_| true);
        for (a, b) in (0..24).flat_map(|a| (0..24).map(move |b| (a, b))).filter(|(a, b)| a != b) {
            let expected = match (a % 4 == b % 4, a / 12 == b / 12) {
                (false, _) => 0,
                (true, true) => 1,
                (true, false) => 5,
            };
            assert_eq!(routes.path_count(HostId(a), HostId(b)), expected, "{a} {b}");
        }
    }

    #[test]
    fn one_unit_has_one_switch_per_rail() {
        let topology = RailOnly { units: 1, ..SMALL }.build().unwrap();
        assert_eq!((topology.switches().len(), topology.links().len()), (4, 12));
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        let error = |shape: RailOnly| shape.build().unwrap_err().to_string();
        assert!(error(RailOnly { rails: 0, ..SMALL }).starts_with("rails = 0"));
        let vast = RailOnly { units: u32::MAX, servers: u32::MAX, ..SMALL };
        assert!(error(vast).contains("too many"));
    }
}
