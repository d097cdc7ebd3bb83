//! Selective repeat with one timer per packet, as spraying baselines use it.
//!
//! Source: the spray and REPS baselines of Ethereal's public simulator. Each packet has a timer
//! without back-off, only that packet is retransmitted, and there are no NACKs.

use serde::{Deserialize, Serialize};

use super::flights::{Flight, Flights};
use super::selective::Selective;
use super::{
    Arrived, MissReason, NackReport, PlaneUse, Recovery, RecoveryConfig, SendRecovery, SenderFacts,
    TimedOut,
};
use crate::nic::parameters::Configuration;
use crate::nic::qp::delivery::Delivery;
use crate::nic::receive::ack::AckRange;
use crate::nic::receive::receiver::{AnyOrder, Receiving};
use crate::packet::AckView;
use crate::units::Time;

/// Parameters: none. The timer is `retransmit_timeout`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {}

impl Configuration for Config {
    const NAME: &'static str = "per-packet";
    const SUMMARY: &'static str =
        "one timer per packet; only the lost packet is retransmitted; any order";
    const SOURCE: &'static str = "Ethereal, 2024 (arXiv 2407.00550), its simulator's baselines";
}

impl RecoveryConfig for Config {
    type Sender = PerPacket;

    const COUNTS_PLANES: bool = true;

    /// With one timer per packet, a lost acknowledgement is repaired too: any range suffices.
    const ACK_RANGES: &'static [AckRange] =
        &[AckRange::Cumulative, AckRange::Packet, AckRange::Last64];

    fn sender(&self, facts: &SenderFacts) -> PerPacket {
        PerPacket::new(facts, Reads::Any(facts.ack_range))
    }

    /// The receiver reports no losses, however many later packets have arrived.
    fn receiver(&self, delivery: Delivery) -> Receiving {
        AnyOrder::new(u32::MAX, delivery).into()
    }
}

impl Recovery {
    /// One timer per packet.
    pub const PER_PACKET: Self = Self::PerPacket(Config {});
}

/// The sending side: arrivals, and a timer for each packet in flight.
#[derive(Debug, Clone)]
pub(in crate::nic) struct PerPacket {
    window: Selective,
    reads: Reads,
    /// Low 32 bits of sequence numbers; the window is shorter than 2^31.
    flights: Flights<u32>,
}

/// The packets that an acknowledgement reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    /// Those that receivers are configured to report.
    Any(AckRange),
    /// Only the packet that it acknowledges, regardless of the receivers' configuration.
    Response,
}

impl PerPacket {
    fn new(facts: &SenderFacts, reads: Reads) -> Self {
        Self { window: Selective::new(facts.planes), reads, flights: Flights::new(facts.timeout) }
    }

    /// Creates a sender whose packets each have their own response.
    pub(super) fn with_responses(facts: &SenderFacts) -> Self {
        Self::new(facts, Reads::Response)
    }

    fn discard_arrived(&mut self) {
        let Self { window, flights, .. } = self;
        // An arrived packet behind the oldest one stays until it reaches the front.
        flights.discard_while(|packet| window.has_arrived(sequence_of(window, packet)));
    }
}

/// Widens the low bits of a packet in flight to its full sequence number.
fn sequence_of(window: &Selective, low: u32) -> u64 {
    // Counted back from `never_sent`, which is above every packet in flight.
    let behind = (window.never_sent() as u32).wrapping_sub(low);
    window.never_sent() - u64::from(behind)
}

impl SendRecovery for PerPacket {
    #[inline]
    fn next(&self, end: u64) -> Option<u64> {
        self.window.next(end)
    }

    fn unacknowledged(&self) -> u64 {
        self.window.first_missing()
    }

    fn never_sent(&self) -> u64 {
        self.window.never_sent()
    }

    #[inline]
    fn handle_sent(&mut self, now: Time, entropy: u16) {
        // Storing only the low half keeps an entry at 16 bytes; every packet in flight has one.
        let packet = self.window.handle_sent(now, entropy) as u32;
        self.flights.push(Flight { sent: now, packet, entropy });
    }

    #[inline]
    fn in_flight(&self) -> u64 {
        self.window.in_flight()
    }

    fn pending_retransmissions(&self) -> u64 {
        self.window.pending_retransmissions()
    }

    #[inline]
    fn read(&self, ack: AckView<'_>) -> Arrived {
        let known = self.window.first_missing();
        let arrived = Arrived::near(known, ack);
        match self.reads {
            Reads::Any(AckRange::Cumulative | AckRange::Last64) => arrived,
            // There is no cumulative number: `known` acknowledges nothing new, so only the bits
            // count.
            Reads::Any(AckRange::Packet) | Reads::Response => Arrived { ack: known, ..arrived },
        }
    }

    #[inline]
    fn handle_ack(&mut self, now: Time, arrived: Arrived) -> u64 {
        let new = self.window.handle_arrived(now, arrived);
        self.discard_arrived();
        new
    }

