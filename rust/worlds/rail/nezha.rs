//! A reconstruction: Nezha's load balancer with a cold and a hot state; all rails end together.
//!
//! Source: Yu, Dong, Liao, "Nezha: Breaking Multi-Rail Network Barriers for Distributed DNN
//! Training" (arXiv 2405.17870 v2, 2026), abstract: a cold/hot start state machine in a load
//! balancer that uses feedback of cost. The full text was not available: everything below is
//! \[inferred\], and results are not those of the paper's code.
//!
//! Each size class (a power of two) has a separate state:
//!
//! - *Cold*: for the first [`Config::cold_operations`] operations every rail has a share, so that
//!   it is measured. The first share is equal. Later ones are in inverse proportion to the expected
//!   time of an equal share, alternately a quarter larger and smaller. A line needs shares that
//!   differ: with equal ones, noise alone decides how much of a duration is start-up (the
//!   regression lacks persistent excitation: Åström and Wittenmark, "Adaptive Control", 1995).
//! - *Hot*: the better of two choices, by the measured time of each. The *split* is the one with
//!   which all rails end together ([`equal_finish`]), given one line per rail. A rail whose share
//!   would be below [`Config::floor`] is excluded: its start-up is too long for the operation's
//!   size, or its rate too low. The rail with the smallest start-up always stays, as in
//!   water-filling. *Alone* is the fastest rail for the whole operation. Its time cannot be derived
//!   from a split, because the rails of a host share its processor: a rail may take several times
//!   as long next to one that starts slowly. The choice changes when the other is better by more
//!   than [`Config::dead_band`].
//! - *Trials* measure the alternatives, after 1, 2, 4, ... operations, and while a rail is not in
//!   use at least every [`Config::measure_every`] operations. They try, in turn, the other choice,
//!   and the share of the floor for each excluded rail. After the first trial of the fastest rail
//!   alone, a rail is tried alone only if it is expected to take at most [`Config::miss`] longer
//!   than the split.
//! - *Feedback*: while the rails end within [`Config::dead_band`] of each other, the lines do not
//!   change. Otherwise they are fitted again to all samples, and each is multiplied by a factor.
//!   The factor moves [`Config::step`] of the way to the last deviation of its rail. This covers
//!   rails whose cost is not a line or has changed.
//! - A duration of a choice that deviates from its line by more than [`Config::miss`] is a miss and
//!   is excluded from the fit. In a trial it is also a miss, but it is fitted, because trials are
//!   made to find deviations.
//! - All classes return to *cold* when the set of rails that are up changes, or when one rail
//!   missed its line for [`Config::misses`] operations in a row.

use serde::{Deserialize, Serialize};

use super::{
    AllocationContext, AllocatorConfig, AllocatorPreset, CostLine, EqualFinish, RailSet, Retention,
    Sample, SizeClass, Weigh, equal_finish,
};
use crate::balance::{Origin, SchemeError, parse_config};
use crate::ids::RailId;

/// Parameters. They are not published: all defaults are \[inferred\].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Number of operations of a size class for which every rail is measured, 2 to 1000. Default 3.
    pub cold_operations: u32,
    /// Weight of the newest duration in a mean, above 0 and at most 1. Default 0.2.
    pub weight: f64,
    /// Fraction of its rail's last deviation by which a factor moves, 0 to 1. Default 0.5.
    pub step: f64,
    /// Spread (longest − shortest) / longest below which lines do not change, and gain below which
    /// a choice does not change, from 0 to below 1. Default 0.05.
    pub dead_band: f64,
    /// Minimum share of an operation for which a rail is used, unless it has the smallest start-up,
    /// 0 to 1/64. Default 1/64.
    pub floor: f64,
    /// Maximum number of operations between trials while a rail is not in use, at least 2.
    /// Default 64.
    pub measure_every: u32,
    /// Deviation from the line that counts as a miss, as a fraction of the expected duration, above
    /// 0. Default 0.5.
    pub miss: f64,
    /// Number of consecutive misses of one rail after which everything is measured again.
    /// At least 1. Default 3.
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
    /// Returns an error for the first parameter that is out of range, with the valid range.
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
    /// Number of measured operations.
    Cold(u32),
    Hot(Hot),
}

