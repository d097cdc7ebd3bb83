//! Dual-ToR: each host has one port at each of two ToR switches of the same fabric.
//!
//! Source: Qian et al., "Alibaba HPN: A Data Center Network for Large Language Model Training"
//! (SIGCOMM 2024), section 4 (non-stacked dual-ToR). The two ToRs do not know of each other. Each
//! advertises routes to the hosts whose links to it are up. HPN's two planes share no switch
//! (`multi-plane`); here both ToRs have links to all spines.

use super::leaf_spine::{host_names, no_zero, switch};
use super::{Link, Node, Topology, TopologyError, check};
use crate::ids::{HostId, SwitchId};
use crate::units::{BitRate, Span};

/// Ports per host.
const PORTS: u32 = 2;

/// A leaf-spine fabric with pairs of ToRs instead of leaves.
///
/// Pair `p` consists of the switches `tor{p}a` and `tor{p}b`. With rails, each GPU of a server is
/// attached to a different pair (rail-optimised), as in [`super::MultiPlane`]. Switch ids number
/// the first ToR of every pair, then the spines, then the second ToRs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DualTor {
    /// Pairs of ToRs.
    pub pairs: u32,
    /// Spine switches, each with links to every ToR.
    pub spines: u32,
    /// Hosts per pair.
    pub hosts_per_pair: u32,
    /// GPUs per server, each at a different pair; 1 attaches consecutive hosts to the same pair.
    pub rails: u32,
    /// Rate of each of a host's two links.
    pub host_rate: BitRate,
    /// Rate of the links between ToRs and spines.
    pub fabric_rate: BitRate,
    /// Propagation delay of each link.
    pub delay: Span,
    /// Links between each ToR and each spine.
    pub parallel_links: u32,
}

impl DualTor {
    /// Builds the topology.
    ///
    /// # Errors
    /// Fails if a count or a rate is zero, pairs are not a multiple of rails, or a size exceeds the
    /// limits of a [`Topology`].
    pub fn build(&self) -> Result<Topology, TopologyError> {
        let Self { pairs, spines, .. } = *self;
        let hosts = self.check()?;
        let mut switches: Vec<_> = (0..pairs).map(|it| switch(format!("tor{it}a"), 0)).collect();
        switches.extend((0..spines).map(|it| switch(format!("spine{it}"), 1)));
        switches.extend((0..pairs).map(|it| switch(format!("tor{it}b"), 0)));
        let tor = |pair: u32, port: u32| if port == 0 { pair } else { pairs + spines + pair };
        let of_hosts = (0..hosts).flat_map(|host| (0..PORTS).map(move |port| (host, port)));
        let of_hosts = of_hosts.map(|(host, port)| {
            let tor = Node::Switch(SwitchId(tor(self.pair_of(host), port)));
            let ends = [Node::Host(HostId(host)), tor];
            Link { ends, rate: self.host_rate, delay: self.delay }
        });
        let up = (0..PORTS).flat_map(|port| (0..pairs).map(move |pair| tor(pair, port)));
        let up = up.flat_map(|tor| (0..spines).map(move |spine| [tor, pairs + spine]));
        let up = up.flat_map(|ends| (0..self.parallel_links).map(move |_| ends));
        let up = up.map(|ends| {
            let ends = ends.map(|id| Node::Switch(SwitchId(id)));
            Link { ends, rate: self.fabric_rate, delay: self.delay }
        });
        Topology::with_host_ports(PORTS, host_names(hosts), switches, of_hosts.chain(up).collect())
    }

    fn pair_of(&self, host: u32) -> u32 {
        let (server, rail) = (host / self.rails, host % self.rails);
        server / self.hosts_per_pair * self.rails + rail
    }

