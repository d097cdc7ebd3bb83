//! What of a NIC is fetched ahead of the packets that come to it or start from it, on large
//! fabrics: each step reads what the one before has fetched.

use std::mem::offset_of;

use super::Nic;
use super::qp::Slot;
use super::recovery::Recovery;
use super::requester::Requester;
use crate::ids::QpId;
use crate::packet::AckView;
use crate::prefetch::{prefetch, prefetch_all, prefetch_behind, prefetch_ends, prefetch_lines};

// Each packet fetches this many cache lines of its NIC.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(Nic::TOUCHED.div_ceil(64) == 9);

impl Nic {
    /// The bytes that each packet touches: the first ones, as far as the list of queue pairs.
    pub(crate) const TOUCHED: usize = offset_of!(Self, qps) + 32;

    /// Starts to bring near where the halves of `qp` are found.
    #[inline]
    pub(crate) fn prefetch_qp(&self, qp: QpId) {
        self.qps.get(qp.index()).into_iter().for_each(prefetch);
    }

    /// Starts to bring near what a packet for `qp` is for: its sending half if it is control, else
    /// its receiving half.
    #[inline]
    pub(crate) fn prefetch_half(&self, qp: QpId, is_control: bool) {
        let Some(qp) = self.qps.get(qp.index()) else { return };
        match is_control {
            true => self.prefetch_requester(qp.requester),
            false => self.responders.get(qp.responder.index()).into_iter().for_each(prefetch_all),
        }
    }

    /// Starts to bring near where the halves of a new queue pair to send on are made.
    pub(crate) fn prefetch_new_sender(&self) {
        prefetch_behind(&self.requesters);
        prefetch_behind(&self.requester_qps);
        self.qps.prefetch_behind();
    }

    /// The same of a new queue pair that receives.
    pub(crate) fn prefetch_new_receiver(&self) {
        prefetch_behind(&self.responders);
        self.qps.prefetch_behind();
    }

    /// Starts to bring near what is sent next: the first answer, or whose turn to send it is.
    #[inline]
    pub(crate) fn prefetch_turn(&self) {
        match self.control.front() {
            Some(answer) => prefetch_ends(answer),
            None => self.ready.front().into_iter().for_each(prefetch),
        }
    }

    /// Starts to bring near the sending half whose turn is next.
    #[inline]
    pub(crate) fn prefetch_next(&self) {
        self.ready.front().into_iter().for_each(|&slot| self.prefetch_requester(slot));
    }

    /// Starts to bring near what the completion of the oldest work touches besides, if that is what
    /// an acknowledgement brings; the work.
    #[inline]
    pub(crate) fn prefetch_completion(&self, ack: AckView<'_>) -> Option<u64> {
        let half = self.requesters.get(self.qps.get(ack.qp.index())?.requester.index())?;
        half.prefetch_completion(ack.cumulative())
    }

    /// The cookie of a queue pair's receiving half, if its events carry one.
    #[inline]
    pub(crate) fn receiving_cookie(&self, qp: QpId) -> Option<u32> {
        let half = self.responders.get(self.qps.get(qp.index())?.responder.index())?;
        half.as_peer().owner.cookie()
    }

    /// The same of its sending half.
    #[inline]
    pub(crate) fn sending_cookie(&self, qp: QpId) -> Option<u32> {
        let half = self.requesters.get(self.qps.get(qp.index())?.requester.index())?;
        half.as_peer().owner.cookie()
    }

    #[inline]
    fn prefetch_requester(&self, slot: Slot) {
        let bytes = match self.config.recovery {
            Recovery::GoBackN(_) => Requester::TOUCHED_BY_GO_BACK_N,
            _ => Requester::TOUCHED,
        };
        let half = self.requesters.get(slot.index());
        half.into_iter().for_each(|half| prefetch_lines(half, bytes.div_ceil(64)));
    }
}
