//! Packets as they cross the language border.

use super::contract::WirePacket;
use crate::ids::{HostId, QpId};
use crate::packet::{Flags, KindFields, Packet, PacketKind, RawFields};

impl From<&Packet> for WirePacket {
    #[inline]
    fn from(packet: &Packet) -> Self {
        let raw = packet.fields.raw();
        Self {
            sack: raw.sack,
            src: packet.src.0,
            dst: packet.dst.0,
            qp: packet.qp.0,
            label: packet.label,
            psn: raw.psn,
            ack: raw.ack,
            marked: raw.marked,
            stamp: raw.stamp,
            wire_bytes: packet.wire_bytes,
            entropy: packet.entropy,
            route: packet.route,
            kind: packet.kind as u8,
            flags: packet.flags.bits(),
        }
    }
}

impl From<&WirePacket> for Packet {
    /// # Panics
    /// If the number of its kind is unknown: no packet from this side has such a number.
    #[inline]
    fn from(wire: &WirePacket) -> Self {
        let kind = PacketKind::of_number(wire.kind).unwrap_or_else(|| {
            panic!("packet kind {} is unknown: it must be from 0 to 6", wire.kind)
        });
        Self {
            src: HostId(wire.src),
            dst: HostId(wire.dst),
            qp: QpId(wire.qp),
            label: wire.label,
            fields: KindFields::of_raw(RawFields {
                sack: wire.sack,
                psn: wire.psn,
                ack: wire.ack,
                marked: wire.marked,
                stamp: wire.stamp,
            }),
            wire_bytes: wire.wire_bytes,
            entropy: wire.entropy,
            route: wire.route,
            kind,
            flags: Flags::of_bits(wire.flags),
        }
    }
}
