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
    /// Negative acknowledgement: the packet of PSN `ack` is missing (go-back-N).
    Nack,
    /// Congestion notification (DCQCN).
    Cnp,
    /// The packet of PSN `psn` is refused for the reason in `sack`: receiver not ready, or a
    /// request that it cannot serve (the NAK syndromes of the InfiniBand specification).
    Refusal,
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
    /// Acknowledgements: every PSN before this one has arrived.
    pub ack: Psn,
    /// Acknowledgements: which of the 64 PSNs from `psn` on arrived since the last one. Data: what
    /// the verb's headers say (RETH, immediate data); 0 for a plain WRITE. Refusals: why.
    pub sack: u64,
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
    /// Acknowledgements: how many of the packets acknowledged were ECN marked.
    pub marked: u8,
}

impl Packet {
    /// True for everything but data.
    pub const fn is_control(&self) -> bool {
        !matches!(self.kind, PacketKind::Data)
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
    /// The last packet of a message (BTH opcodes LAST and ONLY).
    pub const LAST: Self = Self(1 << 1);
    /// Sent more than once.
    pub const RETRANSMITTED: Self = Self(1 << 2);
    /// Goes before everything that has not this flag.
    pub const PRIORITY: Self = Self(1 << 3);
    /// Cut to its header by a switch.
    pub const TRIMMED: Self = Self(1 << 4);
    /// Data: the sender waits for its acknowledgement, which must not be held back (BTH bit A,
    /// InfiniBand specification, volume 1, section 9.2.5).
    pub const ACK_REQUEST: Self = Self(1 << 6);

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
    fn stamps_measure_round_trips() {
        let sent = Time::from_ps(4_398_046_511_000);
        let back = Time::from_ps(sent.as_ps() + 8_000_000);
        let measured = Stamp::at(sent).ps_until(back);
        assert!(measured.abs_diff(8_000_000) <= 1_024, "{measured}");
    }
}
