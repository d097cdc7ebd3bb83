//! `[topology]`: from the section to the graph.

use super::site::Built;
use super::topology_file;
use crate::scenario::file::topology::{
    FatTreeSection, Generated, LeafSpineSection, LinksSection, RailOptimizedSection, Shape,
    TopologySection, WireSection,
};
use crate::scenario::input::context::{AtLeast, Context};
use crate::scenario::input::error::{Fault, ScenarioError};
use crate::scenario::input::located::{Key, Located};
use crate::topology::{FatTree, LeafSpine, RailOptimized, Topology, TopologyError};
use crate::units::{BitRate, Bytes};

/// The graph of a section, or `existing` if the fabric exists already.
pub(in crate::scenario) fn resolve(
    context: &Context<'_>,
    section: &TopologySection,
    existing: Option<Topology>,
) -> Result<Built, ScenarioError> {
    wire(context, &section.wire)?;
    if let Some(topology) = existing {
        return Ok(Built::new(topology));
    }
    let kind = section.kind.key();
    match &section.shape {
        Shape::LeafSpine(generated) => leaf_spine(context, generated, kind),
        Shape::FatTree(generated) => fat_tree(context, generated, kind),
        Shape::RailOptimized(generated) => rail_optimized(context, generated, kind),
        Shape::File(file) => topology_file::resolve(context, file),
        Shape::Existing {} => unreachable!("an existing fabric is passed in"),
    }
}

fn wire(context: &Context<'_>, section: &WireSection) -> Result<(), ScenarioError> {
    context.wire_bytes(&section.gap, Bytes::ZERO)?;
    context.span(&section.forwarding_delay, AtLeast::Zero)?;
    Ok(())
}

fn links(context: &Context<'_>, section: &LinksSection) -> Result<(), ScenarioError> {
    let rate = |rate: &Located<BitRate>| match rate.as_bps() {
        0 => Err(context.invalid(rate, "a link must have a rate")),
        _ => Ok(()),
    };
    rate(&section.host_rate)?;
    rate(&section.fabric_rate)?;
    context.span(&section.delay, AtLeast::Zero)?;
    context.positive(&section.parallel_links)?;
    Ok(())
}

fn leaf_spine(
    context: &Context<'_>,
    generated: &Generated<LeafSpineSection>,
    kind: &Key,
) -> Result<Built, ScenarioError> {
    let Generated { shape: section, links: wires } = generated;
    links(context, wires)?;
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

fn rail_optimized(
    context: &Context<'_>,
    generated: &Generated<RailOptimizedSection>,
    kind: &Key,
) -> Result<Built, ScenarioError> {
    let Generated { shape: section, links: wires } = generated;
    links(context, wires)?;
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

fn fat_tree(
    context: &Context<'_>,
    generated: &Generated<FatTreeSection>,
    kind: &Key,
) -> Result<Built, ScenarioError> {
    let Generated { shape: section, links: wires } = generated;
    links(context, wires)?;
    let shape = FatTree {
        k: context.positive(&section.k)?,
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
        TopologyError::PartOfAHost { .. } => section.oversubscription.key(),
        _ => kind,
    };
    built(context, shape.build(), key)
}

/// The result of a builder, with an error at the key that causes it.
fn built<'a>(
    context: &Context<'_>,
    topology: Result<Topology, TopologyError>,
    key: impl Fn(&TopologyError) -> &'a Key,
) -> Result<Built, ScenarioError> {
    topology.map(Built::new).map_err(|error| context.fault(key(&error), Fault::Topology(error)))
}
