//! Prefetches of a NIC's state before a packet arrives or starts, on large fabrics. Each step reads
//! the data that the previous one has fetched.

use std::mem::offset_of;

use crate::ids::QpId;
use crate::nic::Nic;
use crate::nic::qp::Slot;
use crate::nic::recovery::Recovery;
use crate::nic::send::requester::Requester;
use crate::packet::AckView;
use crate::prefetch::{prefetch, prefetch_all, prefetch_ends, prefetch_lines};

// Each packet fetches this many cache lines of its NIC.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(Nic::TOUCHED.div_ceil(64) == 9);

impl Nic {
    /// Bytes that each packet touches: from the start to the list of queue pairs.
    // Plus 32 bytes of the table: its list, and the number of the first entry.
    pub(crate) const TOUCHED: usize = offset_of!(Self, qps) + 32;

    /// Prefetches the entry of `qp` in the table of queue pairs.
    #[inline]
    pub(crate) fn prefetch_qp(&self, qp: QpId) {
        self.qps.get(qp).into_iter().for_each(prefetch);
    }

    /// Prefetches the half of `qp` that a packet is for: the requester for control packets, else
    /// the responder.
    #[inline]
    pub(crate) fn prefetch_half(&self, qp: QpId, is_control: bool) {
        let Some(qp) = self.qps.get(qp) else { return };
        match is_control {
            true => self.prefetch_requester(qp.requester),
            false => self.responders.get(qp.responder).into_iter().for_each(prefetch_all),
        }
    }

    /// Prefetches the slots that a new sending queue pair will take.
    pub(crate) fn prefetch_new_sender(&self) {
        self.requesters.prefetch_next_slot();
        self.qps.prefetch_next_slot();
    }

    /// Prefetches the slots that a new receiving queue pair will take.
    pub(crate) fn prefetch_new_receiver(&self) {
        self.responders.prefetch_next_slot();
        self.qps.prefetch_next_slot();
    }

    /// Prefetches the head of line: the first control packet, or else the queue entry of the next
    /// requester.
    #[inline]
    pub(crate) fn prefetch_turn(&self) {
        match self.out.control.front() {
            // A packet in the queue may span two cache lines.
            Some(packet) => prefetch_ends(packet),
            None => self.schedule.ready.front().into_iter().for_each(prefetch),
        }
    }

    /// Prefetches the next requester in the queue.
    #[inline]
    pub(crate) fn prefetch_next(&self) {
        self.schedule.ready.front().into_iter().for_each(|&slot| self.prefetch_requester(slot));
    }

    /// Prefetches the remaining memory that the completion of the oldest work touches, if `ack`
    /// completes it. Returns the id of that work.
    #[inline]
    pub(crate) fn prefetch_completion(&self, ack: AckView<'_>) -> Option<u64> {
        let half = self.requesters.get(self.qps.get(ack.qp)?.requester)?;
        half.prefetch_completion(ack.cumulative())
    }

    /// Returns the cookie of a queue pair's responder, if its events carry one.
    #[inline]
    pub(crate) fn receiving_cookie(&self, qp: QpId) -> Option<u32> {
        let half = self.responders.get(self.qps.get(qp)?.responder)?;
        half.endpoints().owner.cookie()
    }

    /// Returns the cookie of a queue pair's requester, if its events carry one.
    #[inline]
    pub(crate) fn sending_cookie(&self, qp: QpId) -> Option<u32> {
        let half = self.requesters.get(self.qps.get(qp)?.requester)?;
        half.endpoints().owner.cookie()
    }

    #[inline]
    fn prefetch_requester(&self, slot: Slot) {
        // By the NIC's recovery: reading the requester's own would be the cache miss to avoid.
        let bytes = match self.config.recovery {
            Recovery::GoBackN(_) => Requester::TOUCHED_BY_GO_BACK_N,
            _ => Requester::TOUCHED,
        };
        let half = self.requesters.get(slot);
        half.into_iter().for_each(|half| prefetch_lines(half, bytes.div_ceil(64)));
    }
}
