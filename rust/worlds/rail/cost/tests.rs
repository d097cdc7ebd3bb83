//! Lines through samples: checked by hand, against the textbook formula, and with pure noise.

use super::*;
use crate::units::Span;

const RAIL: RailId = RailId(0);

fn cost(bytes: u64, ns: u64) -> RailCost {
    RailCost { rail: RAIL, bytes: Bytes::new(bytes), duration: Span::from_ns(ns) }
}

fn costs(samples: &[(u64, u64)]) -> Costs {
    let mut costs = Costs::new(1, 0.2);
    for &(bytes, ns) in samples {
        costs.add(SizeClass::of(Bytes::new(bytes)), Concurrency::Shared, &cost(bytes, ns));
    }
    costs
}

#[test]
fn classes_are_powers_of_two() {
    let class = |bytes| SizeClass::of(Bytes::new(bytes)).index();
    assert_eq!([0, 1, 2, 3, 4, 1023, 1024, u64::MAX].map(class), [0, 1, 2, 2, 3, 10, 11, 64]);
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
fn another_class_determines_the_slope_for_shares_of_one_size() {
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
        costs.add(SizeClass(10), Concurrency::Shared, &cost(1_000, ns));
        costs.ps_per_byte(RAIL, SizeClass(10)).unwrap()
    };
    assert!((after(1_100) - 1_020.0).abs() < 1e-6, "a fifth");
    assert!((after(1_530) - 1_275.0).abs() < 1e-6, "half, as it deviates by half");
    costs.clear();
    assert_eq!(costs.line(RAIL, SizeClass(10)), None);
    assert_eq!(costs.line(RailId(9), SizeClass(10)), None);
}

/// The faulty measurements of issue 14: bytes differ by 3 %, with 14 % noise.
#[test]
fn noise_is_not_mistaken_for_a_start_up() {
    let line = |samples: &[(u64, u64)]| {
        let mut costs = Costs::new(1, 0.2);
        for &(bytes, ns) in samples {
            costs.add(SizeClass(11), Concurrency::Shared, &cost(bytes, ns));
        }
        costs.line(RAIL, SizeClass(11)).unwrap()
    };
    let alike = line(&[(2_000, 3_103), (2_030, 2_980), (2_092, 2_927)]);
    assert!(alike.start_ps < 0.2 * alike.at(2_000.0), "{alike:?}");
    // With equal noise, and shares that differ by a quarter: 1 us and 1 ns per byte.
    let apart = line(&[(2_000, 3_100), (2_500, 3_400), (1_500, 2_450)]);
    assert!((0.9..1.1).contains(&(apart.ps_per_byte / 1e3)), "{apart:?}");
}

#[test]
fn costs_alone_and_shared_are_kept_separately() {
    let mut costs = costs(&[(1_000, 5_000); 2]);
    assert_eq!(costs.alone_ps(RAIL, SizeClass(10), Bytes::new(1_000)), None);
    costs.add(SizeClass(10), Concurrency::Alone, &cost(1_000, 1_000));
    let alone = costs.alone_ps(RAIL, SizeClass(10), Bytes::new(1_000)).unwrap();
    assert!((alone - 1e6).abs() < 1.0, "{alone}");
    assert_eq!(costs.alone_ps(RAIL, SizeClass(11), Bytes::new(1_500)), None);
    assert_eq!(costs.count(RAIL, SizeClass(10)), 3);
    assert!((costs.line(RAIL, SizeClass(10)).unwrap().at(1_000.0) - 5e6).abs() < 1.0);
}

#[test]
fn a_cost_without_bytes_or_time_is_not_a_sample() {
    let mut costs = Costs::new(1, 0.2);
    for (bytes, ns) in [(0, 5_000), (1_000, 0), (0, 0)] {
        costs.add(SizeClass(10), Concurrency::Shared, &cost(bytes, ns));
    }
    assert_eq!((costs.count(RAIL, SizeClass(10)), costs.line(RAIL, SizeClass(10))), (0, None));
}

/// Equally weighted samples all count. A newest weight of w limits the effective number to (2 - w)
/// / w.
#[test]
fn a_mean_of_many_samples_has_the_variance_of_nine() {
    let mut moments = Moments::default();
    let effective: Vec<f64> = (0..60)
        .map(|_| {
            moments.add(1_000.0, 5e6, 0.2);
            moments.effective
        })
        .collect();
    let expected = [1.0, 2.0, 3.0, 4.0, 5.0, 1.0 / (0.64 / 5.0 + 0.04)];
    for (found, expected) in effective.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-9, "{effective:?}");
    }
    assert!((effective[59] - 9.0).abs() < 1e-9, "{effective:?}");
}

