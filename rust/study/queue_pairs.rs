//! The number of queue pairs that a scenario opens, counted without a simulation.
//!
//! The count has no network: every message completes a fixed time after its last piece started. It
//! runs the workload's dependencies and the splitters themselves, whose flows name their queue
//! pairs. As in NICs, a queue pair is identified by its sender, its receiver, the message stream
//! and the slot of the splitter. A queue pair is *extra* if it is not the first of its pair of
//! hosts and message stream.
//!
//! The count equals that of the NICs in a run if no path fails and if the steps of a collective do
//! not overlap in the network: a splitter that batches messages must see one step at a time.

use std::collections::{BTreeMap, BTreeSet};

use crate::balance::Forwarding;
use crate::balance::sender::PathSpace;
use crate::fabric::{QpCounts, Setup};
use crate::ids::{HostId, MessageId, TaskId};
use crate::split::{Request, Split, Splitter};
use crate::topology::Routes;
use crate::units::{Bytes, Span, Time};
use crate::workload::Task;

/// The time that a message is in flight: longer than the default batch timer of any splitter, so
/// that the steps of a collective do not overlap.
const FLIGHT: Span = Span::from_ms(1);

/// The numbers of queue pairs of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct QueuePairs {
    /// Queue pairs, counted at the NICs that send on them.
    pub counts: QpCounts,
    /// The mean of `counts.total` over all NICs.
    pub per_nic_mean: f64,
    /// The most queue pairs of one NIC, sending and receiving ends together.
    pub both_ends_max: u64,
    /// The memory of the contexts of `both_ends_max` queue pairs.
    pub context_bytes: Bytes,
}

/// Counts the queue pairs of a run.
pub fn queue_pairs(setup: &Setup) -> QueuePairs {
    let mut count = QueuePairCounter::new(setup);
    count.run();
    count.sum()
}

/// The queue pairs of one sender: the splitter's slots by receiver and message stream.
type Streams = BTreeMap<(HostId, u32), BTreeSet<u32>>;

struct QueuePairCounter<'a> {
    setup: &'a Setup,
    routes: Routes,
    splitters: Vec<Splitter>,
    /// Messages to start and delays to end, by time.
    starts: BTreeSet<(Time, TaskId)>,
    /// The timeouts of splitters.
    timeouts: BTreeSet<(Time, HostId)>,
    /// Messages in flight, by their time of completion.
    in_flight: BTreeSet<(Time, MessageId)>,
    waits_for: Vec<u32>,
    /// Pieces of a message that have started.
    started: Vec<u32>,
    /// The queue pairs that have been opened, by sender.
    opened: Vec<Streams>,
}

impl<'a> QueuePairCounter<'a> {
    fn new(setup: &'a Setup) -> Self {
        let (topology, workload) = (&setup.topology, &setup.workload);
        let hosts = || (0..topology.host_count()).map(HostId);
        let messages = workload.messages.len();
        let mut waits_for = workload.waits_for.clone();
        waits_for.resize(workload.task_count(), 0);
        let written = workload.messages.iter().map(|message| message.start);
        let spans = workload.delays.iter().map(|delay| Time::ZERO.saturating_add(delay.span));
        let ids = workload.tasks().zip(written.chain(spans)).zip(&waits_for);
        let ready = ids.filter(|(_, waits)| **waits == 0);
        Self {
            routes: Routes::new(topology, &|_| true),
            splitters: hosts().map(|host| setup.scheme.split.build(setup.seed, host)).collect(),
            starts: ready.map(|((id, due), _)| (due, id)).collect(),
            timeouts: BTreeSet::new(),
            in_flight: BTreeSet::new(),
            started: vec![0; messages],
            opened: hosts().map(|_| Streams::new()).collect(),
            waits_for,
            setup,
        }
    }

