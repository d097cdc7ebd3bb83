//! A reconstruction: the same number of bytes on each rail.
//!
//! Source: \[inferred\] the default of multi-rail libraries (MRIB among Nezha's baselines, arXiv
//! 2405.17870 v1, 2024). If one of two rails is ρ times as fast as the other, an even split takes
//! (1 + ρ)/2 times as long as a proportional one.

use serde::{Deserialize, Serialize};

use super::{AllocationContext, AllocatorConfig, AllocatorPreset, Weigh};
use crate::balance::{Origin, parse_config};

/// The empty parameters of `even`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

/// Weights all rails equally.
#[derive(Debug, Clone)]
pub struct Even;

/// The allocator `even`, which has no parameters.
pub const PRESET: AllocatorPreset = AllocatorPreset {
    name: "even",
    summary: "the same bytes on each rail",
    source: "a baseline of this project",
    origin: Origin::Reconstructed,
    build: |parameters| Ok(AllocatorConfig::Even(parse_config("even", parameters)?)),
};

impl Even {
    pub(super) const fn new(_config: &Config, _rails: usize) -> Self {
        Self
    }
}

impl Weigh for Even {
    fn weigh(&mut self, context: &AllocationContext<'_>) -> Vec<f64> {
        vec![1.0; context.nominal.len()]
    }
}

#[cfg(test)]
mod tests {
    use crate::rail::test_rails::Bench;

    /// An even split takes (1 + ρ)/2 times as long as a proportional one, for large operations.
    #[test]
    fn an_even_split_costs_half_of_one_plus_the_ratio() {
        for ratio in [1, 2, 4, 10] {
            let rails = [(0, 100), (0, 100 * ratio)];
            let took = |name| {
                let mut bench = Bench::new(name, &rails);
                let division = bench.steps(10, 64 << 20);
                bench.duration(&division) as f64
            };
            let expected = (1.0 + ratio as f64) / 2.0;
            assert!((took("even") / took("proportional") / expected - 1.0).abs() < 1e-3, "{ratio}");
        }
    }
}
