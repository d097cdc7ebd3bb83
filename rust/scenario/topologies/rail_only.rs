//! Rail-only: each rail is a separate network, and servers join the rails.

use super::{
    BuiltFabric, Context, Family, Generated, Key, ScenarioError, TopologyError, built, section,
};
use crate::topology::RailOnly;

section! {
    /// `kind = "rail-only"`: requires `scale_up`, which joins the rails within each server.
    pub struct RailOnlySection {
        /// GPUs per server, each on its own rail.
        rails: u32 = 8,
        /// Servers whose GPUs share leaves.
        servers: u32 = 32,
        /// Groups of such servers.
        units: u32 = 1,
        /// Spine switches per rail; unused with one unit.
        spines: u32 = 8,
    }
}

impl Family for Generated<RailOnlySection> {
    const NAME: &'static str = "rail-only";
    const SUMMARY: &'static str = "Separate network per rail, joined within servers (scale_up)";
    const SOURCE: &'static str = "Wang et al., Rail-only, 2024";

    fn build(&self, context: &Context<'_>, kind: &Key) -> Result<BuiltFabric, ScenarioError> {
        let Self { shape: section, links: wires } = self;
        wires.check(context)?;
        let shape = RailOnly {
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
