//! Numbering of a queue pair's paths.

/// The equal-cost choices on the way to a host, tier by tier. A path is a mixed-radix number whose
/// lowest digit is the choice at the first switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PathSpace {
    radices: [u16; 4],
    tiers: u8,
}

impl PathSpace {
    /// No choice at any tier: all packets between two hosts take the same links.
    pub const SINGLE: Self = Self { radices: [1; 4], tiers: 0 };
    /// A placeholder for choices that are unknown or exceed the range of a path: 16 choices at each
    /// of two tiers \[inferred\]. Used only by policies that need paths although switches choose
    /// the ports.
    pub const UNKNOWN: Self = Self { radices: [16, 16, 1, 1], tiers: 2 };

    /// Adds a switch with `choices` equal-cost ports. Returns `None` beyond four tiers or 65,536
    /// paths.
    pub fn with_tier(mut self, choices: usize) -> Option<Self> {
        // A tier without a choice adds no digit.
        if choices <= 1 {
            return Some(self);
        }
        *self.radices.get_mut(usize::from(self.tiers))? = u16::try_from(choices).ok()?;
        self.tiers += 1;
        let product: u64 = self.radices().iter().map(|&radix| u64::from(radix)).product();
        (product <= 1 << 16).then_some(self)
    }

    /// Returns the number of choices at each tier.
    pub fn radices(&self) -> &[u16] {
        &self.radices[..usize::from(self.tiers)]
    }

    /// Returns the number of paths, 1 to 65,536.
    pub fn count(&self) -> u32 {
        self.radices().iter().map(|&radix| u32::from(radix)).product()
    }
}
