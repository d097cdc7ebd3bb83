//! Packets in any order: what selective repeat accepts.
//!
//! Source: the acknowledgements of Ultra Ethernet 1.0, with a cumulative number and a bitmap of 64
//! PSNs; for selective acknowledgements, Mittal et al., "Revisiting Network Support for RDMA"
//! (SIGCOMM 2018), section 3.1: with a gap, each packet is answered at once, with a NACK that has
//! the cumulative number and the packet that made the receiver send it (the highest of its
//! bitmap).

use super::super::delivery::Delivery;
use super::super::recovery::Board;
use super::messages::{Arrival, Messages};
use super::{Answer, Outbox, Shared, payload};
use crate::packet::DataView;
use crate::units::Time;

/// The receiver of selective repeat.
#[derive(Debug, Clone)]
pub(super) struct AnyOrder {
    /// There is a gap when more than so many packets beyond the missing one have arrived.
    reordering: u32,
    board: Board,
    messages: Messages,
}

impl AnyOrder {
    pub fn new(reordering: u32, delivery: Delivery) -> Self {
        Self { reordering, board: Board::default(), messages: Messages::new(delivery) }
    }

    /// Its messages.
    pub fn messages(&self) -> &Messages {
        &self.messages
    }

    pub fn answer(&self) -> Answer {
        if self.board.ahead() > u64::from(self.reordering) {
            return Answer::nack(self.board.first());
        }
        Answer::ack(self.board.first())
    }

    pub fn handle_data(
        &mut self,
        now: Time,
        packet: DataView<'_>,
        shared: &mut Shared,
        out: &mut Outbox,
    ) {
        let sequence = packet.psn().near(self.board.first());
        let known = self.board.has(sequence);
        if packet.is_trimmed() && !known {
            shared.refuse_trimmed(packet, self.board.first(), out);
            return;
        }
        shared.count_order(sequence, out);
        if !shared.unreported.has_room_for(sequence) {
            shared.report(self.answer(), out);
        }
        shared.note(now, sequence, packet, out);
        if known {
            out.counters.duplicates += 1;
            shared.report(self.answer(), out);
            return;
        }
        out.counters.payload_received += payload(packet, out.config);
        self.board.insert(sequence);
        let arrival = Arrival { sequence, first: self.board.first() };
        let delivered =
            self.messages.handle_new(arrival, packet, |number| shared.deliver(number, out));
        let gap = self.board.ahead() > u64::from(self.reordering);
        if delivered > 0 || gap || shared.is_due(packet, out) {
            shared.report(self.answer(), out);
        }
    }
}
