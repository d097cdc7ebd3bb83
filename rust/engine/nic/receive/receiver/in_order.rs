//! Packets in order, as go-back-N accepts them.
//!
//! Source: InfiniBand Architecture Specification, volume 1, section 9.7.5.2 (responder, NAK
//! generation: one per missing PSN, duplicates are acknowledged again, C9-110), with the interval
//! after which HPCC-family NICs repeat a NACK. Back to zero: Guo et al., "RDMA over Commodity
//! Ethernet at Scale" (SIGCOMM 2016), section 4.1.

use super::{AckState, Outbox, ReceiveRecovery, Reply};
use crate::nic::receive::ack::Echo;
use crate::nic::timer::{NackTimers, Timer};
use crate::packet::DataView;
use crate::units::Time;

/// Progress of the message that is arriving.
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
    /// NACK interval, which counts as expired until a NACK is sent.
    timers: NackTimers,
    /// Present with back to zero: the arrivals that a gap discards.
    begun: Option<Begun>,
}

impl InOrder {
    /// Returns a receiver that discards only the packets beyond a gap.
    pub(crate) fn new() -> Self {
        let mut timers = NackTimers::default();
        timers.expire(Timer::NackInterval);
        Self { expected: 0, messages: 0, timers, begun: None }
    }

    /// Returns a receiver that also discards the arrivals of the message with the gap.
    pub(crate) fn back_to_zero() -> Self {
        Self { begun: Some(Begun::default()), ..Self::new() }
    }

    fn accept(&mut self, packet: DataView<'_>, out: &mut Outbox) {
        self.expected += 1;
        // No NACK was sent yet for the packet that is now missing.
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

    /// Refuses a packet beyond a gap, or one without its payload. Nothing of it is kept, and the
    /// sender is informed of the missing packet, at most once per interval.
    fn refuse(&mut self, now: Time, packet: DataView<'_>, acks: &mut AckState, out: &mut Outbox) {
        let trimmed = packet.is_trimmed();
        out.counters.refused += u64::from(!trimmed);
        if let Some(begun) = &mut self.begun {
            self.expected = begun.first;
            // These bytes will arrive, and count, again.
            out.counters.payload_received -= begun.payload;
            begun.payload = 0;
        }
        // Nothing was accepted since the last NACK, so it was for the same packet.
        if !self.timers.is_due(Timer::NackInterval, now) {
            return;
        }
        self.timers.set(Timer::NackInterval, now.saturating_add(out.settings.nack_interval));
        if trimmed {
            acks.nack_trimmed(packet, self.expected, out);
        } else {
            if out.cnps.as_ref().is_some_and(|cnps| cnps.on_nack) {
                acks.notify_congestion(now, packet, out);
            }
            acks.send_reply(packet, Reply::nack(self.expected).beyond_gap(out), out);
        }
    }
}

impl ReceiveRecovery for InOrder {
    fn reply(&self) -> Reply<'_> {
        Reply::ack(self.expected)
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
        acks: &mut AckState,
        out: &mut Outbox,
    ) {
        let sequence = packet.psn().unwrap_near(self.expected);
        let trimmed = packet.is_trimmed();
        if !trimmed {
            acks.count_order(sequence, out);
        }
        if sequence < self.expected {
            out.counters.duplicates += 1;
            // The stamp of this copy is echoed: that of an earlier packet would include the
            // retransmission in the round trip.
            acks.report_with(Echo::of(packet), self.reply(), out);
            return;
        }
        if sequence > self.expected || trimmed {
            self.refuse(now, packet, acks, out);
            return;
        }
        self.accept(packet, out);
        let last = packet.is_last();
        if last {
            acks.deliver(self.messages, out);
            self.messages += 1;
        }
        // `expected` already covers this packet, but the report that leaves now does not.
        if !acks.has_room_for(sequence, out) {
            acks.report(Reply::ack(sequence), out);
        }
        acks.record(now, sequence, packet, out);
        if acks.is_due(packet, out) {
            acks.report(self.reply(), out);
        }
    }
}
