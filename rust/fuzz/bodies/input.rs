//! Fuzz inputs read as numbers and as packets with arbitrary fields.

use evenkeel::ids::{HostId, QpId};
use evenkeel::packet::{Flags, KindFields, Packet, PacketKind, Psn, RawFields, Stamp};
use evenkeel::units::Time;

/// The queue pair that receives no forged packets.
pub const CLEAN: QpId = QpId(1);

/// The bytes of an input, followed by zeros.
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub fn new(data: &'a [u8]) -> Self {
        Self(data)
    }

    /// Returns the next byte, if any.
    pub fn next(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    pub fn byte(&mut self) -> u8 {
        self.next().unwrap_or(0)
    }

    /// Returns a number of up to 8 bytes, usually small.
    pub fn number(&mut self) -> u64 {
        let length = self.byte() % 9;
        (0..length).fold(0, |number, _| number << 8 | u64::from(self.byte()))
    }

    /// Returns a forged packet that no queue pair sent.
    pub fn packet(&mut self) -> Packet {
        let kinds = [PacketKind::Data, PacketKind::Ack, PacketKind::Nack, PacketKind::Cnp];
        let endpoints = [
            PacketKind::Probe,
            PacketKind::ProbeReply,
            PacketKind::PortStatus,
            PacketKind::Refusal,
        ];
        let bits = self.byte();
        let known = [Flags::MARKED, Flags::LAST, Flags::RETRANSMITTED, Flags::TRIMMED];
        let flags = (0..).zip(known).fold(Flags::NONE, |flags, (bit, flag)| {
            flags.with(flag.when(bits >> (bit + 2) & 1 == 1))
        });
        let kind = match bits >> 6 {
            1 => PacketKind::Credit,
            2 => endpoints[usize::from(bits % 4)],
            3 => PacketKind::CreditRequest,
            _ => kinds[usize::from(bits % 4)],
        };
        let mut packet = Packet {
            kind,
            flags,
            src: HostId(self.number() as u32),
            dst: HostId(self.number() as u32),
            qp: QpId(self.number() as u32),
            label: self.number() as u32,
            ..Packet::default()
        };
        let mut raw = RawFields {
            psn: Psn::on_wire(self.number()).get(),
            ack: Psn::on_wire(self.number()).get(),
            sack: self.number(),
            stamp: Stamp::at(Time::from_ps(self.number())).bits(),
            marked: 0,
        };
        packet.wire_bytes = self.number() as u16;
        packet.entropy = self.number() as u16;
        raw.marked = self.number() as u32;
        packet.fields = KindFields::of_raw(raw);
        if packet.qp == CLEAN || kind == PacketKind::CreditRequest {
            packet.qp = QpId(u32::MAX);
        }
        packet
    }
}
