//! A single run, including its cost.

use std::sync::Arc;

use super::compare::Facts;
use super::estimate::uses_queue_pairs_once;
use super::lower_bound::short_time_limit;
use crate::chakra::{ChakraError, Replay, Streaming};
use crate::fabric::{
    self, Cut, FixedWorkload, FlowRecord, Generate, Outcome, Partitioning, Program, Progress,
    Setup, Verdict, Watch, World,
};
use crate::fluid::{self, Estimate, Fidelity};
use crate::report::{
    Breakdown, ClassSummary, Cost, FailureSummary, Identity, JobSummary, OpenMessages, Stopwatch,
    Summary, TransportSummary, below_bound, human, remarks,
};
use crate::scenario::Scenario;
use crate::units::{Bytes, Span, Time};
use crate::workload::{Chains, Workload};

/// Input of a run.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// Identity of its results.
    pub identity: &'a Identity,
    /// Everything that determines its results.
    pub setup: &'a Setup,
    /// Lower bound of its workload.
    pub bound: Span,
    /// Whether it simulates packets or fluid flows.
    pub fidelity: Fidelity,
    /// Maximum number of threads; results do not depend on it. A run that is observed by a watch,
    /// reads traces, generates messages or cannot be partitioned uses one thread.
    pub threads: u16,
    /// Traces that are read during the run; they replace the workload of `setup`.
    pub traces: Option<&'a Streaming>,
}

/// Observers of a run.
pub struct RunObservers<'a> {
    /// Observes packets and counters, which a fluid run does not have.
    pub watch: Option<&'a mut dyn Watch>,
    /// Called with each flow when it completes, if traces are read or messages are generated
    /// during the run.
    pub flows: &'a mut dyn FnMut(&FlowRecord),
    /// Called periodically with the progress of the run.
    pub progress: &'a mut dyn FnMut(&Progress),
}

/// A run that has ended, whether or not it completed.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// Results, as reports contain them.
    pub summary: Summary,
    /// Whether the run completed, reached its time limit, or stalled.
    pub verdict: Verdict,
    /// Time of its last event, or the time limit if it was reached.
    pub ended: Time,
    /// Messages that did not complete.
    pub open: OpenMessages,
    /// Description of an impossible result, a completion time below the lower bound. It is an
    /// internal error (a bug in evenkeel), and also appears in the summary's warnings.
    pub internal_error: Option<String>,
    /// Facts that may explain its completion time.
    pub facts: Facts,
}

impl Finished {
    fn qp_errors(&self) -> u64 {
        self.summary.hardware.map_or(0, |hardware| hardware.qp_errors)
    }

    /// Returns why and when the run did not complete, with its open messages; `None` if it
    /// completed. `limit` is the key of its time limit.
    pub fn incomplete(&self, limit: &str) -> Option<String> {
        let reason = match self.verdict {
            Verdict::Completed => return None,
            Verdict::Stalled => match self.qp_errors() {
                0 => "it stalled (no pending event can complete it)".to_owned(),
                count => format!(
                    "{} exceeded the retries (ack_timeout) and went to the error state",
                    human::plural(count, "queue pair")
                ),
            },
            Verdict::TimeLimit => format!("it reached its time limit ({limit})"),
        };
        let Self { summary, ended, open, .. } = self;
        Some(format!(
            "the run of {} (policy {}, seed {}) did not complete: {reason} at {} of simulated \
             time, with {} of {} open:\n{open}",
            summary.scenario,
            summary.policy,
            summary.seed,
            human::span(Span::from_ps(ended.as_ps())),
            open.count,
            human::plural(summary.messages, "message"),
        ))
    }
}

/// Returns the identity of a scenario's results.
pub fn identity(scenario: &Scenario) -> Identity {
    Identity {
        scenario: scenario.name.clone(),
        policy: scenario.scheme.name.to_owned(),
        seed: scenario.seed,
    }
}

/// Simulates a run, and measures the cost of the simulation.
///
/// # Errors
/// Fails if a trace that is read during the run turns out to be invalid; the run ends there.
pub fn run(run: &Run<'_>, observers: RunObservers<'_>) -> Result<(Finished, Outcome), ChakraError> {
    match (run.traces, &run.setup.workload.chains) {
        (Some(traces), _) => run_traces(run, traces, observers),
        (None, _) if run.fidelity == Fidelity::Fluid => Ok(run_fluid(run, observers)),
        (None, Some(chains)) => Ok(run_chains(run, chains, observers)),
        (None, None) => Ok(run_workload(run, observers)),
    }
}

