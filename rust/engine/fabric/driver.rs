//! The event loop of every run.
//!
//! The loop handles no packets. It compares the time of the world's next event with the program's
//! next time, and runs the earlier one. A fixed workload is a program that posts no messages
//! ([`FixedWorkload`]). The loop is monomorphized for each kind of program, so such a run pays
//! nothing for the others.

use super::network::PortCounters;
use super::outcome::{Outcome, Progress, Verdict};
use super::program::{FixedWorkload, Program};
use super::setup::Setup;
use super::watch::{Snapshot, Watch};
use super::world::World;
use crate::ids::PortId;
use crate::units::Time;

/// Number of events between progress reports, which is also the interval of the check for runs that
/// can never complete.
const PROGRESS_EVERY: u64 = 1 << 18;

/// The observers of a run.
pub struct Observers<'a> {
    /// Observes packets and counters.
    pub watch: Option<&'a mut dyn Watch>,
    /// Called with the progress of the run, every `PROGRESS_EVERY` events and at its end.
    pub progress: &'a mut dyn FnMut(&Progress),
}

/// Runs the workload of a setup to its end.
///
/// # Examples
/// ```
/// use std::{collections::BTreeMap, sync::Arc};
///
/// use evenkeel_engine::balance::{Parameters, build_scheme};
/// use evenkeel_engine::fabric::{self, Buffer, FabricConfig, Setup, Verdict};
/// use evenkeel_engine::ids::HostId;
/// use evenkeel_engine::nic::NicConfig;
/// use evenkeel_engine::topology::LeafSpine;
/// use evenkeel_engine::units::{BitRate, Bytes, Span, Time};
/// use evenkeel_engine::workload::{Message, Workload};
///
/// let rate = BitRate::from_gbps(400);
/// let fabric = LeafSpine {
///     leaves: 4,
///     spines: 4,
///     hosts_per_leaf: 4,
///     host_rate: rate,
///     fabric_rate: rate,
///     delay: Span::from_ns(500),
///     parallel_links: 1,
/// };
/// // Every host sends 1 MB to a host of the next leaf.
/// let send = |host| {
///     let (src, dst) = (HostId(host), HostId((host + 4) % 16));
///     Message::starting_at_zero(host, src, dst, Bytes::new(1_000_000))
/// };
/// let mut times = Vec::new();
/// for policy in ["ecmp", "spray"] {
///     let scheme = build_scheme(policy, &Parameters::new())?;
///     let setup = Setup {
///         topology: Arc::new(fabric.build()?),
///         fabric: FabricConfig::plain(Buffer::Shared(Bytes::new(64_000_000))),
///         nic: NicConfig { recovery: scheme.recovery, ..NicConfig::default() },
///         own_nics: BTreeMap::new(),
///         scheme,
///         job_policies: Vec::new(),
///         job_classes: Vec::new(),
///         workload: Arc::new(Workload::independent((0..16).map(send).collect())),
///         seed: 1,
///         time_limit: Time::ZERO + Span::from_ms(100),
///         probes: Vec::new(),
///     };
///     let outcome = fabric::run(&setup, &mut |_| {});
///     assert_eq!(outcome.verdict, Verdict::Completed);
///     times.push(outcome.cct);
/// }
/// // Under ECMP, some flows share an uplink.
/// assert!(times[0] > times[1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run(setup: &Setup, progress: &mut dyn FnMut(&Progress)) -> Outcome {
    drive(World::new(setup), &mut FixedWorkload, Observers { watch: None, progress })
}

/// Runs a world to its end under a program. At equal times, events of the world precede the
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
    // Settles the traced ports, so that the packets that started last are recorded too.
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
        // The program reacts before the next event: what it posts may come before that event.
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
        let (world_time, program_time) = (world.next_time(), program.next_time());
        let Some(next) = world_time.into_iter().chain(program_time).min() else {
            return Verdict::Stalled;
        };
        // A sample precedes events of the same time. Restart the loop after it, since settling
        // ports may have scheduled earlier events.
        if watcher.is_due(next.min(time_limit)) {
            watcher.sample(world);
            continue;
        }
        // An event exactly at the limit still happens.
        if next > time_limit {
            world.stop(time_limit);
            return Verdict::TimeLimit;
        }
        // At equal times the world goes first.
        if world_time != Some(next) {
            program.handle_time(next, world);
            continue;
        }
        // The world runs alone up to the next sample, program time or time limit.
        let by =
            watcher.last_before_sample().min(program_time.unwrap_or(time_limit)).min(time_limit);
        // Aligned, so that the test for the next report below is hit exactly.
        let max_events = PROGRESS_EVERY - world.events() % PROGRESS_EVERY;
        // With a watch, records are taken after every event.
        world.run(by, if watcher.watch.is_some() { 1 } else { max_events });
        watcher.take_records(world);
        if world.events().is_multiple_of(PROGRESS_EVERY) {
            progress(&world.progress());
            // A program that still waits for a time may post a message that can complete.
            if program.next_time().is_none() && world.only_unreachable_remain() {
                return Verdict::Stalled;
            }
        }
    }
}

/// The watch of a run, if any, and its sampling state.
struct Watcher<'a> {
    watch: Option<&'a mut dyn Watch>,
    /// Time of the next sample; `NEVER` without a watch.
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

    /// Returns the last time before the next sample.
    #[inline]
    fn last_before_sample(&self) -> Time {
        // A sample at time zero has nothing before it.
        Time::from_ps(self.next_sample.as_ps().saturating_sub(1))
    }

    // Cold: samples are rare next to events.
    #[cold]
    fn sample(&mut self, world: &mut World) {
        let Some(watch) = &mut self.watch else { return };
        let now = self.next_sample;
        world.read_before(now, &self.ports, &mut self.counters);
        // Settling the ports may have scheduled an event before all others.
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
