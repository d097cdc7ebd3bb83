//! An ideal rateless erasure code: any `m` packets of a message of `m` packets yield the message.
//!
//! Source: the ideal loss recovery of Ofan (arXiv 2507.21372, section 2). It has zero overhead, no
//! time to code or decode, and a receiver that acknowledges each packet. No real code is that good.
//! It isolates load balancing from loss recovery.
//!
//! The sender sends coded packets of a message until `m` have arrived or are in flight. It sends
//! one more for each that it learns is lost: trimmed by a switch, or unacknowledged when its timer
//! expired. A run without losses sends `m`. Messages of a queue pair are coded separately. At the
//! receiver, a message that misses packets does not hold back later ones. The sender completes
//! messages in order.
//!
//! On the wire, a data packet carries the index of its message, the number of the coded packet
//! within it (as PSN), and the length of the message in bytes (at most [`LONGEST_MESSAGE`]). An
//! acknowledgement carries the index of a message, which of its packets arrived, and whether no
//! more are needed.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::flights::{Flight, Flights};
use super::{
    Arrived, MissReason, NackReport, Numbering, Recovery, RecoveryConfig, SendRecovery,
    SenderFacts, TimedOut,
};
use crate::nic::parameters::Configuration;
use crate::nic::qp::delivery::Delivery;
use crate::nic::receive::board::Board;
use crate::nic::receive::receiver::{Coded, Receiving};
use crate::packet::{AckView, DataFields, MessageLabel, Psn};
use crate::units::{Bytes, Span, Time};

/// The longest message that can be coded: its length is a 32-bit field. InfiniBand's limit is half
/// of it (specification, volume 1, 9.3.3).
pub const LONGEST_MESSAGE: Bytes = Bytes::new(u32::MAX as u64);

/// `erasure` has no parameters. The timer is `retransmit_timeout`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {}

impl Configuration for Config {
    const NAME: &'static str = "erasure";
    const SUMMARY: &'static str =
        "an ideal rateless erasure code: any m coded packets yield a message of m packets";
    const SOURCE: &'static str = "Ofan, 2025 (arXiv 2507.21372), section 2";
}

impl RecoveryConfig for Config {
    type Sender = Box<Erasure>;

    /// Messages are coded and delivered separately.
    const DELIVERIES: &'static [Delivery] = &[Delivery::Unordered, Delivery::Ordered];
    const NUMBERING: Numbering = Numbering::Message;
    const LONGEST_MESSAGE: Option<Bytes> = Some(LONGEST_MESSAGE);

    fn sender(&self, facts: &SenderFacts) -> Box<Erasure> {
        Box::new(Erasure::new(facts.timeout))
    }

    fn receiver(&self, delivery: Delivery) -> Receiving {
        Coded::new(delivery).into()
    }
}

impl Recovery {
    /// An ideal erasure code.
    pub const ERASURE: Self = Self::Erasure(Config {});
}

/// A message that is not known to have arrived.
#[derive(Debug, Clone, Default)]
struct Message {
    /// Its first packet in the sequence of all messages' packets.
    first: u64,
    /// Number of coded packets that the receiver needs.
    needed: u64,
    /// Coded packets sent.
    sent: u64,
    /// Coded packets in flight.
    in_flight: u64,
    /// Coded packets that arrived. The message is complete with the `needed`-th.
    arrived: Board,
    /// Coded packets that arrived or were given up.
    settled: Board,
    complete: Complete,
}

/// Whether the receiver has the complete message.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Complete {
    #[default]
    No,
    Yes,
}

impl Message {
    /// True if another of its packets must be sent.
    fn needs_packet(&self) -> bool {
        self.complete == Complete::No && self.arrived.count() + self.in_flight < self.needed
    }

    /// Records the arrival of packets, one per bit from `base` on; returns how many were missing.
    fn handle_arrival(&mut self, base: u64, bits: u64) -> u64 {
        let (arrived, settled) = (self.arrived.count(), self.settled.count());
        self.arrived.mark(base, bits, self.sent);
        self.settled.mark(base, bits, self.sent);
        // A packet that arrives after it was given up has already left `in_flight`: only packets
        // that settle now are subtracted.
        self.in_flight -= self.settled.count() - settled;
        self.arrived.count() - arrived
    }