fn run_workload(run: &Run<'_>, observers: RunObservers<'_>) -> (Finished, Outcome) {
    let RunObservers { watch, progress, .. } = observers;
    let stopwatch = Stopwatch::start();
    let observers = fabric::Observers { watch, progress };
    // A watch sees all events in order, which only a single thread provides.
    let partitioning = match observers.watch {
        None => Partitioning::new(run.setup, run.threads, Cut::default()).ok(),
        Some(_) => None,
    };
    let outcome = match partitioning {
        Some(partitioning) => fabric::run_parallel(run.setup, &partitioning, observers.progress).0,
        None => fabric::drive(World::new(run.setup), &mut FixedWorkload, observers),
    };
    (finish_workload(run, &outcome, stopwatch.stop()), outcome)
}

fn run_fluid(run: &Run<'_>, observers: RunObservers<'_>) -> (Finished, Outcome) {
    let stopwatch = Stopwatch::start();
    let Estimate { mut outcome, warnings } = fluid::run(run.setup, observers.progress);
    let raised = outcome.cct.filter(|cct| *cct < run.bound).map(|cct| {
        format!(
            "the fluid estimate of {} is below the lower bound: the bound is used as the CCT",
            human::span(cct)
        )
    });
    // The fluid completion time is an estimate and the bound is exact, so the bound wins.
    outcome.cct = outcome.cct.map(|cct| cct.max(run.bound));
    let mut finished = finish_workload(run, &outcome, stopwatch.stop());
    let limit = short_time_limit(run.setup, run.bound);
    let warnings = limit.into_iter().chain(raised).chain(warnings).collect();
    finished.summary = finished.summary.of_fluid(warnings);
    (finished, outcome)
}

fn finish_workload(run: &Run<'_>, outcome: &Outcome, cost: Cost) -> Finished {
    let Setup { workload, topology, .. } = run.setup;
    let open = OpenMessages::of(outcome, workload, topology);
    let mut finished = finish(run, outcome, open, cost);
    let jobs = JobSummary::of_setup(outcome, run.setup);
    let classes = ClassSummary::of_setup(outcome, run.setup);
    let breakdown = Breakdown::of_run(outcome, run.setup);
    finished.summary = finished.summary.with_parts(jobs, classes).with_breakdown(breakdown);
    finished
}

fn run_traces(
    run: &Run<'_>,
    traces: &Streaming,
    observers: RunObservers<'_>,
) -> Result<(Finished, Outcome), ChakraError> {
    let RunObservers { watch, flows, progress } = observers;
    let (messages, bytes) = (traces.messages(), traces.load().total_bytes());
    let totals = Totals { chains: None, messages, bytes, queue_pairs: QueuePairs::Kept };
    let mut program = Replay::new(traces.player(), flows);
    let (mut finished, outcome) = run_posted(run, totals, &mut program, watch, progress);
    let player = program.into_player();
    let late = player.late_nodes();
    if let Some(error) = player.into_fault() {
        return Err(error);
    }
    finished.summary.warnings.extend((late > 0).then(|| {
        format!(
            "{late} nodes of the traces were ready before they were read and started late, because \
             only {} nodes of a rank are held; use a larger window, or streaming = false, which \
             needs more memory",
            traces.window()
        )
    }));
    Ok((finished, outcome))
}

fn run_chains(
    run: &Run<'_>,
    chains: &Arc<Chains>,
    observers: RunObservers<'_>,
) -> (Finished, Outcome) {
    let RunObservers { watch, flows, progress } = observers;
    let (messages, bytes) = (chains.messages(), run.setup.workload.total_bytes());
    let totals = Totals { chains: None, messages, bytes, queue_pairs: QueuePairs::Kept };
    // A watch inspects queue pairs by their order of creation, so they must be kept.
    let totals = match uses_queue_pairs_once(run.setup) && watch.is_none() {
        true => Totals { queue_pairs: QueuePairs::UsedOnce, ..totals },
        false => totals,
    };
    run_posted(
        run,
        Totals { chains: Some(chains), ..totals },
        &mut Generate::new(flows),
        watch,
        progress,
    )
}

/// Totals of what a program posts.
#[derive(Debug, Clone, Copy)]
struct Totals<'a> {
    /// The collective, if the world generates its messages itself.
    chains: Option<&'a Arc<Chains>>,
    messages: u64,
    bytes: Bytes,
    queue_pairs: QueuePairs,
}

