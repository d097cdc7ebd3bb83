//! A reconstruction: each operation whole, on the fastest rail for its size.
//!
//! Source: \[inferred\] the effect of choosing a rail once (Nezha, arXiv 2405.17870 v1, 2024,
//! compares with single rails). For each size class, the rails are first tried in turn. Then the
//! rail with the smallest expected duration is used, for as long as it is the smallest. A slow rail
//! that becomes faster is not detected.

use serde::{Deserialize, Serialize};

use super::{AllocationContext, AllocatorConfig, AllocatorPreset, Weigh};
use crate::balance::{Origin, SchemeError, parse_config};

/// The parameters of `best-single`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Number of trials of each rail per size class, at least 1. Default 3 (\[inferred\]).
    pub tries: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self { tries: 3 }
    }
}

/// Puts all weight on one rail.
#[derive(Debug, Clone)]
pub struct BestSingle {
    tries: u32,
}

/// The allocator `best-single` with its default parameters.
pub const PRESET: AllocatorPreset = AllocatorPreset {
    name: "best-single",
    summary: "each operation whole, on the fastest rail for its size",
    source: "a baseline of this project",
    origin: Origin::Reconstructed,
    build: |parameters| {
        let config: Config = parse_config("best-single", parameters)?;
        if config.tries == 0 {
            let reason = "tries = 0 is out of range: expected at least 1".to_owned();
            return Err(SchemeError::Parameter { name: "best-single", reason });
        }
        Ok(AllocatorConfig::BestSingle(config))
    },
};

impl BestSingle {
    pub(super) const fn new(config: &Config, _rails: usize) -> Self {
        Self { tries: config.tries }
    }
}

impl Weigh for BestSingle {
    fn weigh(&mut self, context: &AllocationContext<'_>) -> Vec<f64> {
        let AllocationContext { costs, class, up, .. } = context;
        let tried = |rail| costs.count(rail, *class);
        let next =
            up.iter().min_by_key(|&rail| tried(rail)).filter(|&rail| tried(rail) < self.tries);
        let bytes = context.bytes.get() as f64;
        let mean = |rail| costs.line(rail, *class).map_or(f64::INFINITY, |line| line.at(bytes));
        let best = || up.iter().min_by(|&a, &b| mean(a).total_cmp(&mean(b)));
        let chosen = next.or_else(best);
        context.rails().map(|rail| if Some(rail) == chosen { 1.0 } else { 0.0 }).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::rail::test_rails::Bench;

    #[test]
    fn each_rail_is_tried_and_the_fastest_for_the_size_is_used() {
        // The first rail starts sooner, the second is faster: they meet at 9 us / 60 ps, 150 kB.
        let mut bench = Bench::new("best-single", &[(1_000, 80), (10_000, 20)]);
        let mut taken = |bytes| {
            let rails: Vec<_> = bench.step(bytes).ranges().map(|it| it.rail.0).collect();
            assert_eq!(rails.len(), 1);
            rails[0]
        };
        let small: Vec<u32> = (0..8).map(|_| taken(4_096)).collect();
        assert_eq!(small, [0, 1, 0, 1, 0, 1, 0, 0]);
        let large: Vec<u32> = (0..8).map(|_| taken(4 << 20)).collect();
        assert_eq!(large, [0, 1, 0, 1, 0, 1, 1, 1]);
    }

    #[test]
    fn zero_tries_are_rejected() {
        let error = crate::rail::allocator_config("best-single", &"tries = 0".parse().unwrap());
        let error = error.unwrap_err().to_string();
        let expected = "policy 'best-single': tries = 0 is out of range: expected at least 1";
        assert_eq!(error, expected);
    }
}
