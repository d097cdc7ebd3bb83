//! A reconstruction: shares in proportion to the rails' throughput, regardless of start-ups.
//!
//! Source: \[inferred\] static weights by line rate, as users can set them in multi-rail libraries
//! (MRIB among Nezha's baselines, arXiv 2405.17870 v1, 2024), and the same by measured throughput.
//! Rails end together for large operations; small operations pay the start-up of every rail.

use serde::{Deserialize, Serialize};

use super::{AllocationContext, AllocatorConfig, AllocatorPreset, Weigh};
use crate::balance::{Origin, parse_config};

/// The parameters of `proportional`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The rates to which shares are proportional. Default `measured` (\[inferred\]).
    pub by: Basis,
}

/// The rates to which shares are proportional.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Measured bytes over duration; equal shares before all rails have been measured.
    #[default]
    Measured,
    /// The rails' nominal rates.
    Nominal,
}

/// Weights rails by their rates.
#[derive(Debug, Clone)]
pub struct Proportional {
    by: Basis,
}

/// The allocator `proportional` with its default parameters.
pub const PRESET: AllocatorPreset = AllocatorPreset {
    name: "proportional",
    summary: "in proportion to each rail's bytes over time",
    source: "a baseline of this project",
    origin: Origin::Reconstructed,
    build: |parameters| {
        Ok(AllocatorConfig::Proportional(parse_config("proportional", parameters)?))
    },
};

impl Proportional {
    pub(super) const fn new(config: &Config, _rails: usize) -> Self {
        Self { by: config.by }
    }
}

impl Weigh for Proportional {
    fn weigh(&mut self, context: &AllocationContext<'_>) -> Vec<f64> {
        if self.by == Basis::Nominal {
            return context.nominal.iter().map(|rate| rate.as_bps() as f64).collect();
        }
        let measured = |rail| context.costs.ps_per_byte(rail, context.class);
        // Rates are comparable only once all rails that are up have been measured.
        if context.up.iter().any(|rail| measured(rail).is_none()) {
            return vec![1.0; context.nominal.len()];
        }
        context.rails().map(|rail| measured(rail).map_or(0.0, |ps| 1.0 / ps)).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::rail::test_rails::{Bench, config, operation};
    use crate::units::BitRate;

    #[test]
    fn shares_are_even_until_measured_and_then_by_bytes_over_time() {
        let mut bench = Bench::new("proportional", &[(0, 100), (0, 300)]);
        let shares = |bench: &mut Bench| [0, 1].map(|rail| bench.step(4_000).shares()[rail].get());
        assert_eq!(bench.step(4_000).shares()[0].get(), 2_000);
        assert_eq!(shares(&mut bench), [3_000, 1_000]);
        // The share of a rail that is down goes to the other one.
        bench.allocator.handle_rails(crate::rail::RailSet::first(1));
        assert_eq!(shares(&mut bench), [4_000, 0]);
    }

    #[test]
    fn nominal_rates_can_be_used_instead() {
        let nominal = [100, 300].map(BitRate::from_gbps);
        let mut allocator = config("proportional", "by = 'nominal'").build(&nominal).unwrap();
        let division = allocator.allocate(&operation(4_000)).unwrap();
        assert_eq!(division.shares()[0].get(), 1_000);
    }

    /// The split pays the start-up of the slow starter, which the equal finish of `nezha` avoids.
    #[test]
    fn small_operations_take_as_long_as_the_rail_that_starts_last() {
        let rails = [(1_000, 100), (80_000, 100)];
        let took = |name| {
            let mut bench = Bench::new(name, &rails);
            let division = bench.steps(12, 4_096);
            bench.duration(&division)
        };
        assert!(took("proportional") >= 80_000_000);
        assert_eq!(took("nezha"), 1_000_000 + 4_096 * 100);
    }
}
