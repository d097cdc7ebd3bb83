//! A reconstruction: the costs of each rail so far, by size class, and the line through them.
//!
//! Source: \[inferred\] an exponentially weighted regression of duration on bytes for each rail and
//! size class; Nezha's abstract says no more than "feedback of cost".
//!
//! A line fits a rail only near one size, because windows that open slowly bend the curve. Each
//! size class therefore has its own line, to which other classes contribute with a weight that
//! falls with their distance. That matters for a class whose shares all have one size, from which
//! start-up and rate cannot be separated.
//!
//! A rail costs less alone than together with others, because the rails of a host share its
//! processor and memory. Costs of operations that a rail carried alone are therefore kept
//! separately ([`Concurrency`]).

use super::{CostLine, RailCost};
use crate::ids::RailId;
use crate::units::Bytes;

/// Operations whose sizes lie between the same powers of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SizeClass(u8);

impl SizeClass {
    /// Number of classes: one for each bit length of a 64-bit number.
    pub const COUNT: usize = 65;

    /// Returns the class of an operation of `bytes`.
    pub const fn of(bytes: Bytes) -> Self {
        Self((u64::BITS - bytes.get().leading_zeros()) as u8)
    }

    /// Returns the index of the class in a table of all classes.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Whether other rails carried a part of the operation in which a cost was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concurrency {
    /// The rail carried the whole operation.
    Alone,
    /// Several rails carried it.
    Shared,
}

impl Concurrency {
    /// Returns the index in a table of both.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// The weight of a class in the line of the next larger or smaller class \[inferred\].
const NEIGHBOUR: f64 = 1.0 / 16.0;

/// The spread of shares that makes their slope trustworthy, as a squared coefficient of variation:
/// 2 %, squared. With less, the line tends to the one through zero. \[inferred\]
const SPREAD: f64 = 4e-4;

/// The variance of a slope, relative to that of the line through zero, before it is measured. The
/// slope is equally likely anywhere from 0 (all start-up) to 1 (all rate). \[inferred\]
const SLOPE_VARIANCE: f64 = 1.0 / 3.0;

/// The smallest fraction of a duration that is attributed to its bytes; it keeps rates finite.
/// \[inferred\]
const MIN_SLOPE: f64 = 1e-6;

/// Number of samples after which a line is compared with new samples \[inferred\].
const SETTLED: u32 = 4;

/// Smallest excess over the two samples that a line always fits from which a variance is estimated.
/// It is far above the rounding error of the effective number of samples.
const MIN_FREEDOM: f64 = 1e-6;

/// Means of one rail's samples in one size class: bytes, picoseconds and their products.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    count: u32,
    /// Number of equally weighted samples whose mean would have the same variance.
    effective: f64,
    bytes: f64,
    ps: f64,
    bytes_bytes: f64,
    bytes_ps: f64,
    ps_ps: f64,
}

impl Moments {
    fn add(&mut self, bytes: f64, ps: f64, memory: f64) {
        self.count = self.count.saturating_add(1);
        // The first samples have equal weights; later the newest has the weight `memory`.
        let newest = memory.max(1.0 / f64::from(self.count));
        let rest = 1.0 - newest;
        let older = if self.count > 1 { rest * rest / self.effective } else { 0.0 };
        self.effective = 1.0 / (older + newest * newest);
        let mix = |mean: &mut f64, value: f64| *mean += newest * (value - *mean);
        mix(&mut self.bytes, bytes);
        mix(&mut self.ps, ps);
        mix(&mut self.bytes_bytes, bytes * bytes);
        mix(&mut self.bytes_ps, bytes * ps);
        mix(&mut self.ps_ps, ps * ps);
    }

    /// Returns the line through the samples: a ridge regression towards the line through zero
    /// (Hoerl and Kennard, Technometrics, 1970).
    ///
    /// The ridge is the variance of the samples about their line, divided by their number and by
    /// the variance of slopes ([`SLOPE_VARIANCE`]). The more durations vary independently of the
    /// bytes, the more the bytes have to differ until they determine the slope. The line through
    /// zero is the cautious choice: with it, a division moves too little rather than too much.
    fn line(&self) -> CostLine {
        let plain = self.ps / self.bytes;
        let square = self.bytes * self.bytes;
        let (variance, best) = self.best();
        let ridge = square * (self.noise() / (self.effective * SLOPE_VARIANCE)).max(SPREAD);
        let slope = (variance * best + ridge * plain) / (variance + ridge);
        let ps_per_byte = slope.clamp(MIN_SLOPE * plain, plain);
        let start_ps = (self.ps - ps_per_byte * self.bytes).max(0.0);
        CostLine { start_ps, ps_per_byte }
    }

    /// Returns the variance of bytes, and the slope of the best line that is possible for a rail.
    /// Start-ups are not negative, and a rail does not get faster with more bytes.
    fn best(&self) -> (f64, f64) {
        let variance = (self.bytes_bytes - self.bytes * self.bytes).max(0.0);
        let covariance = self.bytes_ps - self.bytes * self.ps;
        let slope = if variance > 0.0 { covariance / variance } else { 0.0 };
        (variance, slope.clamp(0.0, self.ps / self.bytes))
    }

    /// Returns the variance of durations about the best line, relative to their squared mean; 0 for
    /// up to two samples.
    fn noise(&self) -> f64 {
        let freedom = self.effective - 2.0;
        if freedom < MIN_FREEDOM {
            return 0.0;
        }
        let (variance, slope) = self.best();
        let covariance = self.bytes_ps - self.bytes * self.ps;
        let all = self.ps_ps - self.ps * self.ps;
        let rest = (all - slope * (2.0 * covariance - slope * variance)).max(0.0);
        rest / (self.ps * self.ps) * self.effective / freedom
    }
}

