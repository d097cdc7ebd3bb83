//! Lanes: what computes at a host, one delay after the other.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::TaskId;
use crate::workload::Lane;

/// The lanes of a host that have been used.
#[derive(Debug, Default)]
pub(super) struct Lanes(BTreeMap<Lane, State>);

/// A lane that is busy.
#[derive(Debug, Default)]
struct State {
    /// Delays that wait only for their turn.
    ready: BTreeSet<TaskId>,
}

impl Lanes {
    /// A delay of a lane waits for no other task any more; true if it begins now, because the lane
    /// was idle.
    pub(super) fn join(&mut self, lane: Lane, delay: TaskId) -> bool {
        if let Some(busy) = self.0.get_mut(&lane) {
            busy.ready.insert(delay);
            return false;
        }
        self.0.insert(lane, State::default());
        true
    }

    /// The delay that a lane was busy with has ended; the next one, if any: of those that are ready
    /// the one with the lowest id.
    pub(super) fn leave(&mut self, lane: Lane) -> Option<TaskId> {
        let next = self.0.get_mut(&lane)?.ready.pop_first();
        if next.is_none() {
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
