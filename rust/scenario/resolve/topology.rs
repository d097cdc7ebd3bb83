//! `[topology]`: from the section to the graph.

use crate::ids::HostId;
use crate::scenario::file::{TopologyKind, TopologySection};
use crate::scenario::input::context::{AtLeast, Context};
use crate::scenario::input::error::{Fault, ScenarioError};
use crate::topology::{FatTree, LeafSpine, RailOptimized, Topology, TopologyError};
use crate::units::{BitRate, Bytes, Fraction, Span};

/// What a topology section comes to.
pub(in crate::scenario) struct Built {
    /// The section with its defaults.
    pub section: TopologySection,
    /// The graph.
    pub topology: Topology,
    /// By the number that flow files use: which host that is.
    pub host_of_node: Vec<Option<HostId>>,
    /// What a reader of files wants people to know.
    pub warnings: Vec<String>,
}

const LINK_KEYS: [&str; 4] = ["host_rate", "fabric_rate", "delay", "parallel_links"];
const WIRE_KEYS: [&str; 2] = ["gap", "forwarding_delay"];

/// The graph of a section.
pub(in crate::scenario) fn resolve(
    context: &Context<'_>,
    typed: &TopologySection,
) -> Result<Built, ScenarioError> {
    let common = wire(context, typed)?;
    match typed.kind {
        TopologyKind::LeafSpine => leaf_spine(context, typed, common),
        TopologyKind::FatTree => fat_tree(context, typed, common),
        TopologyKind::File => super::topology_file::resolve(context, typed, common),
        TopologyKind::RailOptimized => rail_optimized(context, typed, common),
    }
}

/// A fabric that is there already: the section says how its wires and switches take their time.
pub(in crate::scenario) fn wired(
    context: &Context<'_>,
    typed: &TopologySection,
    topology: Topology,
) -> Result<Built, ScenarioError> {
    context.only("topology", "(wired already)", &WIRE_KEYS)?;
    Ok(generated(wire(context, typed)?, topology))
}

/// What a section of any kind says.
fn wire(context: &Context<'_>, typed: &TopologySection) -> Result<TopologySection, ScenarioError> {
    let gap = typed.gap.unwrap_or(Bytes::new(20));
    let forwarding_delay = typed.forwarding_delay.unwrap_or(Span::ZERO);
    Ok(TopologySection {
        kind: typed.kind,
        gap: Some(context.wire_bytes("topology.gap", gap, Bytes::ZERO)?),
        forwarding_delay: Some(context.span(
            "topology.forwarding_delay",
            forwarding_delay,
            AtLeast::Zero,
        )?),
        ..TopologySection::default()
    })
}

fn leaf_spine(
    context: &Context<'_>,
    typed: &TopologySection,
    common: TopologySection,
) -> Result<Built, ScenarioError> {
    let keys = [&["leaves", "spines", "hosts_per_leaf"], &LINK_KEYS[..], &WIRE_KEYS].concat();
    context.only("topology", "leaf-spine", &keys)?;
    let links = Links::resolve(context, typed)?;
    let shape = LeafSpine {
        leaves: context.positive("topology.leaves", typed.leaves.unwrap_or(16))?,
        spines: context.positive("topology.spines", typed.spines.unwrap_or(16))?,
        hosts_per_leaf: context
            .positive("topology.hosts_per_leaf", typed.hosts_per_leaf.unwrap_or(16))?,
        host_rate: links.host_rate,
        fabric_rate: links.fabric_rate,
        delay: links.delay,
        parallel_links: links.parallel_links,
    };
    let section = TopologySection {
        leaves: Some(shape.leaves),
        spines: Some(shape.spines),
        hosts_per_leaf: Some(shape.hosts_per_leaf),
        ..links.written_to(common)
    };
    let topology = shape.build().map_err(|error| unbuilt(context, error, "topology.leaves"))?;
    Ok(generated(section, topology))
}

