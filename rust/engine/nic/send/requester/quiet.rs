//! The order of a requester among others, and whether it can still have an effect.

use super::{Requester, SendState};
use crate::nic::qp::{Slot, Turn};
use crate::nic::recovery::Numbering;

impl Requester {
    /// Returns its order among schedule entries with equal times, and its slot.
    #[inline]
    pub(in crate::nic) fn turn(&self, slot: Slot) -> Turn {
        Turn { age: self.age, slot }
    }

    /// True if its work is done and none of its packets can be in flight: each was sent once, and
    /// each has arrived.
    pub(in crate::nic) fn is_quiet(&self) -> bool {
        // With an erasure code, surplus packets may be in flight after the work is done.
        let numbers_packets = self.numbering == Numbering::QueuePair;
        let is_idle = self.send_state == SendState::Idle && self.work.is_empty();
        is_idle && numbers_packets && !self.has_retransmitted && !self.may_wake
    }
}
