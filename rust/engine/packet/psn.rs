//! Packet sequence numbers in their wire form.

/// A packet sequence number of 24 bits, which wraps (InfiniBand specification, volume 1, 9.7.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Psn(u32);

impl Psn {
    /// Number of different PSNs.
    pub const MODULUS: u64 = 1 << 24;

    /// Returns the wire form of a sequence number that never wraps.
    pub const fn on_wire(sequence: u64) -> Self {
        Self((sequence % Self::MODULUS) as u32)
    }

    /// Returns the number in its wire form, below [`Psn::MODULUS`].
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Returns the full sequence number, given a known one that is less than 2^23 away.
    pub const fn unwrap_near(self, known: u64) -> u64 {
        // Picks the candidate less than half of the range ahead of `known`; at exactly half, the
        // one behind. A result below 0 can only come from a forged PSN and saturates.
        let half = Self::MODULUS / 2;
        let ahead = (self.0 as u64 + Self::MODULUS - known % Self::MODULUS) % Self::MODULUS;
        if ahead < half { known + ahead } else { (known + ahead).saturating_sub(Self::MODULUS) }
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
            assert_eq!(
                Psn::on_wire(sequence).unwrap_near(known),
                sequence,
                "{sequence} near {known}"
            );
        }
    }
}