    fn handle_nack(&mut self, _now: Time, nack: NackReport) -> bool {
        let sequence = nack.psn;
        if nack.reason != MissReason::Trimmed || self.window.has_arrived(sequence) {
            return false;
        }
        // Its timer is removed with it; the retransmission starts a new one.
        let Self { window, flights, .. } = self;
        if !flights.remove(|packet| sequence_of(window, packet) == sequence) {
            return false;
        }
        // Retransmitted first: the trimmed header proves the loss.
        window.lose_first(sequence);
        self.discard_arrived();
        true
    }

    fn plane(&self, plane: u32) -> PlaneUse {
        self.window.plane(plane)
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.flights.deadline()
    }

    fn handle_timeout(&mut self, now: Time) -> Option<TimedOut> {
        let Flight { packet, entropy, .. } = self.flights.pop_expired(now)?;
        // The popped packet has not arrived: every arrival and removal runs `discard_arrived`.
        self.window.lose(sequence_of(&self.window, packet));
        self.discard_arrived();
        Some(TimedOut { entropy })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    fn sent(packets: u64) -> PerPacket {
        let mut window = Config {}.sender(&SenderFacts::for_test(Span::from_ns(100), Span::ZERO));
        for n in 0..packets {
            window.handle_sent(Time::from_ps(n), n as u16);
        }
        window
    }

    fn ack(window: &mut PerPacket, ack: u64, sequence: u64) {
        window.handle_ack(Time::ZERO, Arrived { ack, base: sequence, sack: 1, complete: false });
    }

    #[test]
    fn only_the_lost_packet_is_retransmitted() {
        let mut window = sent(200);
        for sequence in (0..200).filter(|&n| n != 70) {
            ack(&mut window, sequence.min(70), sequence);
        }
        assert_eq!(window.unacknowledged(), 70);
        assert_eq!(window.deadline(), Time::from_ps(100_070));
        let due = window.deadline();
        assert_eq!(window.handle_timeout(due), Some(TimedOut { entropy: 70 }));
        assert_eq!(window.handle_timeout(due), None, "one packet, one timer");
        assert_eq!(window.next(200), Some(70));
        window.handle_sent(due, 9);
        assert_eq!((window.next(200), window.never_sent()), (None, 200));
        ack(&mut window, 200, 70);
        assert_eq!((window.unacknowledged(), window.deadline()), (200, Time::NEVER));
    }

    #[test]
    fn a_late_acknowledgement_cancels_the_retransmission() {
        let mut window = sent(3);
        window.handle_timeout(Time::from_ps(100_000));
        assert_eq!(window.next(3), Some(0));
        ack(&mut window, 1, 0);
        assert_eq!(window.next(3), None);
    }

    #[test]
    fn a_trimmed_packet_goes_first_and_takes_its_timer_along() {
        let mut window = sent(5);
        let trimmed = NackReport { missing: 0, psn: 3, reason: MissReason::Trimmed };
        assert!(window.handle_nack(Time::ZERO, trimmed));
        assert!(!window.handle_nack(Time::ZERO, trimmed), "it is already waiting");
        assert!(!window.handle_nack(Time::ZERO, NackReport { psn: 9, ..trimmed }), "never sent");
        assert_eq!((window.next(9), window.in_flight()), (Some(3), 4));
        window.handle_sent(Time::from_ps(5_000), 8);
        assert_eq!((window.next(5), window.in_flight()), (None, 5));
        for sequence in [0, 1, 2, 4] {
            ack(&mut window, 0, sequence);
        }
        assert_eq!(window.deadline(), Time::from_ps(105_000), "from when it was last sent");
    }

    #[test]
    fn in_flight_equals_sent_minus_arrived_minus_lost() {
        let mut random = crate::rng::Stream::new(2, crate::rng::Purpose::Test, 0);
        let mut window = sent(300);
        let mut arrived = std::collections::BTreeSet::new();
        let mut lost = std::collections::BTreeSet::new();
        for _ in 0..2_000 {
            if random.below(20) == 0
                && let Some(Flight { sent, packet: sequence, .. }) = window.flights.oldest()
            {
                window.handle_timeout(sent.saturating_add(Span::from_ns(100)));
                lost.insert(u64::from(sequence));
            }
            let sequence = u64::from(random.below(300));
            let first = (0..).find(|n| !arrived.contains(n)).unwrap();
            let new = window.handle_ack(
                Time::ZERO,
                Arrived { ack: first, base: sequence, sack: 1, complete: false },
            );
            assert_eq!(new, u64::from(arrived.insert(sequence)));
            lost.remove(&sequence);
            assert_eq!(window.in_flight(), 300 - arrived.len() as u64 - lost.len() as u64);
        }
    }

    #[test]
    fn arrivals_in_any_order_lead_to_the_same_state() {
        let mut random = crate::rng::Stream::new(1, crate::rng::Purpose::Test, 0);
        for packets in [1u64, 63, 64, 65, 500] {
            let mut window = sent(packets);
            let mut order: Vec<u64> = (0..packets).collect();
            random.shuffle(&mut order);
            for sequence in order {
                ack(&mut window, 0, sequence);
            }
            assert_eq!(window.unacknowledged(), packets);
            assert!(window.flights.oldest().is_none() && window.window.board().beyond_first() == 0);
        }
    }
}
