//! The verbs in the NIC: posting, arrivals and failures.

use std::collections::VecDeque;

use super::header::{Meaning, VerbHeader};
use super::queues::{Failure, Message};
use super::{
    Completion, CompletionStatus, LONGEST_MESSAGE, Operation, VerbsError, WorkQueues, WorkRequest,
};
use crate::ids::QpId;
use crate::nic::qp::{Posting, Qp, QpState, Role, Slot};
use crate::nic::receive::receiver::{Outbox, ReceiveRecovery as _};
use crate::nic::recovery::{Numbering, SendRecovery as _};
use crate::nic::{Delivery, Nic, NicEvent};
use crate::packet::{DataView, Packet, RefusalReason, RefusalView, View};
use crate::units::{Bytes, Span, Time};

/// The work queues of queue pairs that report by completions.
#[derive(Debug, Clone, Default)]
pub(in crate::nic) struct Verbs {
    pub queues: Vec<WorkQueues>,
    /// Events of such queue pairs, to be converted to completions.
    events: VecDeque<NicEvent>,
    completions: VecDeque<Completion>,
}

impl Nic {
    /// Posts a work request to the send queue of `qp`.
    ///
    /// # Errors
    /// If there is no such queue pair, its state or kind does not permit it, the queue is full, or
    /// the length is out of range.
    pub fn post_send(&mut self, qp: QpId, request: WorkRequest) -> Result<(), VerbsError> {
        let found = self.with_queues(qp)?;
        if found.role == Role::ReceiveOnly {
            return Err(VerbsError::ReceiveOnly { qp });
        }
        let posting = found.state.send_posting();
        if posting == Posting::Refused {
            return Err(VerbsError::WrongState { qp, state: found.state, verb: "post_send" });
        }
        let recovery = self.config.recovery;
        if recovery.writes_only() && request.operation != Operation::Write {
            return Err(VerbsError::WritesOnly { recovery: recovery.name() });
        }
        if request.bytes > LONGEST_MESSAGE {
            return Err(VerbsError::MessageTooLong { bytes: request.bytes });
        }
        if request.operation == Operation::Read {
            if request.bytes == Bytes::ZERO {
                return Err(VerbsError::EmptyRead);
            }
            if self.config.delivery() == Delivery::Unordered {
                return Err(VerbsError::UnorderedRead);
            }
        }
        // In deeper queues the message numbers on the wire would be ambiguous.
        let depth = self.config.queue_pairs.send_queue.min(super::MAX_QUEUE_DEPTH);
        let queues = &mut self.verbs.queues[found.queues.index()];
        if queues.sends() >= depth {
            return Err(VerbsError::SendQueueFull { qp, depth });
        }
        if let (Operation::WriteWithImmediate(_), Some(limit)) =
            (request.operation, self.config.queue_pairs.immediates)
            && queues.immediates() >= limit as usize
        {
            return Err(VerbsError::TooManyImmediates { qp, limit });
        }
        queues.post_send(request);
        match posting {
            Posting::Started => self.start_queued_work(qp),
            // No work request has this number, so all of them are flushed.
            Posting::Flushed => self.flush(qp, u64::MAX, CompletionStatus::Flushed),
            Posting::Queued | Posting::Refused => {}
        }
        Ok(())
    }

    /// Posts a receive with that id to the receive queue of `qp`.
    ///
    /// # Errors
    /// If there is no such queue pair, its state or kind does not permit it, or the queue is full.
    pub fn post_receive(&mut self, qp: QpId, id: u64) -> Result<(), VerbsError> {
        let found = self.with_queues(qp)?;
        let posting = found.state.receive_posting();
        if posting == Posting::Refused {
            return Err(VerbsError::WrongState { qp, state: found.state, verb: "post_receive" });
        }
        let depth = self.config.queue_pairs.receive_queue.min(super::MAX_QUEUE_DEPTH);
        let queues = &mut self.verbs.queues[found.queues.index()];
        if queues.receives() >= depth {
            return Err(VerbsError::ReceiveQueueFull { qp, depth });
        }
        queues.post_receive(id);
        if posting == Posting::Flushed {
            self.flush(qp, u64::MAX, CompletionStatus::Flushed);
        }
        Ok(())
    }

    /// Removes and returns the oldest completion.
    pub fn poll_completion(&mut self) -> Option<Completion> {
        self.verbs.completions.pop_front()
    }

