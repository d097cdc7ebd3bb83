//! A reconstruction: to each rail in proportion to what it does in a time, start-ups unseen.
//!
//! Source: \[inferred\] static weights by line rate, as multi-rail libraries let their users set
//! them (MRIB among Nezha's baselines, arXiv 2405.17870 v1, 2024), and the same by what was
//! measured. Ends equally for large operations; small ones pay every rail's start-up.

use serde::{Deserialize, Serialize};

use super::{AllocatorConfig, Context, Preset, Weigh};
use crate::balance::{Origin, configured};

/// Parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// In proportion to what: `measured` (\[inferred\]).
    pub by: Basis,
}

/// What parts are in proportion to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Bytes over duration, as measured; evenly before that.
    #[default]
    Measured,
    /// The rails' nominal rates.
    Nominal,
}

/// Weights by rate.
#[derive(Debug, Clone)]
pub struct Proportional {
    by: Basis,
}

/// `proportional`.
pub const PRESET: Preset = Preset {
    name: "proportional",
    summary: "in proportion to each rail's bytes over time",
    source: "a baseline; ours",
    origin: Origin::Reconstructed,
    build: |parameters| Ok(AllocatorConfig::Proportional(configured("proportional", parameters)?)),
};

impl Proportional {
    pub(super) const fn new(config: &Config, _rails: usize) -> Self {
        Self { by: config.by }
    }
}

impl Weigh for Proportional {
    fn weigh(&mut self, context: &Context<'_>) -> Vec<f64> {
        if self.by == Basis::Nominal {
            return context.nominal.iter().map(|rate| rate.as_bps() as f64).collect();
        }
        let measured = |rail| context.costs.ps_per_byte(rail, context.class);
        // Until all that are up have been measured, nobody is.
        if context.up.iter().any(|rail| measured(rail).is_none()) {
            return vec![1.0; context.nominal.len()];
        }
        context.rails().map(|rail| measured(rail).map_or(0.0, |ps| 1.0 / ps)).collect()
    }
}
