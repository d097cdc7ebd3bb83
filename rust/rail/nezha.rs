//! A reconstruction: Nezha's load balancer with a cold and a hot state; all rails end together.
//!
//! Source: Yu, Dong, Liao, "Nezha: Breaking Multi-Rail Network Barriers for Distributed DNN
//! Training" (arXiv 2405.17870 v2, 2026), abstract: a cold/hot start state machine in a load
//! balancer that uses feedback of cost. The full text was not available: all that follows is
//! \[inferred\], and results are not those of the paper's code.
//!
//! Each size class (a power of two) has a state of its own:
//!
//! - *Cold*: for the first [`Config::cold_operations`] operations every rail has a share, so that
//!   it is measured: an equal share at first, then one in inverse proportion to the expected time
//!   of an equal share, so that shares differ and start-ups can be separated from rates.
//! - *Hot*: the split by which all rails end together ([`equal_finish`]), by one line per rail. A
//!   rail whose share would be below [`Config::floor`] is excluded: its start-up is too long for
//!   the operation's size, or its rate too low. After 1, 2, 4, ... and later every
//!   [`Config::measure_every`] operations, one of the excluded rails nevertheless gets the share
//!   of the floor, so that its measurements stay current.
//! - *Feedback*: while the rails end within [`Config::dead_band`] of each other, the lines stay as
//!   they are. Otherwise they are fitted again to all samples, each times a factor, and the factor
//!   moves [`Config::step`] of the way to the last deviation of its rail. This covers rails whose
//!   cost is not a line or has changed.
//! - A duration that deviates from its line by more than [`Config::miss`] is excluded from the fit.
//! - All classes return to *cold* when the set of rails that are up changes, or when one rail
//!   missed its line for [`Config::misses`] operations in a row.

use serde::{Deserialize, Serialize};

use super::{
    AllocationContext, AllocatorConfig, AllocatorPreset, CostLine, EqualFinish, OperationCosts,
    Phase, RailSet, Retention, Sample, SizeClass, Weigh, equal_finish,
};
use crate::balance::{Origin, SchemeError, parse_config};

/// Parameters. None of them is published: all defaults are \[inferred\].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Operations of a size class for which every rail is measured, 2 to 1000. Default 3.
    pub cold_operations: u32,
    /// The weight of the newest duration in a mean, above 0 and at most 1. Default 0.2.
    pub weight: f64,
    /// The fraction of its rail's last deviation by which a factor moves, 0 to 1. Default 0.5.
    pub step: f64,
    /// The spread (longest − shortest) / longest below which lines stay, from 0 to below 1.
    /// Default 0.05.
    pub dead_band: f64,
    /// The least share of an operation for which a rail is used, 0 to 1/64. Default 1/64.
    pub floor: f64,
    /// The longest pause between measurements of excluded rails, in operations, at least 2.
    /// Default 64.
    pub measure_every: u32,
    /// The deviation from the line that is a miss, as a fraction of the expected duration, above
    /// 0. Default 0.5.
    pub miss: f64,
    /// Misses of one rail in a row after which everything is measured again, at least 1.
    /// Default 3.
    pub misses: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            cold_operations: 3,
            weight: 0.2,
            step: 0.5,
            dead_band: 0.05,
            floor: 1.0 / 64.0,
            measure_every: 64,
            miss: 0.5,
            misses: 3,
        }
    }
}

impl Config {
    /// The first parameter that is out of range, with the valid range.
    fn fault(&self) -> Option<String> {
        let wrong = |name: &str, value: &dyn std::fmt::Display, right: &str| {
            Some(format!("{name} = {value} is out of range: expected {right}"))
        };
        if !(2..=1000).contains(&self.cold_operations) {
            return wrong("cold_operations", &self.cold_operations, "2 to 1000");
        }
        if !(self.weight > 0.0 && self.weight <= 1.0) {
            return wrong("weight", &self.weight, "above 0 and at most 1");
        }
        if !(0.0..=1.0).contains(&self.step) {
            return wrong("step", &self.step, "0 (no feedback) to 1");
        }
        if !(0.0..1.0).contains(&self.dead_band) {
            return wrong("dead_band", &self.dead_band, "0 to below 1, a fraction of the duration");
        }
        if !(0.0..=1.0 / 64.0).contains(&self.floor) {
            let right = "0 to 0.015625, so that 64 rails can have a share";
            return wrong("floor", &self.floor, right);
        }
        if self.measure_every < 2 {
            return wrong("measure_every", &self.measure_every, "at least 2");
        }
        if !(self.miss > 0.0 && self.miss.is_finite()) {
            return wrong("miss", &self.miss, "above 0, a fraction of the expected duration");
        }
        if self.misses == 0 {
            return wrong("misses", &self.misses, "at least 1");
        }
        None
    }
}

