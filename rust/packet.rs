//! What is on the wire: one fixed-size record a packet, the fields of RoCEv2 and Ultra Ethernet
//! headers that anything here decides by. It knows no topology and no policy.

use crate::ids::{HostId, QpId};
use crate::units::Time;

/// What a packet is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum PacketKind {
    /// Part of a message.
    #[default]
    Data,
    /// Acknowledges what arrived.
    Ack,
    /// Negative acknowledgement: the packet of PSN `ack` is missing. With the flag `TRIMMED`,
    /// that of PSN `psn` was cut to its header.
    Nack,
    /// Congestion notification (DCQCN).
    Cnp,
    /// The packet of PSN `psn` is refused for the reason in `sack`: receiver not ready, or a
    /// request that it cannot serve (the NAK syndromes of the InfiniBand specification).
    Refusal,
    /// Flow control on one link (IEEE 802.1Qbb): send no more of the paused class. Ports make and
    /// take it; no queue pair ever sees one.
    Pause,
    /// ... go on.
    Resume,
}

/// A packet, as headers and lengths; payloads are not carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Packet {
    /// Where it comes from.
    pub src: HostId,
    /// Where it goes.
    pub dst: HostId,
    /// The queue pair at `dst` that it is for (BTH destination QP).
    pub qp: QpId,
    /// Hash of the 5-tuple without the entropy value: what tells flows apart for ECMP.
    pub label: u32,
    /// Data: its packet sequence number. Acknowledgements: the first PSN of `sack`.
    pub psn: Psn,
    /// Acknowledgements: every PSN before this one has arrived. With an erasure code, data and
    /// acknowledgements: the number of the message; with unordered delivery, data.
    pub ack: Psn,
    /// Acknowledgements: which of the 64 PSNs from `psn` on arrived since the last one. Data: what
    /// the verb's headers say (RETH, immediate data); 0 for a plain WRITE. Refusals: why. Frames of
    /// flow control: bytes without priority that wait at the port that says it.
    pub sack: u64,
    /// Acknowledgements: which of the packets of `sack`, at most 32, were ECN marked; the lowest
    /// bit stands for the first of them. See [`Packet::marks`]. Data, with an erasure code: the
    /// length of the message, in bytes; with unordered delivery, in packets.
    pub marked: u32,
    /// Data: when it was sent, in steps of 1,024 ps; an acknowledgement echoes it.
    pub stamp: Stamp,
    /// Length on the wire without the gap, in bytes.
    pub wire_bytes: u16,
    /// Entropy value, or path where the source routes. An acknowledgement echoes it.
    pub entropy: u16,
    /// What is left of the path at this point of the way, where the source routes.
    pub route: u16,
    /// What it is.
    pub kind: PacketKind,
    /// Flags, see the constants of [`Flags`].
    pub flags: Flags,
}

impl PacketKind {
    /// The kind of that number, as `kind as u8` numbers them; one that there is not is data.
    pub const fn of_number(number: u8) -> Self {
        match number {
            1 => Self::Ack,
            2 => Self::Nack,
            3 => Self::Cnp,
            4 => Self::Refusal,
            5 => Self::Pause,
            6 => Self::Resume,
            _ => Self::Data,
        }
    }
}

impl Packet {
    /// An acknowledgement reports at most so many packets: the bits of its `marked` field.
    pub const MOST_REPORTED: u32 = u32::BITS;

    /// Acknowledgements: which of the 64 PSNs from `psn` on were ECN marked, of those in `sack`.
    pub const fn marks(&self) -> u64 {
        let (mut left, mut marks, mut reported) = (self.marked, 0, self.sack);
        while left != 0 && reported != 0 {
            if left & 1 == 1 {
                marks |= reported & reported.wrapping_neg();
            }
            reported &= reported - 1;
            left >>= 1;
        }
        marks
    }

    /// `marks`, a part of `sack`, as the field `marked` holds them.
    pub const fn marked_field(sack: u64, marks: u64) -> u32 {
        let (mut left, mut marked) = (marks & sack, 0u64);
        while left != 0 {
            let below = (1u64 << left.trailing_zeros()) - 1;
            marked |= 1 << (sack & below).count_ones();
            left &= left - 1;
        }
        marked as u32
    }

    /// True for everything but data.
    pub const fn is_control(&self) -> bool {
        !matches!(self.kind, PacketKind::Data)
    }

    /// True for what ports say to each other: it is made and taken by the ends of one link.
    pub const fn is_flow_control(&self) -> bool {
        matches!(self.kind, PacketKind::Pause | PacketKind::Resume)
    }
}

