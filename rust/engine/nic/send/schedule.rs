//! The schedule of a NIC: which requester sends the next packet, and whose timers are due.
//!
//! Requesters that may send wait in a queue and take round-robin turns, one packet each. With
//! several traffic classes each class has its own queue (`classes`). Requesters that their rate or
//! a missing context delays are in an agenda by start time. Timers are in two agendas. An entry
//! that turns out to be early is put back, so packets never remove from the middle of an agenda.

use std::collections::VecDeque;

use crate::nic::Nic;
use crate::nic::ports::classes::ClassQueues;
use crate::nic::qp::{Slot, Turn};
use crate::nic::send::agenda::Agenda;
use crate::nic::send::requester::{Departure, Next, SendState};
use crate::packet::{Flags, Packet};
use crate::units::{Bytes, Time};

/// The requesters that have packets, and the timers of both halves.
#[derive(Debug, Clone, Default)]
#[repr(C)]
pub(in crate::nic) struct Schedule {
    /// Requesters that may send, in round-robin order; empty with several classes.
    pub ready: VecDeque<Slot>,
    /// Requesters that wait for their rate or context, by start time.
    pub paced: Agenda<Turn>,
    /// Retransmission timers. An early entry is put back.
    pub timers: Agenda<Turn>,
    /// Acknowledgement timers, also put back; empty without a limit on the wait. [`Slot::NONE`] is
    /// the timer of the credit pacer.
    pub ack_timers: Agenda<Slot>,
    /// The queues of a NIC with several classes.
    pub classes: Option<Box<ClassQueues>>,
}

impl Schedule {
    /// True if a requester may send, now or once its pacing permits.
    #[inline]
    pub(in crate::nic) fn has_requesters(&self) -> bool {
        !self.ready.is_empty() || self.paced.first() != Time::NEVER || self.has_open_class()
    }

    /// Removes a requester from the queue of those that may send. Only resets, errors and refusals
    /// need it, so it scans the whole queue.
    pub(in crate::nic) fn remove(&mut self, slot: Slot) {
        self.ready.retain(|&other| other != slot);
        if let Some(classes) = &mut self.classes {
            classes.remove(slot);
        }
        self.paced.retain(|_, turn| turn.slot != slot);
    }
}

impl Nic {
    /// True if its control packets have priority, so that pauses (PFC) do not hold them back.
    #[inline]
    pub fn control_has_priority(&self) -> bool {
        self.config.ack.priority
    }

