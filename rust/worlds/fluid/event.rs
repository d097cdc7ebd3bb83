//! The events of a run, in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::units::Time;

/// What happens. Events of the same time happen in this order; flows whose last packet is sent at
/// that time ([`super::ends`]) come after all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A link or routing changes: the index of the change.
    Change,
    /// The receiver of a flow has all of it: the index of the transfer.
    Delivered,
    /// The sender of a flow has its last acknowledgement.
    Completed,
    /// A flow without a way has waited for an acknowledgement in vain.
    Timeout,
    /// A host wants to be woken: its id.
    Wake,
}

/// An event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Event {
    pub(super) at: Time,
    pub(super) kind: Kind,
    /// What it is about.
    pub(super) id: u32,
    /// The version of the transfer that it is about; 0 for others.
    pub(super) version: u32,
}

/// The events to come.
#[derive(Debug, Default)]
pub(super) struct Events {
    heap: BinaryHeap<Reverse<Event>>,
}

impl Events {
    pub(super) fn push(&mut self, event: Event) {
        self.heap.push(Reverse(event));
    }

    /// The time of the next event.
    pub(super) fn next_time(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse(event)| event.at)
    }

    /// The next event, if it happens at `now`.
    pub(super) fn pop_at(&mut self, now: Time) -> Option<Event> {
        let next = self.heap.peek().filter(|Reverse(event)| event.at <= now)?.0;
        self.heap.pop();
        Some(next)
    }
}
