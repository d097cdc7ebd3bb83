//! Selective repeat with a timer for each packet: what spraying baselines use.
//!
//! Source: the spray and REPS baselines of Ethereal's public simulator (one timer a packet, no
//! back-off, only the packet itself is sent again, no NACK). All timers are of one length, so
//! packets time out in the order they were sent: the timers are a queue.

use std::collections::VecDeque;

use super::{Arrived, Board, Expired, Missed, SendRecovery, Why};
use crate::units::{Span, Time};

/// A packet on its way.
#[derive(Debug, Clone, Copy)]
struct Flying {
    sent: Time,
    /// Low bits of its sequence number; the window is shorter than 2^31.
    sequence: u32,
    entropy: u16,
}

/// The window of one queue pair.
#[derive(Debug, Clone)]
pub struct PerPacket {
    timeout: Span,
    never_sent: u64,
    board: Board,
    /// Packets sent, oldest first, until their turn shows that they arrived.
    flying: VecDeque<Flying>,
    /// Packets given up, oldest first.
    lost: VecDeque<u64>,
}

impl PerPacket {
    pub(super) fn new(timeout: Span) -> Self {
        Self {
            timeout,
            never_sent: 0,
            board: Board::default(),
            flying: VecDeque::new(),
            lost: VecDeque::new(),
        }
    }

    /// The full sequence number of a packet in flight: the window spans less than 2^32.
    fn sequence_of(&self, flying: Flying) -> u64 {
        let behind = (self.never_sent as u32).wrapping_sub(flying.sequence);
        self.never_sent - u64::from(behind)
    }

    fn forget_arrived(&mut self) {
        while let Some(&oldest) = self.flying.front() {
            if !self.board.has(self.sequence_of(oldest)) {
                return;
            }
            self.flying.pop_front();
        }
    }

    fn forget_found(&mut self) {
        if self.lost.is_empty() {
            return;
        }
        let mut lost = std::mem::take(&mut self.lost);
        lost.retain(|&sequence| !self.board.has(sequence));
        self.lost = lost;
    }
}

impl SendRecovery for PerPacket {
    #[inline]
    fn next(&self, end: u64) -> Option<u64> {
        match self.lost.front() {
            Some(&sequence) => Some(sequence),
            None => (self.never_sent < end).then_some(self.never_sent),
        }
    }

    fn unacknowledged(&self) -> u64 {
        self.board.first()
    }

    fn never_sent(&self) -> u64 {
        self.never_sent
    }

    #[inline]
    fn handle_sent(&mut self, now: Time, entropy: u16) {
        let sequence = if let Some(again) = self.lost.pop_front() {
            again
        } else {
            self.never_sent += 1;
            self.never_sent - 1
        };
        self.flying.push_back(Flying { sent: now, sequence: sequence as u32, entropy });
    }

    #[inline]
    fn in_flight(&self) -> u64 {
        self.never_sent - self.board.count() - self.lost.len() as u64
    }

    #[inline]
    fn handle_ack(&mut self, _now: Time, arrived: Arrived) -> u64 {
        if arrived.ack > self.never_sent {
            return 0;
        }
        let before = self.board.count();
        self.board.advance_to(arrived.ack);
        if arrived.sack != 0 {
            self.board.mark(arrived.base, arrived.sack, self.never_sent);
        }
        self.forget_arrived();
        self.forget_found();
        self.board.count() - before
    }

    fn handle_nack(&mut self, _now: Time, missed: Missed) -> bool {
        if missed.why != Why::Trimmed {
            return false;
        }
        let sequence = missed.psn;
        // Its timer goes with it: each packet has one, from when it was last sent.
        let flies = |flying: &Flying| self.sequence_of(*flying) == sequence;
        let Some(place) = self.flying.iter().position(flies) else { return false };
        if self.board.has(sequence) {
            return false;
        }
        self.flying.remove(place);
        self.lost.push_front(sequence);
        self.forget_arrived();
        true
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.flying.front().map_or(Time::NEVER, |oldest| oldest.sent.saturating_add(self.timeout))
    }

