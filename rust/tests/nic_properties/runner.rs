//! Generates cases, and shrinks and prints failures.

use std::fmt::Write as _;
use std::panic::AssertUnwindSafe;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use super::case::{Case, case, case_of_planes};
use super::pipe::WakeUps;
use super::properties::{check_case, run};
use super::settings::{OfPlanes, Settings, delivering, limited, settings, sharing};
use super::start::Start;
use super::verbs;
use crate::support::extent;

/// Cases per pair without `EVENKEEL_CASES`: by default, and with `EVENKEEL_LONG_TESTS=1`.
const CASES: [u32; 2] = [20, 10_000];

/// Maximum number of trace lines that a failure prints, from the end.
const TRACE_LINES: usize = 150;

/// Checks all properties of a pair of recovery and congestion control.
pub(crate) fn check(recovery: &'static str, control: &str) {
    let settings = settings(recovery, control).unwrap_or_else(|error| panic!("{error}"));
    let start = |case: &Case| Start::fresh(&settings, case);
    check_from(case(), start, &settings, &format!("{control}/{recovery}"));
}

/// Checks all properties of a recovery where all queue pairs share a window.
pub(crate) fn check_sharing(recovery: &'static str) {
    let settings = sharing(recovery).unwrap_or_else(|error| panic!("{error}"));
    let start = |case: &Case| Start::fresh(&settings, case);
    check_from(case(), start, &settings, &format!("shared/nscc/{recovery}"));
}

/// Checks all properties of a recovery with a delivery order other than its default.
pub(crate) fn check_delivery(recovery: &'static str, control: &str, delivery: &str) {
    let settings = delivering(recovery, control, delivery).unwrap_or_else(|it| panic!("{it}"));
    let start = |case: &Case| Start::fresh(&settings, case);
    check_from(case(), start, &settings, &format!("{delivery}/{control}/{recovery}"));
}

/// Checks all properties of a recovery where at most `most` messages with immediates are in flight.
pub(crate) fn check_immediates(recovery: &'static str, control: &str, most: u32) {
    let settings = limited(recovery, control, most).unwrap_or_else(|error| panic!("{error}"));
    let start = |case: &Case| Start::fresh(&settings, case);
    check_from(case(), start, &settings, &format!("{most}/{control}/{recovery}"));
}

/// Checks all properties of NICs with several ports.
pub(crate) fn check_planes(of: OfPlanes) {
    let settings = of.settings().unwrap_or_else(|error| panic!("{error}"));
    let start = |case: &Case| Start::fresh(&settings, case);
    let OfPlanes { policy, recovery, control, parameters } = of;
    let what = format!("planes/{recovery}/{control}/{policy}/{parameters}");
    check_from(case_of_planes(), start, &settings, &what);
}

/// Checks all properties of a recovery where its sequence numbers wrap.
pub(crate) fn check_wrap(recovery: &'static str) {
    let settings = settings(recovery, "line-rate").unwrap_or_else(|error| panic!("{error}"));
    let like =
        |ack_every| Case { seed: 1, ack_every, nack_interval_us: 50, qps: 1, ..Case::default() };
    let starts = [1, 4].map(|ack_every| Start::before_the_wrap(&settings, &like(ack_every)));
    let start = |case: &Case| starts[usize::from(case.ack_every % 2)].clone();
    let one_pair = case().prop_map(|case| Case { qps: 1, ..case });
    check_from(one_pair, start, &settings, &format!("wrap/{recovery}"));
}

/// Checks the properties of the verbs with a recovery and a congestion control.
pub(crate) fn check_verbs(recovery: &'static str, control: &str) {
    let settings = settings(recovery, control).unwrap_or_else(|error| panic!("{error}"));
    let what = format!("verbs/{control}/{recovery}");
    let (mut runner, seed) = runner(&what);
    let check_case = |case| verbs::check_case(&case, &settings).map_err(TestCaseError::fail);
    match runner.run(&verbs::case(), check_case) {
        Ok(()) => {}
        Err(TestError::Fail(reason, case)) => {
            panic!("{what} (EVENKEEL_SEED={seed}): {reason}\n{case:#?}")
        }
        Err(TestError::Abort(reason)) => panic!("{what}: {reason}"),
    }
}

/// Panics with the seed, the shrunk case and its trace.
fn check_from(
    cases: impl Strategy<Value = Case>,
    start: impl Fn(&Case) -> Start,
    settings: &Settings,
    what: &str,
) {
    let (mut runner, seed) = runner(what);
    let result = runner.run(&cases, |case| {
        check_case(&case, settings, &start(&case)).map_err(TestCaseError::fail)
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, case)) => panic!(
            "{what} (EVENKEEL_SEED={seed}): {reason}\n{case:#?}\n{}",
            trace(&case, settings, &start(&case))
        ),
        Err(TestError::Abort(reason)) => panic!("{what}: {reason}"),
    }
}

/// Returns a runner with the environment's number of cases, and its seed.
fn runner(what: &str) -> (TestRunner, u64) {
    let seed = number("EVENKEEL_SEED").unwrap_or(1);
    let count = match number("EVENKEEL_CASES") {
        Some(cases) => cases.try_into().expect("cases"),
        None => CASES[usize::from(extent::is_long())],
    };
    let config = Config {
        cases: count,
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..Config::default()
    };
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    for (place, byte) in key[8..].iter_mut().zip(what.bytes()) {
        *place = byte;
    }
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &key);
    (TestRunner::new_with_rng(config, random), seed)
}

/// Reads a number from an environment variable.
fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text}: it must be a whole number")))
}

/// Formats the trace of a case up to its failure, one line per event.
fn trace(case: &Case, settings: &Settings, start: &Start) -> String {
    let ran = std::panic::catch_unwind(AssertUnwindSafe(|| {
        run(case, settings, start, WakeUps::Asked).0.trace
    }));
    let Ok(trace) = ran else { return "the NIC panics: its trace ends there".to_owned() };
    let mut text = String::new();
    let skipped = trace.len().saturating_sub(TRACE_LINES);
    if skipped > 0 {
        writeln!(text, "... {skipped} lines").expect("a string takes all");
    }
    for (now, seen) in &trace[skipped..] {
        writeln!(text, "{now} {}", seen.line()).expect("a string takes all");
    }
    text
}
