//! The critical path: a message that depends on others cannot start before they can be delivered.
//!
//! Assumes that each message on a chain is alone in the fabric. \[inferred: the critical path\]

use std::collections::BTreeMap;

use super::idle_path::IdlePaths;
use crate::ids::TaskId;
use crate::units::Span;
use crate::workload::Workload;

/// The earliest start of each message and, after the messages, of each delay, in picoseconds from
/// the first start. Tasks in a dependency cycle never start; they keep their scheduled start.
pub(super) fn earliest_starts(workload: &Workload, paths: &IdlePaths) -> Vec<u128> {
    let first = workload.first_start();
    let since = |message: &crate::workload::Message| u128::from(message.start.since(first).as_ps());
    let mut starts: Vec<u128> = workload.messages.iter().map(since).collect();
    starts.resize(workload.messages.len() + workload.delays.len(), 0);
    let mut unmet = workload.waits_for.clone();
    let mut ready: Vec<usize> = (0..unmet.len()).filter(|task| unmet[*task] == 0).collect();
    while let Some(task) = ready.pop() {
        let id = TaskId(u32::try_from(task).expect("ids are 32 bits"));
        let (own, other) = ends(workload, paths, id);
        let host = workload.host_of(id);
        for &dependent in workload.dependents_of(id) {
            // At the sender a dependent waits for the completion, elsewhere for the delivery.
            let elapsed = if workload.host_of(dependent) == host { own } else { other };
            let gap = if workload.delay(dependent).is_some() { Span::ZERO } else { workload.gap };
            let dependent = dependent.index();
            let start = starts[task] + elapsed + u128::from(gap.as_ps());
            starts[dependent] = starts[dependent].max(start);
            unmet[dependent] -= 1;
            if unmet[dependent] == 0 {
                ready.push(dependent);
            }
        }
    }
    starts
}

/// The least time from a task's start until its dependents can start, in picoseconds: for those
/// on its own host, and for those on other hosts. A message completes at its sender and is
/// delivered at its receiver.
fn ends(workload: &Workload, paths: &IdlePaths, task: TaskId) -> (u128, u128) {
    if let Some(delay) = workload.delay(task) {
        let span = u128::from(delay.span.as_ps());
        return (span, span);
    }
    let idle = paths.get(task.index());
    idle.map_or((0, 0), |idle| (idle.completed.as_ps().into(), idle.delivered.as_ps().into()))
}

/// The earliest completion of the last task that depends on others and of the last delay.
pub(super) fn longest(workload: &Workload, starts: &[u128], paths: &IdlePaths) -> u128 {
    let tasks = (0u32..).zip(starts).filter(|&(task, _)| {
        workload.waits_for.get(task as usize).is_some_and(|count| *count > 0)
            || task as usize >= workload.messages.len()
    });
    let last = tasks.map(|(task, start)| start + ends(workload, paths, TaskId(task)).0).max();
    last.unwrap_or(0).max(busiest_lane(workload))
}

/// The total of the delays of the busiest compute lane: the delays of a lane run one at a time.
fn busiest_lane(workload: &Workload) -> u128 {
    let mut lanes = BTreeMap::new();
    for (delay, lane) in workload.delays.iter().zip(&workload.lanes) {
        if let Some(lane) = lane {
            *lanes.entry((delay.host, *lane)).or_insert(0) += u128::from(delay.span.as_ps());
        }
    }
    lanes.into_values().max().unwrap_or(0)
}
