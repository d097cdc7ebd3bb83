//! Means, their 95 % confidence intervals, and paired differences.
//!
//! The seeds of a comparison are independent draws, so that the mean over them has the interval of
//! Student's t. Two policies under the same seeds have the same workloads: their *difference*,
//! seed by seed, has a narrower interval than the difference of two means of independent runs.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The probability with which an interval contains the mean.
pub const CONFIDENCE: f64 = 0.95;

/// A number of values, their mean and their spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// The number of values, at least 1.
    pub count: usize,
    /// The arithmetic mean.
    pub mean: f64,
    /// The sample standard deviation (divided by `count - 1`); 0 of a single value.
    pub deviation: f64,
}

/// A range of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// True if `value` is in the interval or at an end of it.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

impl Sample {
    /// The sample of `values`; `None` if there are none or one is not finite.
    pub fn of(values: &[f64]) -> Option<Self> {
        let first = *values.first()?;
        let count = values.len();
        if values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        if values.iter().all(|&value| value == first) {
            // Rounding may move the mean of equal values, which is not a deviation.
            return Some(Self { count, mean: first, deviation: 0.0 });
        }
        let mean = values.iter().sum::<f64>() / count as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Self { count, mean, deviation: (squares / (count - 1) as f64).sqrt() })
    }

    /// The sample of the differences `value - baseline` of pairs.
    pub fn of_differences(pairs: &[(f64, f64)]) -> Option<Self> {
        let differences: Vec<f64> =
            pairs.iter().map(|(value, baseline)| value - baseline).collect();
        Self::of(&differences)
    }

    /// Half the width of the 95 % interval of the mean, by Student's t; `None` of a single value.
    pub fn half_width(&self) -> Option<f64> {
        let freedom = self.count.checked_sub(1).filter(|&freedom| freedom > 0)?;
        let quantile = student_t((1.0 + CONFIDENCE) / 2.0, freedom);
        Some(quantile * self.deviation / (self.count as f64).sqrt())
    }

    /// The 95 % interval of the mean; `None` of a single value.
    pub fn interval(&self) -> Option<Interval> {
        let half = self.half_width()?;
        Some(Interval { low: self.mean - half, high: self.mean + half })
    }

    /// True if this sample of differences does not tell the two sides apart: zero is in the 95 %
    /// interval, or there is a single difference and it is zero.
    pub fn is_tie(&self) -> bool {
        self.interval().map_or(self.mean == 0.0, |interval| interval.contains(0.0))
    }
}

