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
