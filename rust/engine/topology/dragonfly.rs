//! The dragonfly and the dragonfly+: groups of switches, with links between every two groups.
//!
//! Sources: Kim, Dally, Scott and Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology"
//! (ISCA 2008), section 3: at most `a·h + 1` groups of `a` routers, each router with `p` hosts and
//! `h` global links. A minimal route has one global link. Shpiner et al., "Dragonfly+: Low Cost
//! Topology for Scaling Datacenters" (HiPINEB 2017): a group is a leaf-spine whose spines have the
//! global links. The arrangement of the global links is \[inferred\]: link `j` of a group goes to
//! the group `j + 1` further, and starts over when every other group has one.

use super::leaf_spine::{host_names, no_zero, switch};
use super::{Direct, Link, Node, Switch, Topology, TopologyError, check};
use crate::ids::{HostId, SwitchId};
use crate::units::{BitRate, Span};

/// Cost of a global link where a link within a group costs 1. A route over two global links is
/// never preferred to one global link with a local link before and after it.
const GLOBAL_COST: u32 = 3;

/// Wiring of the switches of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Fully connected routers, each with hosts and global links (dragonfly).
    Routers {
        /// Routers per group (`a`), named `g0r1`.
        routers: u32,
    },
    /// Leaves with hosts, each linked to every spine; the spines have the global links
    /// (dragonfly+).
    LeafSpine {
        /// Leaves per group, named `g0-leaf1`.
        leaves: u32,
        /// Spines per group, named `g0-spine1`.
        spines: u32,
    },
}

/// A dragonfly or a dragonfly+.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dragonfly {
    /// Wiring of each group.
    pub group: Group,
    /// Number of groups.
    pub groups: u32,
    /// Hosts per router or leaf (`p`).
    pub hosts_per_switch: u32,
    /// Global links per router or spine (`h`).
    pub global_links: u32,
    /// Rate of the hosts' links.
    pub host_rate: BitRate,
    /// Rate of the links between switches.
    pub fabric_rate: BitRate,
    /// Propagation delay of the hosts' links and of the links within a group.
    pub delay: Span,
    /// Propagation delay of each global link.
    pub global_delay: Span,
}

impl Group {
    /// Returns the numbers of switches with hosts and of switches with global links.
    const fn counts(self) -> (u32, u32) {
        match self {
            Self::Routers { routers } => (routers, routers),
            Self::LeafSpine { leaves, spines } => (leaves, spines),
        }
    }

    /// Returns the number of switches.
    const fn switches(self) -> u64 {
        match self {
            Self::Routers { routers } => routers as u64,
            Self::LeafSpine { leaves, spines } => leaves as u64 + spines as u64,
        }
    }

    /// Returns the number of links within the group.
    const fn links(self) -> u128 {
        match self {
            Self::Routers { routers } => routers as u128 * (routers as u128).saturating_sub(1) / 2,
            Self::LeafSpine { leaves, spines } => leaves as u128 * spines as u128,
        }
    }

    fn switch(self, group: u32, index: u32) -> Switch {
        match self {
            Self::Routers { .. } => switch(format!("g{group}r{index}"), 0),
            Self::LeafSpine { leaves, .. } if index < leaves => {
                switch(format!("g{group}-leaf{index}"), 0)
            }
            Self::LeafSpine { leaves, .. } => {
                switch(format!("g{group}-spine{}", index - leaves), 1)
            }
        }
    }

    /// Returns the pairs of directly linked switches.
    fn local_links(self) -> Vec<[u32; 2]> {
        let (first, second) = match self {
            Self::Routers { routers } => (0..routers, 0..routers),
            Self::LeafSpine { leaves, spines } => (0..leaves, leaves..leaves + spines),
        };
        let pairs = first.flat_map(|a| second.clone().map(move |b| [a, b]));
        pairs.filter(|[a, b]| a < b).collect()
    }

    /// Returns the index of the first switch with global links.
    const fn first_global(self) -> u32 {
        match self {
            Self::Routers { .. } => 0,
            Self::LeafSpine { leaves, .. } => leaves,
        }
    }
}

