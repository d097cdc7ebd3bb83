//! Counts the queue pairs that a scenario opens.
//!
//! A queue pair is identified by its sender, its receiver, a message stream and a slot that the
//! splitter chooses. Those beyond the first of a pair of hosts and stream are *extra*. If the
//! splitter names the slot of each flow, the slots are counted without a simulation. If a flow
//! takes an idle queue pair ([`QueuePairChoice::Idle`]), the number depends on which flows overlap,
//! so the scenario is simulated.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::balance::Forwarding;
use crate::balance::sender::PathSpace;
use crate::fabric::{self, Progress, QpCounts, Setup, Verdict};
use crate::ids::{HostId, MessageId};
use crate::report::Qps;
use crate::split::{QueuePairChoice, Request, Split, Splitter, SplitterContext};
use crate::topology::Routes;
use crate::units::Bytes;
use crate::workload::Message;

/// Queue pairs of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct QueuePairs {
    /// Queue pairs that NICs send on. Without a simulation, the number in concurrent use is 0.
    pub counts: QpCounts,
    /// Mean of `counts.total` over all NICs.
    pub per_nic_mean: f64,
    /// Maximum of one NIC, requesters and responders together.
    pub both_ends_max: u64,
    /// Memory of the contexts of `both_ends_max` queue pairs.
    pub context_bytes: Bytes,
    /// Method by which they were counted.
    pub method: CountMethod,
}

/// Method by which queue pairs were counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountMethod {
    /// Derived from the messages alone.
    Messages,
    /// Counted at the NICs in a simulation that ended with this verdict.
    Simulation(Verdict),
}

/// The object that `evenkeel qps --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct QpsSummary {
    /// Name of the scenario.
    pub scenario: String,
    /// Name of the load-balancing policy.
    pub policy: String,
    /// Counts of queue pairs.
    pub qps: Qps,
}

impl QpsSummary {
    /// Converts the counts of the named scenario.
    pub fn new(scenario: String, setup: &Setup, found: &QueuePairs) -> Self {
        let qps = match found.method {
            CountMethod::Messages => Qps::opened(found.counts),
            CountMethod::Simulation(_) => found.counts.into(),
        };
        Self { scenario, policy: setup.scheme.name.to_owned(), qps }
    }
}

/// Counts the queue pairs of a run of `setup`. If that takes a simulation, `progress` is called
/// from time to time.
pub fn queue_pairs(setup: &Setup, progress: &mut dyn FnMut(&Progress)) -> QueuePairs {
    match Slots::of(setup) {
        Some(slots) => slots.sum(setup),
        None => simulate(setup, progress),
    }
}

/// Counts the queue pairs in a simulation.
fn simulate(setup: &Setup, progress: &mut dyn FnMut(&Progress)) -> QueuePairs {
    let outcome = fabric::run(setup, progress);
    let opened = outcome.qp_accounts.iter().map(|account| account.opened);
    QueuePairs::new(
        setup,
        outcome.qps,
        opened.max().unwrap_or(0),
        CountMethod::Simulation(outcome.verdict),
    )
}

impl QueuePairs {
    fn new(setup: &Setup, counts: QpCounts, both_ends_max: u64, method: CountMethod) -> Self {
        let context = setup.nic.queue_pairs.context_bytes.get();
        Self {
            per_nic_mean: counts.total as f64 / f64::from(setup.topology.host_count().max(1)),
            context_bytes: Bytes::new(both_ends_max.saturating_mul(context)),
            counts,
            both_ends_max,
            method,
        }
    }
}

/// Slots in use, by receiver and message stream.
type Streams = BTreeMap<(HostId, u32), BTreeSet<u32>>;

/// Slots of each sender.
struct Slots(Vec<Streams>);

impl Slots {
    /// Returns the slots that the splitters choose for the messages of `setup`, or `None` if the
    /// choice depends on the state of the queue pairs.
    fn of(setup: &Setup) -> Option<Self> {
        let routes = setup.topology.routes();
        let hosts = (0..setup.topology.host_count()).map(HostId);
        let payload = setup.nic.payload;
        let policies = setup.policies();
        let of_host = |context: SplitterContext| {
            let all = policies.all().iter();
            all.map(|policy| policy.scheme.split.build(&context)).collect()
        };
        let mut splitters: Vec<Vec<Splitter>> = hosts
            .map(|host| of_host(SplitterContext { host, seed: setup.seed, payload }))
            .collect();
        let mut slots = Self(splitters.iter().map(|_| Streams::new()).collect());
        for (id, message) in (0..).map(MessageId).zip(&setup.workload.messages) {
            // Messages over scale-up networks have no queue pair.
            let sender = setup.topology.sender_over_fabric(message.src, message.dst);
            let Some(src) = sender else { continue };
            let message = &Message { src, ..*message };
            let index = policies.index_of(message.stream);
            let splitter = &mut splitters[src.index()][index];
            let request = Request {
                message: id,
                dst: message.dst,
                edge: routes.edge_of(message.dst),
                bytes: message.bytes,
                paths: paths(policies.all()[index].scheme.forwarding, routes, message),
            };
            splitter.handle_message(message.start, &request);
            while let Some(flow) = splitter.poll_flow(message.start) {
                // `Idle` depends on which flows overlap in time.
                let QueuePairChoice::Index(slot) = flow.queue_pair else { return None };
                let key = (flow.dst, message.stream);
                slots.0[src.index()].entry(key).or_default().insert(slot);
            }
            // A splitter with a timer may choose differently during the run.
            if splitter.poll_timeout().is_some() {
                return None;
            }
        }
        Some(slots)
    }

    fn sum(&self, setup: &Setup) -> QueuePairs {
        let mut both_ends: Vec<u64> = self.0.iter().map(sending).collect();
        for ((dst, _), slots) in self.0.iter().flatten() {
            both_ends[dst.index()] += slots.len() as u64;
        }
        let extra = |streams: &Streams| sending(streams) - streams.len() as u64;
        let counts = QpCounts {
            per_nic_max: self.0.iter().map(sending).max().unwrap_or(0),
            total: self.0.iter().map(sending).sum(),
            extra_per_nic_max: self.0.iter().map(extra).max().unwrap_or(0),
            extra_total: self.0.iter().map(extra).sum(),
            ..QpCounts::default()
        };
        let both_ends_max = both_ends.into_iter().max().unwrap_or(0);
        QueuePairs::new(setup, counts, both_ends_max, CountMethod::Messages)
    }
}

/// Returns the paths that the sender of a message can choose from.
pub(super) fn paths(forwarding: Forwarding, routes: &Routes, message: &Message) -> PathSpace {
    if forwarding == Forwarding::Hashed {
        return PathSpace::SINGLE;
    }
    let choices = routes.choices(message.src, message.dst);
    let add = |paths: PathSpace, &n: &u32| paths.with_tier(n as usize);
    choices.iter().try_fold(PathSpace::SINGLE, add).expect("checked: at most 65,536 paths")
}

/// Counts the queue pairs that a NIC sends on.
fn sending(streams: &Streams) -> u64 {
    streams.values().map(|slots| slots.len() as u64).sum()
}
