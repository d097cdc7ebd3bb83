//! What recoveries by selective repeat share: which packets have arrived, and which are sent again.

use std::collections::VecDeque;

use super::Arrived;
use crate::nic::board::Board;

/// The packets of one queue pair: those that arrived, those that wait to be sent again, and how
/// many were ever sent. All others are in flight.
#[derive(Debug, Clone, Default)]
pub(super) struct Selective {
    never_sent: u64,
    board: Board,
    /// Packets to be sent again, in this order.
    lost: VecDeque<u64>,
}

impl Selective {
    /// The packet to send next, if there is one before `end`: lost ones first.
    #[inline]
    pub(super) fn next(&self, end: u64) -> Option<u64> {
        match self.lost.front() {
            // It was within the window when it was first sent, and that window only moves forward.
            Some(&sequence) => Some(sequence),
            None => (self.never_sent < end).then_some(self.never_sent),
        }
    }

    /// The packet named by `next` goes out: its number.
    #[inline]
    pub(super) fn handle_sent(&mut self) -> u64 {
        if let Some(again) = self.lost.pop_front() {
            return again;
        }
        self.never_sent += 1;
        self.never_sent - 1
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

    /// Packets sent that have neither arrived nor wait to be sent again.
    #[inline]
    pub(super) fn in_flight(&self) -> u64 {
        self.never_sent - self.board.count() - self.lost.len() as u64
    }

    /// Packets that wait to be sent again.
    pub(super) fn waiting_again(&self) -> u64 {
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

    /// Packets arrived: returns how many of them were not known to. What arrives is not sent
    /// again. An acknowledgement of packets that were never sent is ignored.
    #[inline]
    pub(super) fn handle_arrived(&mut self, arrived: Arrived) -> u64 {
        if arrived.ack > self.never_sent {
            return 0;
        }
        let before = self.board.count();
        self.board.advance_to(arrived.ack);
        if arrived.sack != 0 {
            self.board.mark(arrived.base, arrived.sack, self.never_sent);
        }
        // A packet that was taken for lost may have been late. Usually none waits, and the scan is
        // spared.
        if !self.lost.is_empty() {
            let board = &self.board;
            self.lost.retain(|&sequence| !board.has(sequence));
        }
        self.board.count() - before
    }

    /// A packet in flight is lost, and sent again after those that were lost before it.
    pub(super) fn lose(&mut self, sequence: u64) {
        self.lost.push_back(sequence);
    }

    /// No packet waits to be sent again.
    pub(super) fn clear_lost(&mut self) {
        self.lost.clear();
    }

    /// A packet in flight is lost, and sent again before all others.
    pub(super) fn lose_first(&mut self, sequence: u64) {
        self.lost.push_front(sequence);
    }

    #[cfg(test)]
    pub(super) const fn board(&self) -> &Board {
        &self.board
    }
}