/// Two samples determine their line, whatever the rounding error of their weights. Their effective
/// number could be slightly above two, and the variance estimate divides by the excess.
#[test]
fn a_rounding_error_is_not_a_degree_of_freedom() {
    let mut moments = Moments::default();
    for (bytes, ps) in [(1_100.0, 5.2e6), (1_900.0, 6.8e6)] {
        moments.add(bytes, ps, 0.2);
    }
    let exact = moments.line();
    moments.effective += 4.0 * f64::EPSILON;
    // The residual that subtraction leaves from the last digits of the squares.
    moments.ps_ps *= 1.0 + 4.0 * f64::EPSILON;
    let rounded = moments.line();
    assert!((rounded.ps_per_byte / exact.ps_per_byte - 1.0).abs() < 1e-6, "{exact:?}, {rounded:?}");
}

/// A sample: its weight, bytes and picoseconds.
type Weighted = [f64; 3];

/// Returns the weighted mean of `of` over bytes and picoseconds.
fn mean(samples: &[Weighted], of: impl Fn(f64, f64) -> f64) -> f64 {
    let total: f64 = samples.iter().map(|[weight, ..]| weight).sum();
    samples.iter().map(|&[weight, x, y]| weight * of(x, y)).sum::<f64>() / total
}

/// Returns the ridge regression towards the line through zero, sample by sample. The ridge is the
/// variance of the residuals, divided by the effective number of samples and by the variance of
/// slopes. It is at least that of the spread.
fn by_the_textbook(samples: &[Weighted]) -> CostLine {
    let (x0, y0) = (mean(samples, |x, _| x), mean(samples, |_, y| y));
    let variance = mean(samples, |x, _| (x - x0).powi(2));
    let best = mean(samples, |x, y| (x - x0) * (y - y0)) / variance;
    assert!((0.0..y0 / x0).contains(&best), "neither bound applies");
    let residuals = mean(samples, |x, y| (y - y0 - best * (x - x0)).powi(2)) / (y0 * y0);
    let weights = || samples.iter().map(|[weight, ..]| weight);
    let worth = weights().sum::<f64>().powi(2) / weights().map(|it| it * it).sum::<f64>();
    let noise = if worth > 2.0 { residuals * worth / (worth - 2.0) } else { 0.0 };
    let ridge = x0 * x0 * (noise / (worth / 3.0)).max(0.02 * 0.02);
    let ps_per_byte = (variance * best + ridge * (y0 / x0)) / (variance + ridge);
    CostLine { start_ps: y0 - ps_per_byte * x0, ps_per_byte }
}

#[test]
fn a_line_is_the_ridge_regression_of_all_samples_by_nearness_and_relative_error() {
    let classes: [(usize, &[(u64, u64)]); 3] = [
        (10, &[(600, 4_150), (700, 4_350), (850, 5_000), (1_000, 5_050)]),
        (11, &[(1_100, 6_000), (1_500, 6_400), (1_900, 7_700)]),
        (12, &[(3_000, 9_500)]),
    ];
    for count in 1..=classes.len() {
        let classes = &classes[..count];
        let samples: Vec<(u64, u64)> = classes.iter().flat_map(|(_, all)| all.to_vec()).collect();
        let costs = costs(&samples);
        for of in 9..=13 {
            let mut weighted: Vec<Weighted> = Vec::new();
            for &(class, all) in classes {
                let duration = all.iter().map(|&(_, ns)| ns as f64).sum::<f64>() / all.len() as f64;
                let near = 16f64.powi(-(class.abs_diff(of) as i32));
                let weight = near / (duration * duration) / all.len() as f64;
                let sample = |&(bytes, ns): &(u64, u64)| [weight, bytes as f64, ns as f64 * 1e3];
                weighted.extend(all.iter().map(sample));
            }
            let expected = by_the_textbook(&weighted);
            let found = costs.line(RAIL, SizeClass(of as u8)).unwrap();
            let alike = |one: f64, other: f64| (one / other - 1.0).abs() < 1e-9;
            let case = format!("{count} classes, that of {of}: {found:?}, {expected:?}");
            assert!(alike(found.ps_per_byte, expected.ps_per_byte), "{case}");
            assert!(alike(found.start_ps, expected.start_ps), "{case}");
            let plain = mean(&weighted, |_, y| y) / mean(&weighted, |x, _| x);
            let found = costs.ps_per_byte(RAIL, SizeClass(of as u8)).unwrap();
            assert!(alike(found, plain), "{case}");
        }
    }
}
