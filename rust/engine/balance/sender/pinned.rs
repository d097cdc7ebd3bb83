//! A fixed path for each queue pair, changed only after a retransmission timeout.
//!
//! Source: Addanki, Goyal, Marinos, Schmid, "Ethereal: Divide and Conquer Network Load Balancing in
//! Large-Scale Distributed Training" (2025). The reaction to a timeout is that of its public
//! simulator: a new path that differs at every tier, with each choice uniform. Splitters with
//! source routes send their pieces under this policy; it has no preset of its own.

use serde::{Deserialize, Serialize};

use super::{FailedPath, PathSpace, QpContext, SenderPolicy};
use crate::balance::Preset;
use crate::rng::{Purpose, Stream};
use crate::units::Time;

/// The policy has no parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {}

/// The path of a queue pair.
#[derive(Debug, Clone)]
pub struct Pinned {
    path: u16,
    paths: PathSpace,
    random: Stream,
}

/// No preset of its own: see [`crate::split::ethereal`].
pub const PRESETS: &[Preset] = &[];

impl Pinned {
    pub(super) fn new(_config: &Config, qp: &QpContext) -> Self {
        Self { path: qp.path, paths: qp.paths, random: qp.random(Purpose::Repath) }
    }

    /// Returns a random path that differs from the current one at every tier.
    fn another_path(&mut self) -> u16 {
        let (mut rest, mut scale, mut path) = (self.path, 1u16, 0u16);
        for &radix in self.paths.radices() {
            let old = rest % radix;
            rest /= radix;
            // A step of 1 to radix − 1 never leads back and reaches every other choice with the
            // same probability. A tier has at least two choices, or it is not in the path space.
            let step = 1 + self.random.below(u32::from(radix) - 1);
            let new = (u32::from(old) + step) % u32::from(radix);
            path += scale * u16::try_from(new).expect("below a radix of 16 bits");
            // With 65,536 paths this wraps to 0 after the last tier, where it is not used any more.
            scale = scale.wrapping_mul(radix);
        }
        path
    }
}

impl SenderPolicy for Pinned {
    const KEEPS_VALUE: bool = true;

    #[inline]
    fn entropy(&mut self, _now: Time) -> u16 {
        self.path
    }

    fn handle_timeout(&mut self, _now: Time, entropy: u16) -> Option<FailedPath> {
        // A packet of an older path says nothing about the current one.
        if entropy != self.path || self.paths.count() < 2 {
            return None;
        }
        let failed = FailedPath(self.path);
        self.path = self.another_path();
        Some(failed)
    }

    fn set_path(&mut self, path: u16) {
        self.path = path;
    }

    fn state_bits(&self) -> u64 {
        16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pinned(path: u16, tiers: &[usize]) -> Pinned {
        let paths = tiers.iter().try_fold(PathSpace::SINGLE, |paths, &n| paths.with_tier(n));
        let qp = QpContext { paths: paths.unwrap(), path, ..QpContext::for_test() };
        Pinned::new(&Config {}, &qp)
    }

    #[test]
    fn a_timeout_moves_to_a_path_that_differs_at_every_tier() {
        for _ in 0..200 {
            let mut policy = pinned(9, &[4, 4]);
            for _ in 0..20 {
                let old = policy.entropy(Time::ZERO);
                assert_eq!(policy.handle_timeout(Time::ZERO, old), Some(FailedPath(old)));
                let new = policy.entropy(Time::ZERO);
                assert!(new < 16 && new % 4 != old % 4 && new / 4 != old / 4, "{old} to {new}");
            }
        }
    }

    #[test]
    fn a_late_timeout_of_the_previous_path_changes_nothing() {
        let mut policy = pinned(3, &[16]);
        assert_eq!(policy.handle_timeout(Time::ZERO, 7), None);
        assert_eq!(policy.entropy(Time::ZERO), 3);
    }

    #[test]
    fn a_timeout_of_the_only_path_changes_nothing() {
        let mut policy = pinned(0, &[]);
        assert_eq!(policy.handle_timeout(Time::ZERO, 0), None);
    }

    #[test]
    fn the_state_is_the_path() {
        assert_eq!(pinned(3, &[4, 4]).state_bits(), 16);
    }

    #[test]
    fn a_tier_may_have_more_choices_than_half_of_the_paths() {
        let mut policy = pinned(39_999, &[40_000]);
        for _ in 0..20 {
            let old = policy.entropy(Time::ZERO);
            assert_eq!(policy.handle_timeout(Time::ZERO, old), Some(FailedPath(old)));
            let new = policy.entropy(Time::ZERO);
            assert!(new < 40_000 && new != old, "{old} to {new}");
        }
    }
}
