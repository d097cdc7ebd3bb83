//! Queue pairs that are discarded when their work is done, and the places of their halves.

use super::{Life, Slot, Turn};
use crate::ids::QpId;
use crate::nic::Nic;
use crate::nic::receive::responder::Responder;
use crate::nic::send::requester::Requester;
use crate::units::{Span, Time};

/// Entries of timers beyond those in use, up to which it does not pay to look for old ones.
/// \[inferred\]
const SPARE_TIMERS: usize = 64;

impl Nic {
    /// True if nothing can come of a connected queue pair any more once all of its work is
    /// complete: the packets that it sent have arrived, each once, and answers that are still on
    /// the way change nothing but its own state. Where packets were sent again, or may be answered
    /// later, that is not known.
    pub(crate) fn is_quiet(&self, qp: QpId) -> bool {
        let requester = self.requesters.get(self.qps[qp].requester);
        let is_simple = self.cache.is_none() && self.responders.relay.is_none();
        is_simple
            && self.config.ack.within == Span::MAX
            && requester.is_some_and(|it| it.is_quiet())
    }

    /// The number of the other end of a connected queue pair that sends.
    pub(crate) fn peer_qp(&self, qp: QpId) -> QpId {
        self.requesters[self.qps[qp].requester].as_peer().peer_qp
    }

    /// Discards a queue pair for whose other end, or itself, [`Nic::is_quiet`] is true. It stays
    /// counted, its number is not given again, and late answers to it are counted as received.
    pub(crate) fn discard_qp(&mut self, id: QpId) {
        let (qp, peer) = (self.qps[id], self.peer_of(id));
        self.requesters.leave_destination(qp.requester);
        let requester = self.requesters.get_mut(qp.requester);
        let policy_bits = requester.map_or(0, |requester| {
            requester.timer_entry = Time::NEVER;
            requester.policy_bits()
        });
        self.qps.free.requesters.extend(Some(qp.requester).filter(|slot| !slot.is_none()));
        self.qps.free.responders.extend(Some(qp.responder).filter(|slot| !slot.is_none()));
        self.setups.settings.remove(&id);
        self.qps.remove(id.index(), peer, policy_bits);
        self.forget_timers();
    }

    /// Forgets the timers of halves that are gone, once most of the entries are theirs.
    fn forget_timers(&mut self) {
        if self.schedule.timers.len() <= 2 * self.requesters.len() + SPARE_TIMERS {
            return;
        }
        let requesters = &self.requesters;
        self.schedule.timers.retain(|due, Turn { age, slot }| {
            let requester = &requesters[slot];
            requester.age == age && requester.timer_entry == due
        });
    }

    /// True if a queue pair of that number was there and is gone.
    pub(in crate::nic) fn is_gone(&self, id: QpId) -> bool {
        let is_gone = |life: Life| life == Life::Gone;
        id.index() < self.qps.len() && self.qps.get(id).is_none_or(|qp| is_gone(qp.life))
    }

    /// Puts a new sending half where one is gone, or else behind the others.
    pub(super) fn place_requester(&mut self, id: QpId, mut requester: Requester) -> Slot {
        let made = self.requesters.len() as u32 + self.qps.free.reused;
        requester.age = made;
        let Some(slot) = self.qps.free.requesters.pop() else {
            return self.requesters.push(id, requester);
        };
        self.qps.free.reused += 1;
        self.requesters.put(slot, id, requester);
        slot
    }

    /// Puts a new receiving half where one is gone, or else behind the others.
    pub(super) fn place_responder(&mut self, responder: Responder) -> Slot {
        let Some(slot) = self.qps.free.responders.pop() else {
            return self.responders.push(responder);
        };
        self.responders[slot] = responder;
        slot
    }
}
