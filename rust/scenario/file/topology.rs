//! `[topology]` as written in a file.

use serde::Serialize;

use super::Fabric;
use crate::input::error::ScenarioError;
use crate::input::located::Located;
use crate::input::reader::SectionReader;
use crate::input::section::{named, section};
use crate::switching::AfterProtection;
use crate::topologies::{DEFAULT_KIND, KINDS, Shape, TopologyKind};
use crate::topology::CrossRail;
use crate::units::{BitRate, Bytes, Span};

named! { AfterProtection, CrossRail }

section! {
    /// Keys of every kind of fabric.
    pub struct WireSection {
        /// Preamble and inter-frame gap per packet on every link.
        gap: Bytes = Bytes::new(20),
        /// Delay per switch from a packet's last bit in until it can leave.
        forwarding_delay: Span = Span::ZERO,
        /// Delay of a host and its NIC per packet, each way; part of its links' delay.
        host_latency: Span = Span::ZERO,
        /// Link-level retry of frames that `[[failure]] kind = "loss"` corrupts.
        llr?: LlrSection = "none",
        /// Network within each server, such as NVLink; each GPU is a host. Messages inside a server
        /// use only this, without queue pairs.
        scale_up?: ScaleUpSection = "none",
    }
}

section! {
    /// `scale_up = { ... }`: the network within each server.
    pub struct ScaleUpSection {
        /// GPUs per server, which are consecutive hosts; host `h` is on rail `h % gpus`.
        gpus: u32 = 8,
        /// Payload rate per GPU and direction: NVLink 4 (DGX H100: 18 links of 25 GB/s).
        rate: BitRate = BitRate::from_gbps(3_600),
        /// One-way delay, and again until the sender knows: NVLink's base latency in NCCL's cost
        /// model (`tuning.cc`, LL).
        latency: Span = Span::from_ns(600),
        /// Route to other rails of other servers: the `fabric`, or a `relay`, the server's own GPU
        /// on the receiver's rail (PXN).
        cross_rail: CrossRail = CrossRail::default(),
    }
}

section! {
    /// `llr = { ... }`: link-level retry (Ultra Ethernet 1.0.1, section 5.1).
    pub struct LlrSection {
        /// Bytes on the wire between two 8-byte acknowledgements, from 400 to 17296.
        ack_spacing: Bytes = Bytes::new(2_048),
        /// Consecutive replays of a frame that a link survives: up to 254; 255 is unlimited.
        replays: u8 = 1,
        /// Treatment of frames on a link that exceeded `replays`.
        afterwards: AfterProtection = AfterProtection::default(),
    }
}

/// `[topology]`: switches, hosts and links.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TopologySection {
    /// Family of the fabric.
    pub kind: Located<TopologyKind>,
    /// Keys of the family.
    #[serde(flatten)]
    pub shape: Shape,
    /// Keys of every family.
    #[serde(flatten)]
    pub wire: WireSection,
}

impl TopologySection {
    pub(crate) fn read(
        mut reader: SectionReader<'_>,
        fabric: Fabric,
    ) -> Result<Self, ScenarioError> {
        let kind: Located<TopologyKind> = reader.take_key("kind", DEFAULT_KIND)?;
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
