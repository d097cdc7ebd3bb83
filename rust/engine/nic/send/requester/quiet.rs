//! Where a sending half stands among others, and whether anything can come of it any more.

use super::{Requester, SendState};
use crate::nic::qp::{Slot, Turn};
use crate::nic::recovery::Numbering;

impl Requester {
    /// Its turn among entries of equal times, at its place.
    #[inline]
    pub(in crate::nic) fn turn(&self, slot: Slot) -> Turn {
        Turn { age: self.age, slot }
    }

    /// True if its work is done and no packet of it can be on the way: each was sent once, and each
    /// has arrived.
    pub(in crate::nic) fn is_quiet(&self) -> bool {
        let numbers_packets = self.numbering == Numbering::QueuePair;
        let is_idle = self.send_state == SendState::Idle && self.work.is_empty();
        is_idle && numbers_packets && !self.has_resent && !self.wakes
    }
}
