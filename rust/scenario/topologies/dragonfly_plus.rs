//! The dragonfly+: groups of leaves and spines.

use super::dragonfly::Wires;
use super::{
    BitRate, BuiltFabric, Context, Family, Key, ScenarioError, Span, TopologyError, built, section,
};
use crate::topology::{Dragonfly, Group};

section! {
    /// `kind = "dragonfly-plus"`: each group is a leaf-spine whose spines have the global links.
    pub struct DragonflyPlusSection {
        /// Leaf switches per group.
        leaves: u32 = 4,
        /// Spine switches per group.
        spines: u32 = 4,
        /// Hosts per leaf.
        hosts_per_leaf: u32 = 4,
        /// Links per spine to other groups.
        global_links: u32 = 4,
        /// Groups, at most `spines · global_links + 1`.
        groups: u32 = 9,
        /// Rate of host links.
        host_rate: BitRate = BitRate::from_gbps(400),
        /// Rate of links between switches.
        fabric_rate: BitRate = BitRate::from_gbps(400),
        /// One-way delay of links to hosts and within a group.
        delay: Span = Span::from_ns(500),
        /// One-way delay between groups.
        global_delay: Span = Span::from_ns(500),
    }
}

impl Family for DragonflyPlusSection {
    const NAME: &'static str = "dragonfly-plus";
    const SUMMARY: &'static str =
        "Groups of leaves and spines, and links between the spines of every two groups";
    const SOURCE: &'static str =
        "Shpiner et al., Dragonfly+: Low Cost Topology for Scaling Datacenters, 2017";

    fn build(&self, context: &Context<'_>, kind: &Key) -> Result<BuiltFabric, ScenarioError> {
        let Self { host_rate, fabric_rate, delay, global_delay, .. } = self;
        let (leaves, spines) = (context.positive(&self.leaves)?, context.positive(&self.spines)?);
        let shape = Dragonfly {
            group: Group::LeafSpine { leaves, spines },
            groups: context.positive(&self.groups)?,
            hosts_per_switch: context.positive(&self.hosts_per_leaf)?,
            global_links: context.positive(&self.global_links)?,
            host_rate: **host_rate,
            fabric_rate: **fabric_rate,
            delay: **delay,
            global_delay: **global_delay,
        };
        let key = |error: &TopologyError| match error {
            TopologyError::TooLarge { .. } => self.leaves.key(),
            TopologyError::TooManyGroups { .. } => self.groups.key(),
            _ => kind,
        };
        let wires = Wires { host_rate, fabric_rate, delay, global_delay };
        wires.check(context)?;
        built(context, shape.build(), key)
    }
}
