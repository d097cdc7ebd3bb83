//! The slow paths of a NIC with limits or costs: arrivals, starts, completions and timeouts.

use super::{Attempts, Hardware, HardwareCounters, QpTurns, Starting};
use crate::ids::QpId;
use crate::nic::qp::event_qps::Write;
use crate::nic::qp::{QpState, Slot};
use crate::nic::recovery::SendRecovery as _;
use crate::nic::send::requester::SendState;
use crate::nic::send::requesters::Requesters;
use crate::nic::verbs::CompletionStatus;
use crate::nic::{Nic, NicEvent, Owner};
use crate::packet::{Flags, Packet, View};
use crate::units::{Span, Time};

impl Nic {
    /// Returns the counters of its limits.
    pub(in crate::nic) fn hardware_counters(&self) -> Option<HardwareCounters> {
        let hardware = self.hardware.as_ref()?;
        let cnps_sent = self.out.cnps.as_ref().map_or(0, |cnps| cnps.sent);
        Some(HardwareCounters { cnps_sent, ..hardware.counters })
    }

    /// True if posted work is flushed because the queue pair has exceeded its retries.
    pub(in crate::nic) fn flushes(&self, qp: QpId) -> bool {
        self.hardware.is_some() && self.qps[qp].state == QpState::Error
    }

    /// Handles a received packet in a NIC with limits.
    #[inline(never)]
    pub(in crate::nic) fn handle_limited(&mut self, now: Time, packet: &Packet) {
        if !self.admits(now, packet) {
            return;
        }
        let before = self.out.events.len();
        self.handle_admitted(now, packet);
        let Some(hardware) = &mut self.hardware else { return };
        let slot = self.qps.get(packet.qp).map_or(Slot::NONE, |qp| qp.requester);
        if packet.is_control() && !slot.is_none() && hardware.has_progress(slot, &self.requesters) {
            self.return_to_first_wait(now, slot);
        }
        let Some(hardware) = &mut self.hardware else { return };
        let delay = hardware.config.message.complete;
        if delay > Span::ZERO && self.out.events.len() > before {
            let due = now.saturating_add(delay);
            for event in self.out.events.split_off(before) {
                match event {
                    NicEvent::Completed { owner: Owner::Driver(_), .. } => {
                        hardware.completing.push_back((due, event));
                    }
                    _ => self.out.events.push_back(event),
                }
            }
        }
    }

    /// True if the receive pool has room for the packet.
    fn admits(&mut self, now: Time, packet: &Packet) -> bool {
        let Some(hardware) = &mut self.hardware else { return true };
        let counters = &mut hardware.counters;
        let data = match packet.view() {
            View::Nack(nack) => {
                counters.nacks_received += u64::from(!nack.is_for_trimmed());
                return true;
            }
            View::Cnp => {
                counters.cnps_received += 1;
                return true;
            }
            View::Data(data) => data,
            _ => return true,
        };
        let bytes = u64::from(packet.wire_bytes);
        if hardware.pool.as_mut().is_none_or(|pool| pool.admit(now, bytes)) {
            return true;
        }
        counters.rx_discards += 1;
        // It has reached its host.
        self.out.counters.data_received += 1;
        if hardware.config.cnp.on_discard
            && let Some(qp) = self.qps.get(packet.qp)
            && !qp.responder.is_none()
        {
            self.responders.notify_congestion(now, data, qp.responder, &mut self.out);
        }
        false
    }

    /// Starts and completes the messages that are due.
    pub(in crate::nic) fn handle_message_costs(&mut self, now: Time) {
        while let Some(hardware) = &mut self.hardware
            && hardware.next_due() <= now
        {
            if let Some(&(due, event)) = hardware.completing.front()
                && due <= now
            {
                hardware.completing.pop_front();
                self.out.events.push_back(event);
            } else if let Some(it) = hardware.starting.pop_front() {
                let Write { bytes, work, path } = it.write;
                self.post(it.qp, bytes, work, path);
            }
        }
    }

