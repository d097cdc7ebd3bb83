//! A pinned path for each queue pair, left only when the retransmission timer says it failed.
//!
//! Source: Addanki, Goyal, Marinos, Schmid, "Ethereal: Divide and Conquer Network Load Balancing
//! in Large-Scale Distributed Training" (2025), with the rule for leaving a path from its public
//! simulator: on a time-out, a new path that differs at every tier, each choice uniform. It is
//! what splitters with source routes put their pieces on; it names no preset of its own.

use serde::{Deserialize, Serialize};

use super::{FailedPath, PathSpace, QpContext, SenderPolicy};
use crate::balance::Preset;
use crate::rng::{Purpose, Stream};
use crate::units::Time;

/// There is nothing to set.
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

/// None: see [`crate::split::ethereal`].
pub const PRESETS: &[Preset] = &[];

impl Pinned {
    pub(super) fn new(_config: &Config, qp: &QpContext) -> Self {
        Self { path: qp.path, paths: qp.paths, random: qp.random(Purpose::Repath) }
    }

    fn another_path(&mut self) -> u16 {
        let (mut rest, mut scale, mut path) = (self.path, 1u16, 0u16);
        for &radix in self.paths.radices() {
            let old = rest % radix;
            rest /= radix;
            let step = 1 + self.random.below(u32::from(radix) - 1);
            let new = (u32::from(old) + step) % u32::from(radix);
            path += scale * u16::try_from(new).expect("below a radix of 16 bits");
            scale = scale.wrapping_mul(radix);
        }
        path
    }
}

impl SenderPolicy for Pinned {
    #[inline]
    fn entropy(&mut self, _now: Time) -> u16 {
        self.path
    }

    fn handle_timeout(&mut self, _now: Time, entropy: u16) -> Option<FailedPath> {
        if entropy != self.path || self.paths.count() < 2 {
            return None;
        }
        let failed = FailedPath(self.path);
        self.path = self.another_path();
        Some(failed)
    }

    fn move_to(&mut self, path: u16) {
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
    fn a_late_timeout_of_the_old_path_changes_nothing() {
        let mut policy = pinned(3, &[16]);
        assert_eq!(policy.handle_timeout(Time::ZERO, 7), None);
        assert_eq!(policy.entropy(Time::ZERO), 3);
    }

    #[test]
    fn with_one_path_there_is_nowhere_to_go() {
        let mut policy = pinned(0, &[]);
        assert_eq!(policy.handle_timeout(Time::ZERO, 0), None);
    }
}
