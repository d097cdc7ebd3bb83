//! An axis for `plotters` with given ends and ticks.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};

/// Positions on a line, with ticks.
#[derive(Debug, Clone)]
pub(super) struct Ruler {
    from: f64,
    until: f64,
    ticks: Vec<f64>,
}

impl Ruler {
    pub(super) fn new((from, until): (f64, f64), ticks: Vec<f64>) -> Self {
        Self { from, until, ticks }
    }

    /// Keeps the first of `every` ticks.
    pub(super) fn with_each(mut self, every: usize) -> Self {
        self.ticks = self.ticks.into_iter().step_by(every).collect();
        self
    }

    pub(super) fn ends(&self) -> (f64, f64) {
        (self.from, self.until)
    }

    pub(super) fn ticks(&self) -> &[f64] {
        &self.ticks
    }
}

impl Ranged for Ruler {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (start, end): (i32, i32)) -> i32 {
        // A value outside the axis, such as the end of a wide interval, is drawn at its end.
        let share = (value.clamp(self.from, self.until) - self.from) / (self.until - self.from);
        start + (f64::from(end - start) * share).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() { Vec::new() } else { self.ticks.clone() }
    }

    fn range(&self) -> Range<f64> {
        self.from..self.until
    }
}
