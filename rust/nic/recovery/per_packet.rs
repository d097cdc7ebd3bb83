//! Selective repeat with a timer for each packet: what spraying baselines use.
//!
//! Source: the spray and REPS baselines of Ethereal's public simulator (one timer a packet, no
//! back-off, only the packet itself is sent again, no NACK). All timers are of one length, so
//! packets time out in the order they were sent: the timers are a queue.

use std::collections::VecDeque;

use super::{Arrived, Expired, SendRecovery};
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
    unacknowledged: u64,
    never_sent: u64,
    /// Arrived packets from `unacknowledged / 64 * 64` on, 64 a word.
    arrived: VecDeque<u64>,
    /// How many of them there are from `unacknowledged` on.
    arrived_ahead: u64,
    /// Packets sent, oldest first, until their turn shows that they arrived.
    flying: VecDeque<Flying>,
    /// Packets given up, oldest first.
    lost: VecDeque<u64>,
}

impl PerPacket {
    pub(super) const fn new(timeout: Span) -> Self {
        Self {
            timeout,
            unacknowledged: 0,
            never_sent: 0,
            arrived: VecDeque::new(),
            arrived_ahead: 0,
            flying: VecDeque::new(),
            lost: VecDeque::new(),
        }
    }

    fn has_arrived(&self, sequence: u64) -> bool {
        if sequence < self.unacknowledged {
            return true;
        }
        let word = sequence / 64 - self.unacknowledged / 64;
        self.arrived.get(word as usize).is_some_and(|bits| bits >> (sequence % 64) & 1 == 1)
    }

    /// The full sequence number of a packet in flight: the window spans less than 2^32.
    fn sequence_of(&self, flying: Flying) -> u64 {
        let behind = (self.never_sent as u32).wrapping_sub(flying.sequence);
        self.never_sent - u64::from(behind)
    }

    fn mark(&mut self, base: u64, sack: u64) {
        let first = self.unacknowledged / 64;
        // A block of 64 from any base touches two words of ours.
        for (word, bits) in [(base / 64, sack << (base % 64)), (base / 64 + 1, high(sack, base))] {
            // What is acknowledged already, or was never sent, is not counted.
            let bits = bits & from(self.unacknowledged, word) & !from(self.never_sent, word);
            if bits == 0 || word < first || word > self.never_sent / 64 {
                continue;
            }
            let index = (word - first) as usize;
            if self.arrived.len() <= index {
                self.arrived.resize(index + 1, 0);
            }
            self.arrived_ahead += u64::from((bits & !self.arrived[index]).count_ones());
            self.arrived[index] |= bits;
        }
    }

    fn advance_to(&mut self, ack: u64) {
        let words = ack / 64 - self.unacknowledged / 64;
        let drained = self.arrived.drain(..(words as usize).min(self.arrived.len()));
        let mut passed: u64 = drained.map(|bits| u64::from(bits.count_ones())).sum();
        if let Some(first) = self.arrived.front_mut() {
            let below = *first & !from(ack, ack / 64);
            *first ^= below;
            passed += u64::from(below.count_ones());
        }
        self.arrived_ahead -= passed;
        self.unacknowledged = ack;
    }

    /// Moves on over everything that arrived in one run.
    fn advance(&mut self) {
        let mut ack = self.unacknowledged;
        while let Some(&bits) = self.arrived.get((ack / 64 - self.unacknowledged / 64) as usize) {
            let run = u64::from((bits >> (ack % 64)).trailing_ones());
            ack += run;
            if run == 0 || !ack.is_multiple_of(64) {
                break;
            }
        }
        self.advance_to(ack.min(self.never_sent));
    }

    fn forget_arrived(&mut self) {
        while let Some(&oldest) = self.flying.front() {
            if !self.has_arrived(self.sequence_of(oldest)) {
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
        lost.retain(|&sequence| !self.has_arrived(sequence));
        self.lost = lost;
    }
}

/// The bits of `word` that stand for sequence numbers from `first` on.
const fn from(first: u64, word: u64) -> u64 {
    if word < first / 64 {
        0
    } else if word > first / 64 {
        u64::MAX
    } else {
        u64::MAX << (first % 64)
    }
}

/// What a block from `base` has beyond its first word.
const fn high(sack: u64, base: u64) -> u64 {
    if base.is_multiple_of(64) { 0 } else { sack >> (64 - base % 64) }
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
        self.unacknowledged
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
        let known = self.unacknowledged + self.arrived_ahead + self.lost.len() as u64;
        self.never_sent - known
    }

    #[inline]
    fn handle_ack(&mut self, _now: Time, arrived: Arrived) -> u64 {
        if arrived.ack > self.never_sent {
            return 0;
        }
        let before = self.unacknowledged + self.arrived_ahead;
        if arrived.ack > self.unacknowledged {
            self.advance_to(arrived.ack);
        }
        if arrived.sack != 0 && arrived.base + 64 > self.unacknowledged {
            self.mark(arrived.base, arrived.sack);
            self.advance();
        }
        self.forget_arrived();
        self.forget_found();
        self.unacknowledged + self.arrived_ahead - before
    }

    fn handle_nack(&mut self, _now: Time, _missing: u64) -> bool {
        false
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
        window.handle_ack(Time::ZERO, Arrived { ack, base: sequence, sack: 1 });
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
    fn a_block_of_64_may_start_anywhere() {
        for base in [0u64, 1, 63, 64, 100] {
            let mut window = sent(300);
            window.handle_ack(Time::ZERO, Arrived { ack: base, base, sack: u64::MAX });
            assert_eq!(window.unacknowledged(), base + 64, "from {base}");
        }
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
            let new =
                window.handle_ack(Time::ZERO, Arrived { ack: first, base: sequence, sack: 1 });
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
            assert!(window.flying.is_empty() && window.arrived.len() <= 1);
        }
    }
}
