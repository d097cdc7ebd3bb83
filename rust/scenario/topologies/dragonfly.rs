//! The dragonfly: groups of fully connected routers.

use super::{
    AtLeast, BitRate, BuiltFabric, Context, Family, Key, Located, ScenarioError, Span,
    TopologyError, built, rate, section,
};
use crate::topology::{Dragonfly, Group};

section! {
    /// `kind = "dragonfly"`; the defaults are the balanced dragonfly with 2 global links (a = 2p =
    /// 2h).
    pub struct DragonflySection {
        /// Routers per group (a), all connected to each other.
        routers: u32 = 4,
        /// Hosts per router (p).
        hosts_per_router: u32 = 2,
        /// Links per router to other groups (h).
        global_links: u32 = 2,
        /// Groups, at most `routers · global_links + 1`.
        groups: u32 = 9,
        /// Rate of host links.
        host_rate: BitRate = BitRate::from_gbps(400),
        /// Rate of links between routers.
        fabric_rate: BitRate = BitRate::from_gbps(400),
        /// One-way delay of links to hosts and within a group.
        delay: Span = Span::from_ns(500),
        /// One-way delay between groups.
        global_delay: Span = Span::from_ns(500),
    }
}

impl Family for DragonflySection {
    const NAME: &'static str = "dragonfly";
    const SUMMARY: &'static str =
        "Groups of routers that are all wired to each other, and links between every two groups";
    const SOURCE: &'static str =
        "Kim et al., Technology-Driven, Highly-Scalable Dragonfly Topology, 2008";

    fn build(&self, context: &Context<'_>, kind: &Key) -> Result<BuiltFabric, ScenarioError> {
        let Self { host_rate, fabric_rate, delay, global_delay, .. } = self;
        let shape = Dragonfly {
            group: Group::Routers { routers: context.positive(&self.routers)? },
            groups: context.positive(&self.groups)?,
            hosts_per_switch: context.positive(&self.hosts_per_router)?,
            global_links: context.positive(&self.global_links)?,
            host_rate: **host_rate,
            fabric_rate: **fabric_rate,
            delay: **delay,
            global_delay: **global_delay,
        };
        let key = |error: &TopologyError| match error {
            TopologyError::TooLarge { .. } => self.routers.key(),
            TopologyError::TooManyGroups { .. } => self.groups.key(),
            _ => kind,
        };
        let wires = Wires { host_rate, fabric_rate, delay, global_delay };
        wires.check(context)?;
        built(context, shape.build(), key)
    }
}

/// The links of a dragonfly.
pub(super) struct Wires<'a> {
    pub host_rate: &'a Located<BitRate>,
    pub fabric_rate: &'a Located<BitRate>,
    pub delay: &'a Located<Span>,
    pub global_delay: &'a Located<Span>,
}

impl Wires<'_> {
    /// Fails for links without a rate and for delays out of range.
    pub(super) fn check(&self, context: &Context<'_>) -> Result<(), ScenarioError> {
        rate(context, self.host_rate)?;
        rate(context, self.fabric_rate)?;
        context.span(self.delay, AtLeast::Zero)?;
        context.span(self.global_delay, AtLeast::Zero)?;
        Ok(())
    }
}
