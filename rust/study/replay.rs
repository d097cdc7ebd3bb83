//! One run of traces that are read while it goes on, measured.

use std::sync::Arc;

use super::Finished;
use crate::fabric::{self, FlowRecord, Outcome, Progress, Replay, Setup, World};
use crate::report::{Identity, OpenMessages, Stopwatch, Summary};
use crate::units::Span;
use crate::workload::Workload;
use crate::workload::chakra::{ChakraError, Streaming};

/// Who hears of a run while it goes on.
pub struct Watch<'a> {
    /// Each flow as it is over.
    pub flows: &'a mut dyn FnMut(&FlowRecord),
    /// How far it is, from time to time.
    pub progress: &'a mut dyn FnMut(&Progress),
}

/// Runs `traces` in the world of `setup`, with the lower bound `bound`, and measures what that
/// costs. The workload of `setup` is not looked at.
///
/// # Errors
/// What is wrong with the traces and showed only now; the run ended there.
pub fn replay(
    identity: &Identity,
    setup: &Setup,
    (traces, bound): (&Streaming, Span),
    watch: Watch<'_>,
) -> Result<(Finished, Outcome), ChakraError> {
    let setup = Setup { workload: Arc::new(Workload::default()), ..setup.clone() };
    let stopwatch = Stopwatch::start();
    let mut world = World::new(&setup);
    world.forget_over();
    let mut program = Replay::new(traces.player(), watch.flows);
    let known = (traces.messages(), traces.load().total_bytes().get());
    let mut progress = |so_far: &Progress| {
        let (messages, total_bytes) = known;
        (watch.progress)(&Progress { messages, total_bytes, ..*so_far });
    };
    let mut outcome = fabric::drive(world, setup.time_limit, &mut program, &mut progress);
    if let Some(fault) = program.into_player().into_fault() {
        return Err(fault);
    }
    let cost = stopwatch.stop();
    outcome.messages = outcome.messages.max(traces.messages());
    let finished = Finished {
        summary: Summary::new(identity, &setup.topology, &outcome, bound, cost),
        verdict: outcome.verdict,
        ended: outcome.ended,
        open: OpenMessages::of_flows(&outcome, &setup.topology),
    };
    Ok((finished, outcome))
}