fn rail_optimized(
    context: &Context<'_>,
    typed: &TopologySection,
    common: TopologySection,
) -> Result<Built, ScenarioError> {
    let keys = [&["rails", "servers", "units", "spines"], &LINK_KEYS[..], &WIRE_KEYS].concat();
    context.only("topology", "rail-optimized", &keys)?;
    let links = Links::resolve(context, typed)?;
    let shape = RailOptimized {
        rails: context.positive("topology.rails", typed.rails.unwrap_or(8))?,
        servers: context.positive("topology.servers", typed.servers.unwrap_or(8))?,
        units: context.positive("topology.units", typed.units.unwrap_or(4))?,
        spines: context.positive("topology.spines", typed.spines.unwrap_or(8))?,
        host_rate: links.host_rate,
        fabric_rate: links.fabric_rate,
        delay: links.delay,
        parallel_links: links.parallel_links,
    };
    let section = TopologySection {
        rails: Some(shape.rails),
        servers: Some(shape.servers),
        units: Some(shape.units),
        spines: Some(shape.spines),
        ..links.written_to(common)
    };
    let topology = shape.build().map_err(|error| unbuilt(context, error, "topology.units"))?;
    Ok(generated(section, topology))
}

fn fat_tree(
    context: &Context<'_>,
    typed: &TopologySection,
    common: TopologySection,
) -> Result<Built, ScenarioError> {
    let keys = [&["k", "tiers", "oversubscription"], &LINK_KEYS[..], &WIRE_KEYS].concat();
    context.only("topology", "fat-tree", &keys)?;
    let links = Links::resolve(context, typed)?;
    let shape = FatTree {
        k: context.positive("topology.k", typed.k.unwrap_or(8))?,
        tiers: typed.tiers.unwrap_or(3),
        oversubscription: typed.oversubscription.unwrap_or(Fraction::ONE),
        host_rate: links.host_rate,
        fabric_rate: links.fabric_rate,
        delay: links.delay,
        parallel_links: links.parallel_links,
    };
    let section = TopologySection {
        k: Some(shape.k),
        tiers: Some(shape.tiers),
        oversubscription: Some(shape.oversubscription),
        ..links.written_to(common)
    };
    let topology = shape.build().map_err(|error| unbuilt(context, error, "topology.k"))?;
    Ok(generated(section, topology))
}

/// A topology whose hosts have no numbers but their own.
fn generated(section: TopologySection, topology: Topology) -> Built {
    let host_of_node = (0..topology.host_count()).map(|host| Some(HostId(host))).collect();
    Built { section, topology, host_of_node, warnings: Vec::new() }
}

/// What fabrics that are built say of their links.
struct Links {
    host_rate: BitRate,
    fabric_rate: BitRate,
    delay: Span,
    parallel_links: u32,
}

impl Links {
    fn resolve(context: &Context<'_>, typed: &TopologySection) -> Result<Self, ScenarioError> {
        let rate = |key: &str, rate: Option<BitRate>| {
            let rate = rate.unwrap_or(BitRate::from_gbps(400));
            if rate.as_bps() == 0 {
                return Err(context.senseless(key, rate, "a link must have a rate"));
            }
            Ok(rate)
        };
        let delay = typed.delay.unwrap_or(Span::from_ns(500));
        Ok(Self {
            host_rate: rate("topology.host_rate", typed.host_rate)?,
            fabric_rate: rate("topology.fabric_rate", typed.fabric_rate)?,
            delay: context.span("topology.delay", delay, AtLeast::Zero)?,
            parallel_links: context
                .positive("topology.parallel_links", typed.parallel_links.unwrap_or(1))?,
        })
    }

    fn written_to(&self, section: TopologySection) -> TopologySection {
        TopologySection {
            host_rate: Some(self.host_rate),
            fabric_rate: Some(self.fabric_rate),
            delay: Some(self.delay),
            parallel_links: Some(self.parallel_links),
            ..section
        }
    }
}

/// The error of a builder, at the key that it is about; `largest` is the key that most decides
/// the size of what it builds.
fn unbuilt(context: &Context<'_>, error: TopologyError, largest: &str) -> ScenarioError {
    let key = match &error {
        TopologyError::Zero { field } => format!("topology.{field}"),
        TopologyError::Radix { .. } => "topology.k".into(),
        TopologyError::Tiers { .. } => "topology.tiers".into(),
        TopologyError::PartOfAHost { .. } => "topology.oversubscription".into(),
        TopologyError::TooLarge { .. } => largest.into(),
        _ => "topology.kind".into(),
    };
    context.fault(&key, Fault::Topology(error))
}
