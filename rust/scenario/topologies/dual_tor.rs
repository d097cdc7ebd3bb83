//! Dual-ToR: hosts connected to both ToRs of a pair.

use super::{
    BuiltFabric, Context, Family, Generated, Key, ScenarioError, TopologyError, built, section,
};
use crate::topology::DualTor;

section! {
    /// `kind = "dual-tor"`: each host has two links of `host_rate`, one to each ToR of a pair.
    pub struct DualTorSection {
        /// Pairs of ToR switches.
        pairs: u32 = 16,
        /// Spine switches, each linked to every ToR.
        spines: u32 = 16,
        /// Hosts per pair.
        hosts_per_pair: u32 = 16,
        /// GPUs per server, each at its own pair; 1 fills pairs in host order.
        rails: u32 = 1,
    }
}

impl Family for Generated<DualTorSection> {
    const NAME: &'static str = "dual-tor";
    const SUMMARY: &'static str =
        "Every host has a link to both ToRs of a pair, and every ToR to every spine";
    const SOURCE: &'static str = "Qian et al., Alibaba HPN, 2024, section 4";

    fn build(&self, context: &Context<'_>, kind: &Key) -> Result<BuiltFabric, ScenarioError> {
        let Self { shape: section, links: wires } = self;
        wires.check(context)?;
        let shape = DualTor {
            pairs: context.positive(&section.pairs)?,
            spines: context.positive(&section.spines)?,
            hosts_per_pair: context.positive(&section.hosts_per_pair)?,
            rails: context.positive(&section.rails)?,
            host_rate: *wires.host_rate,
            fabric_rate: *wires.fabric_rate,
            delay: *wires.delay,
            parallel_links: *wires.parallel_links,
        };
        let key = |error: &TopologyError| match error {
            TopologyError::TooLarge { .. } => section.pairs.key(),
            TopologyError::LeavesNotMultipleOfRails { .. } => section.rails.key(),
            _ => kind,
        };
        built(context, shape.build(), key)
    }

    fn rails(&self) -> Option<u32> {
        Some(*self.shape.rails)
    }
}
