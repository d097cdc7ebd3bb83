//! Two-sample tests over seeds, for relations between scenarios with random draws.

use super::outcome::ComparableOutcome;
use super::relation::Failure;

/// Seeds per sample: few at first, then many if the few differ.
const FEW: usize = 6;
const MANY: usize = 40;

/// The p-value above which the few seeds suffice.
const SUSPICIOUS: f64 = 0.01;

/// The p-value below which a relation is broken. It is small because millions of random scenarios
/// are tested.
const BROKEN: f64 = 1e-7;

/// Minimum difference of two means that breaks a relation, as a share of the larger. The numbering
/// of equal choices may have a smaller effect.
const EFFECT: f64 = 0.2;

/// Fails if the distributions of the numbers of `base` and `other`, functions of the seed, differ.
pub(super) fn require_alike(
    base: &dyn Fn(u64) -> Result<ComparableOutcome, Failure>,
    other: &dyn Fn(u64) -> Result<ComparableOutcome, Failure>,
) -> Result<(), Failure> {
    if differing(&samples(base, 1, FEW)?, &samples(other, 1_001, FEW)?, SUSPICIOUS).is_none() {
        return Ok(());
    }
    let [base, other] = [samples(base, 10_001, MANY)?, samples(other, 20_001, MANY)?];
    match differing(&base, &other, BROKEN) {
        None => Ok(()),
        Some(difference) => Err(Failure::Broken(difference)),
    }
}

type Sample = Vec<Vec<(&'static str, f64)>>;

fn samples(
    run: &dyn Fn(u64) -> Result<ComparableOutcome, Failure>,
    first: u64,
    count: usize,
) -> Result<Sample, Failure> {
    (first..).take(count).map(|seed| run(seed).map(|seen| seen.numbers())).collect()
}

/// Returns the first number whose distributions differ.
fn differing(base: &Sample, other: &Sample, most: f64) -> Option<String> {
    let columns = base.first()?.len();
    (0..columns).find_map(|column| {
        let of = |sample: &Sample| sample.iter().map(|row| row[column].1).collect::<Vec<f64>>();
        let [left, right] = [of(base), of(other)];
        let [a, b] = [mean(&left), mean(&right)];
        let is_small = (a - b).abs() <= EFFECT * a.max(b);
        let chance = rank_sum(&left, &right).min(kolmogorov_smirnov(&left, &right));
        (!is_small && chance < most).then(|| {
            let name = base[0][column].0;
            let seeds = left.len();
            format!("{name}: {a} and {b} on average of {seeds} seeds each (p = {chance:.1e})")
        })
    })
}

/// Returns the difference of two samples if it is significant and exceeds `effect` of the larger
/// mean.
pub(super) fn unequal(left: &[f64], right: &[f64], effect: f64) -> Option<String> {
    let [a, b] = [mean(left), mean(right)];
    let chance = rank_sum(left, right);
    ((a - b).abs() > effect * a.max(b) && chance < BROKEN)
        .then(|| format!("{a} and {b} on average of {} seeds (p = {chance:.1e})", left.len()))
}

/// Returns the mean of a sample.
pub(super) fn mean(sample: &[f64]) -> f64 {
    sample.iter().sum::<f64>() / sample.len().max(1) as f64
}

/// Returns the standard error of the difference of two means.
pub(super) fn error_of_difference(left: &[f64], right: &[f64]) -> f64 {
    let squared = |sample: &[f64]| {
        let mean = mean(sample);
        let sum: f64 = sample.iter().map(|it| (it - mean).powi(2)).sum();
        sum / (sample.len().max(2) - 1) as f64 / sample.len().max(1) as f64
    };
    (squared(left) + squared(right)).sqrt()
}

/// Returns an upper bound of the probability that a standard normal variable is at least `z` from
/// its mean.
fn two_sided(z: f64) -> f64 {
    (-z * z / 2.0).exp().min(1.0)
}

/// Returns an upper bound of the p-value of the rank-sum test (Mann and Whitney, "On a Test of
/// Whether One of Two Random Variables is Stochastically Larger than the Other", 1947).
fn rank_sum(left: &[f64], right: &[f64]) -> f64 {
    let (n, m) = (left.len() as f64, right.len() as f64);
    let pairs = left.iter().flat_map(|a| right.iter().map(move |b| (a, b)));
    let score: f64 =
        pairs.map(|(a, b)| f64::from(u8::from(a > b)) + f64::from(u8::from(a == b)) / 2.0).sum();
    let mut all: Vec<f64> = left.iter().chain(right).copied().collect();
    all.sort_by(f64::total_cmp);
    let ties: f64 =
        all.chunk_by(|a, b| a == b).map(|tie| (tie.len() as f64).powi(3) - tie.len() as f64).sum();
    let total = n + m;
    let variance = n * m / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
    if variance <= 0.0 { 1.0 } else { two_sided((score - n * m / 2.0) / variance.sqrt()) }
}

/// Returns an upper bound of the p-value of the Kolmogorov-Smirnov test (Smirnov, "Table for
/// Estimating the Goodness of Fit of Empirical Distributions", 1948).
fn kolmogorov_smirnov(left: &[f64], right: &[f64]) -> f64 {
    let share = |sample: &[f64], at: f64| {
        sample.iter().filter(|&&it| it <= at).count() as f64 / sample.len() as f64
    };
    let at = left.iter().chain(right);
    let distance = at.map(|&at| (share(left, at) - share(right, at)).abs()).fold(0.0, f64::max);
    let (n, m) = (left.len() as f64, right.len() as f64);
    (2.0 * (-2.0 * distance * distance * n * m / (n + m)).exp()).min(1.0)
}

#[test]
fn equal_samples_are_alike_and_shifted_samples_differ() {
    let sample = |from: u32| (from..from + 40).map(f64::from).collect::<Vec<f64>>();
    for test in [rank_sum, kolmogorov_smirnov] {
        assert!(test(&sample(0), &sample(0)) > 0.9);
        assert!(test(&sample(0), &sample(3)) > 0.01);
        assert!(test(&sample(0), &sample(40)) < BROKEN);
        assert!(test(&[1.0; 40], &[1.0; 40]) > 0.9);
    }
}
