//! Test rails whose cost is exactly a line, α + x/β, with or without noise.

use evenkeel_engine::rng::{Purpose, Stream};
use proptest::test_runner::{Config, RngSeed};

use super::{Allocator, AllocatorConfig, Division, RailCost, RailOperation, allocator_config};
use crate::ids::RailId;
use crate::units::{BitRate, Bytes, Span};

/// A rail: start-up in nanoseconds, and picoseconds per byte.
pub(super) type Rail = (u64, u64);

/// Returns a configuration of `count` cases with a fixed seed. `PROPTEST_RNG_SEED` and
/// `PROPTEST_CASES` override seed and count.
pub(super) fn cases(count: u32) -> Config {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(1);
    }
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = count;
    }
    config
}

/// Rails, an allocator, and a random stream for noise.
pub(super) struct Bench {
    pub(super) allocator: Allocator,
    pub(super) rails: Vec<Rail>,
    /// Maximum relative error of durations, in thousandths.
    pub(super) noise: u32,
    random: Stream,
}

pub(super) fn config(name: &str, parameters: &str) -> AllocatorConfig {
    allocator_config(name, &parameters.parse().unwrap()).unwrap()
}

pub(super) fn operation(bytes: u64) -> RailOperation {
    RailOperation { bytes: Bytes::new(bytes), element: Bytes::new(4) }
}

impl Bench {
    pub(super) fn new(name: &str, rails: &[Rail]) -> Self {
        let nominal: Vec<BitRate> =
            rails.iter().map(|rail| BitRate::from_bps(8_000_000_000_000 / rail.1)).collect();
        let allocator = config(name, "").build(&nominal).unwrap();
        let random = Stream::new(1, Purpose::Test, 5);
        Self { allocator, rails: rails.to_vec(), noise: 0, random }
    }

    /// Returns the time of a rail for `bytes` in picoseconds, without noise.
    pub(super) fn takes(&self, rail: RailId, bytes: Bytes) -> u64 {
        let (start_ns, ps_per_byte) = self.rails[rail.index()];
        start_ns * 1_000 + bytes.get() * ps_per_byte
    }

    /// Divides an operation and reports its costs. Returns the division.
    pub(super) fn step(&mut self, bytes: u64) -> Division {
        let operation = operation(bytes);
        let division = self.allocator.allocate(&operation).unwrap();
        assert_eq!(division.total(), operation.bytes);
        let mut costs = Vec::new();
        for it in division.ranges() {
            let ps = self.takes(it.rail, it.bytes());
            let off = 1_000 - self.noise + self.random.below(2 * self.noise + 1);
            let duration = Span::from_ps(ps * u64::from(off) / 1_000);
            costs.push(RailCost { rail: it.rail, bytes: it.bytes(), duration });
        }
        self.allocator.handle_costs(&operation, &costs);
        division
    }

    /// Divides `count` operations. Returns the last division.
    pub(super) fn steps(&mut self, count: u32, bytes: u64) -> Division {
        (0..count).map(|_| self.step(bytes)).last().unwrap()
    }

    /// Returns the duration of a division in picoseconds, without noise.
    pub(super) fn duration(&self, division: &Division) -> u64 {
        division.ranges().map(|it| self.takes(it.rail, it.bytes())).max().unwrap_or(0)
    }

    /// Returns (longest − shortest) / longest among the rails with a share, without noise.
    pub(super) fn spread(&self, division: &Division) -> f64 {
        let ps = || division.ranges().map(|it| self.takes(it.rail, it.bytes()));
        let (longest, shortest) = (ps().max().unwrap(), ps().min().unwrap());
        (longest - shortest) as f64 / longest as f64
    }
}
