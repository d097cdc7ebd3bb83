//! `[topology]`: from the section to the graph.

use super::site::Built;
use super::topology_file;
use super::{networks, scale_up};
use crate::file::topology::{
    FatTreeSection, Generated, LeafSpineSection, LinksSection, MultiPlaneSection,
    RailOptimizedSection, Shape, TopologySection, WireSection,
};
use crate::input::context::{AtLeast, Context};
use crate::input::error::{Fault, ScenarioError};
use crate::input::located::{Key, Located};
use crate::switching::LlrConfig;
use crate::topology::{FatTree, LeafSpine, MultiPlane, RailOptimized, Topology, TopologyError};
use crate::units::{BitRate, Bytes, Span};

/// The fabric of a preset of several planes, whose section has the keys of links too.
macro_rules! preset {
    ($context:ident, $preset:ident, $kind:ident) => {{
        let wires = LinksSection {
            host_rate: $preset.host_rate.clone(),
            fabric_rate: $preset.fabric_rate.clone(),
            delay: $preset.delay.clone(),
            parallel_links: $preset.parallel_links.clone(),
        };
        let counts = PlaneKeys {
            planes: &$preset.planes,
            rails: &$preset.rails,
            leaves: &$preset.leaves,
            spines: &$preset.spines,
            hosts_per_leaf: &$preset.hosts_per_leaf,
        };
        multi_plane($context, &counts, &wires, $kind)
    }};
}

/// The graph of a section, or `existing` if the fabric exists already.
pub(crate) fn resolve(
    context: &Context<'_>,
    section: &TopologySection,
    existing: Option<Topology>,
) -> Result<Built, ScenarioError> {
    wire(context, &section.wire)?;
    let built = match existing {
        Some(_) if *section.wire.host_latency > Span::ZERO => {
            let because = "the links of the fabric exist, with their delays";
            return Err(context.misplaced(section.wire.host_latency.key(), because));
        }
        Some(topology) => Built::new(topology),
        None => {
            let built = graph(context, section)?;
            let topology = built.topology.with_host_latency(*section.wire.host_latency);
            Built { topology, ..built }
        }
    };
    scale_up::join(context, section, built)
}

/// The graph that a section describes.
fn graph(context: &Context<'_>, section: &TopologySection) -> Result<Built, ScenarioError> {
    let kind = section.kind.key();
    match &section.shape {
        Shape::LeafSpine(generated) => leaf_spine(context, generated, kind),
        Shape::FatTree(generated) => fat_tree(context, generated, kind),
        Shape::RailOptimized(generated) => rail_optimized(context, generated, kind),
        Shape::MultiPlane(Generated { shape, links: wires }) => {
            let MultiPlaneSection { planes, rails, leaves, spines, hosts_per_leaf } = shape;
            let counts = PlaneKeys { planes, rails, leaves, spines, hosts_per_leaf };
            multi_plane(context, &counts, wires, kind)
        }
        Shape::Hpn(preset) => preset!(context, preset, kind),
        Shape::SpectrumX(preset) => preset!(context, preset, kind),
        Shape::DualTor(generated) => networks::dual_tor(context, generated, kind),
        Shape::RailOnly(generated) => networks::rail_only(context, generated, kind),
        Shape::Torus(generated) => networks::torus(context, generated, kind),
        Shape::Dragonfly(section) => networks::dragonfly(context, section, kind),
        Shape::DragonflyPlus(section) => networks::dragonfly_plus(context, section, kind),
        Shape::File(file) => topology_file::resolve(context, file),
        Shape::Existing {} => unreachable!("an existing fabric is passed in"),
    }
}

fn wire(context: &Context<'_>, section: &WireSection) -> Result<(), ScenarioError> {
    context.wire_bytes(&section.gap, Bytes::ZERO)?;
    context.span(&section.forwarding_delay, AtLeast::Zero)?;
    context.span(&section.host_latency, AtLeast::Zero)?;
    Ok(())
}

/// Link-level retry, if there is any.
pub(crate) fn llr(
    context: &Context<'_>,
    section: &WireSection,
) -> Result<Option<LlrConfig>, ScenarioError> {
    let Some(llr) = &*section.llr else { return Ok(None) };
    if !(400..=17_296).contains(&llr.ack_spacing.get()) {
        return Err(context.invalid(&llr.ack_spacing, "it must be from 400B to 17296B"));
    }
    Ok(Some(LlrConfig {
        ack_spacing: *llr.ack_spacing,
        replays: (*llr.replays < u8::MAX).then_some((*llr.replays).into()),
        afterwards: *llr.afterwards,
    }))
}

pub(super) fn links(context: &Context<'_>, section: &LinksSection) -> Result<(), ScenarioError> {
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

/// The counts of a fabric of several planes.
struct PlaneKeys<'a> {
    planes: &'a Located<u32>,
    rails: &'a Located<u32>,
    leaves: &'a Located<u32>,
    spines: &'a Located<u32>,
    hosts_per_leaf: &'a Located<u32>,
}

fn multi_plane(
    context: &Context<'_>,
    counts: &PlaneKeys<'_>,
    wires: &LinksSection,
    kind: &Key,
) -> Result<Built, ScenarioError> {
    links(context, wires)?;
    let plane = LeafSpine {
        leaves: context.positive(counts.leaves)?,
        spines: context.positive(counts.spines)?,
        hosts_per_leaf: context.positive(counts.hosts_per_leaf)?,
        host_rate: *wires.host_rate,
        fabric_rate: *wires.fabric_rate,
        delay: *wires.delay,
        parallel_links: *wires.parallel_links,
    };
    let planes = context.positive(counts.planes)?;
    let shape = MultiPlane { planes, rails: context.positive(counts.rails)?, plane };
    let key = |error: &TopologyError| match error {
        TopologyError::TooLarge { .. } => counts.leaves.key(),
        TopologyError::Planes { .. } => counts.planes.key(),
        TopologyError::RailsOfLeaves { .. } => counts.rails.key(),
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
        TopologyError::PartOfAHost { .. } => section.oversubscription.key(),
        _ => kind,
    };
    built(context, shape.build(), key)
}

/// The result of a builder, with an error at the key that causes it.
pub(super) fn built<'a>(
    context: &Context<'_>,
    topology: Result<Topology, TopologyError>,
    key: impl Fn(&TopologyError) -> &'a Key,
) -> Result<Built, ScenarioError> {
    topology.map(Built::new).map_err(|error| context.fault(key(&error), Fault::Topology(error)))
}
