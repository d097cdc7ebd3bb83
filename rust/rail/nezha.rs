//! A reconstruction: Nezha's load balancer, cold and hot, by which all rails end at the same time.
//!
//! Source: Yu, Dong, Liao, "Nezha: Breaking Multi-Rail Network Barriers for Distributed DNN
//! Training" (arXiv 2405.17870 v2, 2026), abstract: a cold/hot start state machine in a load
//! balancer that goes by feedback of cost. The full text could not be had: all that follows is
//! \[inferred\], and results are not those of the paper's code.
//!
//! Each size class (a power of two) is by itself:
//!
//! - *Cold*: for the first [`Config::cold_operations`] operations every rail has a part, to be
//!   measured: even at first, then in inverse proportion to what an even part takes by what has
//!   been seen, so that parts differ and start-ups can be told from rates.
//! - *Hot*: the split by which all rails end at once ([`equal_finish`]), by a line for each rail. A
//!   rail whose part would be below [`Config::floor`] is left out: where it starts up too slowly
//!   for the operation's size, or is too slow altogether. After 1, 2, 4, ... and from then on each
//!   [`Config::measure_every`] operations one of those that are left out has a part of the floor
//!   all the same, so that it goes on being measured.
//! - *Feedback*: while the rails end within [`Config::dead_band`] of each other the lines stay as
//!   they are. Otherwise they are drawn anew through all samples, each times a factor, and the
//!   factor goes [`Config::step`] of the way to what its rail took last: for rails whose cost is
//!   no line, or is another than it was.
//! - A duration that is off its line by more than [`Config::miss`] is not counted in the line.
//! - Back to *cold*, all classes: when other rails are up than before, or when one rail was so far
//!   off for [`Config::misses`] operations in a row.

use serde::{Deserialize, Serialize};

use super::{
    AllocatorConfig, Context, EqualFinish, Line, Outcome, Phase, Preset, RailSet, Sample,
    SizeClass, Trust, Weigh, equal_finish,
};
use crate::balance::{Origin, SchemeError, parse_config};

/// Parameters. Nothing of them is published: the defaults are \[inferred\].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Operations of a size class for which every rail is measured, 2 to 1000: 3.
    pub cold_operations: u32,
    /// What the newest duration counts in a mean, above 0 and at most 1: 0.2.
    pub weight: f64,
    /// How much of its rail's last deviation a line follows, 0 to 1: 0.5.
    pub step: f64,
    /// (longest − shortest) / longest below which nothing is changed, from 0 to below 1: 0.05.
    pub dead_band: f64,
    /// The least part of an operation that a rail is used for, 0 to 1/64: 1/64.
    pub floor: f64,
    /// The longest pause between measurements of rails that are left out, in operations, at least
    /// 2: 64.
    pub measure_every: u32,
    /// A deviation from the line that is a miss, as a part of the expected duration, above 0: 0.5.
    pub miss: f64,
    /// Misses in a row, of one rail, after which everything is measured again, at least 1: 3.
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
    /// What is wrong with it, and what would be right.
    fn fault(&self) -> Option<String> {
        let wrong = |name: &str, value: &dyn std::fmt::Display, right: &str| {
            Some(format!("{name} = {value}: it is {right}"))
        };
        if !(2..=1000).contains(&self.cold_operations) {
            return wrong("cold_operations", &self.cold_operations, "2 to 1000 operations");
        }
        if !(self.weight > 0.0 && self.weight <= 1.0) {
            return wrong("weight", &self.weight, "above 0 and at most 1");
        }
        if !(0.0..=1.0).contains(&self.step) {
            return wrong("step", &self.step, "0 (no feedback) to 1");
        }
        if !(0.0..1.0).contains(&self.dead_band) {
            return wrong("dead_band", &self.dead_band, "0 to below 1, a part of the duration");
        }
        if !(0.0..=1.0 / 64.0).contains(&self.floor) {
            let right = "0 to 0.015625: 64 rails have to have room";
            return wrong("floor", &self.floor, right);
        }
        if self.measure_every < 2 {
            return wrong("measure_every", &self.measure_every, "at least 2 operations");
        }
        if !(self.miss > 0.0 && self.miss.is_finite()) {
            return wrong("miss", &self.miss, "above 0, a part of the expected duration");
        }
        if self.misses == 0 {
            return wrong("misses", &self.misses, "at least 1 operation");
        }
        None
    }
}

/// What is made of one size class.
#[derive(Debug, Clone)]
enum State {
    /// So many operations were measured.
    Cold(u32),
    Hot(Hot),
}

#[derive(Debug, Clone)]
struct Hot {
    /// What the rails are taken to cost, until feedback changes it.
    lines: Vec<Option<Line>>,
    /// By rail: how many times as slow it is taken to be as the line through its samples says.
    factors: Vec<f64>,
    /// Operations since a rail that is left out was last measured.
    unmeasured: u32,
    /// After how many of them one is measured.
    pause: u32,
    /// Measurements made, which the rails that are left out take in turn.
    turns: usize,
}

/// How many times as slow as expected a rail is taken to be at most, at once: a hiccup of a
/// thousand times the duration says nothing of the next. \[inferred\]
const MOST_AT_ONCE: f64 = 4.0;

/// How many times as slow, or as quick, at most: beyond that it is no matter of feedback.
/// \[inferred\]
const MOST_IN_ALL: f64 = 1000.0;

/// The load balancer.
#[derive(Debug, Clone)]
pub struct Nezha {
    config: Config,
    /// By size class.
    states: Vec<State>,
    /// By rail: how often in a row it was off its line.
    misses: Vec<u32>,
}

