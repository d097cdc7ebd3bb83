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
//! - The source has one port. With several, each plane has units of its own, and a packet takes the
//!   next plane whose port is free.

use serde::{Deserialize, Serialize};

use super::{FailedPath, Feedback, PathSignal, QpContext, SenderConfig, SenderPolicy};
use crate::balance::{Forwarding, Origin, Preset, Scheme, SchemeError, Weights, parse_config};
use crate::nic::Recovery;
use crate::packet::PlaneMask;
use crate::rng::{Purpose, Stream};
use crate::units::{Fraction, Time};

/// The parameters of `whack-a-mole`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Units that all paths of a plane share, a power of two: 1,024 \[inferred\]. At least as many
    /// as paths.
    pub units: u32,
    /// Units that a mark takes off a path: 1 \[inferred\]; 0 ignores marks.
    pub mark: u32,
    /// Share of its units that a loss takes off a path: 1/2 \[inferred\].
    pub loss: Fraction,
    /// Interval in packets at which a path without units gets one: 4,096 \[inferred\].
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
    summary: "reconstruction of Whack-a-Mole: paths by units, which marks and losses move",
    source: "Whack-a-Mole (arXiv 2509.18519), by public summaries",
    build: |parameters| {
        let config: Config = parse_config("whack-a-mole", parameters)?;
        config.check().map_err(|reason| SchemeError::Parameter { name: "whack-a-mole", reason })?;
        Ok(Scheme {
            forwarding: Forwarding::SourceRouted,
            recovery: Recovery::PER_PACKET,
            weights: Weights::Capacity,
            origin: Origin::Reconstructed,
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

/// The paths of one queue pair. Path i is in plane i modulo the number of planes.
#[derive(Debug, Clone)]
pub struct WhackAMole {
    planes: Box<[Units]>,
    /// The plane that is next in round-robin order.
    next_plane: u16,
}

/// The units of the paths in one plane.
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
        let planes = qp.network.planes.clamp(1, qp.paths.count());
        let count = qp.paths.count() / planes;
        let of_plane = (0..planes).map(|_| Units::new(config, count, &mut random)).collect();
        Self { planes: of_plane, next_plane: random.below(planes) as u16 }
    }

    fn advance(&mut self, plane: u16) -> u16 {
        let planes = self.planes.len() as u16;
        // Without known paths, one plane serves all.
        let plane = plane % planes;
        self.next_plane = if plane + 1 == planes { 0 } else { plane + 1 };
        self.planes[usize::from(plane)].advance() * planes + plane
    }

    /// Returns the units of a path's plane, and its index there; `None` for a value that the peer
    /// forged.
    fn place(&mut self, entropy: u16) -> Option<(&mut Units, usize)> {
        let (entropy, planes) = (usize::from(entropy), self.planes.len());
        let (units, path) = (&mut self.planes[entropy % planes], entropy / planes);
        (path < units.ends.len()).then_some((units, path))
    }
}

impl Units {
    fn new(config: &Config, paths: u32, random: &mut Stream) -> Self {
        let total = config.units.max(paths.next_power_of_two());
        let mut units = Self {
            config: *config,
            bits: total.trailing_zeros(),
            ends: Vec::new(),
            start: Vec::new(),
            counter: random.below(total),
            stride: random.below(total) | 1,
            packets: 0,
            probed: 0,
        };
        units.begin(&vec![1; paths as usize]);
        units
    }

    /// Returns the path of the next packet.
    #[inline]
    fn advance(&mut self) -> u16 {
        if let Some(path) = self.next_probe() {
            return path;
        }
        let unit = self.counter.reverse_bits().checked_shr(u32::BITS - self.bits).unwrap_or(0);
        self.counter = (self.counter + self.stride) & (self.total() - 1);
        self.ends.partition_point(|&end| end <= unit) as u16
    }

    fn total(&self) -> u32 {
        1 << self.bits
    }

    /// Gives each path units in proportion to its weight, unless it has them already. A
    /// remainder goes to the first paths.
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
            // Paths that do not reach the peer had no unit at the start.
            let others = (0..self.ends.len()).filter(|&it| it != from && self.start[it] > 0);
            // In reverse, so that the first of equals wins.
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

    fn on_loss(&mut self, path: usize) {
        let share = f64::from(self.of(path)) * self.config.loss.as_f64();
        self.take(path, share.ceil() as u32);
    }
}

impl SenderPolicy for WhackAMole {
    #[inline]
    fn entropy(&mut self, _now: Time) -> u16 {
        self.advance(self.next_plane)
    }

    fn choose(&mut self, _now: Time, free: PlaneMask) -> Option<u16> {
        let plane = free.next_from(self.next_plane.into())?;
        Some(self.advance(u16::try_from(plane).expect("at most 32")))
    }

    fn handle_feedback(&mut self, _now: Time, feedback: Feedback) {
        let Some((units, path)) = self.place(feedback.entropy) else { return };
        match feedback.signal {
            PathSignal::Good if units.of(path) == 0 && units.start[path] > 0 => units.revive(path),
            PathSignal::Good | PathSignal::TrimmedAtLastHop => {}
            PathSignal::Marked => units.take(path, units.config.mark),
            PathSignal::Nack | PathSignal::Trimmed | PathSignal::Condemned => units.on_loss(path),
        }
    }

    fn handle_timeout(&mut self, _now: Time, entropy: u16) -> Option<FailedPath> {
        let (units, path) = self.place(entropy)?;
        units.on_loss(path);
        None
    }

    fn handle_weights(&mut self, weights: &[u32]) {
        let planes = self.planes.len();
        for (plane, units) in self.planes.iter_mut().enumerate() {
            let own: Vec<u32> = weights.iter().skip(plane).step_by(planes).copied().collect();
            if own.len() == units.ends.len() {
                units.begin(&own);
            }
        }
    }

    /// For each plane the units of each path and its start, the counter, its stride, and the count
    /// of packets.
    fn state_bits(&self) -> u64 {
        let of = |units: &Units| {
            let (bits, paths) = (u64::from(units.bits), units.ends.len() as u64);
            2 * bits * paths + 2 * bits + u64::from(units.config.probe.ilog2())
        };
        self.planes.iter().map(of).sum()
    }
}

#[cfg(test)]
mod tests;