    /// True if a queue pair in state SQD has finished the work that it had begun.
    ///
    /// # Errors
    /// If there is no such queue pair.
    pub fn is_drained(&self, qp: QpId) -> Result<bool, VerbsError> {
        let found = self.live(qp)?;
        let requester = self.requesters.get(found.requester);
        let done = requester.is_none_or(|requester| requester.is_done());
        Ok(found.state == QpState::SendQueueDrained && done)
    }

    fn with_queues(&self, qp: QpId) -> Result<Qp, VerbsError> {
        let found = self.live(qp)?;
        if found.queues.is_none() { Err(VerbsError::NoCompletions { qp }) } else { Ok(found) }
    }

    /// Passes all waiting work to the requester.
    pub(in crate::nic) fn start_queued_work(&mut self, id: QpId) {
        let Qp { queues, requester: slot, .. } = self.qps[id];
        let Some(queues) = self.verbs.queues.get_mut(queues.index()) else { return };
        let Some(requester) = self.requesters.get_mut(slot) else { return };
        while let Some((number, request)) = queues.start_next() {
            let WorkRequest { operation, bytes, path, .. } = request;
            // Each call takes the next message number. It must immediately precede the post,
            // because the numbers follow the order of the requester's messages.
            let header = queues.header(Meaning::of(operation, bytes.get()));
            // A READ leaves as a request without payload; its bytes come back as a message of the
            // peer.
            let payload = if operation == Operation::Read { Bytes::ZERO } else { bytes };
            requester.post(payload, Message::Request(number).to_name(), path, &self.config);
            requester.set_verb(header);
        }
        self.make_ready(slot);
        self.update_timer(slot);
    }

    /// Withdraws from the requester the messages that it has not begun, except responses to READs.
    /// A queue pair without completions finishes what was posted.
    pub(in crate::nic) fn withdraw_unstarted(&mut self, id: QpId) {
        let Qp { queues, requester: slot, .. } = self.qps[id];
        let Some(queues) = self.verbs.queues.get_mut(queues.index()) else { return };
        let mut responses = Vec::new();
        // Messages come back newest first, the only order in which their numbers can be reused.
        for name in self.requesters[slot].withdraw(self.config.header) {
            match Message::of_name(name) {
                Message::Request(_) => queues.undo_start(),
                Message::ReadResponse(bytes) => {
                    queues.undo_read_response();
                    responses.push(bytes);
                }
            }
        }
        // The peer waits for these whatever state this end is in: they begin again, oldest first.
        for bytes in responses.into_iter().rev() {
            self.respond_to_read(id, bytes);
        }
    }

    /// Moves a queue pair to Error; its work request `number` ends with `status`.
    pub(in crate::nic) fn fail(&mut self, id: QpId, number: u64, status: CompletionStatus) {
        // First: the requester must not complete work that is flushed below.
        self.reset_requester(id);
        self.flush(id, number, status);
        self.qps[id].state = QpState::Error;
    }

    fn flush(&mut self, id: QpId, number: u64, status: CompletionStatus) {
        let slot = self.qps[id].queues;
        if let Some(queues) = self.verbs.queues.get_mut(slot.index()) {
            queues.flush(number, status, &mut self.verbs.completions);
        }
    }

