//! Dependencies: a message that waits for others cannot start before these can be delivered.
//!
//! Assumes that each message on a chain is alone in the fabric. \[inferred: the critical path\]

use super::idle_path::Catalogue;
use crate::ids::MessageId;
use crate::workload::Workload;

/// The soonest that each message can start, in picoseconds from the first start. Messages that
/// wait for each other in a circle never start; for them it is what is written.
pub(super) fn earliest_starts(workload: &Workload, paths: &Catalogue) -> Vec<u128> {
    let first = workload.first_start();
    let since = |message: &crate::workload::Message| u128::from(message.start.since(first).as_ps());
    let mut starts: Vec<u128> = workload.messages.iter().map(since).collect();
    let mut open = workload.waits_for.clone();
    let mut ready: Vec<usize> = (0..open.len()).filter(|message| open[*message] == 0).collect();
    while let Some(message) = ready.pop() {
        let idle = paths.get(message);
        let after = |alone: Option<u64>| {
            let alone = u128::from(alone.unwrap_or(0));
            starts[message] + alone + u128::from(workload.gap.as_ps())
        };
        let delivered = after(idle.map(|idle| idle.delivered.as_ps()));
        let completed = after(idle.map(|idle| idle.completed.as_ps()));
        let id = MessageId(u32::try_from(message).expect("message ids are 32 bits"));
        let sender = workload.messages[message].src;
        for dependent in workload.dependents_of(id) {
            let dependent = dependent.index();
            let own = workload.messages[dependent].src == sender;
            let over = if own { completed } else { delivered };
            starts[dependent] = starts[dependent].max(over);
            open[dependent] -= 1;
            if open[dependent] == 0 {
                ready.push(dependent);
            }
        }
    }
    starts
}

/// When the last message that waits for others can be complete at the soonest.
pub(super) fn longest(workload: &Workload, starts: &[u128], paths: &Catalogue) -> u128 {
    let waiting = workload.waits_for.iter().enumerate().filter(|(_, count)| **count > 0);
    let ends = waiting.filter_map(|(message, _)| {
        Some(starts[message] + u128::from(paths.get(message)?.completed.as_ps()))
    });
    ends.max().unwrap_or(0)
}
