//! Shared state of the selective-repeat recoveries: arrivals and pending retransmissions.

use std::collections::VecDeque;

use super::by_plane::ByPlane;
use super::{Arrived, PlaneUse};
use crate::nic::receive::board::Board;
use crate::units::Time;

/// The packets of one queue pair: arrivals, pending retransmissions, and the number ever sent. All
/// others are in flight.
#[derive(Debug, Clone, Default)]
pub(super) struct Selective {
    never_sent: u64,
    board: Board,
    /// Packets to retransmit, in this order.
    lost: VecDeque<u64>,
    /// Counters per plane, if each plane has its own window.
    by_plane: Option<Box<ByPlane>>,
}

impl Selective {
    /// Creates a window; it counts by plane if the number of planes is given.
    pub(super) fn new(planes: Option<u32>) -> Self {
        Self { by_plane: planes.map(|count| Box::new(ByPlane::new(count))), ..Self::default() }
    }

    /// Returns the packet to send next, if there is one before `end`. Lost packets go first.
    #[inline]
    pub(super) fn next(&self, end: u64) -> Option<u64> {
        match self.lost.front() {
            // No check against `end`: it was within the window when first sent, and the window only
            // moves forward.
            Some(&sequence) => Some(sequence),
            None => (self.never_sent < end).then_some(self.never_sent),
        }
    }

    /// Records that the packet returned by `next` was sent with this entropy value; returns its
    /// number.
    #[inline]
    pub(super) fn handle_sent(&mut self, now: Time, entropy: u16) -> u64 {
        let sequence = self.lost.pop_front().unwrap_or_else(|| {
            self.never_sent += 1;
            self.never_sent - 1
        });
        if let Some(planes) = &mut self.by_plane {
            planes.send(now, sequence, entropy);
        }
        sequence
    }

    /// The use of one plane; zero if it does not count by plane.
    pub(super) fn plane(&self, plane: u32) -> PlaneUse {
        self.by_plane.as_ref().map_or_else(PlaneUse::default, |planes| planes.of(plane))
    }

    /// The oldest packet that has not arrived.
    #[inline]
    pub(super) const fn first_missing(&self) -> u64 {
        self.board.first()
    }

    /// The first packet that was never sent.
    #[inline]
    pub(super) const fn never_sent(&self) -> u64 {
        self.never_sent
    }

    /// Packets sent that have neither arrived nor wait for retransmission.
    #[inline]
    pub(super) fn in_flight(&self) -> u64 {
        // Derived, so it cannot drift from the three counts.
        self.never_sent - self.board.count() - self.lost.len() as u64
    }

    /// Packets that wait for retransmission.
    pub(super) fn pending_retransmissions(&self) -> u64 {
        self.lost.len() as u64
    }

    /// True if `sequence` arrived.
    #[inline]
    pub(super) fn has_arrived(&self, sequence: u64) -> bool {
        self.board.has(sequence)
    }

    /// The arrived packet beyond which exactly `more` have arrived: [`Board::arrival_before`].
    pub(super) fn arrival_before(&self, more: u64) -> Option<u64> {
        self.board.arrival_before(more)
    }

    /// Handles arrivals; returns how many of them are new. An arrived packet is not retransmitted.
    /// An acknowledgement of packets that were never sent is ignored.
    #[inline]
    pub(super) fn handle_arrived(&mut self, now: Time, arrived: Arrived) -> u64 {
        // Counted first: the board does not tell new arrivals from known ones afterwards.
        if self.by_plane.is_some() {
            self.count_arrivals(now, arrived);
        }
        if arrived.ack > self.never_sent {
            return 0;
        }
        let before = self.board.count();
        self.board.advance_to(arrived.ack);
        // Without loss, acknowledgements are cumulative and have no bits.
        if arrived.sack != 0 {
            self.board.mark(arrived.base, arrived.sack, self.never_sent);
        }
        // A packet considered lost may only have been late. Usually none waits, which avoids the
        // scan.
        if !self.lost.is_empty() {
            let board = &self.board;
            self.lost.retain(|&sequence| !board.has(sequence));
        }
        if let Some(planes) = &mut self.by_plane {
            planes.advance_to(self.board.first());
        }
        self.board.count() - before
    }

