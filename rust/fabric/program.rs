//! Runs whose messages are not all known at the start.

use super::simulation::{Setup, World};
use super::{Outcome, Progress, Verdict};
use crate::endpoint::{FlowRecord, Over};
use crate::units::Time;

/// What decides as a run goes on what is sent next: an allocator, a trace that is read as it is
/// needed. It posts messages with [`World::post`].
pub trait Program {
    /// When it wants to be called though no message of its is over; `None` if it waits for
    /// messages alone.
    fn next_time(&mut self) -> Option<Time>;

    /// The time has come that it named.
    fn handle_time(&mut self, now: Time, world: &mut World);

    /// A message that it posted is delivered, or its sender knows that it is.
    fn handle_over(&mut self, over: Over, world: &mut World);

    /// True if it will post no more.
    fn is_done(&self) -> bool;

    /// A flow is over, and forgotten with this; only of a world that forgets
    /// ([`World::forget_over`]).
    fn handle_flow(&mut self, _flow: &FlowRecord) {}

    /// True if it cannot go on: the run ends here, stalled.
    fn has_failed(&self) -> bool {
        false
    }
}

/// Steps between two calls of `progress`.
const PROGRESS_EVERY: u64 = 1 << 18;

/// Runs a program to its end, telling `progress` from time to time. At the same time packets come
/// before the program's own time.
pub fn run_program(
    setup: &Setup,
    program: &mut dyn Program,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    drive(World::new(setup), setup.time_limit, program, progress)
}

/// The same in a world that is there already, up to `time_limit`.
pub fn drive(
    mut world: World,
    time_limit: Time,
    program: &mut dyn Program,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    let mut steps = 0u64;
    let verdict = loop {
        while let Some(over) = world.poll_over() {
            program.handle_over(over, &mut world);
        }
        while let Some(flow) = world.poll_flow() {
            program.handle_flow(&flow);
        }
        if program.has_failed() {
            break Verdict::Stalled;
        }
        if program.is_done() && world.is_idle() {
            break Verdict::Completed;
        }
        let (of_world, of_program) = (world.next_time(), program.next_time());
        let Some(next) = of_world.into_iter().chain(of_program).min() else {
            break Verdict::Stalled;
        };
        if next > time_limit {
            world.stop(time_limit);
            break Verdict::TimeLimit;
        }
        if of_world == Some(next) {
            world.step();
        } else {
            program.handle_time(next, &mut world);
        }
        steps += 1;
        if steps.is_multiple_of(PROGRESS_EVERY) {
            progress(&world.progress());
        }
    };
    progress(&world.progress());
    world.outcome(verdict)
}
