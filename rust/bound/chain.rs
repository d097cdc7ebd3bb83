//! Dependencies: a message that waits for others cannot start before these can be delivered.
//!
//! Assumes that each message on a chain is alone in the fabric. \[inferred: the critical path\]

use std::collections::BTreeMap;

use super::idle_path::Catalogue;
use crate::ids::MessageId;
use crate::units::Span;
use crate::workload::Workload;

/// The soonest that each message (and after them each delay) can start, in picoseconds from the
/// first start. Those that wait for each other in a circle never start; for them it is what is
/// written.
pub(super) fn earliest_starts(workload: &Workload, paths: &Catalogue) -> Vec<u128> {
    let first = workload.first_start();
    let since = |message: &crate::workload::Message| u128::from(message.start.since(first).as_ps());
    let mut starts: Vec<u128> = workload.messages.iter().map(since).collect();
    starts.resize(workload.messages.len() + workload.delays.len(), 0);
    let mut open = workload.waits_for.clone();
    let mut ready: Vec<usize> = (0..open.len()).filter(|task| open[*task] == 0).collect();
    while let Some(task) = ready.pop() {
        let id = MessageId(u32::try_from(task).expect("message ids are 32 bits"));
        let (own, other) = ends(workload, paths, id);
        let host = workload.host_of(id);
        for &dependent in workload.dependents_of(id) {
            let over = if workload.host_of(dependent) == host { own } else { other };
            let gap = if workload.delay(dependent).is_some() { Span::ZERO } else { workload.gap };
            let dependent = dependent.index();
            let start = starts[task] + over + u128::from(gap.as_ps());
            starts[dependent] = starts[dependent].max(start);
            open[dependent] -= 1;
            if open[dependent] == 0 {
                ready.push(dependent);
            }
        }
    }
    starts
}

/// How long after its start a task is over at the soonest, in picoseconds: at its own host, and
/// elsewhere. A message is complete at the one and delivered at the other.
fn ends(workload: &Workload, paths: &Catalogue, task: MessageId) -> (u128, u128) {
    if let Some(delay) = workload.delay(task) {
        let span = u128::from(delay.span.as_ps());
        return (span, span);
    }
    let idle = paths.get(task.index());
    idle.map_or((0, 0), |idle| (idle.completed.as_ps().into(), idle.delivered.as_ps().into()))
}

/// When the last that waits for others, and the last delay, can be over at the soonest.
pub(super) fn longest(workload: &Workload, starts: &[u128], paths: &Catalogue) -> u128 {
    let tasks = (0u32..).zip(starts).filter(|&(task, _)| {
        workload.waits_for.get(task as usize).is_some_and(|count| *count > 0)
            || task as usize >= workload.messages.len()
    });
    let last = tasks.map(|(task, start)| start + ends(workload, paths, MessageId(task)).0).max();
    last.unwrap_or(0).max(busiest_lane(workload))
}

/// How long the lane computes that computes longest: its delays take turns.
fn busiest_lane(workload: &Workload) -> u128 {
    let mut lanes = BTreeMap::new();
    for (delay, lane) in workload.delays.iter().zip(&workload.lanes) {
        if let Some(lane) = lane {
            *lanes.entry((delay.host, *lane)).or_insert(0) += u128::from(delay.span.as_ps());
        }
    }
    lanes.into_values().max().unwrap_or(0)
}