    /// Gives up a packet; false if it has already arrived or been given up.
    fn give_up(&mut self, index: u64) -> bool {
        if index >= self.sent || self.settled.has(index) {
            return false;
        }
        self.settled.insert(index);
        self.in_flight -= 1;
        true
    }
}

/// A coded packet, by its message and its number within the message.
#[derive(Debug, Clone, Copy)]
struct Coding {
    message: u64,
    index: u64,
}

/// The sending side: the messages of one queue pair.
#[derive(Debug, Clone)]
pub(in crate::nic) struct Erasure {
    /// Number of `messages[0]`, the oldest incomplete message.
    oldest: u64,
    messages: VecDeque<Message>,
    /// Packets of all messages posted so far.
    posted: u64,
    /// The next packet to be sent for the first time.
    next_new: u64,
    /// The message of that packet.
    next_new_message: u64,
    /// Messages that lost a packet, one entry per loss. The front one needs a packet.
    repairs: VecDeque<u64>,
    flights: Flights<Coding>,
    sent: u64,
    in_flight: u64,
}

impl Erasure {
    fn new(timeout: Span) -> Self {
        Self {
            oldest: 0,
            messages: VecDeque::new(),
            posted: 0,
            next_new: 0,
            next_new_message: 0,
            repairs: VecDeque::new(),
            flights: Flights::new(timeout),
            sent: 0,
            in_flight: 0,
        }
    }

    fn message(&self, number: u64) -> Option<&Message> {
        self.messages.get(usize::try_from(number.checked_sub(self.oldest)?).ok()?)
    }

    fn message_mut(&mut self, number: u64) -> Option<&mut Message> {
        self.messages.get_mut(usize::try_from(number.checked_sub(self.oldest)?).ok()?)
    }

    /// The message of the next packet.
    fn next_message(&self) -> u64 {
        // Repairs first: they hold back the completion of older messages.
        self.repairs.front().copied().unwrap_or(self.next_new_message)
    }

    /// Ensures that the next packet, repair or new, belongs to a message that needs one.
    fn advance(&mut self) {
        // Several losses of one message may have requested more than it still needs.
        while let Some(&number) = self.repairs.front() {
            if self.message(number).is_some_and(Message::needs_packet) {
                break;
            }
            self.repairs.pop_front();
        }
        while let Some(message) = self.message(self.next_new_message) {
            // Sequence numbers count the packets needed, sent or not. A message that needs no more
            // skips its remaining numbers, so that the next one starts at its own `first`.
            let end = message.first + message.needed;
            if message.needs_packet() && self.next_new < end {
                break;
            }
            self.next_new = end;
            self.next_new_message += 1;
        }
        // Messages complete in any order, but leave in the order posted, as work requests complete.
        while self.messages.front().is_some_and(|message| message.complete == Complete::Yes) {
            self.messages.pop_front();
            self.oldest += 1;
        }
        let Self { messages, oldest, flights, .. } = self;
        flights.discard_while(|Coding { message, index }| {
            // A flight may outlive its message, whose number is then below `oldest`: it has landed.
            let message = message.checked_sub(*oldest).and_then(|it| messages.get(it as usize));
            message.is_none_or(|it| it.complete == Complete::Yes || it.settled.has(index))
        });
    }

    /// Gives up a packet of a message; true if it must be replaced by another.
    fn give_up(&mut self, Coding { message: number, index }: Coding) -> bool {
        let Some(message) = self.message_mut(number) else { return false };
        if message.complete == Complete::Yes || !message.give_up(index) {
            return false;
        }
        self.in_flight -= 1;
        self.repairs.push_back(number);
        self.advance();
        true
    }
}

impl SendRecovery for Erasure {
    fn handle_posted(&mut self, packets: u64) {
        self.messages.push_back(Message {
            first: self.posted,
            needed: packets,
            ..Message::default()
        });
        self.posted += packets;
        self.advance();
    }

