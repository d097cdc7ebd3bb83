//! Coded packets: any `m` of them restore a message. See [`crate::nic::recovery::erasure`].
//!
//! Source: the ideal loss recovery of Ofan (arXiv 2507.21372, section 2). A message is complete
//! when its `m`-th packet has arrived. It is then delivered whatever other messages miss, or in its
//! turn if delivery is ordered.

use std::collections::BTreeMap;

use super::{AckState, Outbox, ReceiveRecovery, Reply};
use crate::nic::qp::delivery::Delivery;
use crate::nic::receive::board::Board;
use crate::packet::{DataView, Flags};
use crate::units::Time;

/// A message that is arriving, or that is complete before one posted earlier.
#[derive(Debug, Clone, Default)]
struct Partial {
    /// Packets that are still needed.
    needed: u64,
    /// Bytes that are still needed.
    bytes: u64,
    /// Coded packets that have arrived; cleared when the message is complete.
    arrived: Board,
    /// The highest of them. Lost packets are never retransmitted, so `arrived` may start far behind
    /// it. Numbers on the wire are resolved near this one.
    highest: u64,
}

/// The receiver of an erasure code.
#[derive(Debug, Clone)]
pub(in crate::nic) struct Coded {
    delivery: Delivery,
    /// Every message before this one is complete.
    oldest: u64,
    /// Messages that have begun, by number.
    messages: BTreeMap<u64, Partial>,
    /// The message of the unreported arrivals.
    reporting: u64,
}

/// A coded packet of a message.
#[derive(Debug, Clone, Copy)]
struct CodedPacket {
    message: u64,
    index: u64,
}

impl Coded {
    pub(crate) fn new(delivery: Delivery) -> Self {
        Self { delivery, oldest: 0, messages: BTreeMap::new(), reporting: 0 }
    }

    fn is_complete(&self, number: u64) -> bool {
        let complete = |message: &Partial| message.needed == 0;
        number < self.oldest || self.messages.get(&number).is_some_and(complete)
    }

    /// Accepts a coded packet that was missing.
    fn accept(
        &mut self,
        CodedPacket { message: number, index }: CodedPacket,
        packet: DataView<'_>,
        acks: &AckState,
        out: &mut Outbox,
    ) {
        let bytes = u64::from(packet.message().length);
        let needed = bytes.div_ceil(out.settings.payload.get()).max(1);
        let message = self.messages.entry(number).or_insert_with(|| Partial {
            needed,
            bytes,
            arrived: Board::default(),
            highest: 0,
        });
        message.needed -= 1;
        message.arrived.insert(index);
        message.highest = message.highest.max(index);
        // A repair packet has the length of the longest packet, so payload counts only up to what
        // is missing.
        let complete = message.needed == 0;
        let credit = if complete { u64::MAX } else { out.payload(packet) };
        let credit = credit.min(message.bytes);
        message.bytes -= credit;
        out.counters.payload_received += credit;
        if !complete {
            return;
        }
        // A complete message is known by its count; its bits are no longer needed.
        message.arrived = Board::default();
        if self.delivery == Delivery::Unordered {
            acks.deliver(number, out);
        }
        while self.messages.get(&self.oldest).is_some_and(|oldest| oldest.needed == 0) {
            self.messages.remove(&self.oldest);
            if self.delivery == Delivery::Ordered {
                acks.deliver(self.oldest, out);
            }
            self.oldest += 1;
        }
    }
}

impl ReceiveRecovery for Coded {
    fn reply(&self) -> Reply<'_> {
        let flags = Flags::LAST.when(self.is_complete(self.reporting));
        Reply::ack(self.reporting).with(flags)
    }

    fn delivered(&self) -> u64 {
        self.oldest
    }

    /// Returns 0: packets have no numbers beyond their message.
    fn arrived(&self) -> u64 {
        0
    }

    fn handle_data(
        &mut self,
        now: Time,
        packet: DataView<'_>,
        acks: &mut AckState,
        out: &mut Outbox,
    ) {
        let number = packet.message().index.unwrap_near(self.oldest);
        let message = self.messages.get(&number);
        let index = packet.psn().unwrap_near(message.map_or(0, |message| message.highest));
        let known = self.is_complete(number) || message.is_some_and(|it| it.arrived.has(index));
        if packet.is_trimmed() && !known {
            acks.nack_trimmed(packet, number, out);
            return;
        }
        // A single order over all messages: an index has at most 32 bits.
        acks.count_order(number << 32 | index, out);
        // An acknowledgement names one message, so packets of two messages never share one.
        let other = self.reporting != number && acks.has_unreported();
        if other || !acks.has_room_for(index, out) {
            acks.report(self.reply(), out);
        }
        self.reporting = number;
        acks.record(now, index, packet, out);
        if known {
            out.counters.duplicates += 1;
        } else {
            self.accept(CodedPacket { message: number, index }, packet, acks, out);
        }
        if known || self.is_complete(number) || acks.is_due(packet, out) {
            acks.report(self.reply(), out);
        }
    }
}