#[derive(Debug, Clone)]
struct Hot {
    /// The assumed cost of each rail, until feedback changes it.
    lines: Vec<Option<CostLine>>,
    /// The assumed slowdown of each rail relative to the line fitted to its samples.
    factors: Vec<f64>,
    /// The rail that carries operations alone; `None` while they are split.
    alone: Option<usize>,
    /// Number of operations since the last trial.
    untried: u32,
    /// Number of operations between the last trial and the next.
    pause: u32,
    /// Number of trials so far; selects the next one.
    turns: usize,
    /// Whether the last operation was a trial.
    trial: bool,
}

/// The fraction by which a share in the cold state is larger or smaller than in inverse proportion
/// to its expected time. With 10 % noise the slope has an error of about a third, and the operation
/// takes at most 25 % longer. \[inferred\]
const TILT: f64 = 0.25;

/// The largest slowdown that one operation contributes to a factor. An outlier of 1,000 times the
/// duration does not predict the next operation. \[inferred\]
const MAX_STEP: f64 = 4.0;

/// The limit of a factor in both directions; feedback does not correct larger errors. \[inferred\]
const MAX_FACTOR: f64 = 1000.0;

/// The load balancer's state.
#[derive(Debug, Clone)]
pub struct Nezha {
    config: Config,
    /// States by size class.
    states: Vec<ClassState>,
    /// Number of consecutive misses by rail, alone and shared.
    misses: Vec<[u32; 2]>,
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
        let states = vec![ClassState::Cold(0); SizeClass::COUNT];
        Self { config: *config, states, misses: vec![[0; 2]; rails] }
    }

    fn reset(&mut self) {
        self.states.fill(ClassState::Cold(0));
        self.misses.fill([0; 2]);
    }
}

impl Weigh for Nezha {
    fn weigh(&mut self, context: &AllocationContext<'_>) -> Vec<f64> {
        match &mut self.states[context.class.index()] {
            ClassState::Cold(measured) => cold_weights(context, *measured, self.config.floor),
            ClassState::Hot(hot) => hot.weigh(context, &self.config),
        }
    }

    /// A large deviation is either an outlier, which must not bend the line, or a sign of changed
    /// costs, which the following samples will confirm.
    fn accepts(&mut self, class: SizeClass, sample: &Sample) -> bool {
        let Some(misses) = self.misses.get_mut(sample.cost.rail.index()) else { return false };
        let off = |expected: f64| (sample.ps() - expected).abs() > self.config.miss * expected;
        // A cold class has no expectation that a sample could miss.
        let ClassState::Hot(hot) = &self.states[class.index()] else { return true };
        let missed = sample.expected_ps.is_some_and(off);
        let misses = &mut misses[sample.concurrency.index()];
        *misses = if missed { *misses + 1 } else { 0 };
        hot.trial || !missed
    }

    fn handle_costs(&mut self, context: &AllocationContext<'_>, samples: &[Sample]) -> Retention {
        if self.misses.iter().flatten().any(|&misses| misses >= self.config.misses) {
            self.reset();
            return Retention::Discard;
        }
        match &mut self.states[context.class.index()] {
            ClassState::Cold(measured) if *measured + 1 < self.config.cold_operations => {
                *measured += 1;
            }
            state @ ClassState::Cold(_) => {
                *state = ClassState::Hot(Hot::new(context.lines()));
            }
            ClassState::Hot(hot) => hot.apply_feedback(context, samples, &self.config),
        }
        Retention::Keep
    }

    fn handle_rails(&mut self, _up: RailSet) {
        self.reset();
    }
}

