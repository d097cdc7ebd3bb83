//! The pending events of a rail.

use std::collections::BTreeMap;

use crate::units::Time;

/// Events in time order. Events at the same time are in the order in which they were scheduled.
#[derive(Debug)]
pub(super) struct Events<E> {
    pending: BTreeMap<(Time, u64), E>,
    scheduled: u64,
}

impl<E> Events<E> {
    pub(super) const fn new() -> Self {
        Self { pending: BTreeMap::new(), scheduled: 0 }
    }

    /// Schedules an event.
    pub(super) fn push(&mut self, at: Time, event: E) {
        self.pending.insert((at, self.scheduled), event);
        self.scheduled += 1;
    }

    /// Returns the time of the next event.
    pub(super) fn next_time(&self) -> Option<Time> {
        self.pending.first_key_value().map(|(&(at, _), _)| at)
    }

    /// Removes and returns the next event.
    pub(super) fn pop(&mut self) -> Option<(Time, E)> {
        self.pending.pop_first().map(|((at, _), event)| (at, event))
    }

    /// Removes the events that `keep` rejects.
    pub(super) fn retain(&mut self, keep: impl Fn(&E) -> bool) {
        self.pending.retain(|_, event| keep(event));
    }
}
