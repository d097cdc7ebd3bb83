//! Packets that are executed as they come, each acknowledged separately: the target of RUDI.
//!
//! Source: Ultra Ethernet Specification 1.0, delivery modes of the packet delivery sublayer, by
//! public notes on it: no connection state at the target, a response for each request.

use super::messages::{Arrival, Messages};
use super::{AckState, Outbox, ReceiveRecovery, Reply};
use crate::nic::qp::delivery::Delivery;
use crate::nic::receive::board::Board;
use crate::packet::DataView;
use crate::units::Time;

/// The target of RUDI. Its state is the record of the simulation, which tells when a message is
/// complete and which packets came twice. No answer depends on it.
#[derive(Debug, Clone)]
pub(in crate::nic) struct Stateless {
    record: Board,
    messages: Messages,
}

impl Default for Stateless {
    fn default() -> Self {
        Self { record: Board::default(), messages: Messages::new(Delivery::Unordered) }
    }
}

impl Stateless {
    /// Records a packet that is executed.
    fn record(&mut self, sequence: u64, packet: DataView<'_>, acks: &AckState, out: &mut Outbox) {
        if self.record.has(sequence) {
            out.counters.duplicates += 1;
            return;
        }
        out.counters.payload_received += out.payload(packet);
        self.record.insert(sequence);
        let arrival = Arrival { sequence, first: self.record.first() };
        self.messages.handle_new(arrival, packet, |number| acks.deliver(number, out));
    }
}

impl ReceiveRecovery for Stateless {
    /// Reports only the packet at hand.
    fn reply(&self) -> Reply<'_> {
        Reply::ack(0)
    }

    fn delivered(&self) -> u64 {
        self.messages.delivered()
    }

    fn has_delivered(&self, index: u64) -> bool {
        self.messages.has_delivered(index)
    }

    fn arrived(&self) -> u64 {
        self.record.first()
    }

    fn handle_data(
        &mut self,
        now: Time,
        packet: DataView<'_>,
        acks: &mut AckState,
        out: &mut Outbox,
    ) {
        let sequence = packet.psn().unwrap_near(self.record.first());
        // A stateless target does not know whether it was executed before, so it always asks.
        if packet.is_trimmed() {
            acks.nack_trimmed(packet, 0, out);
            return;
        }
        acks.count_order(sequence, out);
        // Noted whether or not it is a duplicate: its response may be what was lost.
        acks.record(now, sequence, packet, out);
        self.record(sequence, packet, acks, out);
        acks.report(self.reply(), out);
    }
}
