//! A reconstruction: as much on each rail as on the other, whatever they are.
//!
//! Source: \[inferred\] what multi-rail libraries do by default (MRIB among Nezha's baselines, arXiv
//! 2405.17870 v1, 2024). Over two rails of which one is ρ times as quick it takes (1 + ρ)/2 times
//! as long as a split in proportion.

use serde::{Deserialize, Serialize};

use super::{AllocatorConfig, Context, Preset, Weigh};
use crate::balance::{Origin, configured};

/// It has no parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

/// Equal weights.
#[derive(Debug, Clone)]
pub struct Even;

/// `even`.
pub const PRESET: Preset = Preset {
    name: "even",
    summary: "the same bytes on each rail",
    source: "a baseline; ours",
    origin: Origin::Reconstructed,
    build: |parameters| Ok(AllocatorConfig::Even(configured("even", parameters)?)),
};

impl Even {
    pub(super) const fn new(_config: &Config, _rails: usize) -> Self {
        Self
    }
}

impl Weigh for Even {
    fn weigh(&mut self, context: &Context<'_>) -> Vec<f64> {
        vec![1.0; context.nominal.len()]
    }
}
