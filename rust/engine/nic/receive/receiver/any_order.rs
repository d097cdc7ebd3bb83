//! Packets in any order, as selective repeat accepts them.
//!
//! Source: the acknowledgements of Ultra Ethernet 1.0, with a cumulative number and a bitmap of 64
//! PSNs. Selective acknowledgements follow Mittal et al., "Revisiting Network Support for RDMA"
//! (SIGCOMM 2018), section 3.1: with a gap, each packet is answered immediately with a NACK. It has
//! the cumulative number and the packet that triggered it (the highest of its bitmap).

use super::messages::{Arrival, Messages};
use super::{AckState, Outbox, ReceiveRecovery, Reply};
use crate::nic::qp::delivery::Delivery;
use crate::nic::receive::board::Board;
use crate::packet::{DataView, Flags};
use crate::units::Time;

/// The receiver of selective repeat.
#[derive(Debug, Clone)]
pub(in crate::nic) struct AnyOrder {
    /// A packet counts as lost when more than this many beyond it have arrived.
    reordering: u32,
    board: Board,
    messages: Messages,
}

impl AnyOrder {
    pub(crate) fn new(reordering: u32, delivery: Delivery) -> Self {
        Self { reordering, board: Board::default(), messages: Messages::new(delivery) }
    }

    /// True if the arrivals beyond the first missing packet show that it is lost.
    #[inline]
    fn has_gap(&self) -> bool {
        self.board.beyond_first() > u64::from(self.reordering)
    }
}

impl ReceiveRecovery for AnyOrder {
    fn reply(&self) -> Reply<'_> {
        let first = self.board.first();
        let reply = if self.has_gap() { Reply::nack(first) } else { Reply::ack(first) };
        reply.of(&self.board)
    }

    fn delivered(&self) -> u64 {
        self.messages.delivered()
    }

    fn has_delivered(&self, index: u64) -> bool {
        self.messages.has_delivered(index)
    }

    fn arrived(&self) -> u64 {
        self.board.first()
    }

    fn handle_data(
        &mut self,
        now: Time,
        packet: DataView<'_>,
        acks: &mut AckState,
        out: &mut Outbox,
    ) {
        let sequence = packet.psn().unwrap_near(self.board.first());
        let known = self.board.has(sequence);
        // Before the packet is on the board, which moves `first`.
        let is_beyond_gap = sequence > self.board.first();
        // A trimmed copy of a packet that has arrived is a duplicate: a NACK would have it
        // retransmitted.
        if packet.is_trimmed() && !known {
            acks.nack_trimmed(packet, self.board.first(), out);
            // Its sender waits for the acknowledgement of earlier arrivals.
            if packet.flags.has(Flags::ACK_REQUEST) && acks.has_unreported() {
                acks.report(self.reply(), out);
            }
            return;
        }
        acks.count_order(sequence, out);
        // This report leaves before the packet is on the board, and does not cover it.
        if !acks.has_room_for(sequence, out) {
            acks.report(self.reply(), out);
        }
        acks.record(now, sequence, packet, out);
        // A duplicate is reported again immediately: the first report may have been lost.
        if known {
            out.counters.duplicates += 1;
            acks.report(self.reply(), out);
            return;
        }
        out.counters.payload_received += out.payload(packet);
        self.board.insert(sequence);
        let arrival = Arrival { sequence, first: self.board.first() };
        let delivered =
            self.messages.handle_new(arrival, packet, |number| acks.deliver(number, out));
        // A delivery is acknowledged immediately even if a late packet, not the last, completed it.
        if delivered > 0 || self.has_gap() || acks.is_due(packet, out) {
            let reply = self.reply();
            let reply = if is_beyond_gap { reply.beyond_gap(out) } else { reply };
            acks.report(reply, out);
        }
    }
}
