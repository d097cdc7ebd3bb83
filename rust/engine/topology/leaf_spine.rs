//! The leaf-spine fabric: every leaf has links to every spine.

use super::{Link, Node, Switch, Topology, TopologyError, check};
use crate::ids::{HostId, SwitchId};
use crate::units::{BitRate, Span};

/// A leaf-spine fabric.
///
/// Host `h` is attached to leaf `h / hosts_per_leaf`. Switch ids number the leaves, then the
/// spines. Link `h` belongs to host `h`. The links between switches follow, by leaf and then by
/// spine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeafSpine {
    /// Number of leaf switches (ToRs): `leaf0`, `leaf1`, ...
    pub leaves: u32,
    /// Number of spine switches: `spine0`, `spine1`, ...
    pub spines: u32,
    /// Hosts per leaf; host `h` is at leaf `h / hosts_per_leaf`.
    pub hosts_per_leaf: u32,
    /// Rate of the hosts' links.
    pub host_rate: BitRate,
    /// Rate of the links between leaves and spines.
    pub fabric_rate: BitRate,
    /// Propagation delay of each link.
    pub delay: Span,
    /// Links between each leaf and each spine.
    pub parallel_links: u32,
}

impl LeafSpine {
    /// Builds the topology.
    ///
    /// # Errors
    /// Fails if a count or a rate is zero, or a size exceeds the limits of a [`Topology`].
    pub fn build(&self) -> Result<Topology, TopologyError> {
        self.build_with(&|host| host / self.hosts_per_leaf)
    }

    /// Builds the topology with host `h` attached to leaf `leaf_of(h)`. `leaf_of` must give every
    /// leaf the same number of hosts.
    pub(super) fn build_with(
        &self,
        leaf_of: &dyn Fn(u32) -> u32,
    ) -> Result<Topology, TopologyError> {
        let hosts = self.check()?;
        let mut switches = Vec::new();
        switches.extend((0..self.leaves).map(|leaf| switch(format!("leaf{leaf}"), 0)));
        switches.extend((0..self.spines).map(|spine| switch(format!("spine{spine}"), 1)));
        let mut links: Vec<Link> = (0..hosts)
            .map(|host| {
                let leaf = SwitchId(leaf_of(host));
                let ends = [Node::Host(HostId(host)), Node::Switch(leaf)];
                Link { ends, rate: self.host_rate, delay: self.delay }
            })
            .collect();
        for leaf in 0..self.leaves {
            for spine in 0..self.spines {
                let ends = [leaf, self.leaves + spine].map(|id| Node::Switch(SwitchId(id)));
                let link = Link { ends, rate: self.fabric_rate, delay: self.delay };
                links.extend((0..self.parallel_links).map(|_| link.clone()));
            }
        }
        Topology::new(host_names(hosts), switches, links)
    }

    /// Checks all parameters and returns the number of hosts.
    fn check(&self) -> Result<u32, TopologyError> {
        let fields = [
            ("leaves", u64::from(self.leaves)),
            ("spines", u64::from(self.spines)),
            ("hosts_per_leaf", u64::from(self.hosts_per_leaf)),
            ("parallel_links", u64::from(self.parallel_links)),
            ("host_rate", self.host_rate.as_bps()),
            ("fabric_rate", self.fabric_rate.as_bps()),
        ];
        no_zero(&fields)?;
        let leaves = u128::from(self.leaves);
        let hosts = leaves * u128::from(self.hosts_per_leaf);
        let uplinks = leaves * u128::from(self.spines) * u128::from(self.parallel_links);
        check::counts(hosts, leaves + u128::from(self.spines), hosts + uplinks)?;
        Ok(u32::try_from(hosts).expect("within the limit"))
    }
}

/// Returns a switch with this name and tier.
pub(super) fn switch(name: String, tier: u8) -> Switch {
    Switch { name, tier }
}

/// Returns the names of hosts: `host0`, `host1`, ...
pub(super) fn host_names(hosts: u32) -> Vec<String> {
    (0..hosts).map(|host| HostId(host).to_string()).collect()
}

/// Fails with the first parameter that is zero.
pub(super) fn no_zero(fields: &[(&'static str, u64)]) -> Result<(), TopologyError> {
    match fields.iter().find(|(_, value)| *value == 0) {
        Some((field, _)) => Err(TopologyError::Zero { field }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: LeafSpine = LeafSpine {
        leaves: 3,
        spines: 2,
        hosts_per_leaf: 4,
        host_rate: BitRate::from_gbps(100),
        fabric_rate: BitRate::from_gbps(400),
        delay: Span::from_ns(500),
        parallel_links: 2,
    };

    #[test]
    fn counts_names_and_rates_match_the_parameters() {
        let topology = SMALL.build().unwrap();
        assert_eq!(topology.host_count(), 12);
        assert_eq!(topology.links().len(), 12 + 3 * 2 * 2);
        let names: Vec<_> = topology.switches().iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["leaf0", "leaf1", "leaf2", "spine0", "spine1"]);
        assert_eq!(topology.edge_of(HostId(7)), Some(SwitchId(1)));
        assert_eq!(topology.links()[11].rate, BitRate::from_gbps(100));
        assert_eq!(topology.links()[12].rate, BitRate::from_gbps(400));
        assert_eq!(topology.ports_of(SwitchId(4)).len(), 6);
    }

    #[test]
    fn sizes_out_of_range_are_refused_before_anything_is_allocated() {
        let error = |shape: LeafSpine| shape.build().unwrap_err().to_string();
        assert_eq!(
            error(LeafSpine { spines: 0, ..SMALL }),
            "spines = 0 is out of range; expected at least 1"
        );
        assert!(
            error(LeafSpine { host_rate: BitRate::from_bps(0), ..SMALL }).contains("host_rate")
        );
        assert_eq!(
            error(LeafSpine { leaves: u32::MAX, hosts_per_leaf: u32::MAX, ..SMALL }),
            "too many hosts: 18446744065119617025 (limit 4194304)"
        );
        assert!(error(LeafSpine { parallel_links: u32::MAX, ..SMALL }).contains("too many links"));
        let wide = LeafSpine { leaves: 1 << 18, hosts_per_leaf: 1, spines: 1 << 11, ..SMALL };
        assert!(error(wide).contains("too many links"));
    }
}
