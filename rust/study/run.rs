//! One run, measured.

use std::sync::Arc;

use crate::fabric::{
    self, FixedWorkload, FlowRecord, Outcome, Progress, Replay, Setup, Verdict, Watch, World,
};
use crate::report::{Cost, Identity, JobSummary, OpenMessages, Stopwatch, Summary};
use crate::units::{Span, Time};
use crate::workload::Workload;
use crate::workload::chakra::{ChakraError, Streaming};

/// A run that is to be made.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// What its results are labelled with.
    pub identity: &'a Identity,
    /// What determines it.
    pub setup: &'a Setup,
    /// The lower bound of its workload.
    pub bound: Span,
    /// Traces that are read while it goes on; they replace the workload of `setup`.
    pub traces: Option<&'a Streaming>,
}

/// Those who learn of a run while it goes on.
pub struct Observers<'a> {
    /// Watches packets and counters.
    pub watch: Option<&'a mut dyn Watch>,
    /// Is called with each flow as it completes, if traces are read while the run goes on.
    pub flows: &'a mut dyn FnMut(&FlowRecord),
    /// Is called from time to time with how far the run is.
    pub progress: &'a mut dyn FnMut(&Progress),
}

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

/// Makes a run, and measures what that costs.
///
/// # Errors
/// A fault of traces that showed only while they were read; the run ended there.
pub fn run(run: &Run<'_>, observers: Observers<'_>) -> Result<(Finished, Outcome), ChakraError> {
    match run.traces {
        None => Ok(run_workload(run, observers)),
        Some(traces) => run_traces(run, traces, observers),
    }
}

fn run_workload(run: &Run<'_>, observers: Observers<'_>) -> (Finished, Outcome) {
    let Observers { watch, progress, .. } = observers;
    let stopwatch = Stopwatch::start();
    let observers = fabric::Observers { watch, progress };
    let outcome = fabric::drive(World::new(run.setup), &mut FixedWorkload, observers);
    let cost = stopwatch.stop();
    let Setup { workload, topology, .. } = run.setup;
    let open = OpenMessages::of(&outcome, workload, topology);
    let mut finished = finish(run, &outcome, open, cost);
    finished.summary = finished.summary.with_jobs(JobSummary::of(&outcome, workload));
    (finished, outcome)
}

fn run_traces(
    run: &Run<'_>,
    traces: &Streaming,
    observers: Observers<'_>,
) -> Result<(Finished, Outcome), ChakraError> {
    let setup = Setup { workload: Arc::new(Workload::default()), ..run.setup.clone() };
    let stopwatch = Stopwatch::start();
    let mut world = World::new(&setup);
    world.discard_completed();
    let Observers { watch, flows, progress } = observers;
    let mut program = Replay::new(traces.player(), flows);
    // The world knows only of messages that were posted so far; the traces know of all.
    let (messages, total_bytes) = (traces.messages(), traces.load().total_bytes().get());
    let mut progress = |so_far: &Progress| progress(&Progress { messages, total_bytes, ..*so_far });
    let watch = watch.map(|watch| watch as &mut dyn Watch);
    let observers = fabric::Observers { watch, progress: &mut progress };
    let mut outcome = fabric::drive(world, &mut program, observers);
    if let Some(fault) = program.into_player().into_fault() {
        return Err(fault);
    }
    let cost = stopwatch.stop();
    outcome.messages = outcome.messages.max(messages);
    let open = OpenMessages::of_flows(&outcome, &setup.topology);
    Ok((finish(run, &outcome, open, cost), outcome))
}

fn finish(run: &Run<'_>, outcome: &Outcome, open: OpenMessages, cost: Cost) -> Finished {
    Finished {
        summary: Summary::new(run.identity, &run.setup.topology, outcome, run.bound, cost),
        verdict: outcome.verdict,
        ended: outcome.ended,
        open,
    }
}
