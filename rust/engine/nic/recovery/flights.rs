//! Packets in flight with one timer each. All timers have the same length, so packets time out in
//! the order in which they were sent: a queue replaces a timer heap.

use std::collections::VecDeque;

use crate::units::{Span, Time};

/// A packet in flight, identified by `P`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flight<P> {
    pub sent: Time,
    pub packet: P,
    /// Its entropy value.
    pub entropy: u16,
}

/// Packets in flight, oldest first. An arrived packet stays until it is the oldest.
#[derive(Debug, Clone)]
pub(super) struct Flights<P> {
    timeout: Span,
    queue: VecDeque<Flight<P>>,
}

impl<P: Copy> Flights<P> {
    pub(super) const fn new(timeout: Span) -> Self {
        Self { timeout, queue: VecDeque::new() }
    }

    /// Adds a packet that is sent now. Time never decreases, so the queue stays sorted.
    #[inline]
    pub(super) fn push(&mut self, flight: Flight<P>) {
        self.queue.push_back(flight);
    }

    /// Removes packets from the front while `arrived` is true for them.
    #[inline]
    pub(super) fn discard_while(&mut self, mut arrived: impl FnMut(P) -> bool) {
        while self.queue.front().is_some_and(|oldest| arrived(oldest.packet)) {
            self.queue.pop_front();
        }
    }

    /// Removes the packet that matches `is`; returns true if there was one.
    pub(super) fn remove(&mut self, mut is: impl FnMut(P) -> bool) -> bool {
        // Linear in the packets in flight: only NACKs for trimmed packets need it.
        let found = self.queue.iter().position(|flight| is(flight.packet));
        found.is_some_and(|index| self.queue.remove(index).is_some())
    }

    /// When the timer of the oldest packet expires; `NEVER` if no packet is in flight.
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.queue.front().map_or(Time::NEVER, |oldest| oldest.sent.saturating_add(self.timeout))
    }

    /// Removes and returns the oldest packet if its timer has expired by `now`.
    pub(super) fn pop_expired(&mut self, now: Time) -> Option<Flight<P>> {
        if self.queue.is_empty() || self.deadline() > now {
            return None;
        }
        self.queue.pop_front()
    }

    #[cfg(test)]
    pub(super) fn oldest(&self) -> Option<Flight<P>> {
        self.queue.front().copied()
    }
}
