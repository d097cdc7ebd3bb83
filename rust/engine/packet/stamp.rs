//! Time stamps in their wire form.

use crate::units::Time;

/// A time stamp of 32 bits in steps of 1,024 ps; it wraps after 4.4 ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stamp(u32);

impl Stamp {
    /// Returns the stamp in its wire form, in steps of 1,024 ps.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Creates a stamp from its wire form.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Binary logarithm of a step in picoseconds.
    pub(crate) const STEP_BITS: u32 = 10;

    /// Returns the stamp for `time`.
    pub const fn at(time: Time) -> Self {
        // A shift instead of a division by 1,000: each data packet takes a stamp.
        Self((time.as_ps() >> Self::STEP_BITS) as u32)
    }

    /// Returns the picoseconds from this stamp to `now`, within 1 ns, if less than 4.4 ms have
    /// passed.
    pub const fn ps_until(self, now: Time) -> u64 {
        // The difference of wrapped stamps is correct as long as the time between them does not
        // wrap.
        (Self::at(now).0.wrapping_sub(self.0) as u64) << Self::STEP_BITS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_measure_round_trips() {
        let sent = Time::from_ps(4_398_046_511_000);
        let back = Time::from_ps(sent.as_ps() + 8_000_000);
        let measured = Stamp::at(sent).ps_until(back);
        assert!(measured.abs_diff(8_000_000) <= 1_024, "{measured}");
    }
}