/// Returns weights that give every rail that is up a share. They are equal until all rails have
/// been measured, then in inverse proportion to the time of an equal share, tilted alternately.
fn cold_weights(context: &AllocationContext<'_>, measured: u32, floor: f64) -> Vec<f64> {
    let lines = context.lines();
    let even = context.bytes.get() as f64 / context.up.len() as f64;
    let expected = |rail: usize| lines[rail].map(|line| line.at(even)).filter(|&ps| ps > 0.0);
    if context.up.iter().any(|rail| expected(rail.index()).is_none()) {
        return vec![1.0; lines.len()];
    }
    let tilt = |rail: usize| match (measured, (measured as usize + rail) % 2) {
        (0, _) => 1.0,
        (_, 0) => 1.0 - TILT,
        _ => 1.0 + TILT,
    };
    let weight = |rail: usize| expected(rail).map_or(0.0, |ps| tilt(rail) / ps);
    let weights: Vec<f64> = (0..lines.len()).map(weight).collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight.max(floor * total)).collect()
}

impl Hot {
    fn new(lines: Vec<Option<CostLine>>) -> Self {
        let factors = vec![1.0; lines.len()];
        Self { lines, factors, alone: None, untried: 0, pause: 1, turns: 0, trial: false }
    }

    fn weigh(&mut self, context: &AllocationContext<'_>, config: &Config) -> Vec<f64> {
        self.trial = false;
        let Some(split) = self.split(context, config) else {
            return vec![1.0; context.nominal.len()];
        };
        let singles = self.singles(context);
        let alone = self.choose(&split, &singles, config);
        if alone != self.alone {
            // Trials follow soon, in case the change was a mistake. After a trial, the new choice
            // has just been measured.
            (self.alone, self.untried, self.pause) = (alone, 0, 1 + u32::from(self.turns > 0));
        }
        let chosen = match alone {
            Some(rail) => whole_on(rail, context),
            None => split.bytes.clone(),
        };
        let trials = self.trials(context, config, &Choice { weights: &chosen, split: &split });
        let in_use = context.up.iter().all(|rail| chosen[rail.index()] > 0.0);
        self.next_trial(trials, if in_use { u32::MAX } else { config.measure_every })
            .unwrap_or(chosen)
    }

    /// Returns the alternatives worth a trial: the split, rails that are not in use, rails alone.
    fn trials(
        &self,
        context: &AllocationContext<'_>,
        config: &Config,
        choice: &Choice<'_>,
    ) -> Vec<Vec<f64>> {
        let Choice { weights, split } = choice;
        let mut trials = Vec::new();
        if self.alone.is_some() && split.rails() > 1 {
            trials.push(split.bytes.clone());
        }
        let least = config.floor.max(f64::MIN_POSITIVE) * context.bytes.get() as f64;
        let unused = |rail: usize| weights[rail] == 0.0 && (split.rails() < 2 || !split.uses(rail));
        for rail in context.up.iter().map(RailId::index).filter(|&rail| unused(rail)) {
            let mut with = weights.to_vec();
            with[rail] = least;
            trials.push(with);
        }
        if self.alone.is_none() {
            let singles = self.singles(context);
            let untried = singles.iter().all(|single| !single.measured);
            let near = |single: &Single| single.ps <= split.ps * (1.0 + config.miss);
            let worth = |place: usize| if untried { place == 0 } else { near(&singles[place]) };
            let places = (0..singles.len()).filter(|&place| worth(place));
            trials.extend(places.map(|place| whole_on(singles[place].rail, context)));
        }
        trials
    }

    /// Returns the trial that is due, if any.
    fn next_trial(&mut self, mut trials: Vec<Vec<f64>>, longest: u32) -> Option<Vec<f64>> {
        self.untried += 1;
        if trials.is_empty() || self.untried < self.pause.min(longest) {
            return None;
        }
        (self.untried, self.pause) = (0, self.pause.saturating_mul(2).min(longest));
        self.turns += 1;
        self.trial = true;
        Some(trials.swap_remove((self.turns - 1) % trials.len()))
    }

