//! Watching a run as it goes on: what happens to each packet at chosen nodes, and looks at queues
//! and links at chosen times.
//!
//! A run that nobody watches pays for none of it: [`super::run`] has a loop of its own, and a
//! packet finds out from the port that it is at whether anybody wants to know.

use super::simulation::{PROGRESS_EVERY, Setup, World};
use super::tape::PacketRecord;
use super::{Outcome, Progress, Verdict};
use crate::endpoint::Endpoints;
use crate::ids::PortId;
use crate::topology::Node;
use crate::units::Time;

/// Who watches a run.
pub trait Watch {
    /// True if what happens to packets at this node is to be told.
    fn follows(&self, node: Node) -> bool;

    /// The ports whose counters it looks at.
    fn looks_at(&self) -> &[PortId];

    /// When it wants to look next; [`Time::NEVER`] if it does not.
    fn next_look(&self) -> Time;

    /// That time has come. Nothing happens before `next_event`, so that looks up to then see the
    /// same as long as nothing waits.
    fn look(&mut self, now: Time, next_event: Time, sight: &Sight<'_>);

    /// What happened to packets, in order of time.
    fn take(&mut self, records: &[PacketRecord]);
}

/// What there is to see, as it is before anything starts or arrives at the time of the look. Of
/// ports that a watch did not name the counters may lag.
#[derive(Debug, Clone, Copy)]
pub struct Sight<'a> {
    /// Bytes without priority that wait at each port, by port id; the packet on the wire does not
    /// wait, and what hosts have to send does not either.
    pub waiting: &'a [u32],
    /// Bytes of packets that have started on each port's wire, by port id.
    pub carried: &'a [u64],
    /// The hosts.
    pub endpoints: &'a Endpoints,
}

/// [`super::run`] with somebody who watches; what happens is the same.
pub fn run_watched(
    setup: &Setup,
    watch: &mut dyn Watch,
    progress: &mut dyn FnMut(&Progress),
) -> Outcome {
    let mut world = World::new(setup);
    world.follow(&|node| watch.follows(node));
    let verdict = go_on(&mut world, setup.time_limit, watch, progress);
    world.settle_noted();
    watch.take(&world.take_records(Time::NEVER));
    world.outcome(verdict)
}

fn go_on(
    world: &mut World,
    time_limit: Time,
    watch: &mut dyn Watch,
    progress: &mut dyn FnMut(&Progress),
) -> Verdict {
    let ports = watch.looks_at().to_vec();
    let mut seen = Seen::default();
    let mut steps = 0u64;
    while !world.is_idle() {
        let Some(next) = world.next_time() else { return Verdict::Stalled };
        let look = watch.next_look();
        if look <= next && look <= time_limit {
            world.look(look, &ports, &mut seen);
            // A look can see to an event that comes before those that were there.
            let next = world.next_time().unwrap_or(Time::NEVER).min(time_limit);
            let Seen { waiting, carried } = &seen;
            watch.look(look, next, &Sight { waiting, carried, endpoints: world.endpoints() });
            continue;
        }
        if next > time_limit {
            world.stop(time_limit);
            return Verdict::TimeLimit;
        }
        world.step();
        if world.has_many_records() {
            let now = world.now();
            watch.take(&world.take_records(now));
        }
        steps += 1;
        if steps.is_multiple_of(PROGRESS_EVERY) {
            progress(&world.progress());
            if world.is_hopeless() {
                return Verdict::Stalled;
            }
        }
    }
    progress(&world.progress());
    Verdict::Completed
}

/// Counters of all ports at a look.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub waiting: Vec<u32>,
    pub carried: Vec<u64>,
}
