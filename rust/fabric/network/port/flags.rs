//! Flags of ports.

/// What sets a port apart from nearly all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::fabric::network) struct Special(u8);

impl Special {
    /// Its link fails at some time.
    pub(in crate::fabric::network) const FAULTY: Self = Self(1);
    /// Its link ends in another part of a divided run.
    pub(in crate::fabric::network) const BORDER: Self = Self(2);

    #[inline(always)]
    pub(in crate::fabric::network) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    #[inline(always)]
    pub(in crate::fabric::network) const fn has_none(self) -> bool {
        self.0 == 0
    }

    pub(in crate::fabric::network) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The ends of a port's link at which packets are traced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::fabric::network) struct Traced(u8);

impl Traced {
    pub(in crate::fabric::network) const START: Self = Self(1);
    pub(in crate::fabric::network) const END: Self = Self(2);

    #[inline]
    pub(in crate::fabric::network) const fn at(self, end: Self) -> bool {
        self.0 & end.0 != 0
    }

    pub(in crate::fabric::network) const fn also_at(self, end: Self) -> Self {
        Self(self.0 | end.0)
    }
}
