//! Coverage of intervals by simulation, on distributions typical of completion times.

use rand_core::Rng;
use rand_pcg::Pcg32;

use super::{MIN_SEEDS, Sample, coverage};

/// Samples per cell. A rate over 10,000 samples has a standard deviation of 0.24 points.
const ROUNDS: u32 = 10_000;

/// Minimum coverage that is accepted.
const ACCEPTED: f64 = 0.93;

/// Distribution of completion times over the lower bound, with its median.
struct Times {
    name: &'static str,
    median: f64,
    draw: fn(&mut Pcg32) -> f64,
}

const TIMES: [Times; 3] = [
    Times { name: "log-normal", median: 1.5, draw: |random| 1.5 * (0.6 * normal(random)).exp() },
    // An exponent of 1.1: the mean exists, the variance does not. The median is 2^(1 / 1.1).
    Times { name: "Pareto", median: 1.877_862_2, draw: |random| uniform(random).powf(-1.0 / 1.1) },
    // Three of ten runs have a timeout of 20 times the bound: the median is that of the others at
    // 0.5 / 0.7.
    Times {
        name: "time-outs",
        median: 1.0 + 0.2 * 0.5 / 0.7,
        draw: |random| {
            let time_out = if uniform(random) < 0.3 { 20.0 } else { 0.0 };
            1.0 + 0.2 * uniform(random) + time_out
        },
    },
];

/// Returns a uniform random number in (0, 1).
fn uniform(random: &mut Pcg32) -> f64 {
    (f64::from(random.next_u32()) + 0.5) / 4_294_967_296.0
}

/// Returns a standard normal random number, by the Box-Muller method.
fn normal(random: &mut Pcg32) -> f64 {
    let radius = (-2.0 * uniform(random).ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform(random)).cos()
}

/// Fractions of a cell's intervals that contain the median.
struct Rates {
    /// Intervals of the median time.
    time: f64,
    /// Intervals of the median ratio of two policies, which is 2: one takes twice as long. Each
    /// policy has its own draws, and a seed's workload is longer or shorter for both.
    ratio: f64,
}

fn rates(times: &Times, seeds: usize) -> Rates {
    let mut random = Pcg32::new(seeds as u64, 16);
    let [mut time, mut ratio] = [0; 2];
    let contains = |sample: Option<Sample>, median| {
        u32::from(sample.and_then(|it| it.interval()).expect("several values").contains(median))
    };
    for _ in 0..ROUNDS {
        let one: Vec<f64> = (0..seeds).map(|_| (times.draw)(&mut random)).collect();
        let pairs = one.iter().map(|one| {
            let workload = (0.5 * normal(&mut random)).exp();
            (2.0 * one * workload, (times.draw)(&mut random) * workload)
        });
        let pairs: Vec<(f64, f64)> = pairs.collect();
        time += contains(Sample::of(&one), times.median);
        ratio += contains(Sample::of_ratios(&pairs), 2.0);
    }
    let [time, ratio] = [time, ratio].map(|count| f64::from(count) / f64::from(ROUNDS));
    Rates { time, ratio }
}

#[test]
fn intervals_cover_the_median_at_the_stated_rate() {
    let mut table = format!(
        "Intervals that contain the median, of {ROUNDS}\n\n{:<12}{:>5}{:>9}{:>9}{:>9}\n",
        "times", "seeds", "exact", "time", "ratio"
    );
    for times in &TIMES {
        for seeds in [MIN_SEEDS, 10, 30] {
            let Rates { time, ratio } = rates(times, seeds);
            let (exact, name) = (coverage(seeds), times.name);
            table += &format!("{name:<12}{seeds:>5}{exact:>9.4}{time:>9.4}{ratio:>9.4}\n");
            for rate in [time, ratio] {
                assert!(rate >= ACCEPTED, "{name} with {seeds} seeds: {rate}");
                assert!((rate - exact).abs() < 0.01, "{name} with {seeds} seeds: {rate}");
            }
        }
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../../snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("interval-coverage", table));
}
