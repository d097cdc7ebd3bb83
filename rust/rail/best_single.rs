//! A reconstruction: each operation whole, on the rail that was quickest for its size.
//!
//! Source: \[inferred\] what choosing a rail once amounts to (Nezha, arXiv 2405.17870 v1, 2024,
//! compares with single rails). Each rail is tried in turn, for each size class; then the one with
//! the least expected duration is taken, as long as that stays the least. A rail that was slow and is not
//! any more is not noticed.

use serde::{Deserialize, Serialize};

use super::{AllocatorConfig, Context, Preset, Weigh};
use crate::balance::{Origin, SchemeError, configured};

/// Parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How often each rail is tried for each size class, at least once: 3 (\[inferred\]).
    pub tries: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self { tries: 3 }
    }
}

/// Everything on one rail.
#[derive(Debug, Clone)]
pub struct BestSingle {
    tries: u32,
}

/// `best-single`.
pub const PRESET: Preset = Preset {
    name: "best-single",
    summary: "each operation whole, on the rail quickest for its size",
    source: "a baseline; ours",
    origin: Origin::Reconstructed,
    build: |parameters| {
        let config: Config = configured("best-single", parameters)?;
        if config.tries == 0 {
            let reason = "tries = 0: each rail is tried at least once".to_owned();
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
    fn weigh(&mut self, context: &Context<'_>) -> Vec<f64> {
        let Context { costs, class, up, .. } = context;
        let tried = |rail| costs.count(rail, *class);
        let next = up.iter().min_by_key(|&rail| tried(rail)).filter(|&rail| tried(rail) < self.tries);
        let bytes = context.bytes.get() as f64;
        let mean = |rail| costs.line(rail, *class).map_or(f64::INFINITY, |line| line.at(bytes));
        let best = || up.iter().min_by(|&a, &b| mean(a).total_cmp(&mean(b)));
        let chosen = next.or_else(best);
        context.rails().map(|rail| if Some(rail) == chosen { 1.0 } else { 0.0 }).collect()
    }
}
