//! Packets in order: what go-back-N accepts.
//!
//! Source: InfiniBand Architecture Specification, volume 1, section 9.7.5.2 (responder, NAK
//! generation: one for each missing PSN, duplicates are acknowledged again, C9-110), with the
//! interval after which HPCC-family NICs repeat a NACK. Back to zero: Guo et al., "RDMA over
//! Commodity Ethernet at Scale" (SIGCOMM 2016), section 4.1.

use super::{Answer, Answers, Outbox, ReceiveRecovery};
use crate::nic::receive::ack::Echo;
use crate::nic::timer::{NackTimers, Timer};
use crate::packet::DataView;
use crate::units::Time;

/// What the receiver has of the message that is arriving.
#[derive(Debug, Clone, Copy, Default)]
struct Begun {
    first: u64,
    payload: u64,
}

/// The receiver of go-back-N.
#[derive(Debug, Clone)]
pub(in crate::nic) struct InOrder {
    /// Every packet before this one has arrived.
    expected: u64,
    /// Messages delivered (the MSN of the specification).
    messages: u64,
    /// Of the NACK interval, which counts as expired until a NACK is sent.
    timers: NackTimers,
    /// Back to zero: what a gap discards.
    begun: Option<Begun>,
}

impl InOrder {
    /// A gap costs the packets behind it.
    pub(crate) fn new() -> Self {
        let mut timers = NackTimers::default();
        timers.expire(Timer::NackInterval);
        Self { expected: 0, messages: 0, timers, begun: None }
    }

    /// A gap also discards what has arrived of its message.
    pub(crate) fn back_to_zero() -> Self {
        Self { begun: Some(Begun::default()), ..Self::new() }
    }

    fn accept(&mut self, packet: DataView<'_>, out: &mut Outbox) {
        self.expected += 1;
        // The next missing packet was not asked for yet.
        self.timers.expire(Timer::NackInterval);
        let payload = out.payload(packet);
        out.counters.payload_received += payload;
        if let Some(begun) = &mut self.begun {
            begun.payload += payload;
            if packet.is_last() {
                *begun = Begun { first: self.expected, payload: 0 };
            }
        }
    }

    /// A gap, or a packet without its payload: nothing of it is kept, and the sender is informed of
    /// what is missing, once an interval.
    fn refuse(&mut self, now: Time, packet: DataView<'_>, answers: &mut Answers, out: &mut Outbox) {
        let trimmed = packet.is_trimmed();
        out.counters.refused += u64::from(!trimmed);
        if let Some(begun) = &mut self.begun {
            self.expected = begun.first;
            // These bytes come, and count, again.
            out.counters.payload_received -= begun.payload;
            begun.payload = 0;
        }
        // Nothing was accepted since the last NACK, so that it was for this packet too.
        if !self.timers.is_due(Timer::NackInterval, now) {
            return;
        }
        self.timers.set(Timer::NackInterval, now.saturating_add(out.settings.nack_interval));
        if trimmed {
            answers.refuse_trimmed(packet, self.expected, out);
        } else {
            answers.answer(packet, Answer::nack(self.expected).beyond_gap(out), out);
        }
    }
}

impl ReceiveRecovery for InOrder {
    fn answer(&self) -> Answer<'_> {
        Answer::ack(self.expected)
    }

    fn delivered(&self) -> u64 {
        self.messages
    }

    fn expected(&self) -> Option<u64> {
        Some(self.expected)
    }

    fn arrived(&self) -> u64 {
        self.expected
    }

    fn handle_data(
        &mut self,
        now: Time,
        packet: DataView<'_>,
        answers: &mut Answers,
        out: &mut Outbox,
    ) {
        let sequence = packet.psn().near(self.expected);
        let trimmed = packet.is_trimmed();
        if !trimmed {
            answers.count_order(sequence, out);
        }
        if sequence < self.expected {
            out.counters.duplicates += 1;
            // The stamp of this copy is echoed: that of an earlier packet would give a round trip
            // with the retransmission in it.
            answers.report_with(Echo::of(packet), self.answer(), out);
            return;
        }
        if sequence > self.expected || trimmed {
            self.refuse(now, packet, answers, out);
            return;
        }
        self.accept(packet, out);
        let last = packet.is_last();
        if last {
            answers.deliver(self.messages, out);
            self.messages += 1;
        }
        // `expected` covers this packet already, and the report that goes out now does not.
        if !answers.has_room_for(sequence, out) {
            answers.report(Answer::ack(sequence), out);
        }
        answers.note(now, sequence, packet, out);
        if answers.is_due(packet, out) {
            answers.report(self.answer(), out);
        }
    }
}
