//! The k-ary fat-tree of two or three tiers, with any oversubscription at the edge.
//!
//! Source: Al-Fares, Loukissas and Vahdat, "A Scalable, Commodity Data Center Network Architecture"
//! (2008).

use super::capacity::gcd;
use super::leaf_spine::{host_names, no_zero, switch};
use super::{LeafSpine, Link, Node, Topology, TopologyError, check};
use crate::ids::{HostId, SwitchId};
use crate::units::{BitRate, Fraction, Span};

/// A fat-tree of switches with k ports.
///
/// Edge switches have more ports if the tree is oversubscribed or the hosts' links are slower than
/// the fabric's. With parallel links every switch has more.
///
/// Three tiers: k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 cores. Aggregation `a` of
/// each pod is linked to cores `a·k/2` to `(a + 1)·k/2 - 1`. Switch ids number all edge switches,
/// then aggregation switches, then cores, pod by pod (`pod0-edge1`, `pod0-agg2`, `core3`).
/// Candidate `i` at an edge switch is therefore aggregation `i`. Candidate `j` at aggregation `a`
/// is core `a·k/2 + j` in every pod.
///
/// Two tiers: k leaves and k/2 spines, built as a [`LeafSpine`]: 128 hosts at k = 16.
///
/// Hosts per edge switch: oversubscription × k/2 × parallel links × fabric rate / host rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FatTree {
    /// Ports per switch; even.
    pub k: u32,
    /// Tiers of switches: 2 or 3.
    pub tiers: u8,
    /// Ratio of an edge switch's host capacity to its uplink capacity.
    pub oversubscription: Fraction,
    /// Rate of the hosts' links.
    pub host_rate: BitRate,
    /// Rate of the links between switches.
    pub fabric_rate: BitRate,
    /// Propagation delay of each link.
    pub delay: Span,
    /// Links between every two adjacent switches.
    pub parallel_links: u32,
}

impl FatTree {
    /// Builds the topology.
    ///
    /// # Errors
    /// Fails if k is odd, tiers are neither 2 nor 3, a rate or count is zero, the number of hosts
    /// per edge switch is not whole, or a size exceeds the limits of a [`Topology`].
    pub fn build(&self) -> Result<Topology, TopologyError> {
        let hosts_per_edge = self.hosts_per_edge()?;
        match self.tiers {
            2 => self.two_tiers(hosts_per_edge),
            _ => self.three_tiers(hosts_per_edge),
        }
    }

    fn two_tiers(&self, hosts_per_leaf: u32) -> Result<Topology, TopologyError> {
        let &Self { k, host_rate, fabric_rate, delay, parallel_links, .. } = self;
        let spines = k / 2;
        let shape = LeafSpine {
            leaves: k,
            spines,
            hosts_per_leaf,
            host_rate,
            fabric_rate,
            delay,
            parallel_links,
        };
        shape.build()
    }

    fn three_tiers(&self, hosts_per_edge: u32) -> Result<Topology, TopologyError> {
        let half = self.k / 2;
        let edges = self.k * half;
        let mut switches = Vec::new();
        for (kind, tier) in [("edge", 0), ("agg", 1)] {
            let names = (0..edges).map(|id| format!("pod{}-{kind}{}", id / half, id % half));
            switches.extend(names.map(|name| switch(name, tier)));
        }
        switches.extend((0..half * half).map(|core| switch(format!("core{core}"), 2)));
        let hosts = edges * hosts_per_edge;
        let mut links: Vec<Link> = (0..hosts)
            .map(|host| {
                let edge = Node::Switch(SwitchId(host / hosts_per_edge));
                let ends = [Node::Host(HostId(host)), edge];
                Link { ends, rate: self.host_rate, delay: self.delay }
            })
            .collect();
        for lower in 0..2 * edges {
            for index in 0..half {
                // An edge switch connects to the aggregation switches of its pod. An aggregation
                // switch connects to the cores of its position in the pod, so every pod uses the
                // same cores.
                let upper = if lower < edges {
                    edges + lower / half * half + index
                } else {
                    2 * edges + lower % half * half + index
                };
                let ends = [lower, upper].map(|id| Node::Switch(SwitchId(id)));
                let link = Link { ends, rate: self.fabric_rate, delay: self.delay };
                links.extend((0..self.parallel_links).map(|_| link.clone()));
            }
        }
        Topology::new(host_names(hosts), switches, links)
    }

    /// Checks all parameters and returns the number of hosts per edge switch.
    fn hosts_per_edge(&self) -> Result<u32, TopologyError> {
        let k = self.k;
        if k < 2 || !k.is_multiple_of(2) {
            return Err(TopologyError::Radix { k, example: k.saturating_add(1).max(2) & !1 });
        }
        if !(2..=3).contains(&self.tiers) {
            return Err(TopologyError::Tiers { tiers: self.tiers });
        }
        no_zero(&[
            ("oversubscription", u64::from(self.oversubscription.numerator())),
            ("parallel_links", u64::from(self.parallel_links)),
            ("host_rate", self.host_rate.as_bps()),
            ("fabric_rate", self.fabric_rate.as_bps()),
        ])?;
        let (k, half) = (u128::from(k), u128::from(k / 2));
        let uplinks = half * u128::from(self.parallel_links);
        let (edges, switches, fabric_links) = match self.tiers {
            2 => (k, k + half, k.saturating_mul(uplinks)),
            _ => (k * half, 2 * k * half + half * half, (2 * k * half).saturating_mul(uplinks)),
        };
        // Checked before computing the hosts: the products below cannot overflow.
        check::counts(0, switches, fabric_links)?;
        let hosts = self.hosts_per_edge_exact(uplinks)?;
        let all = edges.saturating_mul(hosts);
        check::counts(all, switches, fabric_links.saturating_add(all))?;
        Ok(u32::try_from(hosts).expect("within the limit"))
    }