    /// Handles all packets that [`Nic::handle_packet`] does not dispatch itself. Their queue pair
    /// has completions, is not ready, lacks a half or does not exist.
    #[cold]
    pub(in crate::nic) fn handle_slow_path(&mut self, now: Time, packet: &Packet) {
        let id = packet.qp;
        if let View::Endpoint(packet) = packet.view() {
            return self.handle_endpoint(now, packet);
        }
        let Ok(qp) = self.live(id) else {
            // A late control packet would have changed only the state of the discarded queue pair.
            match packet.is_control() && self.is_discarded(id) {
                true => self.out.counters.control_received += 1,
                false => self.out.counters.misdirected += 1,
            }
            return;
        };
        // Only data creates a missing half: a control packet for a queue pair that never sent
        // answers nothing.
        let lacks_half = packet.is_control() && qp.requester.is_none();
        if !qp.state.receives() || lacks_half {
            self.out.counters.discarded += 1;
            return;
        }
        if !packet.is_control() && qp.responder.is_none() {
            self.make_responder(id);
        }
        // Read again: the responder may be new.
        let qp = self.qps[id];
        match (packet.view(), self.verbs.queues.get(qp.queues.index())) {
            (View::Data(data), None) => self.handle_data(now, data, qp.responder),
            (_, None) => self.handle_control(now, packet, qp.requester),
            (View::Data(data), Some(_)) => {
                self.handle_verb(now, data, qp);
                self.handle_credit_fields(now, data, qp.responder);
            }
            (View::Refusal(refusal), Some(_)) => {
                self.out.counters.control_received += 1;
                self.handle_refusal(now, refusal, qp);
            }
            (_, Some(_)) => {
                self.out.counters.control_received += 1;
                self.relay_to_sender(qp.requester);
                // Some recoveries count NACKs as timeouts.
                let before = self.requesters[qp.requester].recovery.consecutive_failures();
                self.with_windows(qp.requester, |nic| {
                    let requester = &mut nic.requesters[qp.requester];
                    requester.handle_control(now, packet, &mut nic.verbs.events);
                });
                if self.requesters[qp.requester].recovery.consecutive_failures() > before
                    && let Some(limit) = self.retries_of(qp.requester)
                {
                    self.count_timeout(qp.requester, limit);
                }
                self.follow_pace(qp.requester);
                self.make_sharers_ready(qp.requester);
                self.update_timer(qp.requester);
            }
        }
        // Either half may have emitted events above.
        self.process_events(id);
        self.relay_to_control();
    }

    /// Handles data for a queue pair with work queues.
    fn handle_verb(&mut self, now: Time, packet: DataView<'_>, qp: Qp) {
        let (responder, settings) = self.responders.with_settings(qp.responder);
        let queues = &mut self.verbs.queues[qp.queues.index()];
        let receiving = responder.receiving();
        let delivered = receiving.delivered();
        let header = VerbHeader::from_bits(packet.verb())
            .filter(|_| self.config.recovery.numbering() == Numbering::QueuePair)
            // A duplicate of a delivered message must not consume a second receive.
            .filter(|header| !receiving.has_delivered(header.message_near(delivered)));
        let sequence = packet.psn().unwrap_near(receiving.arrived());
        let out_of_order = receiving.expected().filter(|&expected| sequence != expected);
        if out_of_order.is_some_and(|expected| sequence > expected && queues.has_refused(expected))
        {
            // The refusal caused this gap: packets beyond a refused one are dropped silently.
            self.out.counters.data_received += 1;
            self.out.counters.refused += 1;
            return;
        }
        let mut out = Outbox {
            settings,
            control: &mut self.out.control,
            events: &mut self.verbs.events,
            counters: &mut self.out.counters,
            cnps: self.out.cnps.as_deref_mut(),
        };
        // With ordered delivery a packet beyond any other gap is refused for the gap.
        let in_order = header.filter(|_| out_of_order.is_none());
        if let Some(reason) = in_order.and_then(|header| refusal(header, packet, queues, qp)) {
            out.counters.data_received += 1;
            out.counters.not_ready += 1;
            queues.refuse(sequence);
            responder.refuse(packet, reason, &mut out);
            return;
        }
        let before = out.counters.payload_received;
        responder.handle_data(now, packet, &mut out);
        let after = self.out.counters.payload_received;
        // Go-back-to-zero has discarded the message's arrivals and subtracted them from the
        // counter.
        if after < before {
            queues.reset_inbound(delivered);
        } else if let Some(header) = header {
            queues.record_inbound(header.message_near(delivered), header.meaning, after - before);
        }
        if self.config.ack.within != Span::MAX {
            self.update_ack_timer(qp.responder);
        }
    }

    /// Converts the events of both halves of `id` to completions.
    fn process_events(&mut self, id: QpId) {
        while let Some(event) = self.verbs.events.pop_front() {
            let slot = self.qps[id].queues;
            let Some(queues) = self.verbs.queues.get_mut(slot.index()) else { return };
            match event {
                NicEvent::Delivered { message, .. } => self.take_message(id, u64::from(message)),
                NicEvent::Completed { work, .. } => {
                    if let Message::Request(index) = Message::of_name(work) {
                        queues.acknowledged(index, &mut self.verbs.completions);
                    }
                }
                // No completion reports it, so the owner gets the event itself.
                NicEvent::PathFailed { .. } => self.out.events.push_back(event),
            }
        }
    }

