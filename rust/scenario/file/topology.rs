//! `[topology]` as written in the file.

use serde::Serialize;

use super::Fabric;
use crate::input::error::ScenarioError;
use crate::input::located::Located;
use crate::input::reader::SectionReader;
use crate::input::section::{named, section};
use crate::switching::Afterwards;
use crate::topologies::{DEFAULT_KIND, KINDS, Shape, TopologyKind};
use crate::topology::CrossRail;
use crate::units::{BitRate, Bytes, Span};

named! { Afterwards, CrossRail }

section! {
    /// The keys of every kind of fabric.
    pub struct WireSection {
        /// Preamble and inter-frame gap of each packet on every link.
        gap: Bytes = Bytes::new(20),
        /// Delay in each switch from the arrival of a packet's last bit until it can leave.
        forwarding_delay: Span = Span::ZERO,
        /// Delay that a host and its NIC add to each packet, both sent and received; modelled as
        /// delay of the host's links.
        host_latency: Span = Span::ZERO,
        /// Link-level retry: neighbours replay frames that `[[failure]] kind = "loss"` corrupts.
        llr?: LlrSection = "none",
        /// Separate network within each server, such as NVLink, whose GPUs are hosts. Messages
        /// within a server use it, without queue pairs, and never the fabric.
        scale_up?: ScaleUpSection = "none",
    }
}

section! {
    /// `scale_up = { ... }`: the network within each server.
    pub struct ScaleUpSection {
        /// GPUs per server, which are consecutive hosts. Host `h` is GPU `h % gpus`, its rail.
        gpus: u32 = 8,
        /// Payload rate of a GPU's port in each direction, as NVLink 4 (DGX H100: 18 links of 25
        /// GB/s).
        rate: BitRate = BitRate::from_gbps(3_600),
        /// Delay from the last bit sent to its arrival, and again until the sender knows: NVLink's
        /// base latency in NCCL's cost model (`tuning.cc`, LL).
        latency: Span = Span::from_ns(600),
        /// Route to other rails of other servers: over the `fabric`, or through a `relay`, the
        /// server's own GPU on the receiver's rail (PXN).
        cross_rail: CrossRail = CrossRail::default(),
    }
}

section! {
    /// `llr = { ... }`: link-level retry (Ultra Ethernet 1.0.1, section 5.1).
    pub struct LlrSection {
        /// Bytes on the wire between two 8-byte acknowledgements, from 400 to 17296.
        ack_spacing: Bytes = Bytes::new(2_048),
        /// Consecutive replays of a frame that a link survives: up to 254, or 255 for no limit.
        replays: u8 = 1,
        /// Treatment of frames on a link that exceeded `replays`.
        afterwards: Afterwards = Afterwards::default(),
    }
}

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
