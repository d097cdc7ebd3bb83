//! Single-bit header fields.

/// A set of single-bit header fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(u8);

impl Flags {
    /// The empty set of flags.
    pub const NONE: Self = Self(0);
    /// ECN congestion experienced; in a control packet, the echo of the acknowledged packet's mark.
    pub const MARKED: Self = Self(1);
    /// Last packet of a message (BTH opcodes LAST and ONLY). In an acknowledgement, the same bit
    /// means that its message needs no more packets ([`AckView::completes_message`]).
    ///
    /// [`AckView::completes_message`]: super::AckView::completes_message
    pub const LAST: Self = Self(1 << 1);
    /// Sent more than once.
    pub const RETRANSMITTED: Self = Self(1 << 2);
    /// Served before every packet without this flag.
    pub const PRIORITY: Self = Self(1 << 3);
    /// Trimmed to its header by a switch; in a NACK, the reported packet was trimmed.
    pub const TRIMMED: Self = Self(1 << 4);
    /// Trimmed by the switch that the receiver is attached to; a NACK echoes it. In an
    /// acknowledgement, the same bit means that the path is bad ([`AckView::condemns_path`]).
    ///
    /// [`AckView::condemns_path`]: super::AckView::condemns_path
    pub const LAST_HOP: Self = Self(1 << 5);
    /// Data only: requests an immediate acknowledgement, for which its sender waits (BTH bit
    /// AckReq).
    pub const ACK_REQUEST: Self = Self(1 << 6);
    /// Not eligible for adaptive routing: switches choose the port by the ECMP hash, whatever their
    /// policy is. Set only if jobs of one fabric have different policies; control packets echo it.
    pub const HASHED: Self = Self(1 << 7);

    /// Returns the flags as a number, one bit each.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Creates a set from `bits`. Every set bit must be the bit of a flag.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// Returns true if every flag of `other` is set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the union of both sets.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the intersection of both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns `self` if `condition` is true, otherwise no flags.
    #[must_use]
    pub const fn when(self, condition: bool) -> Self {
        if condition { self } else { Self::NONE }
    }
}