/// The value that Student's t with `freedom` degrees of freedom, at least 1, does not exceed with
/// `probability`, which is between 0 and 1.
pub fn student_t(probability: f64, freedom: usize) -> f64 {
    assert!(freedom > 0, "Student's t has at least one degree of freedom");
    let distribution = StudentsT::new(0.0, 1.0, freedom as f64);
    distribution.expect("scale and freedom are positive").inverse_cdf(probability)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::Rng;
    use rand_pcg::Pcg32;

    /// Source: NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2, three decimals.
    #[test]
    fn quantiles_are_those_of_the_published_table() {
        let table = [
            (1, [6.314, 12.706, 63.657]),
            (2, [2.920, 4.303, 9.925]),
            (3, [2.353, 3.182, 5.841]),
            (4, [2.132, 2.776, 4.604]),
            (9, [1.833, 2.262, 3.250]),
            (29, [1.699, 2.045, 2.756]),
            (100, [1.660, 1.984, 2.626]),
        ];
        for (freedom, quantiles) in table {
            for (probability, expected) in [0.95, 0.975, 0.995].into_iter().zip(quantiles) {
                let quantile = student_t(probability, freedom);
                let place = format!("{freedom} degrees of freedom at {probability}: {quantile}");
                assert!((quantile - expected).abs() <= 0.000_51, "{place}");
                assert!((student_t(1.0 - probability, freedom) + quantile).abs() < 1e-6, "{place}");
            }
        }
    }

    /// A uniform number in (0, 1).
    fn uniform(random: &mut Pcg32) -> f64 {
        (f64::from(random.next_u32()) + 0.5) / 4_294_967_296.0
    }

    /// A standard normal number, by the method of Box and Muller.
    fn normal(random: &mut Pcg32) -> f64 {
        let radius = (-2.0 * uniform(random).ln()).sqrt();
        radius * (std::f64::consts::TAU * uniform(random)).cos()
    }

    /// How often of `rounds` the interval of the mean of `count` draws contains `mean`.
    fn coverage(count: usize, rounds: u32, mean: f64, draw: impl Fn(&mut Pcg32) -> f64) -> f64 {
        let mut random = Pcg32::new(count as u64, 16);
        let mut contained = 0;
        for _ in 0..rounds {
            let values: Vec<f64> = (0..count).map(|_| draw(&mut random)).collect();
            let interval = Sample::of(&values).and_then(|sample| sample.interval());
            contained += u32::from(interval.expect("several values").contains(mean));
        }
        f64::from(contained) / f64::from(rounds)
    }

    /// With 20,000 samples the rate deviates from 95 % by more than 0.6 points, four standard
    /// deviations, once in 16,000 streams.
    #[test]
    fn the_interval_contains_the_mean_of_a_normal_distribution_in_95_of_100_samples() {
        for count in [2, 3, 5, 10, 30] {
            let rate = coverage(count, 20_000, 7.0, |random| 7.0 + 3.0 * normal(random));
            assert!((rate - CONFIDENCE).abs() < 0.006, "{count} values: {rate}");
        }
        let rate = coverage(30, 20_000, 0.5, uniform);
        assert!((rate - CONFIDENCE).abs() < 0.006, "uniform: {rate}");
    }

    /// The values of a pair share 99 % of their variance, as those of two policies under one seed.
    #[test]
    fn paired_differences_cover_95_of_100_too_and_are_narrower() {
        let mut random = Pcg32::new(5, 16);
        let (mut contained, mut narrower) = (0, 0);
        let rounds = 5_000;
        for _ in 0..rounds {
            let pair = |random: &mut Pcg32| {
                let shared = 10.0 * normal(random);
                (shared + 1.0 + normal(random), shared + normal(random))
            };
            let pairs: Vec<(f64, f64)> = (0..8).map(|_| pair(&mut random)).collect();
            let difference = Sample::of_differences(&pairs).unwrap();
            contained += u32::from(difference.interval().unwrap().contains(1.0));
            let values: Vec<f64> = pairs.iter().map(|pair| pair.0).collect();
            let alone = Sample::of(&values).unwrap().half_width().unwrap();
            narrower += u32::from(difference.half_width().unwrap() < alone);
        }
        let rate = f64::from(contained) / f64::from(rounds);
        assert!((rate - CONFIDENCE).abs() < 0.0125, "{rate}");
        assert!(narrower > rounds * 99 / 100, "{narrower} of {rounds}");
    }

    #[test]
    fn a_sample_has_the_closed_forms_of_its_values() {
        let sample = Sample::of(&[1.0, 2.0, 3.0]).unwrap();
        assert_eq!((sample.count, sample.mean, sample.deviation), (3, 2.0, 1.0));
        let half = sample.half_width().unwrap();
        assert!((half - 4.302_653 / 3f64.sqrt()).abs() < 1e-5, "{half}");
        assert_eq!(Sample::of(&[8_335.1; 3]).unwrap().deviation, 0.0, "equal values");
        assert_eq!(Sample::of(&[]), None);
        assert_eq!(Sample::of(&[1.0, f64::INFINITY]), None);
        assert_eq!(Sample::of(&[1.0]).unwrap().interval(), None);
    }

    #[test]
    fn differences_around_zero_are_a_tie() {
        let tie = |pairs: &[(f64, f64)]| Sample::of_differences(pairs).unwrap().is_tie();
        assert!(tie(&[(1.0, 2.0), (2.0, 1.0), (3.0, 3.1)]));
        assert!(!tie(&[(1.0, 2.0), (2.0, 3.1), (3.0, 4.0)]));
        assert!(tie(&[(1.0, 1.0)]) && !tie(&[(1.0, 1.1)]), "a single pair");
        assert!(tie(&[(1.0, 1.0); 3]) && !tie(&[(1.0, 1.5); 3]), "equal differences");
    }
}