/// The state of one size class.
#[derive(Debug, Clone)]
enum ClassState {
    /// The number of measured operations.
    Cold(u32),
    Hot(Hot),
}

#[derive(Debug, Clone)]
struct Hot {
    /// The assumed cost of each rail, until feedback changes it.
    lines: Vec<Option<CostLine>>,
    /// The assumed slowdown of each rail relative to the line fitted to its samples.
    factors: Vec<f64>,
    /// Operations since an excluded rail was last measured.
    unmeasured: u32,
    /// The number of such operations after which one is measured.
    pause: u32,
    /// Number of measurements of excluded rails, which take turns.
    turns: usize,
}

/// The largest slowdown that one operation contributes to a factor: an outlier of a thousand times
/// the duration does not predict the next operation. \[inferred\]
const LARGEST_STEP: f64 = 4.0;

/// The range of a factor in both directions: feedback does not correct larger errors. \[inferred\]
const LARGEST_FACTOR: f64 = 1000.0;

/// The load balancer's state.
#[derive(Debug, Clone)]
pub struct Nezha {
    config: Config,
    /// States by size class.
    states: Vec<ClassState>,
    /// The current number of misses in a row, by rail.
    misses: Vec<u32>,
}

/// The allocator `nezha` with its default parameters.
pub const PRESET: AllocatorPreset = AllocatorPreset {
    name: "nezha",
    summary: "all rails end together, by measured start-ups and rates, cold and hot",
    source: "Nezha (arXiv 2405.17870 v2, 2026), abstract; the rest is inferred",
    origin: Origin::Reconstructed,
    build: |parameters| {
        let config: Config = parse_config("nezha", parameters)?;
        match config.fault() {
            Some(reason) => Err(SchemeError::Parameter { name: "nezha", reason }),
            None => Ok(AllocatorConfig::Nezha(config)),
        }
    },
};

impl Nezha {
    pub(super) fn new(config: &Config, rails: usize) -> Self {
        let states = vec![ClassState::Cold(0); SizeClass::all().count()];
        Self { config: *config, states, misses: vec![0; rails] }
    }

    fn reset(&mut self) {
        self.states.fill(ClassState::Cold(0));
        self.misses.fill(0);
    }
}

impl Weigh for Nezha {
    fn weigh(&mut self, context: &AllocationContext<'_>) -> Vec<f64> {
        match &mut self.states[context.class.index()] {
            ClassState::Cold(_) => cold_weights(context, self.config.floor),
            ClassState::Hot(hot) => hot.weigh(context, &self.config),
        }
    }

    /// A large deviation is either an outlier, which must not bend the line, or a sign of changed
    /// costs, which the following samples will confirm.
    fn accepts(&mut self, class: SizeClass, sample: &Sample) -> bool {
        let Some(misses) = self.misses.get_mut(sample.cost.rail.index()) else { return false };
        let off = |expected: f64| (sample.ps() - expected).abs() > self.config.miss * expected;
        // A cold class has no expectation, so nothing can miss it.
        let is_hot = matches!(self.states[class.index()], ClassState::Hot(_));
        let missed = is_hot && sample.expected_ps.is_some_and(off);
        *misses = if missed { *misses + 1 } else { 0 };
        !missed
    }

