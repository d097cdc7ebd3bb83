//! `[topology]` as written in the file.

use serde::{Deserialize, Serialize};

use super::Fabric;
use super::networks::{
    DragonflyPlusSection, DragonflySection, DualTorSection, RailOnlySection, TorusSection,
};
use crate::input::error::ScenarioError;
use crate::input::located::Located;
use crate::input::reader::{Kind, SectionReader};
use crate::input::section::{Group, Section, named, section};
use crate::switching::Afterwards;
use crate::topology::CrossRail;
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
    /// Several planes of two tiers, with a port of every host in each.
    MultiPlane,
    /// HPN: two planes, rail-optimised.
    Hpn,
    /// Spectrum-X: four planes, rail-optimised.
    SpectrumX,
    /// Two tiers, each host connected to both ToRs of a pair.
    DualTor,
    /// Each rail a network of its own; servers join the rails.
    RailOnly,
    /// Switches in a grid of one to three dimensions whose ends are joined.
    Torus,
    /// Groups of routers, and links between every two groups.
    Dragonfly,
    /// Groups of leaves and spines, and links between every two groups.
    DragonflyPlus,
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
    /// InfraGraph's description of an infrastructure, in YAML or JSON.
    Infragraph,
}

named! { TopologyKind, TopologyFormat, Afterwards, CrossRail }

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
    /// `kind = "multi-plane"`.
    pub struct MultiPlaneSection {
        /// Planes, which share no switch; each host has a port in each, of `host_rate`.
        planes: u32 = 4,
        /// GPUs of a server, each at a leaf of its own; 1 if hosts follow each other at a leaf.
        rails: u32 = 1,
        /// Leaf switches of a plane.
        leaves: u32 = 16,
        /// Spine switches of a plane.
        spines: u32 = 16,
        /// Hosts at each leaf.
        hosts_per_leaf: u32 = 16,
    }
}

section! {
    /// `kind = "hpn"`: `multi-plane` with the numbers of HPN (SIGCOMM 2024): 2 × 200 Gbps a NIC, 8
    /// rails, 128 ports of a ToR to hosts and 60 of 400 Gbps to spines; one segment of 1,024 GPUs.
    pub struct HpnSection {
        /// Planes, which share no switch; each host has a port in each, of `host_rate`.
        planes: u32 = 2,
        /// GPUs of a server, each at a leaf of its own; 1 if hosts follow each other at a leaf.
        rails: u32 = 8,
        /// Leaf switches of a plane: 8 in each segment.
        leaves: u32 = 8,
        /// Spine switches of a plane.
        spines: u32 = 60,
        /// Hosts at each leaf.
        hosts_per_leaf: u32 = 128,
        /// Rate of each port of a host.
        host_rate: BitRate = BitRate::from_gbps(200),
        /// Rate of links between switches.
        fabric_rate: BitRate = BitRate::from_gbps(400),
        /// One-way propagation delay of each link.
        delay: Span = Span::from_ns(500),
        /// Links between two neighbouring switches.
        parallel_links: u32 = 1,
    }
}

section! {
    /// `kind = "spectrum-x"`: `multi-plane` with Spectrum-X's four planes of 200 Gbps,
    /// rail-optimised (arXiv 2605.21187). The size is that of its cluster of 1,152 GPUs in servers
    /// of 4; the number of spines, which is not published, gives every leaf as much to spines as to
    /// hosts.
    pub struct SpectrumXSection {
        /// Planes, which share no switch; each host has a port in each, of `host_rate`.
        planes: u32 = 4,
        /// GPUs of a server, each at a leaf of its own; 1 if hosts follow each other at a leaf.
        rails: u32 = 4,
        /// Leaf switches of a plane.
        leaves: u32 = 16,
        /// Spine switches of a plane.
        spines: u32 = 72,
        /// Hosts at each leaf.
        hosts_per_leaf: u32 = 72,
        /// Rate of each port of a host.
        host_rate: BitRate = BitRate::from_gbps(200),
        /// Rate of links between switches.
        fabric_rate: BitRate = BitRate::from_gbps(200),
        /// One-way propagation delay of each link.
        delay: Span = Span::from_ns(500),
        /// Links between two neighbouring switches.
        parallel_links: u32 = 1,
    }
}

section! {
    /// `kind = "file"`.
    pub struct TopologyFileSection {
        /// The file, relative to the scenario's file.
        path?: String = "required",
        /// Its format.
        format: TopologyFormat = TopologyFormat::default(),
        /// Of `infragraph`: the rate of links for which the file has no bandwidth.
        rate?: BitRate = "the file's",
        /// Of `infragraph`: the one-way delay of links for which the file has no latency.
        delay?: Span = "the file's",
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
        /// What a host and its NIC add to the time of each packet, when it leaves and when it
        /// arrives; a part of the delay of the host's links.
        host_latency: Span = Span::ZERO,
        /// Link-level retry: neighbours repeat frames that `[[failure]] kind = "loss"` corrupts.
        llr?: LlrSection = "none",
        /// Servers whose GPUs, each a host, are joined by a network of their own, such as NVLink.
        /// Messages inside a server go over it, without queue pairs, and never over the fabric.
        scale_up?: ScaleUpSection = "none",
    }
}