    /// Handles the delivery of a message other than a plain WRITE.
    fn take_message(&mut self, id: QpId, number: u64) {
        let queues: &mut WorkQueues = &mut self.verbs.queues[self.qps[id].queues.index()];
        let Some(message) = queues.take_inbound(number) else { return };
        match message.meaning {
            Meaning::WriteWithImmediate(_) | Meaning::Send => {
                queues.consume(message, &mut self.verbs.completions);
            }
            Meaning::ReadRequest(bytes) => self.respond_to_read(id, u64::from(bytes)),
            Meaning::ReadResponse => queues.read_responded(&mut self.verbs.completions),
        }
    }

    /// Streams the response to a READ.
    fn respond_to_read(&mut self, id: QpId, bytes: u64) {
        let Qp { queues, requester: slot, .. } = self.qps[id];
        let Some(requester) = self.requesters.get_mut(slot) else { return };
        let header = self.verbs.queues[queues.index()].header(Some(Meaning::ReadResponse));
        let name = Message::ReadResponse(bytes).to_name();
        requester.post(Bytes::new(bytes), name, 0, &self.config);
        requester.set_verb(header);
        self.make_ready(slot);
        self.update_timer(slot);
    }

    /// Handles the refusal of a packet by the receiver.
    fn handle_refusal(&mut self, now: Time, refusal: RefusalView<'_>, qp: Qp) {
        let requester = &mut self.requesters[qp.requester];
        let queues = &mut self.verbs.queues[qp.queues.index()];
        // A refusal of a completed message is late; one of a message never sent is forged.
        let Some(number) = requester.message_of(refusal.psn()) else { return };
        let Some(reason) = refusal.reason() else { return };
        // No retry can help: the peer has no requester to respond with.
        if reason == RefusalReason::InvalidRequest {
            self.fail(refusal.qp, number, CompletionStatus::RemoteInvalidRequest);
            return;
        }
        let config = &self.config.queue_pairs;
        let count = queues.count_failure(Failure::ReceiverNotReady, requester.unacknowledged());
        if config.rnr_retries.is_some_and(|limit| count > limit) {
            self.fail(refusal.qp, number, CompletionStatus::RnrRetryExceeded);
            return;
        }
        let resume = now.saturating_add(config.rnr_timer);
        self.with_windows(qp.requester, |nic| {
            nic.requesters[qp.requester].handle_refusal(now, refusal.psn(), resume);
        });
        // The pacer now delays the requester; its turn in the queue would ignore that.
        self.unschedule(qp.requester);
        self.make_sharers_ready(qp.requester);
        self.update_timer(qp.requester);
    }

    /// Returns the number of consecutive timeouts that a requester tolerates, if limited: the
    /// NIC's, or else the recovery's.
    pub(in crate::nic) fn retries_of(&self, slot: Slot) -> Option<u32> {
        let of_recovery = || self.settings_of(self.requesters.qp_of(slot)).recovery.retries();
        self.config.queue_pairs.retries.or_else(of_recovery)
    }

    /// Counts a timeout of the requester, or a NACK that counts as one. Too many in a row fail the
    /// queue pair.
    // Cold: timeouts are rare.
    #[cold]
    pub(in crate::nic) fn count_timeout(&mut self, slot: Slot, limit: u32) {
        let id = self.requesters.qp_of(slot);
        let requester = &self.requesters[slot];
        // A queue pair that reports by events retries without limit.
        let Some(queues) = self.verbs.queues.get_mut(self.qps[id].queues.index()) else { return };
        if queues.count_failure(Failure::Timeout, requester.unacknowledged()) > limit {
            let oldest = queues.oldest();
            self.fail(id, oldest, CompletionStatus::RetryExceeded);
        }
    }
}

/// Returns why a message cannot be accepted now; `None` if it can.
fn refusal(
    header: VerbHeader,
    packet: DataView<'_>,
    queues: &WorkQueues,
    qp: Qp,
) -> Option<RefusalReason> {
    match header.meaning {
        // An immediate number takes its receive with the last packet, a SEND with the first
        // (specification, volume 1, section 9.7.5.1.1).
        Meaning::WriteWithImmediate(_) if !packet.is_last() => None,
        Meaning::WriteWithImmediate(_) | Meaning::Send => {
            (!queues.is_ready_for(header)).then_some(RefusalReason::ReceiverNotReady)
        }
        Meaning::ReadRequest(_) => qp.requester.is_none().then_some(RefusalReason::InvalidRequest),
        Meaning::ReadResponse => None,
    }
}
