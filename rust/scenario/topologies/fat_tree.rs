//! The k-ary fat-tree.

use super::{
    BuiltFabric, Context, Family, Generated, Key, ScenarioError, TopologyError, built, section,
};
use crate::topology::FatTree;
use crate::units::Fraction;

section! {
    /// `kind = "fat-tree"`.
    pub struct FatTreeSection {
        /// Ports of a switch, an even number.
        k: u32 = 8,
        /// Switch tiers, 2 or 3.
        tiers: u8 = 3,
        /// Host capacity divided by uplink capacity at an edge switch.
        oversubscription: Fraction = Fraction::ONE,
    }
}

impl Family for Generated<FatTreeSection> {
    const NAME: &'static str = "fat-tree";
    const SUMMARY: &'static str =
        "A k-ary fat-tree of two or three tiers, with any oversubscription";
    const SOURCE: &'static str =
        "Al-Fares et al., A Scalable, Commodity Data Center Network Architecture, 2008";

    fn build(&self, context: &Context<'_>, kind: &Key) -> Result<BuiltFabric, ScenarioError> {
        let Self { shape: section, links: wires } = self;
        wires.check(context)?;
        let shape = FatTree {
            k: *section.k,
            tiers: *section.tiers,
            oversubscription: *section.oversubscription,
            host_rate: *wires.host_rate,
            fabric_rate: *wires.fabric_rate,
            delay: *wires.delay,
            parallel_links: *wires.parallel_links,
        };
        let key = |error: &TopologyError| match error {
            TopologyError::Radix { .. } | TopologyError::TooLarge { .. } => section.k.key(),
            TopologyError::Tiers { .. } => section.tiers.key(),
            TopologyError::FractionalHosts { .. } => section.oversubscription.key(),
            _ => kind,
        };
        built(context, shape.build(), key)
    }
}