section! {
    /// `scale_up = { ... }`: the network within each server.
    pub struct ScaleUpSection {
        /// GPUs of a server, which are consecutive hosts; host `h` is GPU `h % gpus`, its rail.
        gpus: u32 = 8,
        /// Rate of a GPU's port in each direction, of payload; that of NVLink 4 (DGX H100: 18 links
        /// of 25 GB/s).
        rate: BitRate = BitRate::from_gbps(3_600),
        /// Time from the last bit that leaves a GPU to its arrival, and again until its sender
        /// knows; the base latency of NVLink in NCCL's cost model (`tuning.cc`, LL).
        latency: Span = Span::from_ns(600),
        /// How messages reach other rails of other servers: over the `fabric`, or over the domain
        /// to the `relay` that is the GPU on the receiver's rail (PXN).
        cross_rail: CrossRail = CrossRail::default(),
    }
}

section! {
    /// `llr = { ... }`: link-level retry (Ultra Ethernet 1.0.1, section 5.1).
    pub struct LlrSection {
        /// Bytes on a wire between two acknowledgements of 8 bytes, from 400 to 17296.
        ack_spacing: Bytes = Bytes::new(2_048),
        /// Replays of one frame in a row that a link survives, up to 254; 255 for any number.
        replays: u8 = 1,
        /// What happens to the frames of a link that does not survive.
        afterwards: Afterwards = Afterwards::default(),
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
    /// Several planes of two tiers, with a port of every host in each.
    MultiPlane(Generated<MultiPlaneSection>),
    /// HPN: two planes, rail-optimised.
    Hpn(HpnSection),
    /// Spectrum-X: four planes, rail-optimised.
    SpectrumX(SpectrumXSection),
    /// Two tiers, each host connected to both ToRs of a pair.
    DualTor(Generated<DualTorSection>),
    /// Each rail a network of its own; servers join the rails.
    RailOnly(Generated<RailOnlySection>),
    /// Switches in a grid of one to three dimensions whose ends are joined.
    Torus(Generated<TorusSection>),
    /// Groups of routers, and links between every two groups.
    Dragonfly(DragonflySection),
    /// Groups of leaves and spines, and links between every two groups.
    DragonflyPlus(DragonflyPlusSection),
    /// A fabric that a topology file lists.
    File(TopologyFileSection),
    /// An existing fabric: no keys.
    Existing {},
}

/// Every kind of fabric.
pub(crate) const KINDS: &[Kind<Shape>] = &[
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
        name: "multi-plane",
        summary: "Several planes of two tiers, with a port of every host in each.",
        groups: &[Group::of::<MultiPlaneSection>(), Group::of::<LinksSection>()],
        read: |reader| generated(reader).map(Shape::MultiPlane),
    },
    Kind {
        name: "hpn",
        summary: "HPN: two planes, rail-optimised.",
        groups: &[Group::of::<HpnSection>()],
        read: |reader| reader.take().map(Shape::Hpn),
    },
    Kind {
        name: "spectrum-x",
        summary: "Spectrum-X: four planes, rail-optimised.",
        groups: &[Group::of::<SpectrumXSection>()],
        read: |reader| reader.take().map(Shape::SpectrumX),
    },
    Kind {
        name: "dual-tor",
        summary: "Two tiers, each host connected to both ToRs of a pair.",
        groups: &[Group::of::<DualTorSection>(), Group::of::<LinksSection>()],
        read: |reader| generated(reader).map(Shape::DualTor),
    },
    Kind {
        name: "rail-only",
        summary: "Each rail a network of its own; servers join the rails.",
        groups: &[Group::of::<RailOnlySection>(), Group::of::<LinksSection>()],
        read: |reader| generated(reader).map(Shape::RailOnly),
    },
    Kind {
        name: "torus",
        summary: "Switches in a grid of one to three dimensions whose ends are joined.",
        groups: &[Group::of::<TorusSection>(), Group::of::<LinksSection>()],
        read: |reader| generated(reader).map(Shape::Torus),
    },
    Kind {
        name: "dragonfly",
        summary: "Groups of routers, and links between every two groups.",
        groups: &[Group::of::<DragonflySection>()],
        read: |reader| reader.take().map(Shape::Dragonfly),
    },
    Kind {
        name: "dragonfly-plus",
        summary: "Groups of leaves and spines, and links between every two groups.",
        groups: &[Group::of::<DragonflyPlusSection>()],
        read: |reader| reader.take().map(Shape::DragonflyPlus),
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
    pub(crate) fn read(
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
    use crate::input::section::names;

    #[test]
    fn rows_are_in_the_order_of_the_names() {
        let rows: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        assert_eq!(names::<TopologyKind>(), rows);
    }
}
