//! Medians and their confidence intervals, which assume no distribution of the values.
//!
//! Completion times are positive and heavy-tailed: one timeout makes a run several times longer.
//! Their mean has no useful interval, and Student's t reaches below the lower bound. The median has
//! an interval between two of the sorted values, for any distribution. The k-th least value exceeds
//! the median only if fewer than k of n values are below it. That has the probability of fewer than
//! k heads in n coin tosses (David and Nagaraja, "Order Statistics", 3rd edition, 2003, section
//! 7.1). The test in `coverage.rs` checks it by simulation.

#[cfg(test)]
mod coverage;

/// Minimum probability that an interval contains the median, given at least [`MIN_SEEDS`] values.
/// It is the maximum for five values: `1 - 2 / 2^5`.
pub const MIN_COVERAGE: f64 = 0.9375;

/// Minimum number of values for an interval with [`MIN_COVERAGE`].
pub const MIN_SEEDS: usize = 5;

/// Number of values, their median and its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Number of values, at least 1.
    pub count: usize,
    /// Middle value, or the mean of the two in the middle.
    pub median: f64,
    interval: Interval,
}

/// A range of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Returns true if `value` is in the closed interval.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

impl Sample {
    /// Returns the sample of `values`; `None` if it is empty or a value is not finite.
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let count = sorted.len();
        let (below, above) = (sorted[(count - 1) / 2], sorted[count / 2]);
        let (rank, _) = rank_and_coverage(count);
        let interval = Interval { low: sorted[rank], high: sorted[count - 1 - rank] };
        Some(Self { count, median: below + (above - below) / 2.0, interval })
    }

    /// Returns the sample of the ratios `value / reference` of pairs; `None` if a number is not
    /// positive. Medians of logarithms make the ratio of `a` to `b` the inverse of that of `b` to
    /// `a`.
    pub fn of_ratios(pairs: &[(f64, f64)]) -> Option<Self> {
        let logarithm = |&(value, reference): &(f64, f64)| {
            let are_positive = value > 0.0 && reference > 0.0;
            are_positive.then(|| value.ln() - reference.ln())
        };
        let logarithms: Option<Vec<f64>> = pairs.iter().map(logarithm).collect();
        let Self { count, median, interval } = Self::of(&logarithms?)?;
        let Interval { low, high } = interval;
        let interval = Interval { low: low.exp(), high: high.exp() };
        Some(Self { count, median: median.exp(), interval })
    }

    /// Returns the interval of the median, which contains it with probability [`Self::coverage`];
    /// `None` for a single value.
    pub fn interval(&self) -> Option<Interval> {
        (self.count > 1).then_some(self.interval)
    }

    /// Returns the probability that the interval contains the median, for any distribution.
    pub fn coverage(&self) -> f64 {
        coverage(self.count)
    }
}

/// Returns the probability that the interval of `count` values, at least 1, contains their median.
/// It is 0 for a single value, 0.5, 0.75 and 0.875 for two to four, and [`MIN_COVERAGE`] or more
/// for others.
pub fn coverage(count: usize) -> f64 {
    rank_and_coverage(count).1
}

