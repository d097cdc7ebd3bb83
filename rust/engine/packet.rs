//! Packets on the wire. A packet is one fixed-size record with those fields of RoCEv2 and Ultra
//! Ethernet headers that decisions depend on. Payloads are represented by their lengths only.
//!
//! A [`Packet`] has the fields that every kind of packet has, and [`KindFields`], whose meaning
//! depends on the kind. The latter are read through the view of a kind ([`DataView`], [`AckView`],
//! [`NackView`], [`RefusalView`], [`PauseFrame`]) and written by its constructor ([`Packet::data`],
//! [`Packet::ack`], ...); no other code interprets them. This layer depends on no topology and no
//! policy.

mod flags;
mod kind_fields;
mod plane_mask;
mod psn;
mod stamp;
mod telemetry;
mod view;

pub use flags::Flags;
pub(crate) use kind_fields::ones;
pub use kind_fields::{
    AckFields, ArrivalReport, DataFields, KindFields, MessageLabel, PauseFrame, PauseOrder,
    RawFields, RefusalReason,
};
pub use plane_mask::PlaneMask;
pub use psn::Psn;
pub use stamp::Stamp;
pub use telemetry::{Hop, PortReading, Telemetry};
pub use view::{AckView, CreditView, DataView, EndpointView, NackView, RefusalView, View};

use crate::ids::{HostId, QpId};

/// Purpose of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum PacketKind {
    /// Part of a message.
    #[default]
    Data,
    /// Acknowledges packets that arrived.
    Ack,
    /// Negative acknowledgement: a packet is missing, or was trimmed to its header.
    Nack,
    /// Congestion notification packet (DCQCN).
    Cnp,
    /// Rejects a packet that arrived: receiver not ready, or a request that the peer cannot serve
    /// (the NAK syndromes of the InfiniBand specification).
    Refusal,
    /// Priority flow control on one link (PFC, IEEE 802.1Qbb): stop sending the paused class. Ports
    /// send and consume these frames; no queue pair ever receives one.
    Pause,
    /// Priority flow control on one link: continue sending the paused class.
    Resume,
    /// Asks a NIC for a reply over one path; addressed to no queue pair of that NIC.
    Probe,
    /// Replies to a probe, and echoes its entropy value, time stamp and mark.
    ProbeReply,
    /// Notifies a NIC which ports of the sending NIC are usable; addressed to no queue pair.
    PortStatus,
    /// Grants credit to a sender (RCCC of Ultra Ethernet).
    Credit,
    /// Requests credit from a receiver, separately from data packets; addressed to no queue pair.
    CreditRequest,
    /// Credit-based flow control on one link (CBFC): the amount that the far end has freed.
    LinkCredit,
}

/// A packet, as headers and lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Packet {
    /// Sending host.
    pub src: HostId,
    /// Destination host.
    pub dst: HostId,
    /// Destination queue pair at `dst` (BTH destination QP).
    pub qp: QpId,
    /// Hash of the 5-tuple without the entropy value: distinguishes flows for ECMP.
    pub label: u32,
    /// Fields whose meaning depends on `kind`; the views read them.
    pub fields: KindFields,
    /// Entropy value, or the path under source routes. Control packets echo the value of the packet
    /// that they acknowledge.
    pub entropy: u16,
    /// Remaining part of the path, under source routes.
    pub route: u16,
    // The fields that queues read are last and adjacent, so that one access fetches them.
    /// Length on the wire in bytes, without the inter-packet gap.
    pub wire_bytes: u16,
    /// Header fields of one bit each: marks, priority, trimming.
    pub flags: Flags,
    /// Purpose of the packet.
    pub kind: PacketKind,
}

// With its bookkeeping in the fabric's pool, a packet fills one cache line.
const _: () = assert!(size_of::<Packet>() <= 48);

impl Packet {
    /// Maximum number of packets that an acknowledgement reports.
    pub const MAX_REPORTED: u32 = ArrivalReport::MAX_PACKETS;

    /// True for every kind but data.
    pub const fn is_control(&self) -> bool {
        !matches!(self.kind, PacketKind::Data)
    }

    /// True for the frames of flow control (PFC, CBFC), which the two ends of one link exchange.
    pub const fn is_link_frame(&self) -> bool {
        matches!(self.kind, PacketKind::Pause | PacketKind::Resume | PacketKind::LinkCredit)
    }
}
