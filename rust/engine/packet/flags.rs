//! Single-bit header fields.

/// A set of single-bit header fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(u8);

impl Flags {
    /// The empty set of flags.
    pub const NONE: Self = Self(0);
    /// ECN: congestion experienced; in an answer, the echo of the answered packet's mark.
    pub const MARKED: Self = Self(1);
    /// The last packet of a message (BTH opcodes LAST and ONLY). The same bit of an acknowledgement
    /// says that its message needs no more packets ([`AckView::completes_message`]).
    ///
    /// [`AckView::completes_message`]: super::AckView::completes_message
    pub const LAST: Self = Self(1 << 1);
    /// Sent more than once.
    pub const RETRANSMITTED: Self = Self(1 << 2);
    /// Served before every packet without this flag.
    pub const PRIORITY: Self = Self(1 << 3);
    /// Trimmed to its header by a switch; in a NACK, answers such a packet.
    pub const TRIMMED: Self = Self(1 << 4);
    /// Trimmed by the switch that the receiver is attached to; a NACK echoes it.
    pub const LAST_HOP: Self = Self(1 << 5);
    /// Data: to be acknowledged at once, since its sender waits for that (BTH bit AckReq).
    pub const ACK_REQUEST: Self = Self(1 << 6);
    /// Switches choose its port by the hash of ECMP, whatever their policy is: it is not eligible
    /// for adaptive routing. Set only where jobs of one fabric have different policies; answers
    /// echo it.
    pub const HASHED: Self = Self(1 << 7);

    /// The flags as a number, one bit each.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The flags whose bits are set in `bits`, each of which is of a flag.
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

    /// The flags that both have.
    #[must_use]
    pub const fn among(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// `self` where `condition` holds, no flag otherwise.
    #[must_use]
    pub const fn when(self, condition: bool) -> Self {
        if condition { self } else { Self::NONE }
    }
}
