//! A reconstruction: the costs of each rail so far, by size class, and the line through them.
//!
//! Source: \[inferred\] an exponentially weighted regression of duration on bytes for each rail and
//! size class; Nezha's abstract says no more than "feedback of cost".
//!
//! A line fits a rail near one size only: windows that open slowly bend the curve. So each size
//! class has a line of its own, to which other classes contribute with a weight that falls with
//! their distance. That matters for a class with shares of one size only, from which start-up and
//! rate cannot be separated.

use super::CostLine;
use crate::ids::RailId;
use crate::units::{Bytes, Span};

/// Operations whose sizes lie between the same powers of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SizeClass(u8);

impl SizeClass {
    /// The number of classes: one for each bit length of a 64-bit number.
    const COUNT: usize = 65;

    /// The class of an operation of `bytes`.
    pub const fn of(bytes: Bytes) -> Self {
        Self((u64::BITS - bytes.get().leading_zeros()) as u8)
    }

    /// The smallest size in the class.
    pub const fn smallest(self) -> Bytes {
        match self.0 {
            0 => Bytes::ZERO,
            bits => Bytes::new(1 << (bits - 1)),
        }
    }

    /// All classes, from the smallest.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT as u8).map(Self)
    }

    /// The index of the class in a table of all classes.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The weight of a class in the line of the next larger or smaller class: \[inferred\].
const NEIGHBOUR: f64 = 1.0 / 16.0;

/// The spread that shares need for their slope to be trusted, as a squared coefficient of
/// variation: 2 %, squared. With less, the line tends to the one through zero. \[inferred\]
const SPREAD: f64 = 4e-4;

/// The least fraction of a duration that its bytes can account for: keeps rates finite.
/// \[inferred\]
const LEAST_SLOPE: f64 = 1e-6;

/// The number of samples from which a line is compared with new samples: \[inferred\].
const SETTLED: u32 = 4;

/// Means of one rail's samples in one size class: bytes, picoseconds and their products.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    count: u32,
    bytes: f64,
    ps: f64,
    bytes_bytes: f64,
    bytes_ps: f64,
}

impl Moments {
    fn add(&mut self, bytes: f64, ps: f64, memory: f64) {
        self.count = self.count.saturating_add(1);
        // The first samples have equal weights; later the newest has the weight `memory`.
        let newest = memory.max(1.0 / f64::from(self.count));
        let mix = |mean: &mut f64, value: f64| *mean += newest * (value - *mean);
        mix(&mut self.bytes, bytes);
        mix(&mut self.ps, ps);
        mix(&mut self.bytes_bytes, bytes * bytes);
        mix(&mut self.bytes_ps, bytes * ps);
    }
}

/// The measured costs of the rails, by rail and size class of the operation.
#[derive(Debug, Clone)]
pub struct Costs {
    memory: f64,
    /// Moments by rail, then by class.
    moments: Vec<[Moments; SizeClass::COUNT]>,
}

impl Costs {
    /// Empty measurements for `rails` rails; the newest sample has the weight `memory` in a mean.
    pub(super) fn new(rails: usize, memory: f64) -> Self {
        Self { memory, moments: vec![[Moments::default(); SizeClass::COUNT]; rails] }
    }

    /// Adds a sample: `rail` took `duration` for `bytes` of an operation of `class`. Its weight is
    /// its relative deviation from the expectation, and at least the memory, so that outdated
    /// costs are forgotten quickly.
    pub(super) fn add(&mut self, rail: RailId, class: SizeClass, bytes: Bytes, duration: Span) {
        let (bytes, ps) = (bytes.get() as f64, duration.as_ps() as f64);
        let settled = self.count(rail, class) >= SETTLED;
        let expected = settled.then(|| self.line(rail, class)).flatten().map(|it| it.at(bytes));
        let off = expected.map_or(0.0, |expected| (ps - expected).abs() / expected);
        let memory = self.memory.max(off.min(1.0));
        if let Some(classes) = self.moments.get_mut(rail.index())
            && bytes > 0.0
            && ps > 0.0
        {
            classes[class.index()].add(bytes, ps, memory);
        }
    }

    /// Discards the measurements of all rails and size classes.
    pub(super) fn clear(&mut self) {
        self.moments.fill([Moments::default(); SizeClass::COUNT]);
    }

    /// The number of samples of `rail` in `class`.
    pub fn count(&self, rail: RailId, class: SizeClass) -> u32 {
        self.moments.get(rail.index()).map_or(0, |classes| classes[class.index()].count)
    }

    /// The mean time per byte of `rail` in operations of this class and near it, in picoseconds.
    pub fn ps_per_byte(&self, rail: RailId, class: SizeClass) -> Option<f64> {
        let means = self.means(rail, class)?;
        Some(means.ps / means.bytes)
    }