/// Returns the number of values on either side of the interval of `count` values, and its coverage.
/// The number is the greatest that leaves [`MIN_COVERAGE`].
fn rank_and_coverage(count: usize) -> (usize, f64) {
    // Logarithm of the probability of `rank` heads: for rank 0 the probability itself may
    // underflow.
    let mut logarithm = -(count as f64) * std::f64::consts::LN_2;
    let mut tail = logarithm.exp();
    let (mut rank, mut coverage) = (0, 1.0 - 2.0 * tail);
    loop {
        logarithm += ((count - rank) as f64 / (rank + 1) as f64).ln();
        tail += logarithm.exp();
        let next = 1.0 - 2.0 * tail;
        if next < MIN_COVERAGE {
            return (rank, coverage.max(0.0));
        }
        (rank, coverage) = (rank + 1, next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: tables of the sign test, which has these intervals (David and Nagaraja, 7.1).
    #[test]
    fn coverage_matches_tables_of_the_sign_test() {
        for (count, rank, expected) in [
            (1, 0, 0.0),
            (2, 0, 0.5),
            (3, 0, 0.75),
            (4, 0, 0.875),
            (5, 0, 0.9375),
            (8, 0, 1.0 - 2.0 / 256.0),
            (9, 1, 1.0 - 20.0 / 512.0),
            (10, 1, 1.0 - 22.0 / 1_024.0),
            (14, 3, 1.0 - 2.0 * 470.0 / 16_384.0),
            (30, 9, 0.957_226_1),
        ] {
            let (found, coverage) = rank_and_coverage(count);
            assert_eq!(found, rank, "{count} values");
            assert!((coverage - expected).abs() < 1e-7, "{count} values: {coverage}");
        }
        let of_many = coverage(1_000_000);
        assert!((MIN_COVERAGE..0.938).contains(&of_many), "{of_many}");
        assert!((MIN_SEEDS..200).all(|count| coverage(count) > MIN_COVERAGE - 1e-12));
        assert!(coverage(MIN_SEEDS - 1) < 0.93);
    }

    #[test]
    fn a_sample_has_a_median_and_an_interval_between_two_values() {
        let sample = Sample::of(&[5.0, 1.0, 2.0, 100.0, 3.0]).unwrap();
        assert_eq!((sample.count, sample.median), (5, 3.0));
        assert_eq!(sample.interval(), Some(Interval { low: 1.0, high: 100.0 }));
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        let ten = Sample::of(&ten).unwrap();
        assert_eq!(ten.median, 5.5);
        assert_eq!(ten.interval(), Some(Interval { low: 2.0, high: 9.0 }));
        assert_eq!(Sample::of(&[8_335.1; 3]).unwrap().median, 8_335.1, "equal values");
        assert_eq!(Sample::of(&[]), None);
        assert_eq!(Sample::of(&[1.0, f64::INFINITY]), None);
        assert_eq!(Sample::of(&[1.0]).unwrap().interval(), None);
    }

    #[test]
    fn a_ratio_is_the_inverse_of_the_reversed_ratio() {
        let pairs = [(2.0, 1.0), (9.0, 3.0), (40.0, 10.0), (10.0, 2.0)];
        let turned = pairs.map(|(value, reference)| (reference, value));
        let [there, back] = [&pairs, &turned].map(|it| Sample::of_ratios(it).unwrap());
        assert!((there.median - 12f64.sqrt()).abs() < 1e-12, "{there:?}");
        assert!((there.median * back.median - 1.0).abs() < 1e-12, "{back:?}");
        let [there, back] = [there, back].map(|it| it.interval().unwrap());
        assert!((there.low - 2.0).abs() < 1e-12 && (there.high * back.low - 1.0).abs() < 1e-12);
        assert_eq!(Sample::of_ratios(&[(1.0, 0.0)]), None, "there is no ratio to zero");
        assert_eq!(Sample::of_ratios(&[]), None);
    }

    /// Times of the five seeds of `evenkeel init failure`, in microseconds.
    #[test]
    fn five_seeds_distinguish_policies_even_if_one_has_timeouts() {
        let ecmp = [6546.0, 1194.0, 1065.0, 1245.0, 1200.0];
        let ethereal = [415.0, 484.0, 375.0, 459.0, 438.0];
        let pairs: Vec<(f64, f64)> = ecmp.into_iter().zip(ethereal).collect();
        let ratio = Sample::of_ratios(&pairs).unwrap();
        assert!((ratio.median - 1245.0 / 459.0).abs() < 0.03, "{ratio:?}");
        let Interval { low, high } = ratio.interval().unwrap();
        assert!((2.46..2.47).contains(&low) && (15.7..15.8).contains(&high), "{low} to {high}");
    }
}
