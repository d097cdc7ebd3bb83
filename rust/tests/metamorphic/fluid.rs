//! Relations of fluid runs.

use evenkeel::fabric::{Setup, Verdict};
use evenkeel::fluid;
use evenkeel::units::Span;

use super::additions::{Parts, leaf_spine};
use super::draft::Draft;
use super::rates::{explicit, faster};
use super::relation::{Case, CheckResult, Failure, Relation, defined, require, resolved};

pub(super) const RELATIONS: &[Relation] = &[
    Relation {
        name: "fluid-idle-pod",
        says: "A leaf with idle hosts does not matter to a fluid run.",
        fault: "the pod's cables make all cables longer",
        check: idle_pod,
    },
    Relation {
        name: "fluid-double-speed",
        says: "Doubling rates and halving delays halves all times of a fluid run.",
        fault: "the cables of the faster fabric keep their length",
        check: double_speed,
    },
];

/// Maximum relative difference of two fluid runs: times are rounded at each rate change.
const ROUNDING: f64 = 1e-4;

/// Returns the messages' completion times in nanoseconds, or `None` if the run does not complete.
fn times(setup: &Setup) -> Option<Vec<f64>> {
    let outcome = fluid::run(setup, &mut |_| {}).outcome;
    let is_complete = outcome.verdict == Verdict::Completed;
    is_complete.then(|| outcome.message_fct.iter().map(|span| span.as_ns_f64()).collect())
}

/// Fails if times differ by more than rounding errors.
fn close(expected: &[f64], found: &[f64]) -> CheckResult {
    // Each rate change rounds completion times to a picosecond.
    let is_close = |(a, b): &(&f64, &f64)| (*a - *b).abs() <= 0.01 + ROUNDING * a.max(**b);
    match expected.iter().zip(found).find(|pair| !is_close(pair)) {
        None => Ok(()),
        Some((a, b)) => Err(Failure::Broken(format!("a message takes {a} and {b} ns"))),
    }
}

fn idle_pod(case: &Case) -> CheckResult {
    let mut draft = leaf_spine(case);
    draft.remove("failure");
    let setup = resolved(&draft)?.setup();
    let mut parts = Parts::of(&setup.topology);
    parts.pod(Span::from_us(60));
    if case.is_faulty {
        parts.links.iter_mut().for_each(|link| link.delay += Span::from_us(1));
    }
    let other = defined(parts.setup(&setup))?;
    close(&defined(times(&setup))?, &defined(times(&other))?)
}

fn double_speed(case: &Case) -> CheckResult {
    let mut draft: Draft = explicit(case, 60_000)?;
    draft.remove("failure");
    // The rates of thousands of flows are recomputed whenever a flow ends.
    require(resolved(&draft)?.messages() < 500)?;
    let mut fast = draft.clone();
    fast.0.iter_mut().for_each(|(_, value)| faster(value, case.is_faulty));
    let [slow, fast] = [&draft, &fast].map(|draft| draft.scenario());
    let (slow, fast) = (defined(slow)?.setup(), defined(fast)?.setup());
    let twice: Vec<f64> = defined(times(&fast))?.iter().map(|time| 2.0 * time).collect();
    close(&defined(times(&slow))?, &twice)
}
