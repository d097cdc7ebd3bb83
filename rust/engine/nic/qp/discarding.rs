//! Queue pairs that are discarded once their work is done, and the reuse of their slots.

use super::{Life, Slot, Turn};
use crate::ids::QpId;
use crate::nic::Nic;
use crate::nic::receive::responder::Responder;
use crate::nic::send::requester::Requester;
use crate::units::{Span, Time};

/// Number of timer entries, beyond those in use, below which a search for stale ones does not pay.
/// \[inferred\]
const SPARE_TIMERS: usize = 64;

impl Nic {
    /// True if a connected queue pair can have no further effect once all of its work is complete.
    /// Its packets have then arrived, each once, and control packets still in flight change only
    /// its own state. False if packets were retransmitted or may be acknowledged later: their fate
    /// is unknown.
    pub(crate) fn is_quiet(&self, qp: QpId) -> bool {
        let requester = self.requesters.get(self.qps[qp].requester);
        // With a context cache or telemetry, a late control packet affects more than its queue
        // pair.
        let is_simple = self.cache.is_none() && self.responders.relay.is_none();
        is_simple
            && self.config.ack.within == Span::MAX
            && requester.is_some_and(|it| it.is_quiet())
    }

    /// Returns the number of the other end of a connected queue pair that sends.
    pub(crate) fn peer_qp(&self, qp: QpId) -> QpId {
        self.requesters[self.qps[qp].requester].endpoints().peer_qp
    }

    /// Discards a queue pair if [`Nic::is_quiet`] is true for it or for its other end. It stays
    /// counted, its number is not reused, and late control packets for it are counted as received.
    pub(crate) fn discard_qp(&mut self, id: QpId) {
        let (qp, peer) = (self.qps[id], self.peer_of(id));
        // Before the slot is freed: the next requester in it may send to another host.
        self.requesters.leave_destination(qp.requester);
        let requester = self.requesters.get_mut(qp.requester);
        let policy_bits = requester.map_or(0, |requester| {
            // Its entry among the timers no longer matches, and is skipped when it is due.
            requester.timer_entry = Time::NEVER;
            requester.policy_bits()
        });
        self.qps.free.requesters.extend(Some(qp.requester).filter(|slot| !slot.is_none()));
        self.qps.free.responders.extend(Some(qp.responder).filter(|slot| !slot.is_none()));
        self.qp_setup.settings.remove(&id);
        self.qps.remove(id.index(), peer, policy_bits);
        self.drop_stale_timers();
    }

    /// Removes the timer entries of discarded requesters once they are most of the entries.
    fn drop_stale_timers(&mut self) {
        // The scan is linear. Waiting until stale entries dominate makes its cost per entry
        // constant.
        if self.schedule.timers.len() <= 2 * self.requesters.len() + SPARE_TIMERS {
            return;
        }
        let requesters = &self.requesters;
        self.schedule.timers.retain(|due, Turn { age, slot }| {
            let requester = &requesters[slot];
            // The age tells a requester from a discarded one that had the same slot.
            requester.age == age && requester.timer_entry == due
        });
    }

    /// True if a queue pair with that number existed and was discarded.
    pub(in crate::nic) fn is_discarded(&self, id: QpId) -> bool {
        let is_discarded = |life: Life| life == Life::Discarded;
        id.index() < self.qps.len() && self.qps.get(id).is_none_or(|qp| is_discarded(qp.life))
    }

    /// Puts a new requester into a free slot, or appends it.
    pub(super) fn store_requester(&mut self, id: QpId, mut requester: Requester) -> Slot {
        // The slots plus their reuses are all requesters ever created.
        let made = self.requesters.len() as u32 + self.qps.free.reused;
        requester.age = made;
        let Some(slot) = self.qps.free.requesters.pop() else {
            return self.requesters.push(id, requester);
        };
        self.qps.free.reused += 1;
        self.requesters.put(slot, id, requester);
        slot
    }

    /// Puts a new responder into a free slot, or appends it.
    pub(super) fn store_responder(&mut self, responder: Responder) -> Slot {
        let Some(slot) = self.qps.free.responders.pop() else {
            return self.responders.push(responder);
        };
        self.responders[slot] = responder;
        slot
    }
}
