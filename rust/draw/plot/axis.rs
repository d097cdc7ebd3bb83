//! Axes: units that suit the values, and ticks at round numbers.

use serde::Serialize;

use super::ruler::Ruler;
use crate::results::Dimension;

/// The mapping from values to positions along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Proportional to the value.
    Linear,
    /// Proportional to the logarithm of the value.
    Logarithmic,
}

/// An axis. Values in base units are divided by `unit_size` to be shown in `unit`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Axis {
    /// Name of the quantity, without the unit.
    pub label: String,
    /// Unit of the ticks; may be empty.
    pub unit: &'static str,
    /// Size of the unit in base units.
    pub unit_size: f64,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// True if a linear axis includes zero.
    pub from_zero: bool,
    /// Ticks with their texts, which contain the unit; without them, ticks are round numbers.
    #[serde(skip)]
    pub ticks: Vec<Tick>,
}

/// A tick with a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Value in base units.
    pub at: f64,
    /// Text, such as `64KB`.
    pub text: String,
}

const TIMES: [(&str, f64); 4] = [("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)];
const SIZES: [(&str, f64); 5] = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3), ("B", 1.0)];
const RATES: [(&str, f64); 4] = [("Tbps", 1e12), ("Gbps", 1e9), ("Mbps", 1e6), ("bps", 1.0)];
const PLAIN: [(&str, f64); 1] = [("", 1.0)];

/// Maximum number of ticks at given values.
pub(super) const MAX_TICKS: usize = 9;

/// Smallest factor between two values that are on a logarithmic axis because of it.
const LEAST_FACTOR: f64 = 1.4;

/// How much more even the factors of such values are than their differences.
const MARGIN: f64 = 1.5;

/// Ratio of the largest to the smallest value above which an axis is logarithmic.
const LOG_AXIS_RATIO: f64 = 40.0;

