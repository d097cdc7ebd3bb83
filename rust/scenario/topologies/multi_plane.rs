//! Multi-plane: several planes that share no switch. Presets build on it.

use super::{
    BuiltFabric, Context, Family, Generated, Key, ScenarioError, TopologyError, built, section,
};
use crate::topology::{LeafSpine, MultiPlane};

section! {
    /// `kind = "multi-plane"`.
    pub struct MultiPlaneSection {
        /// Disjoint planes, each with a `host_rate` port per host.
        planes: u32 = 4,
        /// GPUs per server, each at its own leaf; 1 fills leaves in host order.
        rails: u32 = 1,
        /// Leaf switches per plane.
        leaves: u32 = 16,
        /// Spine switches per plane.
        spines: u32 = 16,
        /// Hosts per leaf.
        hosts_per_leaf: u32 = 16,
    }
}

impl Family for Generated<MultiPlaneSection> {
    const NAME: &'static str = "multi-plane";
    const SUMMARY: &'static str =
        "Several leaf-spine planes that share no switch; every host has a port in each";
    const SOURCE: &'static str = "MRC's clusters, arXiv 2605.04333";

    fn build(&self, context: &Context<'_>, kind: &Key) -> Result<BuiltFabric, ScenarioError> {
        let Self { shape: section, links: wires } = self;
        wires.check(context)?;
        let plane = LeafSpine {
            leaves: context.positive(&section.leaves)?,
            spines: context.positive(&section.spines)?,
            hosts_per_leaf: context.positive(&section.hosts_per_leaf)?,
            host_rate: *wires.host_rate,
            fabric_rate: *wires.fabric_rate,
            delay: *wires.delay,
            parallel_links: *wires.parallel_links,
        };
        let planes = context.positive(&section.planes)?;
        let shape = MultiPlane { planes, rails: context.positive(&section.rails)?, plane };
        let key = |error: &TopologyError| match error {
            TopologyError::TooLarge { .. } => section.leaves.key(),
            TopologyError::Planes { .. } => section.planes.key(),
            TopologyError::LeavesNotMultipleOfRails { .. } => section.rails.key(),
            _ => kind,
        };
        built(context, shape.build(), key)
    }

    fn rails(&self) -> Option<u32> {
        Some(*self.shape.rails)
    }
}

/// Converts the section of a preset, which includes its link keys, to a `multi-plane`.
macro_rules! preset {
    ($preset:ident) => {
        impl From<&$preset> for Generated<MultiPlaneSection> {
            fn from(preset: &$preset) -> Self {
                let $preset { planes, rails, leaves, spines, hosts_per_leaf, .. } = preset.clone();
                let $preset { host_rate, fabric_rate, delay, parallel_links, .. } = preset.clone();
                let shape = MultiPlaneSection { planes, rails, leaves, spines, hosts_per_leaf };
                let links = LinksSection { host_rate, fabric_rate, delay, parallel_links };
                Self { shape, links }
            }
        }
    };
}
pub(super) use preset;