/// A packet sequence number of 24 bits, which wraps (InfiniBand specification, volume 1, 9.7.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Psn(u32);

impl Psn {
    /// Numbers that exist.
    pub const MODULUS: u64 = 1 << 24;

    /// What a sequence that counts on for ever looks like on the wire.
    pub const fn on_wire(sequence: u64) -> Self {
        Self((sequence % Self::MODULUS) as u32)
    }

    /// The 24 bits.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The full sequence number, knowing one that is less than 2^23 away.
    pub const fn near(self, known: u64) -> u64 {
        let half = Self::MODULUS / 2;
        let ahead = (self.0 as u64 + Self::MODULUS - known % Self::MODULUS) % Self::MODULUS;
        if ahead < half { known + ahead } else { (known + ahead).saturating_sub(Self::MODULUS) }
    }
}

/// Single-bit header fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(u8);

impl Flags {
    /// None set.
    pub const NONE: Self = Self(0);
    /// ECN: congestion experienced; in an acknowledgement, its echo.
    pub const MARKED: Self = Self(1);
    /// The last packet of a message (BTH opcodes LAST and ONLY). In an acknowledgement, with an
    /// erasure code: the message needs no more packets.
    pub const LAST: Self = Self(1 << 1);
    /// Sent more than once.
    pub const RETRANSMITTED: Self = Self(1 << 2);
    /// Goes before everything that has not this flag.
    pub const PRIORITY: Self = Self(1 << 3);
    /// Cut to its header by a switch.
    pub const TRIMMED: Self = Self(1 << 4);
    /// Cut by the switch that the receiver is attached to; a NACK echoes it.
    pub const LAST_HOP: Self = Self(1 << 5);
    /// Data: to be acknowledged at once (BTH bit AckReq). Its sender waits for it.
    pub const ACK_REQUEST: Self = Self(1 << 6);

    /// The flags as a number, a bit each.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The flags of that number.
    pub const fn of_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// True if every flag of `other` is set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These flags and those of `other`.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// `self` where `condition` holds, no flag otherwise.
    #[must_use]
    pub const fn when(self, condition: bool) -> Self {
        if condition { self } else { Self::NONE }
    }
}

/// A time stamp of 32 bits in steps of 1,024 ps; it wraps after 4.4 ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stamp(u32);

impl Stamp {
    /// The 32 bits.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The stamp of those bits.
    pub const fn of_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// The stamp for `time`.
    pub const fn at(time: Time) -> Self {
        Self((time.as_ps() >> 10) as u32)
    }

    /// Picoseconds from this stamp to `now`, within 1 ns, if less than 4.4 ms have passed.
    pub const fn ps_until(self, now: Time) -> u64 {
        (Self::at(now).0.wrapping_sub(self.0) as u64) << 10
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_psn_finds_its_sequence_across_the_wrap() {
        let wrap = Psn::MODULUS;
        for (sequence, known) in
            [(0, 0), (5, 0), (wrap - 1, wrap + 3), (wrap + 3, wrap - 1), (3 * wrap, 3 * wrap - 9)]
        {
            assert_eq!(Psn::on_wire(sequence).near(known), sequence, "{sequence} near {known}");
        }
    }

    #[test]
    fn a_packet_fits_beside_its_bookkeeping_in_one_cache_line() {
        assert!(size_of::<Packet>() <= 48, "{}", size_of::<Packet>());
    }

    #[test]
    fn marks_of_32_packets_find_their_places_among_64() {
        let mut random = crate::rng::Stream::new(4, crate::rng::Purpose::Test, 0);
        let mut draw = || u64::from(random.next_u32()) << 32 | u64::from(random.next_u32());
        for _ in 0..1_000 {
            let mut sack = draw() & draw();
            while sack.count_ones() > Packet::MOST_REPORTED {
                sack &= sack - 1;
            }
            let marks = sack & draw();
            let packet =
                Packet { sack, marked: Packet::marked_field(sack, marks), ..Packet::default() };
            assert_eq!(packet.marks(), marks, "{sack:#x}");
            assert_eq!(packet.marked.count_ones(), marks.count_ones());
        }
    }

    #[test]
    fn stamps_measure_round_trips() {
        let sent = Time::from_ps(4_398_046_511_000);
        let back = Time::from_ps(sent.as_ps() + 8_000_000);
        let measured = Stamp::at(sent).ps_until(back);
        assert!(measured.abs_diff(8_000_000) <= 1_024, "{measured}");
    }
}
