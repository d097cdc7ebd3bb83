//! Generates scenarios from seeds until one has a fault, or the time is up.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use proptest::strategy::{BoxedStrategy, Strategy};
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

use super::drawn::Drawn;
use crate::extent;

/// Prefix of the line that reports how long it took to find a fault.
pub(super) const FOUND: &str = "found after ";

/// Number of seeds without `EVENKEEL_SIMULATION_SECONDS`: by default, and with
/// `EVENKEEL_LONG_TESTS=1`.
const FEW: [u64; 2] = [20, 60];

/// First seed in the same two cases: simulating seed 4 takes as long as 100 other seeds.
const FIRST: [u64; 2] = [5, 0];

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Returns the scenario of a seed, shrunk, with its fault; `None` without a fault.
fn fault_of_seed(
    strategy: &BoxedStrategy<Drawn>,
    seed: u64,
    check: &dyn Fn(&str) -> Result<(), String>,
) -> Option<(String, String)> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    // Shrinking stops after a minute, and the scenario is printed as it is then.
    let config = Config { failure_persistence: None, max_shrink_time: 60_000, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, rng);
    let tree = strategy.new_tree(&mut runner).expect("nothing is filtered");
    let result = runner
        .run_one(tree, |drawn| check(&drawn.0).map_err(proptest::test_runner::TestCaseError::fail));
    match result {
        Ok(_) => None,
        Err(TestError::Fail(reason, Drawn(text))) => Some((text, reason.to_string())),
        Err(TestError::Abort(reason)) => panic!("seed {seed}: {reason}"),
    }
}

/// Saves a scenario with a fault and returns its path.
fn keep(seed: u64, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fault-of-seed-{seed}.toml"));
    std::fs::write(&path, text).expect("the folder of temporary files is writable");
    path
}

#[expect(clippy::disallowed_methods, reason = "how long it looks for faults is wall time")]
fn now() -> Instant {
    Instant::now()
}

/// A search for a scenario that has a fault.
pub(crate) struct Search<'a> {
    /// Name of the test.
    pub(crate) name: &'a str,
    /// Command that runs its seeds again.
    pub(crate) again: &'a str,
    /// Command that runs a scenario again; `{}` stands for its file.
    pub(crate) replay: &'a str,
    /// Number of seeds without `EVENKEEL_SIMULATION_SECONDS`: by default, and with
    /// `EVENKEEL_LONG_TESTS=1`.
    pub(crate) few: [u64; 2],
    /// The strategy for the scenario of a seed.
    pub(crate) strategy: &'a dyn Fn(u64) -> BoxedStrategy<Drawn>,
    /// Returns an error if a scenario has a fault.
    pub(crate) check: &'a dyn Fn(&str) -> Result<(), String>,
}

impl Search<'_> {
    /// Generates scenarios from consecutive seeds and checks each of them.
    ///
    /// # Panics
    /// If one has a fault. The message has the shrunk scenario and the commands that run it again.
    pub(crate) fn run(&self) {
        let Self { name, again, replay, few, strategy, check } = self;
        let long = usize::from(extent::is_long());
        let first = variable("EVENKEEL_SIMULATION_SEED").unwrap_or(FIRST[long]);
        let seconds = variable("EVENKEEL_SIMULATION_SECONDS");
        let most = if seconds.is_some() { u64::MAX - first } else { few[long] };
        let (begin, length) = (now(), Duration::from_secs(seconds.unwrap_or(u64::MAX >> 32)));
        let mut tried = 0;
        for seed in first..first + most {
            let so_far = now() - begin;
            if so_far > length {
                break;
            }
            tried += 1;
            let Some((text, reason)) = fault_of_seed(&strategy(seed), seed, check) else {
                continue;
            };
            let path = keep(seed, &text);
            let mut said = format!("{name}, seed {seed}: {reason}\n\n{text}\n");
            let _ = writeln!(said, "{FOUND}{tried} of its scenarios, {} s", so_far.as_secs());
            let replay = replay.replace("{}", &path.display().to_string());
            let _ = writeln!(said, "again: {replay}");
            let _ = writeln!(said, "or:    EVENKEEL_SIMULATION_SEED={seed} {again}");
            panic!("{said}");
        }
        let seconds = (now() - begin).as_secs();
        let line = format!("{name}: {tried} seeds from {first} on in {seconds} s, no fault\n");
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}

/// Searches the scenarios of one strategy.
///
/// # Panics
/// As [`Search::run`].
pub(crate) fn test(
    name: &str,
    again: &str,
    strategy: &BoxedStrategy<Drawn>,
    check: &dyn Fn(&str) -> Result<(), String>,
) {
    let replay = "evenkeel run --check {}";
    Search { name, again, replay, few: FEW, strategy: &|_| strategy.clone(), check }.run();
}