    /// Returns the rails that are up, sorted by the expected time to carry the whole operation
    /// alone.
    fn singles(&self, context: &AllocationContext<'_>) -> Vec<Single> {
        let single = |id: RailId| {
            let (rail, bytes) = (id.index(), context.bytes);
            let measured = context.costs.alone_ps(id, context.class, bytes);
            let ps = measured.or_else(|| Some(self.lines[rail]?.at(bytes.get() as f64)))?;
            Some(Single { rail, ps, measured: measured.is_some() })
        };
        let mut singles: Vec<Single> = context.up.iter().filter_map(single).collect();
        singles.sort_by(|a, b| a.ps.total_cmp(&b.ps).then(a.rail.cmp(&b.rail)));
        singles
    }

    /// Returns the rail that should carry the operation alone; `None` for the split.
    fn choose(&self, split: &EqualFinish, singles: &[Single], config: &Config) -> Option<usize> {
        if split.rails() < 2 {
            return singles.first().map(|single| single.rail);
        }
        let fastest = singles.iter().find(|single| single.measured)?;
        let better = |one: f64, other: f64| one < other * (1.0 - config.dead_band);
        let alone = match self.alone {
            Some(_) => !better(split.ps, fastest.ps),
            None => better(fastest.ps, split.ps),
        };
        alone.then_some(fastest.rail)
    }

    fn split(&self, context: &AllocationContext<'_>, config: &Config) -> Option<EqualFinish> {
        equal_finish(context.bytes.get() as f64, &self.lines, config.floor)
    }

    /// Fits the lines again, unless the rails ended within the dead band of each other.
    fn apply_feedback(
        &mut self,
        context: &AllocationContext<'_>,
        samples: &[Sample],
        config: &Config,
    ) {
        // A single rail gives no information about a split.
        if samples.len() < 2 {
            return;
        }
        let bytes = context.bytes.get() as f64;
        let fitted = context.lines();
        let then = equal_finish(bytes, &fitted, config.floor);
        if let (Some(now), Some(then)) = (self.split(context, config), then) {
            let same = (0..fitted.len()).all(|rail| now.uses(rail) == then.uses(rail));
            if same && now.rails() > 1 && spread(samples) < config.dead_band {
                return;
            }
        }
        for sample in samples {
            let rail = sample.cost.rail.index();
            let Some(line) = fitted[rail] else { continue };
            let factor = &mut self.factors[rail];
            let ratio = sample.ps() / (line.at(sample.cost.bytes.get() as f64) * *factor);
            *factor *= 1.0 + config.step * (ratio.min(MAX_STEP) - 1.0);
            *factor = factor.clamp(1.0 / MAX_FACTOR, MAX_FACTOR);
        }
        let lines = fitted.into_iter().zip(&self.factors);
        self.lines = lines.map(|(line, &factor)| Some(line?.times(factor))).collect();
    }
}

/// Returns the imbalance of the rails' end times: (longest − shortest) / longest; 0 for fewer than
/// two rails.
fn spread(samples: &[Sample]) -> f64 {
    let longest = samples.iter().map(Sample::ps).fold(0.0, f64::max);
    let shortest = samples.iter().map(Sample::ps).fold(f64::INFINITY, f64::min);
    if samples.len() < 2 || longest <= 0.0 { 0.0 } else { (longest - shortest) / longest }
}

/// The weights of an operation that is not a trial, and the split.
#[derive(Debug)]
struct Choice<'a> {
    weights: &'a [f64],
    split: &'a EqualFinish,
}

/// A rail and its expected time for the whole operation.
#[derive(Debug, Clone, Copy)]
struct Single {
    rail: usize,
    ps: f64,
    /// True if it was measured, false if it was derived from its shares of other operations.
    measured: bool,
}

/// Returns weights with which `rail` carries everything.
fn whole_on(rail: usize, context: &AllocationContext<'_>) -> Vec<f64> {
    let bytes = context.bytes.get() as f64;
    (0..context.nominal.len()).map(|other| if other == rail { bytes } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests;