    /// Returns the packet that starts on the wire at `now`, if any: control packets first, then
    /// queue pairs in round-robin order.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        let mut packet = Packet::default();
        self.poll_transmit_to(now, &mut packet).then_some(packet)
    }

    /// Writes the packet of [`Self::poll_transmit`] to `buffer`, where it stays: a copy would stall
    /// until its parts have been written. Returns false without a packet; `buffer` may have
    /// changed.
    #[inline(always)]
    pub(crate) fn poll_transmit_to(&mut self, now: Time, buffer: &mut Packet) -> bool {
        if self.poll_transmit_control_to(buffer) {
            return true;
        }
        if self.is_held(now) {
            return false;
        }
        // Before the turns: a requester whose pause ends now joins the queue at its end.
        self.end_pauses(now);
        while let Some(slot) = self.schedule.ready.pop_front() {
            self.requesters.borrow_windows(slot);
            let has_sent = self.poll_transmit_of(now, slot, buffer);
            self.requesters.return_windows(slot);
            if has_sent {
                self.requesters.end_turn(slot);
                return true;
            }
        }
        // With several classes that queue is empty.
        match self.poll_transmit_by_class(now) {
            Some(packet) => *buffer = packet,
            None => return false,
        }
        true
    }

    /// Writes the packet of the requester whose turn it is to `buffer`; false without one.
    #[inline(always)]
    pub(in crate::nic) fn poll_transmit_of(
        &mut self,
        now: Time,
        slot: Slot,
        buffer: &mut Packet,
    ) -> bool {
        let requester = &mut self.requesters[slot];
        requester.send_state = SendState::Idle;
        // Acknowledgements may have left it nothing to send, or its window may have closed.
        let Some(next) = requester.next_packet() else { return false };
        // Telemetry may have moved its start beyond `now` while it waited.
        if self.responders.relay.is_some() && self.defer_moved_start(now, slot) {
            return false;
        }
        // A miss delays this requester alone: it is enqueued again when its context arrives.
        if let Some(cache) = &mut self.cache
            && let Some(miss) = cache.send(self.requesters.qp_of(slot))
        {
            let requester = &mut self.requesters[slot];
            requester.send_state = SendState::Paced;
            let turn = requester.turn(slot);
            self.schedule.paced.push(now.saturating_add(miss), turn);
            return false;
        }
        self.transmit(now, slot, next, buffer);
        true
    }

    /// Enqueues the requesters whose time has come behind those that already wait for their turn.
    #[inline(always)]
    pub(in crate::nic) fn end_pauses(&mut self, now: Time) {
        // At equal start times the older requester comes first, so the order does not depend on how
        // the agenda was filled.
        while let Some((_, Turn { slot, .. })) = self.schedule.paced.pop(now) {
            if self.responders.relay.is_some() && self.is_stale_start(now, slot) {
                continue;
            }
            self.requesters[slot].send_state = SendState::Ready;
            self.enqueue(slot);
        }
    }

    /// Writes the next packet of a requester, which holds its windows, to `buffer`.
    #[inline(always)]
    pub(in crate::nic) fn transmit(
        &mut self,
        now: Time,
        slot: Slot,
        next: Next,
        buffer: &mut Packet,
    ) {
        let requester = &mut self.requesters[slot];
        requester.send_state = SendState::Idle;
        let at = Departure { now, line_rate: self.port.line_rate, config: &self.config };
        requester.transmit(at, next, buffer);
        if self.responders.credits.is_some() {
            // This requester has just left the queue, so it is added.
            let sources = self.schedule.waiting() as u64 + 1;
            *buffer = self.requesters[slot].with_credit_request(*buffer, sources);
        }
        self.out.counters.data_sent += 1;
        self.out.counters.retransmitted += u64::from(buffer.flags.has(Flags::RETRANSMITTED));
        // A rate that permits the next packet before this one has left the wire is no limit. The
        // requester then goes to the end of the queue without a wake-up.
        let (rate, bytes) = (self.port.line_rate, Bytes::new(u64::from(buffer.wire_bytes)));
        if self.hardware.is_some() {
            self.limit_packets(now, slot);
        }
        self.schedule(slot, |start| start <= now || start <= now + rate.time_for(bytes));
        if self.hardware.is_some() {
            self.keep_turn(slot, buffer);
        }
        self.update_timer(slot);
    }

    /// Returns when the first requester that waits for its rate may start.
    #[inline]
    pub fn next_paced(&self) -> Option<Time> {
        let start = self.held_until(self.schedule.paced.first());
        (start != Time::NEVER).then_some(start)
    }

    /// Returns when a retransmission or acknowledgement timer may expire; it may turn out to be
    /// early.
    #[inline]
    pub fn next_timer(&self) -> Option<Time> {
        let due = self.schedule.timers.first().min(self.schedule.ack_timers.first());
        let due = due.min(self.next_message_cost());
        (due != Time::NEVER).then_some(due)
    }

    /// Schedules a requester that may have something to send, unless it is already scheduled.
    #[inline(always)]
    pub(in crate::nic) fn make_ready(&mut self, slot: Slot) {
        // A requester that is Ready or Paced already has its one entry; a second one would give it
        // two turns in a round.
        if self.requesters[slot].send_state == SendState::Idle {
            self.make_idle_ready(slot);
        }
    }

    // Out of line: callers inline only the check of the state.
    #[inline(never)]
    fn make_idle_ready(&mut self, slot: Slot) {
        // There is no `now` here. A requester that was ever paced goes through the agenda, and the
        // next poll moves it to the end of the queue if its time has come.
        self.with_windows(slot, |nic| nic.schedule(slot, |start| start == Time::ZERO));
    }

    /// Enqueues a requester, which holds its windows, if `is_soon` is true for the start that its
    /// rate permits. Otherwise it waits for that time.
    #[inline]
    fn schedule(&mut self, slot: Slot, is_soon: impl FnOnce(Time) -> bool) {
        let requester = &mut self.requesters[slot];
        if !requester.has_packet() {
            return;
        }
        let start = requester.next_start();
        if is_soon(start) {
            requester.send_state = SendState::Ready;
            self.enqueue(slot);
        } else {
            requester.send_state = SendState::Paced;
            self.schedule.paced.push(start, requester.turn(slot));
        }
    }

    /// Ensures that a running retransmission timer has an entry that is early enough.
    #[inline(always)]
    pub(in crate::nic) fn update_timer(&mut self, slot: Slot) {
        let requester = &mut self.requesters[slot];
        let deadline = requester.wake(self.config.retransmit_timeout);
        // A later deadline needs no new entry: the existing one fires early and is then put back.
        // An acknowledgement that restarts the timer therefore costs one comparison and no heap
        // operation.
        if deadline < requester.timer_entry {
            requester.timer_entry = deadline;
            self.schedule.timers.push(deadline, requester.turn(slot));
        }
    }

    /// Ensures that a running acknowledgement timer has an entry. There is one at a time, which is
    /// put back if the arrivals that it was set for were acknowledged earlier.
    pub(in crate::nic) fn update_ack_timer(&mut self, slot: Slot) {
        let responder = &mut self.responders[slot];
        let deadline = responder.deadline();
        if deadline < responder.timer_entry {
            responder.timer_entry = deadline;
            self.schedule.ack_timers.push(deadline, slot);
        }
    }
}
