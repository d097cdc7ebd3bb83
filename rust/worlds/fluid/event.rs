//! The event queue of a run.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::units::Time;

/// The kind of an event. Events at the same time are handled in this order. Flows that end at that
/// time ([`super::end_queue`]) come after all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A link or the routing changes. The id is the index of the change.
    Change,
    /// The receiver has the whole flow. The id is the index of the transfer.
    Delivered,
    /// The sender has received the last acknowledgement of a flow.
    Completed,
    /// The retransmission timer of a flow without a path expires.
    Timeout,
    /// A host asked to be woken. The id is the host's.
    Wake,
}

/// An event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Event {
    pub(super) at: Time,
    pub(super) kind: Kind,
    /// Index of the change, transfer or host.
    pub(super) id: u32,
    /// The version of the transfer when the event was scheduled; 0 for other kinds.
    pub(super) version: u32,
}

/// The pending events, earliest first.
#[derive(Debug, Default)]
pub(super) struct Events {
    heap: BinaryHeap<Reverse<Event>>,
}

impl Events {
    pub(super) fn push(&mut self, event: Event) {
        self.heap.push(Reverse(event));
    }

    /// Returns the time of the next event.
    pub(super) fn next_time(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse(event)| event.at)
    }

    /// Removes and returns the next event, if it is at or before `now`.
    pub(super) fn pop_at(&mut self, now: Time) -> Option<Event> {
        let next = self.heap.peek().filter(|Reverse(event)| event.at <= now)?.0;
        self.heap.pop();
        Some(next)
    }
}
