//! Entries ordered by due time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::units::Time;

/// A priority queue by due time; equal times are ordered by entry. The first time is also stored
/// separately: it is read with each packet, and usually nothing is due.
#[derive(Debug, Clone)]
pub(in crate::nic) struct Agenda<T> {
    first: Time,
    entries: BinaryHeap<Reverse<(Time, T)>>,
}

impl<T: Ord> Default for Agenda<T> {
    fn default() -> Self {
        Self { first: Time::NEVER, entries: BinaryHeap::new() }
    }
}

impl<T: Copy + Ord> Agenda<T> {
    /// Returns when the first entry is due; `NEVER` without one.
    #[inline(always)]
    pub(in crate::nic) const fn first(&self) -> Time {
        self.first
    }

    /// Returns the number of entries.
    pub(in crate::nic) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Adds an entry.
    #[inline]
    pub(in crate::nic) fn push(&mut self, due: Time, entry: T) {
        self.first = self.first.min(due);
        self.entries.push(Reverse((due, entry)));
    }

    /// Removes and returns the first entry and its time, if it is due by `now`.
    #[inline(always)]
    pub(in crate::nic) fn pop(&mut self, now: Time) -> Option<(Time, T)> {
        if self.first > now { None } else { self.take_first() }
    }

    // Out of line: callers inline only the comparison, which usually ends the call.
    #[inline(never)]
    fn take_first(&mut self) -> Option<(Time, T)> {
        let Reverse(entry) = self.entries.pop()?;
        self.look_up_first();
        Some(entry)
    }

    /// Keeps only entries for which `is_kept` is true.
    pub(in crate::nic) fn retain(&mut self, mut is_kept: impl FnMut(Time, T) -> bool) {
        self.entries.retain(|&Reverse((due, entry))| is_kept(due, entry));
        self.look_up_first();
    }

    fn look_up_first(&mut self) {
        self.first = self.entries.peek().map_or(Time::NEVER, |&Reverse((due, _))| due);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_out_by_time_and_then_by_value() {
        let at = Time::from_ps;
        let mut agenda = Agenda::default();
        assert_eq!((agenda.first(), agenda.pop(Time::NEVER)), (Time::NEVER, None));
        for (due, entry) in [(at(7), 1), (at(5), 3), (at(5), 2), (at(9), 0)] {
            agenda.push(due, entry);
        }
        assert_eq!((agenda.first(), agenda.pop(at(4))), (at(5), None));
        assert_eq!(agenda.pop(at(5)), Some((at(5), 2)));
        agenda.retain(|_, entry| entry != 3);
        assert_eq!((agenda.first(), agenda.len()), (at(7), 2));
        assert_eq!([at(8), at(8)].map(|now| agenda.pop(now)), [Some((at(7), 1)), None]);
    }
}
