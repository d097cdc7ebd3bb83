//! Sets of planes. Each port of a NIC is in its own plane, so a set of planes is also a set of
//! ports.

/// A set of planes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaneMask(u32);

impl PlaneMask {
    /// Maximum number of planes of a fabric: a port status has a mask of 32 bits (the port status
    /// update of MRC 1.0).
    pub const MAX: u32 = u32::BITS;
    /// No plane.
    pub const NONE: Self = Self(0);

    /// Returns the first `count` planes, at most [`Self::MAX`].
    pub const fn all(count: u32) -> Self {
        match count {
            0 => Self::NONE,
            1..Self::MAX => Self((1 << count) - 1),
            _ => Self(u32::MAX),
        }
    }

    /// Creates a set from bits: bit `p` stands for plane `p`.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Returns the bits of the set: bit `p` stands for plane `p`.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Returns true if the set has no plane.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the number of planes.
    #[inline]
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns true if the set contains `plane`.
    #[inline]
    pub const fn has(self, plane: u32) -> bool {
        self.0 >> plane & 1 == 1
    }

    /// Returns the set with `plane` added.
    #[must_use]
    pub const fn with(self, plane: u32) -> Self {
        Self(self.0 | 1 << plane)
    }

    /// Returns the set with `plane` removed.
    #[must_use]
    pub const fn without(self, plane: u32) -> Self {
        Self(self.0 & !(1 << plane))
    }

    /// Returns the planes that are in both sets.
    #[inline]
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns this set, or `other` if this set is empty.
    #[inline]
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        if self.is_empty() { other } else { self }
    }

    /// Returns the plane at `index`, in ascending order.
    #[inline]
    pub const fn nth(self, index: u32) -> Option<u32> {
        let mut left = self.0;
        let mut passed = 0;
        while passed < index && left != 0 {
            left &= left - 1;
            passed += 1;
        }
        if left == 0 { None } else { Some(left.trailing_zeros()) }
    }

    /// Returns the first plane at or after `plane`, wrapping around.
    #[inline]
    pub const fn next_from(self, plane: u32) -> Option<u32> {
        if self.is_empty() {
            return None;
        }
        let above = self.0 & (u32::MAX << plane);
        Some(if above == 0 { self.0.trailing_zeros() } else { above.trailing_zeros() })
    }

    /// Iterates over the planes in ascending order.
    pub fn planes(self) -> impl Iterator<Item = u32> {
        (0..Self::MAX).filter(move |&plane| self.has(plane))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_counts_and_finds_its_planes() {
        let mask = PlaneMask::all(4).without(1);
        assert_eq!((mask.bits(), mask.count()), (0b1101, 3));
        assert_eq!(mask.planes().collect::<Vec<_>>(), [0, 2, 3]);
        assert_eq!([0, 1, 2, 3].map(|index| mask.nth(index)), [Some(0), Some(2), Some(3), None]);
        assert_eq!([0, 1, 3].map(|plane| mask.next_from(plane)), [Some(0), Some(2), Some(3)]);
        assert_eq!(mask.without(3).next_from(3), Some(0));
        assert_eq!(PlaneMask::NONE.next_from(0), None);
        assert_eq!(PlaneMask::NONE.or(mask), mask);
        assert_eq!(PlaneMask::all(PlaneMask::MAX).count(), 32);
        assert!(PlaneMask::all(0).is_empty() && !mask.has(1) && mask.with(1).has(1));
    }
}