impl Axis {
    /// Creates a linear axis from zero for values of a dimension, in the unit that suits the
    /// largest.
    pub fn new(label: &str, dimension: Dimension, values: impl Iterator<Item = f64>) -> Self {
        let largest = values.fold(0.0, f64::max);
        let units: &[(&'static str, f64)] = match dimension {
            Dimension::Time => &TIMES,
            Dimension::Size => &SIZES,
            Dimension::Rate => &RATES,
            Dimension::Number | Dimension::Packets => &PLAIN,
        };
        // A unit is used from twice its size on: 1,500 us is more precise than 1.5 ms.
        let fitting = units.iter().find(|(_, size)| largest >= 2.0 * size).or(units.last());
        let (unit, unit_size) = fitting.copied().unwrap_or(("", 1.0));
        let label = label.to_owned();
        Self { label, unit, unit_size, scale: Scale::Linear, from_zero: true, ticks: Vec::new() }
    }

    /// Makes the axis logarithmic if all values are positive and their ratio exceeds
    /// `LOG_AXIS_RATIO`.
    #[must_use]
    pub fn log_if_wide(mut self, values: impl Iterator<Item = f64> + Clone) -> Self {
        let (least, most) = extent(values);
        if least > 0.0 && most / least > LOG_AXIS_RATIO {
            self.scale = Scale::Logarithmic;
        }
        self
    }

    /// Makes the axis logarithmic, with a tick at each of the values, if they grow by factors: as
    /// 1, 2, 4, 8 or 1, 10, 100 do, and 1, 2, 3, 4 do not.
    #[must_use]
    pub fn log_if_by_factors(mut self, mut values: Vec<Tick>) -> Self {
        values.sort_by(|a, b| a.at.total_cmp(&b.at));
        values.dedup_by(|a, b| a.at == b.at);
        if grow_by_factors(&values.iter().map(|tick| tick.at).collect::<Vec<_>>()) {
            self.scale = Scale::Logarithmic;
            let every = values.len().div_ceil(MAX_TICKS);
            self.ticks = values.into_iter().step_by(every.max(1)).collect();
        }
        self
    }

    /// Returns the title with its unit, such as `completion time (us)`.
    pub fn title(&self) -> String {
        match self.unit {
            "" => self.label.clone(),
            _ if !self.ticks.is_empty() => self.label.clone(),
            unit => format!("{} ({unit})", self.label),
        }
    }

    /// Converts a value to its position on a linear ruler.
    pub(super) fn position(&self, value: f64) -> f64 {
        let scaled = value / self.unit_size;
        match self.scale {
            Scale::Linear => scaled,
            Scale::Logarithmic => scaled.max(f64::MIN_POSITIVE).log10(),
        }
    }

    /// Returns the text at a tick.
    pub(super) fn tick(&self, position: f64) -> String {
        let is_at = |tick: &&Tick| (self.position(tick.at) - position).abs() < 1e-9;
        if let Some(tick) = self.ticks.iter().find(is_at) {
            return tick.text.clone();
        }
        match self.scale {
            Scale::Linear => number(position),
            Scale::Logarithmic => number(10f64.powf(position)),
        }
    }

    /// Returns the values that the axis has to cover. Values are fully visible. Intervals are
    /// clipped at zero if no value is negative, and at twice the largest value.
    pub(super) fn range(&self, values: &[f64], intervals: &[(f64, f64)]) -> Vec<f64> {
        let (least, most) = extent(values.iter().copied());
        let within = |end: f64| {
            let low = match self.scale {
                Scale::Linear if least >= 0.0 => end.max(0.0),
                Scale::Linear => end,
                Scale::Logarithmic => end.max(least / 2.0),
            };
            low.min(2.0 * most.max(0.0))
        };
        let ends = intervals.iter().flat_map(|(low, high)| [within(*low), within(*high)]);
        values.iter().copied().chain(ends).collect()
    }

    /// Returns the ruler for these values: the positions of both ends, and of about `count` ticks.
    pub(super) fn ruler(&self, values: impl Iterator<Item = f64>, count: usize) -> Ruler {
        let (mut low, mut high) = extent(values.map(|value| self.position(value)));
        if !(low.is_finite() && high.is_finite()) {
            (low, high) = (0.0, 1.0);
        }
        if self.scale == Scale::Linear && self.from_zero {
            (low, high) = (low.min(0.0), high.max(0.0));
        }
        if high - low < 1e-12 * high.abs().max(1.0) {
            (low, high) = match self.from_zero && low == 0.0 {
                true => (0.0, 1.0),
                false => (low - 0.5 * low.abs().max(0.2), high + 0.5 * high.abs().max(0.2)),
            };
        }
        let ruler = match self.scale {
            Scale::Linear => linear(low, high, count),
            Scale::Logarithmic => logarithmic(low, high, count),
        };
        match self.ticks.is_empty() {
            true => ruler,
            false => {
                let ticks = self.ticks.iter().map(|tick| self.position(tick.at));
                Ruler::new(ruler.ends(), ticks.collect())
            }
        }
    }
}

/// Returns true if at least three sorted values grow by factors that are more even than their
/// differences.
fn grow_by_factors(values: &[f64]) -> bool {
    if values.len() < 3 || values[0] <= 0.0 {
        return false;
    }
    let unevenness = |steps: &dyn Fn(f64, f64) -> f64| {
        let (least, most) = extent(values.windows(2).map(|pair| steps(pair[0], pair[1])));
        most / least
    };
    let factors = values.windows(2).map(|pair| pair[1] / pair[0]);
    let is_wide = factors.fold(f64::INFINITY, f64::min) >= LEAST_FACTOR;
    is_wide && MARGIN * unevenness(&|a, b| (b / a).ln()) < unevenness(&|a, b| b - a)
}

/// Returns the smallest and the largest value.
pub(super) fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    })
}

/// Returns ticks at multiples of 1, 2 or 5 times a power of ten. The ends are ticks unless that
/// would leave too much empty space.
fn linear(low: f64, high: f64, count: usize) -> Ruler {
    let raw = (high - low) / count.max(1) as f64;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|it| it * power).into_iter().find(|it| *it >= raw * 0.999);
    let step = step.unwrap_or(10.0 * power);
    // The tolerance keeps a value that is on a tick from falling below it.
    let first = (low / step + 1e-9).floor();
    let ends_beyond = high + 0.04 * (high - low);
    let ticks = (0..=4 * count + 4).map(|index| (first + index as f64) * step);
    let ticks: Vec<f64> = ticks.take_while(|tick| *tick <= ends_beyond + 1e-9 * step).collect();
    let last = ticks.last().copied().unwrap_or(high);
    Ruler::new((first * step, last.max(high + 0.02 * (high - low))), ticks)
}

