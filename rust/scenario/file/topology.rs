//! `[topology]` as written in the file.

use serde::{Deserialize, Serialize};

use super::Fabric;
use crate::scenario::input::error::ScenarioError;
use crate::scenario::input::located::Located;
use crate::scenario::input::reader::{Kind, SectionReader};
use crate::scenario::input::section::{Group, Section, named, section};
use crate::units::{BitRate, Bytes, Fraction, Span};

/// The families of fabrics that `[topology]` can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TopologyKind {
    /// Two tiers, every leaf wired to every spine.
    #[default]
    LeafSpine,
    /// A k-ary fat-tree of two or three tiers.
    FatTree,
    /// Two tiers, each GPU of a server connected to another leaf.
    RailOptimized,
    /// Read from a file.
    File,
}

/// Formats of topology files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TopologyFormat {
    /// That of the HPCC family of ns-3 simulators.
    #[default]
    Hpcc,
    /// That of htsim's topology files.
    Htsim,
}

named! { TopologyKind, TopologyFormat }

section! {
    /// `kind = "leaf-spine"`.
    pub struct LeafSpineSection {
        /// Leaf switches.
        leaves: u32 = 16,
        /// Spine switches.
        spines: u32 = 16,
        /// Hosts at each leaf.
        hosts_per_leaf: u32 = 16,
    }
}

section! {
    /// `kind = "fat-tree"`.
    pub struct FatTreeSection {
        /// Ports of a switch, an even number.
        k: u32 = 8,
        /// Tiers of switches, 2 or 3.
        tiers: u8 = 3,
        /// The hosts' capacity divided by the uplinks' capacity at an edge switch.
        oversubscription: Fraction = Fraction::ONE,
    }
}

section! {
    /// `kind = "rail-optimized"`.
    pub struct RailOptimizedSection {
        /// GPUs of a server, each connected to a leaf of its own.
        rails: u32 = 8,
        /// Servers whose GPUs share leaves.
        servers: u32 = 8,
        /// Groups of such servers.
        units: u32 = 4,
        /// Spine switches.
        spines: u32 = 8,
    }
}

section! {
    /// `kind = "file"`.
    pub struct TopologyFileSection {
        /// The file, relative to the scenario's file.
        path?: String = "required",
        /// Its format.
        format: TopologyFormat = TopologyFormat::default(),
    }
}

section! {
    /// The links of a fabric that is generated.
    pub struct LinksSection {
        /// Rate of a host's link.
        host_rate: BitRate = BitRate::from_gbps(400),
        /// Rate of links between switches.
        fabric_rate: BitRate = BitRate::from_gbps(400),
        /// One-way propagation delay of each link.
        delay: Span = Span::from_ns(500),
        /// Links between two neighbouring switches.
        parallel_links: u32 = 1,
    }
}

section! {
    /// The keys of every kind of fabric.
    pub struct WireSection {
        /// Preamble and inter-frame gap of each packet on every link.
        gap: Bytes = Bytes::new(20),
        /// The time from the arrival of a packet's last bit until it can leave, in each switch.
        forwarding_delay: Span = Span::ZERO,
    }
}

/// A fabric that is generated: its shape, and its links.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Generated<S> {
    /// How switches and hosts are wired.
    #[serde(flatten)]
    pub shape: S,
    /// The rates and delays of the generated links.
    #[serde(flatten)]
    pub links: LinksSection,
}

/// The keys of a kind of fabric.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Shape {
    /// Two tiers, every leaf wired to every spine.
    LeafSpine(Generated<LeafSpineSection>),
    /// A k-ary fat-tree of two or three tiers.
    FatTree(Generated<FatTreeSection>),
    /// Two tiers, each GPU of a server connected to another leaf.
    RailOptimized(Generated<RailOptimizedSection>),
    /// A fabric that a topology file lists.
    File(TopologyFileSection),
    /// An existing fabric: no keys.
    Existing {},
}

/// Every kind of fabric.
pub(in crate::scenario) const KINDS: &[Kind<Shape>] = &[
    Kind {
        name: "leaf-spine",
        summary: "Two tiers, every leaf wired to every spine.",
        groups: &[Group::of::<LeafSpineSection>(), Group::of::<LinksSection>()],
        read: |reader| generated(reader).map(Shape::LeafSpine),
    },
    Kind {
        name: "fat-tree",
        summary: "A k-ary fat-tree of two or three tiers.",
        groups: &[Group::of::<FatTreeSection>(), Group::of::<LinksSection>()],
        read: |reader| generated(reader).map(Shape::FatTree),
    },
    Kind {
        name: "rail-optimized",
        summary: "Two tiers, each GPU of a server connected to another leaf.",
        groups: &[Group::of::<RailOptimizedSection>(), Group::of::<LinksSection>()],
        read: |reader| generated(reader).map(Shape::RailOptimized),
    },
    Kind {
        name: "file",
        summary: "Read from a file.",
        groups: &[Group::of::<TopologyFileSection>()],
        read: |reader| reader.take().map(Shape::File),
    },
];

/// `[topology]`: switches, hosts and links.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TopologySection {
    /// The family of the fabric.
    pub kind: Located<TopologyKind>,
    /// The keys of that family.
    #[serde(flatten)]
    pub shape: Shape,
    /// The keys of every family.
    #[serde(flatten)]
    pub wire: WireSection,
}

fn generated<S: Section>(reader: &mut SectionReader<'_>) -> Result<Generated<S>, ScenarioError> {
    Ok(Generated { shape: reader.take()?, links: reader.take()? })
}

impl TopologySection {
    pub(in crate::scenario) fn read(
        mut reader: SectionReader<'_>,
        fabric: Fabric,
    ) -> Result<Self, ScenarioError> {
        let kind: Located<TopologyKind> = reader.take_key("kind", TopologyKind::default())?;
        if fabric == Fabric::Existing {
            let wire = reader.take()?;
            reader.finish_kind("(existing fabric)", KINDS)?;
            return Ok(Self { kind, shape: Shape::Existing {}, wire });
        }
        let row = &KINDS[*kind as usize];
        let (shape, wire) = ((row.read)(&mut reader)?, reader.take()?);
        reader.finish_kind(row.name, KINDS)?;
        Ok(Self { kind, shape, wire })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::input::section::names;

    #[test]
    fn rows_are_in_the_order_of_the_names() {
        let rows: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        assert_eq!(names::<TopologyKind>(), rows);
    }
}