    fn handle_timeout(&mut self, now: Time) -> Option<Expired> {
        let oldest = *self.flying.front()?;
        if oldest.sent.saturating_add(self.timeout) > now {
            return None;
        }
        self.flying.pop_front();
        self.lost.push_back(self.sequence_of(oldest));
        self.forget_arrived();
        Some(Expired { entropy: oldest.entropy })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(packets: u64) -> PerPacket {
        let mut window = PerPacket::new(Span::from_ns(100));
        for n in 0..packets {
            window.handle_sent(Time::from_ps(n), n as u16);
        }
        window
    }

    fn ack(window: &mut PerPacket, ack: u64, sequence: u64) {
        window.handle_ack(Time::ZERO, Arrived { ack, base: sequence, sack: 1, complete: false });
    }

    #[test]
    fn only_the_lost_packet_is_sent_again() {
        let mut window = sent(200);
        for sequence in (0..200).filter(|&n| n != 70) {
            ack(&mut window, sequence.min(70), sequence);
        }
        assert_eq!(window.unacknowledged(), 70);
        assert_eq!(window.deadline(), Time::from_ps(100_070));
        let due = window.deadline();
        assert_eq!(window.handle_timeout(due), Some(Expired { entropy: 70 }));
        assert_eq!(window.handle_timeout(due), None, "one packet, one timer");
        assert_eq!(window.next(200), Some(70));
        window.handle_sent(due, 9);
        assert_eq!((window.next(200), window.never_sent()), (None, 200));
        ack(&mut window, 200, 70);
        assert_eq!((window.unacknowledged(), window.deadline()), (200, Time::NEVER));
    }

    #[test]
    fn a_late_acknowledgement_takes_back_the_retransmission() {
        let mut window = sent(3);
        window.handle_timeout(Time::from_ps(100_000));
        assert_eq!(window.next(3), Some(0));
        ack(&mut window, 1, 0);
        assert_eq!(window.next(3), None);
    }

    #[test]
    fn a_trimmed_packet_goes_first_and_takes_its_timer_along() {
        let mut window = sent(5);
        let trimmed = Missed { missing: 0, psn: 3, why: Why::Trimmed };
        assert!(window.handle_nack(Time::ZERO, trimmed));
        assert!(!window.handle_nack(Time::ZERO, trimmed), "it waits already");
        assert!(!window.handle_nack(Time::ZERO, Missed { psn: 9, ..trimmed }), "never sent");
        assert_eq!((window.next(9), window.in_flight()), (Some(3), 4));
        window.handle_sent(Time::from_ps(5_000), 8);
        assert_eq!((window.next(5), window.in_flight()), (None, 5));
        for sequence in [0, 1, 2, 4] {
            ack(&mut window, 0, sequence);
        }
        assert_eq!(window.deadline(), Time::from_ps(105_000), "from when it was last sent");
    }

    #[test]
    fn what_is_in_flight_is_counted_packet_by_packet() {
        let mut random = crate::rng::Stream::new(2, crate::rng::Purpose::Test, 0);
        let mut window = sent(300);
        let mut arrived = std::collections::BTreeSet::new();
        let mut lost = std::collections::BTreeSet::new();
        for _ in 0..2_000 {
            if random.below(20) == 0
                && let Some(&Flying { sent, sequence, .. }) = window.flying.front()
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
    fn arrivals_in_any_order_end_the_same() {
        let mut random = crate::rng::Stream::new(1, crate::rng::Purpose::Test, 0);
        for packets in [1u64, 63, 64, 65, 500] {
            let mut window = sent(packets);
            let mut order: Vec<u64> = (0..packets).collect();
            random.shuffle(&mut order);
            for sequence in order {
                ack(&mut window, 0, sequence);
            }
            assert_eq!(window.unacknowledged(), packets);
            assert!(window.flying.is_empty() && window.board.ahead() == 0);
        }
    }
}