    /// The line of `rail` for operations of this class; `None` before its first sample.
    pub fn line(&self, rail: RailId, class: SizeClass) -> Option<CostLine> {
        let means = self.means(rail, class)?;
        let plain = means.ps / means.bytes;
        let square = means.bytes * means.bytes;
        let variance = (means.bytes_bytes - square).max(0.0);
        let covariance = means.bytes_ps - means.bytes * means.ps;
        let slope = (covariance + SPREAD * square * plain) / (variance + SPREAD * square);
        // Start-ups are not negative, and a rail does not get faster with more bytes.
        let ps_per_byte = slope.clamp(LEAST_SLOPE * plain, plain);
        let start_ps = (means.ps - ps_per_byte * means.bytes).max(0.0);
        Some(CostLine { start_ps, ps_per_byte })
    }

    /// Means over all classes, weighted by nearness and by relative error: a microsecond counts
    /// for more in a duration of ten than in one of a thousand.
    fn means(&self, rail: RailId, class: SizeClass) -> Option<Moments> {
        let classes = self.moments.get(rail.index())?;
        let mut sum = Moments::default();
        let mut total = 0.0;
        for (other, moments) in classes.iter().enumerate().filter(|(_, moments)| moments.count > 0)
        {
            let distance = other.abs_diff(class.index());
            let near = (0..distance).fold(1.0, |near, _| near * NEIGHBOUR);
            let weight = near / (moments.ps * moments.ps);
            total += weight;
            sum.bytes += weight * moments.bytes;
            sum.ps += weight * moments.ps;
            sum.bytes_bytes += weight * moments.bytes_bytes;
            sum.bytes_ps += weight * moments.bytes_ps;
        }
        // The weights of distant classes with long durations may underflow.
        (total > 0.0 && total.is_normal()).then(|| Moments {
            count: 1,
            bytes: sum.bytes / total,
            ps: sum.ps / total,
            bytes_bytes: sum.bytes_bytes / total,
            bytes_ps: sum.bytes_ps / total,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAIL: RailId = RailId(0);

    fn costs(samples: &[(u64, u64)]) -> Costs {
        let mut costs = Costs::new(1, 0.2);
        for &(bytes, ns) in samples {
            costs.add(RAIL, SizeClass::of(Bytes::new(bytes)), Bytes::new(bytes), Span::from_ns(ns));
        }
        costs
    }

    #[test]
    fn classes_are_powers_of_two() {
        let smallest = |bytes| SizeClass::of(Bytes::new(bytes)).smallest().get();
        assert_eq!([0, 1, 2, 3, 4, 1023, 1024].map(smallest), [0, 1, 2, 2, 4, 512, 1024]);
        assert_eq!(smallest(u64::MAX), 1 << 63);
    }

    #[test]
    fn two_different_shares_determine_start_up_and_rate() {
        // 3 us and 2 ns per byte.
        let costs = costs(&[(1_100, 5_200), (1_900, 6_800)]);
        let line = costs.line(RAIL, SizeClass::of(Bytes::new(1_500))).unwrap();
        assert!((line.ps_per_byte / 2e3 - 1.0).abs() < 0.02, "{line:?}");
        assert!((line.start_ps / 3e6 - 1.0).abs() < 0.02, "{line:?}");
    }

    #[test]
    fn shares_of_one_size_give_the_line_through_zero() {
        let line = costs(&[(1_000, 5_000); 4]).line(RAIL, SizeClass(10)).unwrap();
        assert!((line.at(1_000.0) - 5e6).abs() < 1.0 && line.start_ps < 1.0, "{line:?}");
    }

    #[test]
    fn another_class_supplies_what_shares_of_one_size_cannot() {
        let costs = costs(&[(1_000, 5_000), (2_000, 7_000)]);
        for class in [10, 11] {
            let line = costs.line(RAIL, SizeClass(class)).unwrap();
            assert!((line.at(1_500.0) / 6e6 - 1.0).abs() < 0.02, "{class}: {line:?}");
        }
    }

    #[test]
    fn the_newest_sample_has_most_weight_and_clearing_removes_all() {
        let mut costs = costs(&[(1_000, 1_000); 20]);
        let mut after = |ns| {
            costs.add(RAIL, SizeClass(10), Bytes::new(1_000), Span::from_ns(ns));
            costs.ps_per_byte(RAIL, SizeClass(10)).unwrap()
        };
        assert!((after(1_100) - 1_020.0).abs() < 1e-6, "a fifth");
        assert!((after(1_530) - 1_275.0).abs() < 1e-6, "half, as it deviates by half");
        costs.clear();
        assert_eq!(costs.line(RAIL, SizeClass(10)), None);
        assert_eq!(costs.line(RailId(9), SizeClass(10)), None);
    }
}