    fn run(&mut self) {
        loop {
            let start = self.starts.first().map(|it| it.0);
            let timeout = self.timeouts.first().map(|it| it.0);
            let completion = self.in_flight.first().map(|it| it.0);
            let next = [start, timeout, completion].into_iter().flatten().min();
            let Some(now) = next else { return };
            while let Some(&(_, message)) = self.in_flight.first().filter(|it| it.0 == now) {
                self.in_flight.pop_first();
                self.release(now, message.into());
            }
            while let Some(&(_, task)) = self.starts.first().filter(|it| it.0 == now) {
                self.starts.pop_first();
                self.start(now, task);
            }
            while let Some(&(_, host)) = self.timeouts.first().filter(|it| it.0 == now) {
                self.timeouts.pop_first();
                self.splitters[host.index()].handle_timeout(now);
                self.follow_up(now, host);
            }
        }
    }

    /// Schedules the dependents of a completed task that wait for no other task.
    fn release(&mut self, now: Time, task: TaskId) {
        let workload = &self.setup.workload;
        for &dependent in workload.dependents_of(task) {
            let waits = &mut self.waits_for[dependent.index()];
            *waits -= 1;
            if *waits > 0 {
                continue;
            }
            let due = match workload.delay(dependent) {
                Some(delay) => now.saturating_add(delay.span),
                None => {
                    let written = workload.messages[dependent.index()].start;
                    written.max(now.saturating_add(workload.gap))
                }
            };
            self.starts.insert((due, dependent));
        }
    }

    /// Starts a message, or completes a delay.
    fn start(&mut self, now: Time, task: TaskId) {
        let Task::Message(id, message) = self.setup.workload.task(task) else {
            self.release(now, task);
            return;
        };
        let request = Request {
            message: id,
            dst: message.dst,
            edge: self.routes.edge_of(message.dst),
            bytes: message.bytes,
            paths: self.paths(message.src, message.dst),
        };
        self.splitters[message.src.index()].handle_message(now, &request);
        self.follow_up(now, message.src);
    }

    fn paths(&self, src: HostId, dst: HostId) -> PathSpace {
        if self.setup.scheme.forwarding == Forwarding::Hashed {
            return PathSpace::SINGLE;
        }
        let choices = self.routes.choices(src, dst);
        let add = |paths: PathSpace, &n: &u32| paths.with_tier(n as usize);
        choices.iter().try_fold(PathSpace::SINGLE, add).expect("at most 65,536 paths")
    }

    /// Opens the queue pairs of flows that start now, and schedules the splitter's next timeout.
    fn follow_up(&mut self, now: Time, host: HostId) {
        while let Some(flow) = self.splitters[host.index()].poll_flow(now) {
            let message = flow.message;
            let stream = self.setup.workload.messages[message.index()].stream;
            let slots = self.opened[host.index()].entry((flow.dst, stream)).or_default();
            slots.insert(flow.qp_index);
            self.started[message.index()] += 1;
            if self.started[message.index()] == flow.pieces {
                self.in_flight.insert((now.saturating_add(FLIGHT), message));
            }
        }
        if let Some(timeout) = self.splitters[host.index()].poll_timeout() {
            self.timeouts.insert((timeout.max(now), host));
        }
    }

    fn sum(&self) -> QueuePairs {
        let mut both_ends: Vec<u64> = self.opened.iter().map(sending).collect();
        for ((dst, _), slots) in self.opened.iter().flatten() {
            both_ends[dst.index()] += slots.len() as u64;
        }
        let extra = |streams: &Streams| sending(streams) - streams.len() as u64;
        let counts = QpCounts {
            per_nic_max: self.opened.iter().map(sending).max().unwrap_or(0),
            total: self.opened.iter().map(sending).sum(),
            extra_per_nic_max: self.opened.iter().map(extra).max().unwrap_or(0),
            extra_total: self.opened.iter().map(extra).sum(),
        };
        let both_ends_max = both_ends.into_iter().max().unwrap_or(0);
        let context = self.setup.nic.queue_pairs.context_bytes.get();
        QueuePairs {
            per_nic_mean: counts.total as f64 / self.opened.len().max(1) as f64,
            context_bytes: Bytes::new(both_ends_max.saturating_mul(context)),
            counts,
            both_ends_max,
        }
    }
}

/// The number of queue pairs that a NIC sends on.
fn sending(streams: &Streams) -> u64 {
    streams.values().map(|slots| slots.len() as u64).sum()
}