    fn handle_costs(
        &mut self,
        context: &AllocationContext<'_>,
        costs: &OperationCosts<'_>,
    ) -> Retention {
        if self.misses.iter().any(|&misses| misses >= self.config.misses) {
            self.reset();
            return Retention::Discard;
        }
        match &mut self.states[context.class.index()] {
            ClassState::Cold(measured) if *measured + 1 < self.config.cold_operations => {
                *measured += 1;
            }
            state @ ClassState::Cold(_) => {
                let lines = context.lines();
                let factors = vec![1.0; lines.len()];
                *state = ClassState::Hot(Hot { lines, factors, unmeasured: 0, pause: 1, turns: 0 });
            }
            ClassState::Hot(hot) => hot.apply_feedback(context, costs, &self.config),
        }
        Retention::Keep
    }

    fn handle_rails(&mut self, _up: RailSet) {
        self.reset();
    }

    fn phase(&self, class: SizeClass) -> Phase {
        match self.states[class.index()] {
            ClassState::Cold(measured) => Phase::Cold(measured),
            ClassState::Hot(_) => Phase::Hot,
        }
    }
}

/// Weights that give every rail that is up a share: equal ones until all have been measured, then
/// in inverse proportion to the time of an equal share.
fn cold_weights(context: &AllocationContext<'_>, floor: f64) -> Vec<f64> {
    let lines = context.lines();
    let even = context.bytes.get() as f64 / context.up.len() as f64;
    let expected = |rail: usize| lines[rail].map(|line| line.at(even)).filter(|&ps| ps > 0.0);
    if context.up.iter().any(|rail| expected(rail.index()).is_none()) {
        return vec![1.0; lines.len()];
    }
    let weights: Vec<f64> =
        (0..lines.len()).map(|rail| expected(rail).map_or(0.0, |ps| 1.0 / ps)).collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight.max(floor * total)).collect()
}

impl Hot {
    fn weigh(&mut self, context: &AllocationContext<'_>, config: &Config) -> Vec<f64> {
        let Some(split) = self.split(context, config) else {
            return vec![1.0; context.nominal.len()];
        };
        let excluded: Vec<usize> =
            context.up.iter().map(|rail| rail.index()).filter(|&rail| !split.uses(rail)).collect();
        let mut weights = split.bytes;
        if excluded.is_empty() {
            (self.unmeasured, self.pause) = (0, 1);
            return weights;
        }
        self.unmeasured += 1;
        if self.unmeasured >= self.pause {
            self.unmeasured = 0;
            // The first measurements follow soon, in case the exclusion was a mistake.
            self.pause = self.pause.saturating_mul(2).min(config.measure_every);
            weights[excluded[self.turns % excluded.len()]] =
                config.floor.max(f64::MIN_POSITIVE) * context.bytes.get() as f64;
            self.turns += 1;
        }
        weights
    }

    fn split(&self, context: &AllocationContext<'_>, config: &Config) -> Option<EqualFinish> {
        equal_finish(context.bytes.get() as f64, &self.lines, config.floor)
    }

    /// Fits the lines again, unless the rails ended within the dead band of each other.
    fn apply_feedback(
        &mut self,
        context: &AllocationContext<'_>,
        costs: &OperationCosts<'_>,
        config: &Config,
    ) {
        let bytes = context.bytes.get() as f64;
        let fitted = context.lines();
        let then = equal_finish(bytes, &fitted, config.floor);
        if let (Some(now), Some(then)) = (self.split(context, config), then) {
            let same = (0..fitted.len()).all(|rail| now.uses(rail) == then.uses(rail));
            if same && now.rails() > 1 && costs.spread() < config.dead_band {
                return;
            }
        }
        for sample in costs.samples {
            let rail = sample.cost.rail.index();
            let Some(line) = fitted[rail] else { continue };
            let factor = &mut self.factors[rail];
            let ratio = sample.ps() / (line.at(sample.cost.bytes.get() as f64) * *factor);
            *factor *= 1.0 + config.step * (ratio.min(LARGEST_STEP) - 1.0);
            *factor = factor.clamp(1.0 / LARGEST_FACTOR, LARGEST_FACTOR);
        }
        let lines = fitted.into_iter().zip(&self.factors);
        self.lines = lines.map(|(line, &factor)| Some(line?.times(factor))).collect();
    }
}

#[cfg(test)]
mod tests;
