//! The critical path: a message cannot start before the messages that it depends on are delivered.
//!
//! Assumes that each message on a chain has the fabric to itself. \[inferred: the critical path\]

use std::collections::BTreeMap;

use super::Wire;
use super::idle_path::IdlePaths;
use crate::ids::{HostId, TaskId};
use crate::topology::{Routes, Topology};
use crate::units::{Bytes, Span};
use crate::workload::{ChainPlace, Chains, Message, StepAfter, Workload};

/// Returns the earliest start of each message and, after the messages, of each delay, in
/// picoseconds from time zero. Tasks in a dependency cycle never start; they keep their scheduled
/// start.
pub(super) fn earliest_starts(workload: &Workload, paths: &IdlePaths) -> Vec<u128> {
    let scheduled = |message: &Message| u128::from(message.start.as_ps());
    let mut starts: Vec<u128> = workload.messages.iter().map(scheduled).collect();
    starts.resize(workload.messages.len() + workload.delays.len(), 0);
    let mut unmet = workload.waits_for.clone();
    let mut ready: Vec<usize> = (0..unmet.len()).filter(|task| unmet[*task] == 0).collect();
    // Times at which dependencies are met, for tasks that wait for only some of theirs.
    let mut met: BTreeMap<TaskId, Vec<u128>> = BTreeMap::new();
    while let Some(task) = ready.pop() {
        let id = TaskId(u32::try_from(task).expect("ids are 32 bits"));
        let (own, other) = ends(workload, paths, id);
        let host = workload.host_of(id);
        for &dependent in workload.dependents_of(id) {
            // A dependent at the sender waits for the completion, any other for the delivery.
            let elapsed = if workload.host_of(dependent) == host { own } else { other };
            // The workload's gap applies between messages, not before delays.
            let gap = if workload.delay(dependent).is_some() { Span::ZERO } else { workload.gap };
            let start = starts[task] + elapsed + u128::from(gap.as_ps());
            let index = dependent.index();
            if workload.starts_after.contains_key(&dependent) {
                met.entry(dependent).or_default().push(start);
            } else {
                starts[index] = starts[index].max(start);
            }
            unmet[index] -= 1;
            if unmet[index] == 0 {
                if let Some(mut met) = met.remove(&dependent) {
                    // The task starts when the required number of dependencies is met.
                    met.sort_unstable();
                    starts[index] = met[workload.dependency_count(dependent).max(1) as usize - 1];
                }
                ready.push(index);
            }
        }
    }
    starts
}

/// Returns the least time from a task's start until its dependents can start, in picoseconds: on
/// its own host, and on other hosts. A message completes at its sender and is delivered at its
/// receiver.
fn ends(workload: &Workload, paths: &IdlePaths, task: TaskId) -> (u128, u128) {
    if let Some(delay) = workload.delay(task) {
        let span = u128::from(delay.span.as_ps());
        return (span, span);
    }
    let message = workload.message(task).expect("a task is a delay or a message");
    paths.ends(task.index(), message).unwrap_or((0, 0))
}

/// Returns the earliest completion of the last delay or dependent message, in picoseconds from the
/// first start.
pub(super) fn longest(workload: &Workload, starts: &[u128], paths: &IdlePaths) -> u128 {
    let tasks = (0u32..).zip(starts).filter(|&(task, _)| {
        workload.waits_for.get(task as usize).is_some_and(|count| *count > 0)
            || task as usize >= workload.messages.len()
    });
    let last = tasks.map(|(task, start)| start + ends(workload, paths, TaskId(task)).0).max();
    let first = u128::from(workload.first_start().as_ps());
    last.unwrap_or(0).saturating_sub(first).max(busiest_lane(workload))
}

/// Maximum number of messages of an exchange that are listed for its lower bound.
const MAX_LISTED: u64 = 1 << 20;

/// Returns the messages that the ranks under one edge switch send in an exchange that is generated
/// during the run. If these are too many, only the first rank's are listed. `None` if the workload
/// is not an exchange.
pub(super) fn exchange_sample(routes: &Routes, workload: &Workload) -> Option<Workload> {
    let chains = workload.chains.as_deref()?;
    let first = *chains.ranks.first()?;
    let is_near = |host: HostId| routes.same_edge(first, host);
    let near = chains.ranks.iter().filter(|&&host| is_near(host)).count() as u64;
    let is_short = near * chains.messages() / chains.ranks.len() as u64 <= MAX_LISTED;
    chains.sent_by(&|host| host == first || is_short && is_near(host))
}

/// Returns the length of the longest chain of generated messages in picoseconds; 0 if there is no
/// chain.
pub(super) fn longest_generated(
    topology: &Topology,
    routes: &Routes,
    workload: &Workload,
    wire: &Wire,
) -> u128 {
    let Some(chains) = workload.chains.as_deref() else { return 0 };
    let times = ChainTimes::of(topology, routes, chains, wire);
    chains.heads().map(|head| times.of_chain(chains, head)).max().unwrap_or(0)
}

/// Least completion and delivery time of the messages of chains. There are few lengths, and one
/// receiver per sender.
struct ChainTimes(BTreeMap<(HostId, Bytes), (u128, u128)>);

impl ChainTimes {
    fn of(topology: &Topology, routes: &Routes, chains: &Chains, wire: &Wire) -> Self {
        let lengths = chains.lengths();
        let pairs = chains.load().into_iter().filter(|message| message.stream == 0);
        let messages = pairs.flat_map(|pair| lengths.iter().map(move |&bytes| (pair, bytes)));
        let messages = messages.map(|(pair, bytes)| Message { bytes, ..pair }).collect();
        let workload = Workload::independent(messages);
        let paths = IdlePaths::of(topology, routes, &workload, wire);
        let times =
            workload.messages.iter().zip(workload.tasks()).map(|(message, task)| {
                ((message.src, message.bytes), ends(&workload, &paths, task))
            });
        Self(times.collect())
    }

    /// Returns the time from the start of a chain's first message to the completion of its last.
    fn of_chain(&self, chains: &Chains, head: ChainPlace) -> u128 {
        let gap = u128::from(chains.gap().as_ps());
        let (mut place, mut elapsed) = (head, 0);
        loop {
            let message = chains.message(place);
            let (completed, delivered) = self.0[&(message.src, message.bytes)];
            let Some(next) = chains.next(place) else { return elapsed + completed };
            elapsed += gap
                + match chains.step_after() {
                    StepAfter::Delivery => delivered,
                    StepAfter::Acknowledgement => completed,
                };
            place = next;
        }
    }
}

/// Returns the total delay of the busiest compute lane. The delays of a lane run one at a time.
fn busiest_lane(workload: &Workload) -> u128 {
    let mut lanes = BTreeMap::new();
    for (delay, lane) in workload.delays.iter().zip(&workload.lanes) {
        if let Some(lane) = lane {
            *lanes.entry((delay.host, *lane)).or_insert(0) += u128::from(delay.span.as_ps());
        }
    }
    lanes.into_values().max().unwrap_or(0)
}
