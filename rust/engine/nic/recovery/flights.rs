//! Packets in flight with a timer each. All timers are of one length, so that packets time out in
//! the order in which they were sent: the timers are a queue.

use std::collections::VecDeque;

use crate::units::{Span, Time};

/// A packet in flight; `P` says which.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flight<P> {
    pub sent: Time,
    pub packet: P,
    /// The entropy value that it carries.
    pub entropy: u16,
}

/// Packets in flight, oldest first. A packet that has arrived stays until it is the oldest.
#[derive(Debug, Clone)]
pub(super) struct Flights<P> {
    timeout: Span,
    queue: VecDeque<Flight<P>>,
}

impl<P: Copy> Flights<P> {
    pub(super) const fn new(timeout: Span) -> Self {
        Self { timeout, queue: VecDeque::new() }
    }

    /// Adds a packet that starts now; times never decrease, so the queue stays sorted.
    #[inline]
    pub(super) fn push(&mut self, flight: Flight<P>) {
        self.queue.push_back(flight);
    }

    /// Removes the oldest packets as long as they have landed.
    #[inline]
    pub(super) fn discard_while(&mut self, mut landed: impl FnMut(P) -> bool) {
        while self.queue.front().is_some_and(|oldest| landed(oldest.packet)) {
            self.queue.pop_front();
        }
    }

    /// Removes the packet for which `is` holds; returns whether there was one.
    pub(super) fn remove(&mut self, mut is: impl FnMut(P) -> bool) -> bool {
        // Linear in the packets in flight: only NACKs of trimmed packets come here.
        let found = self.queue.iter().position(|flight| is(flight.packet));
        found.is_some_and(|index| self.queue.remove(index).is_some())
    }

    /// When the timer of the oldest packet expires; `NEVER` if no packet is in flight.
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.queue.front().map_or(Time::NEVER, |oldest| oldest.sent.saturating_add(self.timeout))
    }

    /// Takes out the oldest packet, if its timer has expired by `now`.
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