    /// Counts a timeout of a requester and sets its next wait. Too many fail the queue pair.
    #[cold]
    pub(in crate::nic) fn count_attempt(&mut self, now: Time, slot: Slot) {
        let id = self.requesters.qp_of(slot);
        // Queue pairs with completions count their retries themselves, and may have failed.
        if !self.qps[id].queues.is_none() || self.qps[id].state == QpState::Error {
            return;
        }
        let Some(hardware) = &mut self.hardware else { return };
        let requester = &mut self.requesters[slot];
        let unacknowledged = requester.unacknowledged();
        let Some(timeout) = hardware.config.ack_timeout else {
            hardware.counters.timeouts += 1;
            return;
        };
        let attempts =
            hardware.attempts.entry(slot).or_insert(Attempts { unacknowledged, expired: 0 });
        if attempts.unacknowledged != unacknowledged {
            *attempts = Attempts { unacknowledged, expired: 0 };
        }
        attempts.expired += 1;
        if let Some(wait) = timeout.wait(attempts.expired) {
            hardware.counters.timeouts += 1;
            // The first retransmission starts the timer.
            requester.recovery.set_timeout(now, wait);
            return;
        }
        hardware.counters.qp_errors += 1;
        hardware.counters.first_error.get_or_insert(now);
        // It has no work requests to flush.
        self.fail(id, u64::MAX, CompletionStatus::RetryExceeded);
    }

    /// Returns to the first wait after progress. The acknowledgement has restarted the timer with
    /// the wait before it.
    #[cold]
    fn return_to_first_wait(&mut self, now: Time, slot: Slot) {
        let Some(hardware) = &mut self.hardware else { return };
        let Some(timeout) = hardware.config.ack_timeout else { return };
        hardware.forget_attempts(slot);
        self.requesters[slot].recovery.set_timeout(now, timeout.first());
        self.update_timer(slot);
    }

    /// Applies the ceilings and the turns after the requester in `slot` has sent `packet`.
    pub(in crate::nic) fn limit_packets(&mut self, now: Time, slot: Slot) {
        let Some(hardware) = &mut self.hardware else { return };
        if hardware.nic_interval > Span::ZERO {
            hardware.next_data = now.saturating_add(hardware.nic_interval);
        }
        if hardware.qp_interval > Span::ZERO {
            let next = now.saturating_add(hardware.qp_interval);
            self.requesters[slot].pacer.hold_until(next);
        }
    }

    /// Keeps the turn of the requester in `slot`, which is last in the queue, until its message
    /// ends with `packet`.
    pub(in crate::nic) fn keep_turn(&mut self, slot: Slot, packet: &Packet) {
        let by_message =
            self.hardware.as_ref().is_some_and(|it| it.config.turns == QpTurns::Message);
        if by_message
            && !packet.flags.has(Flags::LAST)
            && self.requesters[slot].send_state == SendState::Ready
            && self.schedule.ready.back() == Some(&slot)
        {
            self.schedule.ready.rotate_right(1);
        }
    }

    /// True if the ceiling of the NIC permits no data packet at `now`.
    #[inline]
    pub(in crate::nic) fn is_held(&mut self, now: Time) -> bool {
        let Some(hardware) = &mut self.hardware else { return false };
        let is_held = now < hardware.next_data;
        if !is_held {
            hardware.next_data = Time::ZERO;
        }
        is_held
    }

    /// Returns when the first requester may start, given the start that the rates permit.
    pub(in crate::nic) fn held_until(&self, paced: Time) -> Time {
        let Some(hardware) = &self.hardware else { return paced };
        // Requesters that are ready wait for the ceiling alone.
        let is_ready = !self.schedule.ready.is_empty() || self.schedule.has_open_class();
        match hardware.next_data > Time::ZERO {
            true if is_ready => hardware.next_data,
            true if paced != Time::NEVER => paced.max(hardware.next_data),
            _ => paced,
        }
    }

    /// Returns when the next message starts or completes; `NEVER` without one.
    #[inline]
    pub(in crate::nic) fn next_message_cost(&self) -> Time {
        self.hardware.as_ref().map_or(Time::NEVER, |hardware| hardware.next_due())
    }
}

impl Hardware {
    /// Holds a message until its initiation is over; returns false if that takes no time.
    pub(in crate::nic) fn hold_start(&mut self, now: Time, qp: QpId, write: Write) -> bool {
        let start = self.config.message.start;
        if start > Span::ZERO {
            self.starting.push_back(Starting { due: now.saturating_add(start), qp, write });
        }
        start > Span::ZERO
    }

    /// True if packets were acknowledged since the timeouts of this requester.
    fn has_progress(&self, slot: Slot, requesters: &Requesters) -> bool {
        let attempts = self.attempts.get(&slot);
        attempts.is_some_and(|it| it.unacknowledged != requesters[slot].unacknowledged())
    }

    /// Forgets the timeouts of a requester, whose slot may get another queue pair.
    pub(in crate::nic) fn forget_attempts(&mut self, slot: Slot) {
        self.attempts.remove(&slot);
    }
}
