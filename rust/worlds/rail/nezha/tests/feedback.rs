//! Feedback: which operations change the factors of rails, and by how much.

use super::*;
use crate::rail::Costs;

/// Returns the factors of three rails after an operation with these costs, with a dead band of a
/// quarter. The rails were measured at `measured` picoseconds per byte, and had the factors
/// `before`.
fn feedback(measured: [u64; 3], before: [f64; 3], costs: &[RailCost]) -> Vec<f64> {
    let (bytes, class) = (Bytes::new(3_000), SizeClass::of(Bytes::new(3_000)));
    let mut table = Costs::new(3, 0.2);
    for (rail, ps) in (0..).zip(measured) {
        table.add(class, Concurrency::Shared, &cost(rail, 1_000, 1_000 * ps));
    }
    let nominal = [BitRate::from_gbps(80); 3];
    let context =
        AllocationContext { bytes, class, up: RailSet::first(3), nominal: &nominal, costs: &table };
    let lines = context.lines().into_iter().zip(before);
    let mut hot = Hot::new(lines.map(|(line, factor)| Some(line?.times(factor))).collect());
    hot.factors = before.to_vec();
    let sample =
        |&cost: &_| Sample { cost, concurrency: Concurrency::Shared, expected_ps: Some(1.0) };
    let samples: Vec<Sample> = costs.iter().map(sample).collect();
    let config = Config { dead_band: 0.25, ..Config::default() };
    hot.apply_feedback(&context, &samples, &config);
    hot.factors.iter().map(|factor| (factor * 1e3).round() / 1e3).collect()
}

/// A factor moves half of the way to the deviation.
#[test]
fn feedback_follows_the_deviations_of_three_rails_from_the_dead_band_on() {
    let after = |last| {
        let costs = [100_000, 100_000, last];
        let costs: Vec<RailCost> =
            (0..).zip(costs).map(|(rail, ps)| cost(rail, 1_000, ps)).collect();
        feedback([100; 3], [1.0; 3], &costs)
    };
    assert_eq!(after(150_000), [1.0, 1.0, 1.25]);
    assert_eq!(after(75_000), [1.0, 1.0, 0.875]);
    assert_eq!(after(75_001), [1.0; 3]);
}

/// In a trial the rails may end together by chance.
#[test]
fn rails_that_end_together_get_feedback_if_one_of_them_is_excluded_or_should_not_be() {
    // The third rail was assumed to be 1,000 times as slow as it is.
    let all = [0, 1, 2].map(|rail| cost(rail, 1_000, 100_000));
    assert_eq!(feedback([100; 3], [1.0, 1.0, 1e3], &all), [1.0, 1.0, 500.5]);
    // One rail is in use. The trial of another one takes ten times as long as expected; the factor
    // is limited to a slowdown of four.
    let trial = [cost(0, 1_000, 100_000), cost(1, 1, 100_000)];
    assert_eq!(feedback([100, 10_000, 10_000], [1.0; 3], &trial), [1.0, 2.5, 1.0]);
}