/// Returns ticks at powers of ten, and at multiples of them on short axes. Positions are
/// logarithms.
fn logarithmic(low: f64, high: f64, count: usize) -> Ruler {
    let margin = 0.03 * (high - low);
    let (low, high) = (low - margin, high + margin);
    let decades = high - low;
    let within: &[f64] = match decades {
        _ if count < 5 => &[1.0],
        d if d <= 1.2 => &[1.0, 2.0, 3.0, 5.0, 7.0],
        d if d <= 3.2 => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    let every = (decades / (count + 1).max(2) as f64).ceil().max(1.0) as i32;
    let (first, last) = (low.floor() as i32, high.ceil() as i32);
    let powers = (first..=last).filter(|power| power % every == 0);
    let ticks = powers.flat_map(|power| within.iter().map(move |it| f64::from(power) + it.log10()));
    Ruler::new((low, high), ticks.filter(|tick| (low..=high).contains(tick)).collect())
}

/// Formats a number with up to four significant digits.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    if size < 1e-12 {
        return "0".to_owned();
    }
    if !(1e-4..1e7).contains(&size) {
        let text = format!("{value:.1e}");
        return text.replace(".0e", "e");
    }
    let digits = (3 - size.log10().floor() as i32).clamp(0, 7) as usize;
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_takes_the_unit_of_its_largest_value() {
        let axis = |largest: f64| Axis::new("t", Dimension::Time, [largest].into_iter()).unit;
        assert_eq!([1.0, 1_999.0, 2_000.0, 5e6, 3e9].map(axis), ["ns", "ns", "us", "ms", "s"]);
        let sizes = Axis::new("queue", Dimension::Size, [823_284.0].into_iter());
        assert_eq!(sizes.title(), "queue (KB)");
    }

    #[test]
    fn ticks_are_round_and_inside() {
        let axis = Axis::new("t", Dimension::Number, [0.0, 208.0].into_iter());
        let ruler = axis.ruler([0.0, 208.0].into_iter(), 5);
        let ((low, high), ticks) = (ruler.ends(), ruler.ticks());
        assert_eq!(ticks, [0.0, 50.0, 100.0, 150.0, 200.0]);
        assert!(low == 0.0 && (208.0..250.0).contains(&high), "{high}");
    }

    #[test]
    fn wide_values_are_on_a_logarithmic_axis() {
        let values = [1.0, 10_000.0];
        let axis =
            Axis::new("t", Dimension::Number, values.into_iter()).log_if_wide(values.into_iter());
        assert_eq!(axis.scale, Scale::Logarithmic);
        let ruler = axis.ruler(values.into_iter(), 5);
        let texts: Vec<String> = ruler.ticks().iter().map(|tick| axis.tick(*tick)).collect();
        assert_eq!(texts, ["1", "10", "100", "1000", "10000"]);
        let values = [1.0, 2.0];
        let axis =
            Axis::new("t", Dimension::Number, values.into_iter()).log_if_wide(values.into_iter());
        assert_eq!(axis.scale, Scale::Linear);
    }

    #[test]
    fn values_that_grow_by_factors_are_on_a_logarithmic_axis_with_their_own_texts() {
        for values in [&[1.0, 2.0, 4.0][..], &[1e3, 1e4, 1e5], &[1.0, 2.0, 5.0, 10.0]] {
            assert!(grow_by_factors(values), "{values:?}");
        }
        for values in
            [&[1.0, 2.0, 3.0][..], &[10.0, 20.0, 30.0, 50.0], &[0.0, 1.0, 2.0], &[1.0, 9.0]]
        {
            assert!(!grow_by_factors(values), "{values:?}");
        }
        let tick = |at: f64| Tick { at, text: format!("{at}B") };
        let axis = Axis::new("size", Dimension::Size, [16.0].into_iter())
            .log_if_by_factors([16.0, 4.0, 8.0, 4.0].map(tick).to_vec());
        assert_eq!((axis.scale, axis.title().as_str()), (Scale::Logarithmic, "size"));
        let ruler = axis.ruler([4.0, 16.0].into_iter(), 5);
        let texts: Vec<String> = ruler.ticks().iter().map(|tick| axis.tick(*tick)).collect();
        assert_eq!(texts, ["4B", "8B", "16B"]);
    }

    #[test]
    fn equal_values_and_no_values_have_a_ruler() {
        let axis = Axis::new("t", Dimension::Number, [].into_iter());
        for values in [vec![], vec![0.0], vec![5.0, 5.0], vec![-1.0, -1.0]] {
            let ruler = axis.ruler(values.into_iter(), 5);
            let ((low, high), ticks) = (ruler.ends(), ruler.ticks());
            assert!(low < high && ticks.len() >= 2, "{low} {high} {ticks:?}");
        }
    }

    #[test]
    fn wide_intervals_are_clipped() {
        let axis = Axis::new("t", Dimension::Number, [10.0].into_iter());
        assert_eq!(axis.range(&[8.0, 10.0], &[(-50.0, 70.0)]), [8.0, 10.0, 0.0, 20.0]);
        let values = [1.0, 1_000.0];
        let axis = axis.log_if_wide(values.into_iter());
        assert_eq!(axis.range(&values, &[(-5.0, 2.0)]), [1.0, 1_000.0, 0.5, 2.0]);
    }

    #[test]
    fn numbers_have_few_digits() {
        for (value, text) in
            [(0.0, "0"), (0.05, "0.05"), (1234.0, "1234"), (0.1 + 0.2, "0.3"), (1e9, "1e9")]
        {
            assert_eq!(number(value), text);
        }
    }
}