/// `nezha`.
pub const PRESET: Preset = Preset {
    name: "nezha",
    summary: "equal finish by measured start-ups and rates, cold and hot",
    source: "Nezha (arXiv 2405.17870 v2, 2026), abstract; else ours",
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
        let states = vec![State::Cold(0); SizeClass::all().count()];
        Self { config: *config, states, misses: vec![0; rails] }
    }

    fn go_cold(&mut self) {
        self.states.fill(State::Cold(0));
        self.misses.fill(0);
    }
}

impl Weigh for Nezha {
    fn weigh(&mut self, context: &Context<'_>) -> Vec<f64> {
        match &mut self.states[context.class.index()] {
            State::Cold(_) => cold(context, self.config.floor),
            State::Hot(hot) => hot.weigh(context, &self.config),
        }
    }

    /// What is far off its line is either a hiccup, which is not to bend the line, or tells of
    /// other costs, of which the next ones tell too.
    fn counts(&mut self, class: SizeClass, sample: &Sample) -> bool {
        let Some(misses) = self.misses.get_mut(sample.cost.rail.index()) else { return false };
        let off = |expected: f64| (sample.ps() - expected).abs() > self.config.miss * expected;
        // While it is cold nothing is expected, so nothing can be missed.
        let is_hot = matches!(self.states[class.index()], State::Hot(_));
        let missed = is_hot && sample.expected_ps.is_some_and(off);
        *misses = if missed { *misses + 1 } else { 0 };
        !missed
    }

    fn handle_outcome(&mut self, context: &Context<'_>, outcome: &Outcome<'_>) -> Trust {
        if self.misses.iter().any(|&misses| misses >= self.config.misses) {
            self.go_cold();
            return Trust::Forget;
        }
        match &mut self.states[context.class.index()] {
            State::Cold(measured) if *measured + 1 < self.config.cold_operations => *measured += 1,
            state @ State::Cold(_) => {
                let lines = context.lines();
                let factors = vec![1.0; lines.len()];
                *state = State::Hot(Hot { lines, factors, unmeasured: 0, pause: 1, turns: 0 });
            }
            State::Hot(hot) => hot.feed_back(context, outcome, &self.config),
        }
        Trust::Keep
    }

    fn handle_rails(&mut self, _up: RailSet) {
        self.go_cold();
    }

    fn phase(&self, class: SizeClass) -> Phase {
        match self.states[class.index()] {
            State::Cold(measured) => Phase::Cold(measured),
            State::Hot(_) => Phase::Hot,
        }
    }
}

/// A part for every rail that is up.
fn cold(context: &Context<'_>, floor: f64) -> Vec<f64> {
    let lines = context.lines();
    let even = context.bytes.get() as f64 / context.up.len() as f64;
    let seen = |rail: usize| lines[rail].map(|line| line.at(even)).filter(|&ps| ps > 0.0);
    if context.up.iter().any(|rail| seen(rail.index()).is_none()) {
        return vec![1.0; lines.len()];
    }
    let weights: Vec<f64> =
        (0..lines.len()).map(|rail| seen(rail).map_or(0.0, |ps| 1.0 / ps)).collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight.max(floor * total)).collect()
}

impl Hot {
    fn weigh(&mut self, context: &Context<'_>, config: &Config) -> Vec<f64> {
        let Some(split) = self.split(context, config) else {
            return vec![1.0; context.nominal.len()];
        };
        let left_out: Vec<usize> =
            context.up.iter().map(|rail| rail.index()).filter(|&rail| !split.uses(rail)).collect();
        let mut weights = split.bytes;
        if left_out.is_empty() {
            (self.unmeasured, self.pause) = (0, 1);
            return weights;
        }
        self.unmeasured += 1;
        if self.unmeasured >= self.pause {
            self.unmeasured = 0;
            // Soon again after a rail was left out, which may have been a mistake.
            self.pause = self.pause.saturating_mul(2).min(config.measure_every);
            weights[left_out[self.turns % left_out.len()]] =
                config.floor.max(f64::MIN_POSITIVE) * context.bytes.get() as f64;
            self.turns += 1;
        }
        weights
    }

    fn split(&self, context: &Context<'_>, config: &Config) -> Option<EqualFinish> {
        equal_finish(context.bytes.get() as f64, &self.lines, config.floor)
    }

    fn feed_back(&mut self, context: &Context<'_>, outcome: &Outcome<'_>, config: &Config) {
        let bytes = context.bytes.get() as f64;
        let fitted = context.lines();
        let then = equal_finish(bytes, &fitted, config.floor);
        if let (Some(now), Some(then)) = (self.split(context, config), then) {
            let same = (0..fitted.len()).all(|rail| now.uses(rail) == then.uses(rail));
            if same && now.rails() > 1 && outcome.spread() < config.dead_band {
                return;
            }
        }
        for sample in outcome.samples {
            let rail = sample.cost.rail.index();
            let Some(line) = fitted[rail] else { continue };
            let factor = &mut self.factors[rail];
            let ratio = sample.ps() / (line.at(sample.cost.bytes.get() as f64) * *factor);
            *factor *= 1.0 + config.step * (ratio.min(MOST_AT_ONCE) - 1.0);
            *factor = factor.clamp(1.0 / MOST_IN_ALL, MOST_IN_ALL);
        }
        let lines = fitted.into_iter().zip(&self.factors);
        self.lines = lines.map(|(line, &factor)| Some(line?.times(factor))).collect();
    }
}

#[cfg(test)]
mod tests;