/// Treatment of the queue pairs of completed messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QueuePairs {
    /// Kept, because later messages may use them.
    Kept,
    /// Discarded, because no later message uses them.
    UsedOnce,
}

/// Runs a program that posts all messages. Messages are discarded when they complete.
fn run_posted<P: Program>(
    run: &Run<'_>,
    totals: Totals<'_>,
    program: &mut P,
    watch: Option<&mut dyn Watch>,
    progress: &mut dyn FnMut(&Progress),
) -> (Finished, Outcome) {
    let setup = Setup { workload: Arc::new(Workload::default()), ..run.setup.clone() };
    let stopwatch = Stopwatch::start();
    let mut world = World::new(&setup);
    world.discard_completed();
    if let Some(chains) = totals.chains {
        world.generate(chains);
    }
    if totals.queue_pairs == QueuePairs::UsedOnce {
        world.discard_queue_pairs();
    }
    // The world counts only the messages posted so far; report the totals instead.
    let (messages, total_bytes) = (totals.messages, totals.bytes.get());
    let mut progress = |so_far: &Progress| progress(&Progress { messages, total_bytes, ..*so_far });
    let watch = watch.map(|watch| watch as &mut dyn Watch);
    let observers = fabric::Observers { watch, progress: &mut progress };
    let mut outcome = fabric::drive(world, program, observers);
    let cost = stopwatch.stop();
    // A run that ended early has not posted all messages.
    outcome.messages = outcome.messages.max(messages);
    let open = OpenMessages::of_flows(&outcome, &setup.topology);
    (finish(run, &outcome, open, cost), outcome)
}

fn finish(run: &Run<'_>, outcome: &Outcome, open: OpenMessages, cost: Cost) -> Finished {
    let summary = Summary::new(run.identity, &run.setup.topology, outcome, run.bound, cost);
    let remarks = remarks(run.setup, outcome, run.bound);
    let summary = summary.with_failures(FailureSummary::of(run.setup));
    let summary = summary.with_rates(run.setup.workload.operation.as_ref(), outcome.cct);
    Finished {
        summary: summary.with_transport(TransportSummary::of(run.setup), remarks),
        verdict: outcome.verdict,
        ended: outcome.ended,
        open,
        internal_error: below_bound(run.setup, outcome, run.bound),
        facts: Facts::of(run.setup, outcome, run.bound),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::scenario::Overrides;

    /// Returns the results of a run whose lower bound is claimed to be `bound`.
    fn finished(fidelity: &str, bound: Span) -> Finished {
        let text = format!(
            "fidelity = \"{fidelity}\"\n[topology]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n\
             [workload]\nkind = \"permutation\"\nbytes = \"64KB\"\n"
        );
        let scenario = Scenario::parse(&text, "a", Path::new(""), &Overrides::default()).unwrap();
        let (identity, setup) = (identity(&scenario), scenario.setup());
        let fidelity = scenario.fidelity;
        let a_run =
            Run { identity: &identity, setup: &setup, bound, fidelity, threads: 1, traces: None };
        let observers = RunObservers { watch: None, flows: &mut |_| {}, progress: &mut |_| {} };
        run(&a_run, observers).unwrap().0
    }

    #[test]
    fn a_completion_below_the_bound_is_a_fault_only_in_packet_runs() {
        let error = finished("packet", Span::from_ms(1)).internal_error.expect("it is below");
        assert!(error.contains("is below its lower bound of 1.000ms"), "{error}");
        assert!(finished("packet", Span::from_ms(1)).summary.warnings.contains(&error));
        assert_eq!(finished("packet", Span::from_ns(1)).internal_error, None);
        let fluid = finished("fluid", Span::from_ms(1));
        assert_eq!((fluid.internal_error, fluid.summary.slowdown), (None, Some(1.0)));
        let warning = "is below the lower bound: the bound is used as the CCT";
        assert!(fluid.summary.warnings.iter().any(|it| it.ends_with(warning)), "it says so");
    }

    #[test]
    fn a_time_limit_below_the_bound_is_a_warning_in_packet_and_fluid_runs() {
        for fidelity in ["packet", "fluid"] {
            let warnings = finished(fidelity, Span::from_ms(20_000)).summary.warnings;
            let expected = "the time limit of 10.00s is less than the lower bound of the \
                            completion time, 20.00s";
            assert_eq!(warnings[0], expected, "{fidelity}: {warnings:?}");
        }
    }
}