/// The moments of one rail, by class.
type Classes = [Moments; SizeClass::COUNT];

/// The measured costs of the rails, by rail and size class of the operation.
#[derive(Debug, Clone)]
pub struct Costs {
    memory: f64,
    /// Moments by concurrency, then by rail.
    moments: [Vec<Classes>; 2],
}

impl Costs {
    /// Creates empty measurements of `rails` rails. The newest sample has the weight `memory` in a
    /// mean.
    pub(super) fn new(rails: usize, memory: f64) -> Self {
        let none = vec![[Moments::default(); SizeClass::COUNT]; rails];
        Self { memory, moments: [none.clone(), none] }
    }

    /// Adds the cost of a rail in an operation of `class`. Its weight is its relative deviation
    /// from the expectation, and at least the memory, so that outdated costs are forgotten quickly.
    pub(super) fn add(&mut self, class: SizeClass, concurrency: Concurrency, cost: &RailCost) {
        let (bytes, ps) = (cost.bytes.get() as f64, cost.duration.as_ps() as f64);
        let classes = self.moments[concurrency.index()].get(cost.rail.index());
        let settled = classes.is_some_and(|classes| classes[class.index()].count >= SETTLED);
        let line = settled.then(|| self.line_in(concurrency, cost.rail, class)).flatten();
        let expected = line.map(|line| line.at(bytes));
        let off = expected.map_or(0.0, |expected| (ps - expected).abs() / expected);
        let memory = self.memory.max(off.min(1.0));
        if let Some(classes) = self.moments[concurrency.index()].get_mut(cost.rail.index())
            && bytes > 0.0
            && ps > 0.0
        {
            classes[class.index()].add(bytes, ps, memory);
        }
    }

    /// Discards the measurements of all rails and size classes.
    pub(super) fn clear(&mut self) {
        for rails in &mut self.moments {
            rails.fill([Moments::default(); SizeClass::COUNT]);
        }
    }

    /// Returns the number of samples of `rail` in `class`, alone and shared.
    pub fn count(&self, rail: RailId, class: SizeClass) -> u32 {
        let tables = self.moments.iter().filter_map(|rails| rails.get(rail.index()));
        tables.map(|classes| classes[class.index()].count).sum()
    }

    /// Returns the mean time per byte of `rail` in operations of this class and near it, in
    /// picoseconds.
    pub fn ps_per_byte(&self, rail: RailId, class: SizeClass) -> Option<f64> {
        let means = self.means(Concurrency::Shared, rail, class);
        let means = means.or_else(|| self.means(Concurrency::Alone, rail, class))?;
        Some(means.ps / means.bytes)
    }

    /// Returns the line of `rail` for operations of this class that it shares with other rails.
    /// Uses operations that it carried alone if there are no shared ones; `None` before its first
    /// sample.
    pub fn line(&self, rail: RailId, class: SizeClass) -> Option<CostLine> {
        let shared = self.line_in(Concurrency::Shared, rail, class);
        shared.or_else(|| self.line_in(Concurrency::Alone, rail, class))
    }

    /// Returns the line of `rail` for operations of this class with this concurrency; `None` before
    /// the first such sample.
    pub fn line_in(
        &self,
        concurrency: Concurrency,
        rail: RailId,
        class: SizeClass,
    ) -> Option<CostLine> {
        Some(self.means(concurrency, rail, class)?.line())
    }

    /// Returns the time of `rail` for a whole operation of `bytes`, in picoseconds, based on
    /// operations of this class that it carried alone; `None` before the first.
    pub fn alone_ps(&self, rail: RailId, class: SizeClass, bytes: Bytes) -> Option<f64> {
        let classes = self.moments[Concurrency::Alone.index()].get(rail.index())?;
        let measured = classes[class.index()].count > 0;
        let line = measured.then(|| self.line_in(Concurrency::Alone, rail, class))??;
        Some(line.at(bytes.get() as f64))
    }

    /// Returns means over all classes, weighted by nearness and by relative error: a microsecond
    /// counts for more in a duration of 10 than of 1,000.
    fn means(&self, concurrency: Concurrency, rail: RailId, class: SizeClass) -> Option<Moments> {
        let classes = self.moments[concurrency.index()].get(rail.index())?;
        let mut sum = Moments::default();
        let (mut total, mut squares) = (0.0, 0.0);
        for (other, moments) in classes.iter().enumerate().filter(|(_, moments)| moments.count > 0)
        {
            let distance = other.abs_diff(class.index());
            let near = (0..distance).fold(1.0, |near, _| near * NEIGHBOUR);
            let weight = near / (moments.ps * moments.ps);
            total += weight;
            squares += weight * weight / moments.effective;
            sum.bytes += weight * moments.bytes;
            sum.ps += weight * moments.ps;
            sum.bytes_bytes += weight * moments.bytes_bytes;
            sum.bytes_ps += weight * moments.bytes_ps;
            sum.ps_ps += weight * moments.ps_ps;
        }
        // The weights of distant classes with long durations may underflow to zero.
        total.is_normal().then(|| Moments {
            count: 1,
            effective: total * total / squares,
            bytes: sum.bytes / total,
            ps: sum.ps / total,
            bytes_bytes: sum.bytes_bytes / total,
            bytes_ps: sum.bytes_ps / total,
            ps_ps: sum.ps_ps / total,
        })
    }
}

#[cfg(test)]
mod tests;
