//! Lanes: each runs the compute delays of a host one at a time.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::TaskId;
use crate::workload::Lane;

/// The busy lanes of a host.
#[derive(Debug, Default)]
pub(super) struct Lanes(BTreeMap<Lane, State>);

/// State of a busy lane.
#[derive(Debug, Default)]
struct State {
    /// Delays that wait only for the lane.
    ready: BTreeSet<TaskId>,
}

impl Lanes {
    /// Enqueues a delay whose dependencies are met. Returns true if it begins now, because the lane
    /// was idle.
    pub(super) fn join(&mut self, lane: Lane, delay: TaskId) -> bool {
        // The running delay is not in the set. A lane with an empty set is busy, too.
        if let Some(busy) = self.0.get_mut(&lane) {
            busy.ready.insert(delay);
            return false;
        }
        self.0.insert(lane, State::default());
        true
    }

    /// Ends the running delay of a lane, and returns the next one: the ready delay with the lowest
    /// id.
    pub(super) fn leave(&mut self, lane: Lane) -> Option<TaskId> {
        let next = self.0.get_mut(&lane)?.ready.pop_first();
        if next.is_none() {
            // Idle lanes have no entry.
            self.0.remove(&lane);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_runs_one_delay_at_a_time_in_order_of_ids() {
        let mut lanes = Lanes::default();
        let [a, b] = [Lane(0), Lane(1)];
        assert!(lanes.join(a, TaskId(7)));
        assert!(!lanes.join(a, TaskId(9)));
        assert!(!lanes.join(a, TaskId(3)));
        assert!(lanes.join(b, TaskId(4)), "lanes do not wait for each other");
        assert_eq!(lanes.leave(a), Some(TaskId(3)));
        assert_eq!(lanes.leave(a), Some(TaskId(9)));
        assert_eq!(lanes.leave(a), None);
        assert!(lanes.join(a, TaskId(1)));
    }
}
