//! Entries by the time when they are due.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::units::Time;

/// Entries by the time when they are due, and entries of equal times by what they are. The first
/// time is kept beside them: it is read with each packet, and mostly nothing is due.
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
    /// When the first entry is due; `NEVER` without one.
    #[inline(always)]
    pub(in crate::nic) const fn first(&self) -> Time {
        self.first
    }

    /// The number of entries.
    pub(in crate::nic) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Adds an entry.
    #[inline]
    pub(in crate::nic) fn push(&mut self, due: Time, entry: T) {
        self.first = self.first.min(due);
        self.entries.push(Reverse((due, entry)));
    }

    /// Takes the first entry, if it is due by `now`, with its time.
    #[inline(always)]
    pub(in crate::nic) fn pop(&mut self, now: Time) -> Option<(Time, T)> {
        if self.first > now { None } else { self.take_first() }
    }

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
    fn entries_come_out_by_time_and_then_by_what_they_are() {
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
