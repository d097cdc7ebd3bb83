//! Whack-a-Mole: paths in proportion to units, in bit-reversed order, and units that marks and
//! losses move.
//!
//! Source: "Whack-a-Mole" (arXiv 2509.18519), known from two public summaries: the text was not
//! available. All paths share m = 2^l units, and path i has b(i) of them. A counter steps with
//! each packet. Its l bits in reverse order are a unit, and the packet takes the path that has this
//! unit. Over any run of n packets, a path gets n · b(i) / m within 2 · log2(m). Each queue pair
//! starts its counter anywhere and steps it by an odd stride. Otherwise the packets of all would
//! meet. Feedback moves units from bad paths to good ones. Its authors mean it for an erasure code
//! (`recovery = "erasure"`).
//!
//! \[inferred\] The number of units and what feedback moves:
//! - A mark takes a unit of its path, a loss half of its units. Each goes to the path that is
//!   furthest below its start.
//! - A path without units gets a packet in turn, one in `probe` packets. If it arrives unmarked,
//!   the path gets a unit of the path that is furthest above its start.

use serde::{Deserialize, Serialize};

use super::{FailedPath, Feedback, PathSignal, QpContext, SenderConfig, SenderPolicy};
use crate::balance::{Forwarding, Preset, Scheme, SchemeError, Weights, parse_config};
use crate::nic::Recovery;
use crate::rng::Purpose;
use crate::units::{Fraction, Time};

/// The parameters of `whack-a-mole`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Units that all paths share, a power of two: 1,024 \[inferred\]. At least as many as paths.
    pub units: u32,
    /// Units that a mark takes off a path: 1 \[inferred\]; 0 ignores marks.
    pub mark: u32,
    /// Share of its units that a loss takes off a path: 1/2 \[inferred\].
    pub loss: Fraction,
    /// One in so many packets takes a path without units: 4,096 \[inferred\].
    pub probe: u32,
}

impl Default for Config {
    fn default() -> Self {
        let loss = Fraction::new(1, 2).expect("not zero");
        Self { units: 1_024, mark: 1, loss, probe: 4_096 }
    }
}

/// Most units.
const MAX_UNITS: u32 = 1 << 16;

/// The preset `whack-a-mole`: source routes, and a retransmission timer for each packet.
pub const PRESETS: &[Preset] = &[Preset {
    name: "whack-a-mole",
    summary: "paths in proportion to units that marks and losses move, in bit-reversed order",
    source: "Whack-a-Mole (arXiv 2509.18519), by public summaries",
    build: |parameters| {
        let config: Config = parse_config("whack-a-mole", parameters)?;
        config.check().map_err(|reason| SchemeError::Parameter { name: "whack-a-mole", reason })?;
        Ok(Scheme {
            forwarding: Forwarding::SourceRouted,
            recovery: Recovery::PER_PACKET,
            weights: Weights::Capacity,
            ..Scheme::new("whack-a-mole", SenderConfig::WhackAMole(config))
        })
    },
}];

impl Config {
    fn check(&self) -> Result<(), String> {
        let Self { units, loss, probe, .. } = *self;
        if !units.is_power_of_two() || !(2..=MAX_UNITS).contains(&units) {
            return Err(format!("units = {units}: it must be a power of two, 2 to {MAX_UNITS}"));
        }
        if loss.as_f64() > 1.0 {
            return Err(format!("loss = {loss}: it must be at most 1"));
        }
        if probe == 0 {
            return Err("probe = 0: it must be at least 1".to_owned());
        }
        Ok(())
    }
}

/// The units of one queue pair's paths.
#[derive(Debug, Clone)]
pub struct WhackAMole(Box<Units>);

#[derive(Debug, Clone)]
struct Units {
    config: Config,
    /// Number of bits of a unit.
    bits: u32,
    /// One past the last unit of each path.
    ends: Vec<u32>,
    /// Units of each path before any feedback.
    start: Vec<u32>,
    counter: u32,
    stride: u32,
    packets: u32,
    /// The path without units that was probed last.
    probed: u16,
}

impl WhackAMole {
    pub(super) fn new(config: &Config, qp: &QpContext) -> Self {
        let mut random = qp.random(Purpose::Entropy);
        let count = qp.paths.count();
        let total = config.units.max(count.next_power_of_two());
        let mut units = Units {
            config: *config,
            bits: total.trailing_zeros(),
            ends: Vec::new(),
            start: Vec::new(),
            counter: random.below(total),
            stride: random.below(total) | 1,
            packets: 0,
            probed: 0,
        };
        units.begin(&vec![1; count as usize]);
        Self(Box::new(units))
    }
}

impl Units {
    fn total(&self) -> u32 {
        1 << self.bits
    }

