//! The torus: a grid of switches with wrap-around links.

use super::{
    BuiltFabric, Context, Family, Generated, Key, ScenarioError, TopologyError, built, section,
};
use crate::topology::Torus;

section! {
    /// `kind = "torus"`.
    pub struct TorusSection {
        /// Switches in the first dimension.
        x: u32 = 8,
        /// Switches in the second dimension.
        y: u32 = 8,
        /// Switches in the third dimension; 1 for a 2D torus.
        z: u32 = 1,
        /// Hosts per switch.
        hosts_per_switch: u32 = 1,
    }
}

impl Family for Generated<TorusSection> {
    const NAME: &'static str = "torus";
    const SUMMARY: &'static str =
        "Switches in a grid of one to three dimensions whose ends are joined";
    const SOURCE: &'static str =
        "Dally and Towles, Principles and Practices of Interconnection Networks, 2004";

    fn build(&self, context: &Context<'_>, kind: &Key) -> Result<BuiltFabric, ScenarioError> {
        let Self { shape: section, links: wires } = self;
        wires.check(context)?;
        let positive = |count| context.positive(count);
        let shape = Torus {
            sizes: [positive(&section.x)?, positive(&section.y)?, positive(&section.z)?],
            hosts_per_switch: positive(&section.hosts_per_switch)?,
            host_rate: *wires.host_rate,
            fabric_rate: *wires.fabric_rate,
            delay: *wires.delay,
            parallel_links: *wires.parallel_links,
        };
        let key = |error: &TopologyError| match error {
            TopologyError::TooLarge { .. } => section.x.key(),
            _ => kind,
        };
        built(context, shape.build(), key)
    }
}