    /// Returns the number of hosts per edge switch, or an error if it is not whole.
    fn hosts_per_edge_exact(&self, uplinks: u128) -> Result<u128, TopologyError> {
        let capacity = uplinks * u128::from(self.fabric_rate.as_bps());
        let host = u128::from(self.host_rate.as_bps());
        let above = capacity * u128::from(self.oversubscription.numerator());
        let below = host * u128::from(self.oversubscription.denominator());
        if above.is_multiple_of(below) {
            return Ok(above / below);
        }
        let nearest = ((above + below / 2) / below).max(1);
        let divisor = gcd(nearest.saturating_mul(host), capacity);
        Err(TopologyError::FractionalHosts {
            given: self.oversubscription,
            uplinks: u64::try_from(uplinks).expect("within the limit"),
            fabric_rate: self.fabric_rate,
            host_rate: self.host_rate,
            hosts: format!("{:.2}", above as f64 / below as f64),
            suggestion: format!(
                "{}/{}",
                nearest.saturating_mul(host) / divisor,
                capacity / divisor
            ),
            suggested_hosts: u64::try_from(nearest).unwrap_or(u64::MAX),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::fixtures;

    fn tree(k: u32, tiers: u8) -> FatTree {
        FatTree { tiers, ..fixtures::fat_tree(k) }
    }

    fn sizes(shape: &FatTree) -> (u32, usize, usize) {
        let topology = shape.build().unwrap();
        (topology.host_count(), topology.switches().len(), topology.links().len())
    }

    #[test]
    fn sizes_match_the_definition() {
        assert_eq!(sizes(&tree(4, 3)), (16, 20, 48));
        assert_eq!(sizes(&tree(8, 3)), (128, 80, 384));
        assert_eq!(sizes(&tree(16, 2)), (128, 24, 256));
        let two_to_one = Fraction::new(2, 1).unwrap();
        assert_eq!(sizes(&FatTree { oversubscription: two_to_one, ..tree(8, 3) }).0, 256);
        let parallel = FatTree { parallel_links: 2, ..tree(4, 3) };
        assert_eq!(sizes(&parallel), (32, 20, 32 + 64));
    }

    #[test]
    fn the_fat_tree_of_ethereal_has_512_hosts_on_faster_fabric_links() {
        let shape = FatTree { fabric_rate: BitRate::from_gbps(1_600), ..tree(8, 3) };
        let topology = shape.build().unwrap();
        assert_eq!(topology.host_count(), 512);
        let in_tier = |tier| topology.switches().iter().filter(|s| s.tier == tier).count();
        assert_eq!([in_tier(0), in_tier(1), in_tier(2)], [32, 32, 16]);
        assert_eq!(topology.edge_of(HostId(16)), Some(SwitchId(1)));
        assert_eq!(topology.ports_of(SwitchId(0)).len(), 16 + 4);
    }

    #[test]
    fn aggregation_switches_reach_the_same_cores_in_every_pod() {
        let topology = tree(4, 3).build().unwrap();
        for pod in 0..4 {
            for core in 0..4 {
                let name = format!("pod{pod}-agg{}-core{core}", core / 2);
                assert!(topology.link_named(&name).is_some(), "{name}");
            }
        }
        assert_eq!(topology.link_named("pod0-agg0-core2"), None);
        assert!(topology.link_named("pod3-edge1-pod3-agg0").is_some());
    }

    #[test]
    fn errors_name_a_valid_value() {
        let error = |shape: FatTree| shape.build().unwrap_err().to_string();
        assert_eq!(
            error(tree(7, 3)),
            "k = 7 is invalid; a fat-tree needs an even k of at least 2, for example 8"
        );
        assert!(error(tree(u32::MAX, 3)).contains("for example 4294967294"));
        assert_eq!(error(tree(8, 4)), "tiers = 4 is invalid; a fat-tree has 2 or 3 tiers");
        assert!(error(tree(4_000_000_000, 3)).starts_with("too many"));
        assert!(error(tree(4_000_000_000, 2)).starts_with("too many"));
        let third = FatTree { oversubscription: Fraction::new(4, 3).unwrap(), ..tree(8, 3) };
        assert_eq!(
            error(third),
            "oversubscription = 4/3 with 4 uplinks of 400Gbps requires 5.33 hosts of 400Gbps on \
             each edge switch, which is not a whole number; '5/4' requires 5"
        );
        let huge = FatTree {
            oversubscription: Fraction::new(u32::MAX, 1).unwrap(),
            fabric_rate: BitRate::from_bps(u64::MAX),
            host_rate: BitRate::from_bps(1),
            ..tree(128, 3)
        };
        assert!(error(huge).contains("too many hosts"));
    }
}
