//! Packets on the wire: one fixed-size record each, with the fields of RoCEv2 and Ultra Ethernet
//! headers that some decision depends on. Payloads are not carried, only their lengths.
//!
//! A [`Packet`] has the fields that every kind of packet has, and [`KindFields`], whose meaning
//! depends on the kind. Those are read through the view of a kind ([`DataView`], [`AckView`],
//! [`NackView`], [`RefusalView`], [`PauseFrame`]) and written by its constructor
//! ([`Packet::data`], [`Packet::ack`], ...); no other code interprets them. The layer depends
//! on no topology and no policy.

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

/// What a packet is for.
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
    /// A packet is refused although it arrived: receiver not ready, or a request that the peer
    /// cannot serve (the NAK syndromes of the InfiniBand specification).
    Refusal,
    /// Priority flow control on one link (PFC, IEEE 802.1Qbb): stop sending the paused class.
    /// Ports send and consume these frames; no queue pair ever receives one.
    Pause,
    /// Priority flow control on one link: continue sending the paused class.
    Resume,
    /// Asks a NIC for an answer over one path; for no queue pair of that NIC.
    Probe,
    /// Answers a probe, and echoes its entropy value, its stamp and its mark.
    ProbeReply,
    /// Tells a NIC which ports of another one are usable; for no queue pair.
    PortStatus,
    /// Grants credit to a sender (RCCC of Ultra Ethernet).
    Credit,
    /// Asks a receiver for credit, beside data packets; for no queue pair.
    CreditRequest,
    /// Credit-based flow control on one link (CBFC): how much the far end has freed.
    LinkCredit,
}

/// A packet, as headers and lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Packet {
    /// The host that sends it.
    pub src: HostId,
    /// The host that it goes to.
    pub dst: HostId,
    /// The queue pair at `dst` that it is for (BTH destination QP).
    pub qp: QpId,
    /// Hash of the 5-tuple without the entropy value: distinguishes flows for ECMP.
    pub label: u32,
    /// The fields whose meaning depends on `kind`; the views read them.
    pub fields: KindFields,
    /// Entropy value, or path where the source routes. Answers echo that of the packet they answer.
    pub entropy: u16,
    /// The part of the path that is still ahead, where the source routes.
    pub route: u16,
    // What queues read comes last and together: it is read at once.
    /// Length on the wire in bytes, without the inter-packet gap.
    pub wire_bytes: u16,
    /// Header fields of one bit each: marks, priority, trimming.
    pub flags: Flags,
    /// What the packet is for.
    pub kind: PacketKind,
}

// With its bookkeeping in the fabric's pool it fills one cache line.
const _: () = assert!(size_of::<Packet>() <= 48);

impl Packet {
    /// An acknowledgement reports at most this many packets.
    pub const MOST_REPORTED: u32 = ArrivalReport::MOST_PACKETS;

    /// True for every kind but data.
    pub const fn is_control(&self) -> bool {
        !matches!(self.kind, PacketKind::Data)
    }

    /// True for the frames of flow control (PFC, CBFC), which the two ends of one link exchange.
    pub const fn is_link_frame(&self) -> bool {
        matches!(self.kind, PacketKind::Pause | PacketKind::Resume | PacketKind::LinkCredit)
    }
}
