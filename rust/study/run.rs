//! One run, measured.

use crate::fabric::{self, Outcome, Progress, Setup, Verdict, Watch};
use crate::report::{Identity, JobSummary, OpenMessages, Stopwatch, Summary};
use crate::units::{Span, Time};

/// A run that ended, however it ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// What it measured, as reports hold it.
    pub summary: Summary,
    /// How it ended.
    pub verdict: Verdict,
    /// When the last event was, or the time limit where that ended it.
    pub ended: Time,
    /// The messages it left open; none if it completed.
    pub open: OpenMessages,
}

/// Runs `setup`, whose workload has the lower bound `bound`, telling `progress` from time to
/// time, and measures what that costs.
pub fn run(
    identity: &Identity,
    setup: &Setup,
    bound: Span,
    progress: &mut dyn FnMut(&Progress),
) -> (Finished, Outcome) {
    measure(identity, setup, bound, || fabric::run(setup, progress))
}

/// The same with somebody who watches.
pub fn run_watched(
    identity: &Identity,
    (setup, bound): (&Setup, Span),
    watch: &mut dyn Watch,
    progress: &mut dyn FnMut(&Progress),
) -> (Finished, Outcome) {
    measure(identity, setup, bound, || fabric::run_watched(setup, watch, progress))
}

fn measure(
    identity: &Identity,
    setup: &Setup,
    bound: Span,
    run: impl FnOnce() -> Outcome,
) -> (Finished, Outcome) {
    let stopwatch = Stopwatch::start();
    let outcome = run();
    let cost = stopwatch.stop();
    let finished = Finished {
        summary: Summary::new(identity, &setup.topology, &outcome, bound, cost)
            .with_jobs(JobSummary::of(&outcome, &setup.workload)),
        verdict: outcome.verdict,
        ended: outcome.ended,
        open: OpenMessages::of(&outcome, &setup.workload, &setup.topology),
    };
    (finished, outcome)
}