    /// Checks all parameters and returns the number of hosts.
    fn check(&self) -> Result<u32, TopologyError> {
        let fields = [
            ("pairs", self.pairs),
            ("spines", self.spines),
            ("hosts_per_pair", self.hosts_per_pair),
            ("rails", self.rails),
            ("parallel_links", self.parallel_links),
        ];
        no_zero(&fields.map(|(field, value)| (field, value.into())))?;
        let rates = [("host_rate", self.host_rate), ("fabric_rate", self.fabric_rate)];
        no_zero(&rates.map(|(field, rate)| (field, rate.as_bps())))?;
        if !self.pairs.is_multiple_of(self.rails) {
            let (rails, leaves) = (self.rails, self.pairs);
            return Err(TopologyError::LeavesNotMultipleOfRails { rails, leaves });
        }
        let [pairs, spines, ports] = [self.pairs, self.spines, PORTS].map(u128::from);
        let hosts = pairs * u128::from(self.hosts_per_pair);
        let uplinks = ports * (pairs * spines).saturating_mul(self.parallel_links.into());
        check::counts(hosts, ports * pairs + spines, (ports * hosts).saturating_add(uplinks))?;
        Ok(u32::try_from(hosts).expect("within the limit"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Routes;

    const SMALL: DualTor = DualTor {
        pairs: 3,
        spines: 4,
        hosts_per_pair: 2,
        rails: 1,
        host_rate: BitRate::from_gbps(200),
        fabric_rate: BitRate::from_gbps(400),
        delay: Span::from_ns(500),
        parallel_links: 1,
    };

    #[test]
    fn both_tors_of_each_host_have_links_to_all_spines() {
        let topology = SMALL.build().unwrap();
        assert_eq!((topology.host_count(), topology.switches().len()), (6, 2 * 3 + 4));
        assert_eq!(topology.links().len(), 2 * 6 + 2 * 3 * 4);
        assert_eq!(topology.host_rate(HostId(0)), BitRate::from_gbps(400));
        let routes = Routes::new(&topology, &|_| true);
        // Two ports, four spines, two ToRs of the receiver.
        assert_eq!(routes.path_count(HostId(0), HostId(2)), 2 * 4 * 2);
        assert_eq!(routes.choices(HostId(0), HostId(2)), [2, 4, 2, 1]);
        assert_eq!((routes.hops(HostId(0), HostId(2)), routes.hops(HostId(0), HostId(1))), (4, 2));
        let mut last: Vec<_> = (0..16)
            .map(|path| *routes.path_ports(HostId(0), HostId(2), path).last().unwrap())
            .collect();
        last.sort_unstable();
        last.dedup();
        assert_eq!(last.len(), 2);
    }

    #[test]
    fn a_tor_without_a_link_to_the_host_forwards_packets_up() {
        let topology = SMALL.build().unwrap();
        let down = topology.link_named("host2-tor1a").unwrap();
        let routes = Routes::new(&topology, &|link| link != down);
        let named = |name: &str| {
            let of_name = |switch: &crate::topology::Switch| switch.name == name;
            SwitchId(topology.switches().iter().position(of_name).unwrap() as u32)
        };
        // tor1a reaches the host via any spine and tor1b. A spine has one ToR left for this host,
        // and two for its neighbour.
        assert_eq!(routes.next_hops(named("tor1a"), HostId(2)).len(), 4);
        assert_eq!(routes.next_hops(named("spine0"), HostId(2)).len(), 1);
        assert_eq!(routes.next_hops(named("spine0"), HostId(3)).len(), 2);
        for (src, dst) in (0..6).flat_map(|a| (0..6).map(move |b| (a, b))).filter(|(a, b)| a != b) {
            assert!(routes.path_count(HostId(src), HostId(dst)) > 0, "{src} {dst}");
        }
        // Path 0 enters tor1a, which lost the host: the packet goes up to a spine and down again.
        assert_eq!(routes.path_ports(HostId(3), HostId(2), 0).len(), 4);
        assert_eq!(routes.path_ports(HostId(3), HostId(2), 1).len(), 2);
        let both = ["host2-tor1a", "host2-tor1b"].map(|name| topology.link_named(name).unwrap());
        let routes = Routes::new(&topology, &|link| !both.contains(&link));
        assert_eq!(routes.path_count(HostId(3), HostId(2)), 0);
        assert!(routes.next_hops(named("tor1a"), HostId(2)).is_empty());
    }

    #[test]
    fn merging_combines_the_two_tors_of_a_pair() {
        let merged = SMALL.build().unwrap().merged();
        assert_eq!((merged.switches().len(), merged.links().len()), (3 + 4, 6 + 3 * 4));
        assert_eq!(merged.host_rate(HostId(5)), BitRate::from_gbps(400));
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        let error = |shape: DualTor| shape.build().unwrap_err().to_string();
        assert!(error(DualTor { pairs: 0, ..SMALL }).starts_with("pairs = 0"));
        assert!(error(DualTor { rails: 2, ..SMALL }).contains("multiple of rails"));
        assert!(error(DualTor { pairs: u32::MAX, ..SMALL }).contains("too many"));
    }
}
