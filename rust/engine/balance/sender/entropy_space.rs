//! Number of entropy values that a queue pair draws from.
//!
//! Source: "REPS: Recycled Entropy Packet Spraying" (arXiv 2407.21625, EuroSys 2026), which sweeps
//! it from 32 to the 2^16 of the Ultra Ethernet header field. Ultra Ethernet's own path selectors
//! use 64 to 256.

use serde::{Deserialize, Serialize};

use crate::rng::Stream;

/// The entropy values 0 to n − 1, where n is 1 to 65,536.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct EntropySpace(u32);

impl EntropySpace {
    /// All values of the 16-bit header field.
    pub const ALL: Self = Self(1 << 16);
    /// The usual size of Ultra Ethernet's bitmap.
    pub const BITMAP: Self = Self(256);

    /// Returns the number of values.
    pub const fn count(self) -> u32 {
        self.0
    }

    /// Returns the number of bits of a value.
    pub const fn bits(self) -> u32 {
        u32::BITS - (self.0 - 1).leading_zeros()
    }

    /// Draws a value uniformly.
    #[inline]
    pub fn draw(self, random: &mut Stream) -> u16 {
        // For the whole header field, 16 random bits suffice: no multiplication and no rejection.
        if self == Self::ALL { random.next_u16() } else { random.below(self.0) as u16 }
    }
}

impl TryFrom<u32> for EntropySpace {
    type Error = String;

    fn try_from(count: u32) -> Result<Self, String> {
        if (1..=Self::ALL.0).contains(&count) {
            return Ok(Self(count));
        }
        Err(format!("{count} entropy values are out of range: expected 1 to {}", Self::ALL.0))
    }
}

impl From<EntropySpace> for u32 {
    fn from(space: EntropySpace) -> Self {
        space.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    #[test]
    fn a_space_holds_1_to_65536_values_and_draws_each_of_them() {
        assert!(EntropySpace::try_from(0).is_err() && EntropySpace::try_from(65_537).is_err());
        let space = EntropySpace::try_from(33).unwrap();
        assert_eq!((space.count(), space.bits()), (33, 6));
        assert_eq!((EntropySpace::ALL.bits(), EntropySpace::BITMAP.bits()), (16, 8));
        let mut random = Stream::new(1, Purpose::Test, 0);
        let drawn: std::collections::BTreeSet<u16> =
            (0..1_000).map(|_| space.draw(&mut random)).collect();
        assert_eq!((drawn.len(), drawn.last()), (33, Some(&32)));
    }
}
