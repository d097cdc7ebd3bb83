//! Whose turn it is: which sending half puts the next packet on the wire, and whose timers are due.
//!
//! Sending halves that may send stand in a queue and take turns, a packet each. Those that their
//! rate (or a missing context) holds back stand in a heap by the time when they may start. Timers
//! stand in two heaps; an entry that turns out to be early is put back, so that nothing is ever
//! removed from the middle of a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Nic;
use super::qp::Slot;
use super::requester::SendState;
use crate::packet::{Flags, Packet};
use crate::units::{Bytes, Time};

impl Nic {
    /// The packet that starts on the wire at `now`, if there is one: answers first, then queue
    /// pairs in turn.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        if let Some(packet) = self.poll_transmit_control() {
            return Some(packet);
        }
        // Those whose time has come stand behind those that already wait for their turn.
        while let Some(&Reverse((start, slot))) = self.paced.peek() {
            if start > now {
                break;
            }
            // Of equal start times the lower slot comes first, so that the order does not depend on
            // the order in which the heap was filled.
            self.paced.pop();
            self.requesters[slot.index()].send_state = SendState::Ready;
            self.ready.push_back(slot);
        }
        while let Some(slot) = self.ready.pop_front() {
            let requester = &mut self.requesters[slot.index()];
            requester.send_state = SendState::Idle;
            // Acknowledgements may have left it nothing to send, or its window may have closed.
            if !requester.has_packet() {
                continue;
            }
            // A miss delays this sending half alone: its turn comes again with its context.
            if let Some(cache) = &mut self.cache
                && let Some(miss) = cache.send(self.requester_qps[slot.index()])
            {
                requester.send_state = SendState::Paced;
                self.paced.push(Reverse((now.saturating_add(miss), slot)));
                continue;
            }
            let packet = requester.transmit(now, &self.config);
            self.counters.data_sent += 1;
            self.counters.retransmitted += u64::from(packet.flags.has(Flags::RETRANSMITTED));
            // A rate that lets the next packet start before this one has left the wire is no limit:
            // the sending half goes to the end of the queue at once, without a wake-up.
            let wire = self.port.line_rate.time_for(Bytes::new(u64::from(packet.wire_bytes)));
            self.schedule(slot, now + wire);
            self.keep_timer(slot);
            return Some(packet);
        }
        None
    }

    /// When the first sending half that waits for its rate may start.
    #[inline]
    pub fn next_paced(&self) -> Option<Time> {
        self.paced.peek().map(|&Reverse((start, _))| start)
    }

    /// When a retransmission or acknowledgement timer may expire; it may turn out to be early.
    #[inline]
    pub fn next_timer(&self) -> Option<Time> {
        let first = |timers: &BinaryHeap<Reverse<(Time, Slot)>>| {
            timers.peek().map_or(Time::NEVER, |&Reverse((due, _))| due)
        };
        let due = first(&self.timers).min(first(&self.ack_timers));
        (due != Time::NEVER).then_some(due)
    }

    /// Schedules a sending half that may have something to send, unless it is scheduled already.
    pub(super) fn make_ready(&mut self, slot: Slot) {
        // A half that is Ready or Paced has its one entry already; a second one would give it two
        // turns in a round. There is no `now` here: a half that its rate has ever held back goes
        // through the heap, and the next poll moves it to the end of the queue if its time has
        // come.
        if self.requesters[slot.index()].send_state == SendState::Idle {
            self.schedule(slot, Time::ZERO);
        }
    }

    /// Enqueues a sending half if its rate lets it start by `soon`; otherwise it waits for its
    /// time.
    fn schedule(&mut self, slot: Slot, soon: Time) {
        let requester = &mut self.requesters[slot.index()];
        if !requester.has_packet() {
            return;
        }
        let start = requester.next_start();
        if start <= soon {
            requester.send_state = SendState::Ready;
            self.ready.push_back(slot);
        } else {
            requester.send_state = SendState::Paced;
            self.paced.push(Reverse((start, slot)));
        }
    }

    /// Ensures that a running retransmission timer has an entry that is early enough.
    pub(super) fn keep_timer(&mut self, slot: Slot) {
        let requester = &mut self.requesters[slot.index()];
        let deadline = requester.deadline();
        // A later deadline needs no new entry: the entry that is there fires early and is put back
        // then. An acknowledgement that restarts the timer therefore costs one comparison and no
        // heap operation.
        if deadline < requester.timer_entry {
            requester.timer_entry = deadline;
            self.timers.push(Reverse((deadline, slot)));
        }
    }

    /// Ensures that a running acknowledgement timer has an entry. There is one at a time, which is
    /// put back if the arrivals that it was set for were acknowledged before.
    pub(super) fn keep_ack_timer(&mut self, slot: Slot) {
        let responder = &mut self.responders[slot.index()];
        let deadline = responder.deadline();
        if deadline < responder.timer_entry {
            responder.timer_entry = deadline;
            self.ack_timers.push(Reverse((deadline, slot)));
        }
    }
}
