//! The leaf-spine: two tiers, with every leaf wired to every spine.

use super::{
    BuiltFabric, Context, Family, Generated, Key, ScenarioError, TopologyError, built, section,
};
use crate::topology::LeafSpine;

section! {
    /// `kind = "leaf-spine"`.
    pub struct LeafSpineSection {
        /// Leaf switches.
        leaves: u32 = 16,
        /// Spine switches.
        spines: u32 = 16,
        /// Hosts per leaf.
        hosts_per_leaf: u32 = 16,
    }
}

impl Family for Generated<LeafSpineSection> {
    const NAME: &'static str = "leaf-spine";
    const SUMMARY: &'static str = "Two tiers, every leaf wired to every spine";
    const SOURCE: &'static str =
        "Alizadeh and Edsall, On the Data Path Performance of Leaf-Spine Fabrics, 2013";

    fn build(&self, context: &Context<'_>, kind: &Key) -> Result<BuiltFabric, ScenarioError> {
        let Self { shape: section, links: wires } = self;
        wires.check(context)?;
        let shape = LeafSpine {
            leaves: context.positive(&section.leaves)?,
            spines: context.positive(&section.spines)?,
            hosts_per_leaf: context.positive(&section.hosts_per_leaf)?,
            host_rate: *wires.host_rate,
            fabric_rate: *wires.fabric_rate,
            delay: *wires.delay,
            parallel_links: *wires.parallel_links,
        };
        let key = |error: &TopologyError| match error {
            TopologyError::TooLarge { .. } => section.leaves.key(),
            _ => kind,
        };
        built(context, shape.build(), key)
    }
}