    /// Counts, by plane, the packets that `arrived` is the first to report.
    fn count_arrivals(&mut self, now: Time, arrived: Arrived) {
        // Taken out and put back, so that the board can be borrowed meanwhile.
        let Some(mut planes) = self.by_plane.take() else { return };
        planes.begin();
        let (first, end) = (self.first_missing(), self.never_sent);
        if arrived.ack <= end {
            // Bits below `ack` or `first` were counted already; bits beyond `end` are invalid.
            let ahead = arrived.ack.max(first)..end;
            let reported = (0..64).filter(|bit| arrived.sack >> bit & 1 == 1);
            let reported = reported.map(|bit| arrived.base + bit).filter(|it| ahead.contains(it));
            for sequence in (first..arrived.ack).chain(reported) {
                if !self.has_arrived(sequence) {
                    planes.arrive(now, sequence);
                }
            }
        }
        self.by_plane = Some(planes);
    }

    /// Marks a packet in flight as lost. It is retransmitted after earlier losses.
    pub(super) fn lose(&mut self, sequence: u64) {
        self.lost.push_back(sequence);
        self.count_lost(sequence);
    }

    /// Marks a packet in flight as lost. It is retransmitted before higher-numbered ones.
    pub(super) fn lose_in_order(&mut self, sequence: u64) {
        // Searched from the back: losses are mostly found in ascending order.
        let before = self.lost.iter().rposition(|&other| other < sequence);
        self.lost.insert(before.map_or(0, |index| index + 1), sequence);
        self.count_lost(sequence);
    }

    fn count_lost(&mut self, sequence: u64) {
        if let Some(planes) = &mut self.by_plane {
            planes.lose(sequence);
        }
    }

    /// Cancels all pending retransmissions.
    pub(super) fn clear_lost(&mut self) {
        self.lost.clear();
    }

    /// Marks a packet in flight as lost. It is retransmitted before all others.
    pub(super) fn lose_first(&mut self, sequence: u64) {
        self.lost.push_front(sequence);
        self.count_lost(sequence);
    }

    #[cfg(test)]
    pub(super) const fn board(&self) -> &Board {
        &self.board
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    /// With packets sent, arrived, lost and late, the in-flight counts of the planes always add up
    /// to the total.
    #[test]
    fn in_flight_counts_of_planes_add_up() {
        let mut random = crate::rng::Stream::new(3, crate::rng::Purpose::Test, 0);
        for planes in [1, 2, 3, 8] {
            let mut window = Selective::new(Some(planes));
            let mut arrivals = 0;
            for step in 0..20_000 {
                let now = Time::from_ps(step);
                let (first, end) = (window.first_missing(), window.never_sent());
                let any = first + u64::from(random.below(64.min((end - first) as u32).max(1)));
                match random.below(4) {
                    0 | 1 if end - first < 200 => {
                        window.handle_sent(now, random.next_u16());
                    }
                    2 if any < end && !window.has_arrived(any) && !window.lost.contains(&any) => {
                        window.lose(any);
                    }
                    _ => {
                        let ack = first + u64::from(random.below(20) == 0 && first < end);
                        let sack = u64::from(random.next_u16() & random.next_u16());
                        let arrived = Arrived { ack, base: any, sack, complete: false };
                        let new = window.handle_arrived(now, arrived);
                        let counted: u32 = (0..planes).map(|it| window.plane(it).arrived).sum();
                        assert_eq!(u64::from(counted), new);
                        arrivals += new;
                    }
                }
                let in_flight: u64 = (0..planes).map(|it| window.plane(it).in_flight).sum();
                assert_eq!(in_flight, window.in_flight(), "{planes} planes, step {step}");
            }
            assert!(arrivals > 1_000, "{arrivals}");
        }
    }

    #[test]
    fn round_trips_are_measured_on_packets_sent_once() {
        let mut window = Selective::new(Some(2));
        for n in 0..3 {
            window.handle_sent(Time::from_ps(n), n as u16);
        }
        window.lose(2);
        window.handle_sent(Time::from_ps(500), 4);
        let late = Arrived { ack: 1, base: 2, sack: 1, complete: false };
        assert_eq!(window.handle_arrived(Time::from_ps(900), late), 2);
        let [even, odd] = [0, 1].map(|plane| window.plane(plane));
        assert_eq!((even.arrived, even.rtt), (2, Some(Span::from_ps(900))), "of packet 0");
        assert_eq!((odd.arrived, odd.rtt, odd.in_flight), (0, None, 1));
    }
}
