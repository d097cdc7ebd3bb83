//! Packets as they cross the language border.

use super::contract::WirePacket;
use crate::ids::{HostId, QpId};
use crate::packet::{Flags, Packet, PacketKind, Psn, Stamp};

impl From<&Packet> for WirePacket {
    #[inline]
    fn from(packet: &Packet) -> Self {
        Self {
            sack: packet.sack,
            src: packet.src.0,
            dst: packet.dst.0,
            qp: packet.qp.0,
            label: packet.label,
            psn: packet.psn.get(),
            ack: packet.ack.get(),
            marked: packet.marked,
            stamp: packet.stamp.bits(),
            wire_bytes: packet.wire_bytes,
            entropy: packet.entropy,
            route: packet.route,
            kind: packet.kind as u8,
            flags: packet.flags.bits(),
        }
    }
}

impl From<&WirePacket> for Packet {
    /// A kind that there is not is data.
    #[inline]
    fn from(wire: &WirePacket) -> Self {
        Self {
            src: HostId(wire.src),
            dst: HostId(wire.dst),
            qp: QpId(wire.qp),
            label: wire.label,
            psn: Psn::on_wire(u64::from(wire.psn)),
            ack: Psn::on_wire(u64::from(wire.ack)),
            sack: wire.sack,
            marked: wire.marked,
            stamp: Stamp::of_bits(wire.stamp),
            wire_bytes: wire.wire_bytes,
            entropy: wire.entropy,
            route: wire.route,
            kind: PacketKind::of_number(wire.kind),
            flags: Flags::of_bits(wire.flags),
        }
    }
}