impl Dragonfly {
    /// Builds the topology.
    ///
    /// # Errors
    /// Fails if a count or a rate is zero, if a group has too few global links to reach every other
    /// group, or if a size exceeds the limits of a [`Topology`].
    pub fn build(&self) -> Result<Topology, TopologyError> {
        let hosts = self.check()?;
        let Self { group, groups, .. } = *self;
        let per_group = group.switches() as u32;
        let indices = || (0..groups).flat_map(|of| (0..per_group).map(move |index| (of, index)));
        let switches = indices().map(|(of, index)| group.switch(of, index)).collect();
        let edges = group.counts().0;
        let link = |ends: [u32; 2], delay: Span| {
            let ends = ends.map(|id| Node::Switch(SwitchId(id)));
            Link { ends, rate: self.fabric_rate, delay }
        };
        let mut links: Vec<Link> = (0..hosts)
            .map(|host| {
                let edge = host / self.hosts_per_switch;
                let edge = SwitchId(edge / edges * per_group + edge % edges);
                let ends = [Node::Host(HostId(host)), Node::Switch(edge)];
                Link { ends, rate: self.host_rate, delay: self.delay }
            })
            .collect();
        for of in 0..groups {
            let pairs = group.local_links().into_iter();
            links.extend(pairs.map(|pair| link(pair.map(|id| of * per_group + id), self.delay)));
        }
        links.extend(self.global_ends().into_iter().map(|ends| link(ends, self.global_delay)));
        let topology = Topology::new(host_names(hosts), switches, links)?;
        let groups = indices().map(|(of, _)| of).collect();
        Ok(topology.with_direct(Direct { groups, global_cost: GLOBAL_COST }))
    }

    /// Returns the number of global links per group in use: equally many to each other group.
    fn global_of_group(&self) -> u32 {
        let all = self.group.counts().1.saturating_mul(self.global_links);
        let others = self.groups.saturating_sub(1).max(1);
        all / others * (self.groups - 1)
    }

    /// Returns the switches at the ends of each global link, ordered by the lower group and its
    /// link.
    fn global_ends(&self) -> Vec<[u32; 2]> {
        let (others, per_group) = (self.groups - 1, self.group.switches() as u32);
        // Consecutive links of a group start at different switches, so parallel links between two
        // groups do too where possible.
        let with_links = self.group.counts().1;
        let switch_of_link = |group: u32, link: u32| {
            group * per_group + self.group.first_global() + link / self.global_links % with_links
        };
        let mut ends = Vec::new();
        for group in 0..self.groups {
            for link in 0..self.global_of_group() {
                let (round, ahead) = (link / others, link % others);
                let other = (group + 1 + ahead) % self.groups;
                let back = round * others + (others - 1 - ahead);
                if group < other {
                    ends.push([switch_of_link(group, link), switch_of_link(other, back)]);
                }
            }
        }
        ends
    }

    /// Checks all parameters and returns the number of hosts.
    fn check(&self) -> Result<u32, TopologyError> {
        let (edges, with_links) = self.group.counts();
        let (first, second) = match self.group {
            Group::Routers { .. } => ("routers", "routers"),
            Group::LeafSpine { .. } => ("leaves", "spines"),
        };
        let counts = [
            (first, edges),
            (second, with_links),
            ("groups", self.groups),
            ("hosts_per_switch", self.hosts_per_switch),
            ("global_links", self.global_links),
        ];
        no_zero(&counts.map(|(field, value)| (field, value.into())))?;
        no_zero(&[("host_rate", self.host_rate.as_bps())])?;
        no_zero(&[("fabric_rate", self.fabric_rate.as_bps())])?;
        let most = u64::from(with_links) * u64::from(self.global_links) + 1;
        if u64::from(self.groups) > most {
            return Err(TopologyError::TooManyGroups { groups: self.groups, most });
        }
        let groups = u128::from(self.groups);
        let hosts = groups * u128::from(edges) * u128::from(self.hosts_per_switch);
        let global = groups * u128::from(most);
        let links = hosts.saturating_add(groups * self.group.links()).saturating_add(global);
        check::counts(hosts, groups * u128::from(self.group.switches()), links)?;
        Ok(u32::try_from(hosts).expect("within the limit"))
    }
}

#[cfg(test)]
mod tests;