    /// A repair is represented by the first packet of its message.
    #[inline]
    fn next(&self, end: u64) -> Option<u64> {
        match self.repairs.front() {
            Some(&number) => self.message(number).map(|message| message.first),
            None => (self.next_new < end).then_some(self.next_new),
        }
    }

    fn unacknowledged(&self) -> u64 {
        self.messages.front().map_or(self.posted, |message| message.first)
    }

    fn never_sent(&self) -> u64 {
        self.next_new
    }

    /// Posted messages cannot be withdrawn.
    fn first_withdrawable(&self) -> u64 {
        u64::MAX
    }

    /// Packets are numbered per message, and so are messages: `max_in_flight` limits both.
    /// Arrivals move the window although the message is complete only at its end.
    #[inline]
    fn window_end(&self, max_in_flight: u64) -> u64 {
        let begun = self.next_new_message - self.oldest;
        self.next_new + max_in_flight.saturating_sub(self.in_flight.max(begun))
    }

    #[inline]
    fn in_flight(&self) -> u64 {
        self.in_flight
    }

    fn pending_retransmissions(&self) -> u64 {
        self.repairs.len() as u64
    }

    /// Numbers the coded packet within its message, and adds the message length that the receiver
    /// needs.
    fn label(&self, data: &mut DataFields, message_bytes: u64) {
        let number = self.next_message();
        data.psn = Psn::on_wire(self.message(number).map_or(0, |message| message.sent));
        // Lossless: messages that the field cannot hold are rejected when posted.
        let length = u32::try_from(message_bytes).unwrap_or(u32::MAX);
        data.message = MessageLabel { index: Psn::on_wire(number), length };
    }

    fn read(&self, ack: AckView<'_>) -> Arrived {
        let number = ack.message().unwrap_near(self.oldest);
        let sent = self.message(number).map_or(0, |message| message.sent);
        let report = ack.report();
        Arrived {
            ack: number,
            base: report.base.unwrap_near(sent),
            sack: report.arrived,
            complete: ack.completes_message(),
        }
    }

    fn progress(&self) -> (u64, u64) {
        (self.sent - self.in_flight, self.sent)
    }

    #[inline]
    fn handle_sent(&mut self, now: Time, entropy: u16) {
        let number = self.next_message();
        // A repair replaces a packet that already has its number in the sequence.
        if self.repairs.pop_front().is_none() {
            self.next_new += 1;
        }
        let Some(message) = self.message_mut(number) else { return };
        let index = message.sent;
        message.sent += 1;
        message.in_flight += 1;
        self.sent += 1;
        self.in_flight += 1;
        let packet = Coding { message: number, index };
        self.flights.push(Flight { sent: now, packet, entropy });
        self.advance();
    }

    #[inline]
    fn handle_ack(&mut self, _now: Time, arrived: Arrived) -> u64 {
        let Some(message) = self.message_mut(arrived.ack) else { return 0 };
        if message.complete == Complete::Yes {
            return 0;
        }
        let in_flight = message.in_flight;
        let mut new = message.handle_arrival(arrived.base, arrived.sack);
        if arrived.complete || message.arrived.count() >= message.needed {
            // Packets of the message that are still in flight are no longer needed.
            new += message.in_flight;
            message.in_flight = 0;
            message.complete = Complete::Yes;
        }
        let settled = in_flight - message.in_flight;
        self.in_flight -= settled;
        self.advance();
        new
    }

    fn handle_nack(&mut self, _now: Time, nack: NackReport) -> bool {
        let packet = Coding { message: nack.missing, index: nack.psn };
        // There are no gaps to report: any later packet of the message fills one.
        nack.reason == MissReason::Trimmed && self.give_up(packet)
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.flights.deadline()
    }

    fn handle_timeout(&mut self, now: Time) -> Option<TimedOut> {
        let Flight { packet, entropy, .. } = self.flights.pop_expired(now)?;
        self.give_up(packet);
        Some(TimedOut { entropy })
    }
}

#[cfg(test)]
mod tests;
