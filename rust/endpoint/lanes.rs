//! What computes at a host, one delay after the other.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::MessageId;
use crate::workload::Lane;

/// The lanes of a host that have been used.
#[derive(Debug, Default)]
pub(super) struct Lanes(BTreeMap<Lane, State>);

/// A lane that is busy.
#[derive(Debug, Default)]
struct State {
    /// Delays that wait for nothing but their turn.
    ready: BTreeSet<MessageId>,
}

impl Lanes {
    /// A delay of a lane waits for nothing more; true if it may begin now, for the lane was idle.
    pub fn join(&mut self, lane: Lane, delay: MessageId) -> bool {
        if let Some(busy) = self.0.get_mut(&lane) {
            busy.ready.insert(delay);
            return false;
        }
        self.0.insert(lane, State::default());
        true
    }

    /// The delay that the lane was busy with is over; the next one, if there is any: of those
    /// that are ready the first by number.
    pub fn leave(&mut self, lane: Lane) -> Option<MessageId> {
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
    fn a_lane_does_one_at_a_time_and_the_first_by_number_first() {
        let mut lanes = Lanes::default();
        let [a, b] = [Lane(0), Lane(1)];
        assert!(lanes.join(a, MessageId(7)));
        assert!(!lanes.join(a, MessageId(9)));
        assert!(!lanes.join(a, MessageId(3)));
        assert!(lanes.join(b, MessageId(4)), "lanes do not wait for each other");
        assert_eq!(lanes.leave(a), Some(MessageId(3)));
        assert_eq!(lanes.leave(a), Some(MessageId(9)));
        assert_eq!(lanes.leave(a), None);
        assert!(lanes.join(a, MessageId(1)));
    }
}