    /// Gives each path units in proportion to its weight, unless it has them already. What does not
    /// divide goes to the first paths.
    fn begin(&mut self, weights: &[u32]) {
        let whole: u64 = weights.iter().map(|&weight| u64::from(weight)).sum();
        if whole == 0 {
            // Packets must go somewhere, so the paths keep their units.
            return;
        }
        let total = u64::from(self.total());
        let cumulated = weights.iter().scan(0, |sum, &weight| {
            *sum += u64::from(weight);
            Some((*sum * total).div_ceil(whole) as u32)
        });
        let ends: Vec<u32> = cumulated.collect();
        let befores = std::iter::once(&0).chain(&ends);
        let start: Vec<u32> = ends.iter().zip(befores).map(|(end, before)| end - before).collect();
        // A change elsewhere in the fabric must not undo what feedback has moved.
        if start != self.start {
            (self.start, self.ends) = (start, ends);
        }
    }

    fn of(&self, path: usize) -> u32 {
        self.ends[path] - if path == 0 { 0 } else { self.ends[path - 1] }
    }

    /// How far a path is below its start.
    fn missing(&self, path: usize) -> i64 {
        i64::from(self.start[path]) - i64::from(self.of(path))
    }

    /// Moves a unit.
    fn move_unit(&mut self, from: usize, to: usize) {
        match from < to {
            true => self.ends[from..to].iter_mut().for_each(|end| *end -= 1),
            false => self.ends[to..from].iter_mut().for_each(|end| *end += 1),
        }
    }

    /// Takes units from a path, each for the path that is furthest below its start.
    fn take(&mut self, from: usize, units: u32) {
        for _ in 0..units.min(self.of(from)) {
            // Paths that reach nobody had no unit at the start.
            let others = (0..self.ends.len()).filter(|&it| it != from && self.start[it] > 0);
            // Of equals the first one.
            let Some(to) = others.rev().max_by_key(|&it| self.missing(it)) else { return };
            self.move_unit(from, to);
        }
    }

    /// Returns a unit to a path without any, from the path that is furthest above its start.
    fn revive(&mut self, path: usize) {
        let others = (0..self.ends.len()).rev().filter(|&it| it != path);
        if let Some(from) = others.min_by_key(|&it| self.missing(it)) {
            self.move_unit(from, path);
        }
    }

    /// Returns the path without units that is probed next.
    fn next_probe(&mut self) -> Option<u16> {
        self.packets += 1;
        if self.packets < self.config.probe {
            return None;
        }
        self.packets = 0;
        let count = self.ends.len();
        let after = usize::from(self.probed) + 1;
        let is_out = |path: &usize| self.start[*path] > 0 && self.of(*path) == 0;
        let found = (after..after + count).map(|path| path % count).find(is_out)?;
        self.probed = found as u16;
        Some(self.probed)
    }

    fn on_loss(&mut self, entropy: u16) {
        let path = usize::from(entropy);
        // A value that the peer forged.
        if path < self.ends.len() {
            let units = self.of(path);
            let half = (f64::from(units) * self.config.loss.as_f64()).ceil() as u32;
            self.take(path, half);
        }
    }
}

impl SenderPolicy for WhackAMole {
    #[inline]
    fn entropy(&mut self, _now: Time) -> u16 {
        let units = &mut *self.0;
        if let Some(path) = units.next_probe() {
            return path;
        }
        let unit = units.counter.reverse_bits().checked_shr(u32::BITS - units.bits).unwrap_or(0);
        units.counter = (units.counter + units.stride) & (units.total() - 1);
        units.ends.partition_point(|&end| end <= unit) as u16
    }

    fn handle_feedback(&mut self, _now: Time, feedback: Feedback) {
        let units = &mut *self.0;
        let path = usize::from(feedback.entropy);
        if path >= units.ends.len() {
            return;
        }
        match feedback.signal {
            PathSignal::Good if units.of(path) == 0 && units.start[path] > 0 => units.revive(path),
            PathSignal::Good | PathSignal::TrimmedAtLastHop => {}
            PathSignal::Marked => units.take(path, units.config.mark),
            PathSignal::Nack | PathSignal::Trimmed | PathSignal::Condemned => {
                units.on_loss(feedback.entropy);
            }
        }
    }

    fn handle_timeout(&mut self, _now: Time, entropy: u16) -> Option<FailedPath> {
        self.0.on_loss(entropy);
        None
    }

    fn handle_weights(&mut self, weights: &[u32]) {
        if weights.len() == self.0.ends.len() {
            self.0.begin(weights);
        }
    }

    /// The units of each path and its start, the counter, its stride, and the count of packets.
    fn state_bits(&self) -> u64 {
        let Units { bits, ends, config, .. } = &*self.0;
        let bits = u64::from(*bits);
        2 * bits * ends.len() as u64 + 2 * bits + u64::from(config.probe.ilog2())
    }
}

#[cfg(test)]
mod tests;
