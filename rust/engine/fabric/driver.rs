//! The event loop of every run.
//!
//! The loop does not handle packets: it compares the next event of the world with the next time of
//! the program and runs the earlier one. A fixed workload is a program that posts no messages
//! ([`FixedWorkload`]); the loop is compiled for each kind of program, so that such a run has no
//! cost for the others.

use super::network::PortCounters;
use super::outcome::{Outcome, Progress, Verdict};
use super::program::{FixedWorkload, Program};
use super::setup::Setup;
use super::watch::{Snapshot, Watch};
use super::world::World;
use crate::ids::PortId;
use crate::units::Time;

/// The number of events between two reports of progress, and between two checks for a run that can
/// never complete.
const PROGRESS_EVERY: u64 = 1 << 18;

/// The observers of a run.
pub struct Observers<'a> {
    /// Observes packets and counters.
    pub watch: Option<&'a mut dyn Watch>,
    /// Called with the progress of the run, every `PROGRESS_EVERY` events and at its end.
    pub progress: &'a mut dyn FnMut(&Progress),
}

/// Runs the workload of a setup to its end.
pub fn run(setup: &Setup, progress: &mut dyn FnMut(&Progress)) -> Outcome {
    drive(World::new(setup), &mut FixedWorkload, Observers { watch: None, progress })
}

/// Runs a world to its end under a program. At the same time, events of the world come before the
/// program.
pub fn drive<P: Program + ?Sized>(
    mut world: World,
    program: &mut P,
    observers: Observers<'_>,
) -> Outcome {
    let Observers { watch, progress } = observers;
    let mut watcher = Watcher::new(watch, &mut world);
    let verdict = run_to_end(&mut world, program, &mut watcher, progress);
    progress(&world.progress());
    if let Some(watch) = watcher.watch {
        watch.take_records(&world.take_last_records());
    }
    world.outcome(verdict)
}

fn run_to_end<P: Program + ?Sized>(
    world: &mut World,
    program: &mut P,
    watcher: &mut Watcher<'_>,
    progress: &mut dyn FnMut(&Progress),
) -> Verdict {
    let time_limit = world.time_limit();
    loop {
        // A program answers what has happened before anything else does: what it posts may come
        // before the event that is next now.
        while let Some(event) = world.poll_message_event() {
            program.handle_message(event, world);
        }
        while let Some(flow) = world.poll_flow() {
            program.handle_flow(&flow);
        }
        if program.has_failed() {
            return Verdict::Stalled;
        }
        if world.is_idle() && program.is_done() {
            return Verdict::Completed;
        }
        let (of_world, of_program) = (world.next_time(), program.next_time());
        let Some(next) = of_world.into_iter().chain(of_program).min() else {
            return Verdict::Stalled;
        };
        // A sample comes before an event of the same time. The order of events is looked up again
        // after it, since settling ports may have scheduled earlier ones.
        if watcher.is_due(next.min(time_limit)) {
            watcher.sample(world);
            continue;
        }
        // An event exactly at the limit still happens.
        if next > time_limit {
            world.stop(time_limit);
            return Verdict::TimeLimit;
        }
        if of_world != Some(next) {
            program.handle_time(next, world);
            continue;
        }
        // What the world handles by itself: events up to the next time at which something else has
        // a say, of which an event of the same time is handled before the program.
        let by = watcher.last_before_sample().min(of_program.unwrap_or(time_limit)).min(time_limit);
        let most = PROGRESS_EVERY - world.events() % PROGRESS_EVERY;
        world.run(by, if watcher.watch.is_some() { 1 } else { most });
        watcher.take_records(world);
        if world.events().is_multiple_of(PROGRESS_EVERY) {
            progress(&world.progress());
            // A program that waits for a time of its own may still post a message that can
            // complete.
            if program.next_time().is_none() && world.only_unreachable_remain() {
                return Verdict::Stalled;
            }
        }
    }
}

/// The watch of a run, if any, and its state between samples.
struct Watcher<'a> {
    watch: Option<&'a mut dyn Watch>,
    /// The time of its next sample; `NEVER` without a watch.
    next_sample: Time,
    ports: Vec<PortId>,
    counters: PortCounters,
}

impl<'a> Watcher<'a> {
    fn new(watch: Option<&'a mut dyn Watch>, world: &mut World) -> Self {
        let (mut next_sample, mut ports) = (Time::NEVER, Vec::new());
        if let Some(watch) = &watch {
            world.trace_nodes(&|node| watch.traces(node));
            (next_sample, ports) = (watch.next_sample(), watch.sampled_ports().to_vec());
        }
        Self { watch, next_sample, ports, counters: PortCounters::default() }
    }

    /// True if a sample is due at or before the time `by`.
    #[inline]
    fn is_due(&self, by: Time) -> bool {
        self.next_sample <= by && self.watch.is_some()
    }

    /// The last time before the next sample.
    #[inline]
    fn last_before_sample(&self) -> Time {
        Time::from_ps(self.next_sample.as_ps().saturating_sub(1))
    }

    #[cold]
    fn sample(&mut self, world: &mut World) {
        let Some(watch) = &mut self.watch else { return };
        let now = self.next_sample;
        world.read_before(now, &self.ports, &mut self.counters);
        // Settling the ports may have scheduled an event before all pending ones.
        let next = world.next_time().unwrap_or(Time::NEVER).min(world.time_limit());
        let PortCounters { waiting, carried } = &self.counters;
        let (endpoints, pauses) = (world.endpoints(), world.pauses());
        watch.sample(now, next, &Snapshot { waiting, carried, endpoints, pauses });
        self.next_sample = watch.next_sample();
    }

    #[inline]
    fn take_records(&mut self, world: &mut World) {
        if let Some(watch) = &mut self.watch
            && world.has_enough_records()
        {
            watch.take_records(&world.take_records());
            self.next_sample = watch.next_sample();
        }
    }
}
