//! Rail-optimized: the GPUs of a server are connected to different leaves.

use super::{
    BuiltFabric, Context, Family, Generated, Key, ScenarioError, TopologyError, built, section,
};
use crate::topology::RailOptimized;

section! {
    /// `kind = "rail-optimized"`.
    pub struct RailOptimizedSection {
        /// GPUs per server, each at its own leaf.
        rails: u32 = 8,
        /// Servers whose GPUs share leaves.
        servers: u32 = 8,
        /// Groups of such servers.
        units: u32 = 4,
        /// Spine switches.
        spines: u32 = 8,
    }
}

impl Family for Generated<RailOptimizedSection> {
    const NAME: &'static str = "rail-optimized";
    const SUMMARY: &'static str =
        "Each GPU of a server is connected to its own leaf, and every leaf to every spine";
    const SOURCE: &'static str =
        "NVIDIA, DGX SuperPOD Reference Architecture; Wang et al., Rail-only, 2023, section 2";

    fn build(&self, context: &Context<'_>, kind: &Key) -> Result<BuiltFabric, ScenarioError> {
        let Self { shape: section, links: wires } = self;
        wires.check(context)?;
        let shape = RailOptimized {
            rails: context.positive(&section.rails)?,
            servers: context.positive(&section.servers)?,
            units: context.positive(&section.units)?,
            spines: context.positive(&section.spines)?,
            host_rate: *wires.host_rate,
            fabric_rate: *wires.fabric_rate,
            delay: *wires.delay,
            parallel_links: *wires.parallel_links,
        };
        let key = |error: &TopologyError| match error {
            TopologyError::TooLarge { .. } => section.units.key(),
            _ => kind,
        };
        built(context, shape.build(), key)
    }

    fn rails(&self) -> Option<u32> {
        Some(*self.shape.rails)
    }
}
