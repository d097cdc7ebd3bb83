//! Pseudo-random rounds over the numbers below N; each number occurs once per round.
//!
//! Source: the path selectors of Ultra Ethernet's public simulator (ultraethernet/uet-htsim,
//! `uec_mp.cpp`). The i-th number of a round is i XOR x, where x is redrawn for each round. The
//! source requires a power of two for N; for any other N, numbers of N and above are skipped
//! \[inferred\].

use crate::rng::Stream;

/// A pseudo-random round-robin over the numbers below N.
#[derive(Debug, Clone, Copy)]
pub(super) struct XorRounds {
    values: u32,
    mask: u16,
    index: u16,
    xor: u16,
}

/// Whether an advance stayed in the current round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Advance {
    SameRound,
    NextRound,
}

impl XorRounds {
    /// Creates rounds over the numbers below `values`, which is 1 to 65,536.
    pub(super) fn new(values: u32, random: &mut Stream) -> Self {
        let mask = (values.next_power_of_two() - 1) as u16;
        let mut rounds = Self { values, mask, index: 0, xor: random.next_u16() & mask };
        rounds.skip_absent(random);
        rounds
    }

    /// Draws random bits above those of the numbers.
    pub(super) fn upper(&self, random: &mut Stream) -> u16 {
        random.next_u16() & !self.mask
    }

    /// Returns how many numbers there are.
    pub(super) const fn values(&self) -> u32 {
        self.values
    }

    /// Returns the number at the current position of the round, always below N.
    #[inline]
    pub(super) fn current(&self) -> u16 {
        self.index ^ self.xor
    }

    /// Moves to the next number.
    #[inline]
    pub(super) fn advance(&mut self, random: &mut Stream) -> Advance {
        let mut advance = self.step(random);
        if self.skip_absent(random) == Advance::NextRound {
            advance = Advance::NextRound;
        }
        advance
    }

    /// Returns the size of the index and the XOR value, in bits.
    pub(super) fn state_bits(&self) -> u64 {
        2 * u64::from(self.mask.count_ones())
    }

    #[inline]
    fn step(&mut self, random: &mut Stream) -> Advance {
        if self.index < self.mask {
            self.index += 1;
            return Advance::SameRound;
        }
        self.index = 0;
        // XOR with a constant permutes the numbers below a power of two: each occurs once, without
        // a stored list.
        self.xor = random.next_u16() & self.mask;
        Advance::NextRound
    }

    #[inline]
    fn skip_absent(&mut self, random: &mut Stream) -> Advance {
        let mut advance = Advance::SameRound;
        // Fewer than half of the numbers below the power of two are absent, so few are skipped in a
        // row.
        while u32::from(self.current()) >= self.values {
            if self.step(random) == Advance::NextRound {
                advance = Advance::NextRound;
            }
        }
        advance
    }
}
