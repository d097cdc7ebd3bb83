//! The end time of each flow that is being sent, at its current rate.
//!
//! A change of rates moves the ends of many flows by a little. They are kept in a binary heap that
//! tracks the slot of each transfer, so an end is moved in the heap and leaves no stale entry. With
//! 1,000 flows a `BTreeSet` takes 5× the time, and a `BinaryHeap` with lazy deletion 1.7×. The
//! crate `priority-queue` hashes its items, and its licence is not on our list.

use crate::units::Time;

/// The slot of a transfer without an end time.
const NO_SLOT: u32 = u32::MAX;

/// The end times of transfers, by transfer index.
#[derive(Debug, Default)]
pub(super) struct EndQueue {
    /// A min-heap of (end, transfer): no entry is before its parent.
    heap: Vec<(Time, u32)>,
    /// By transfer: its slot in `heap`.
    slots: Vec<u32>,
}

impl EndQueue {
    /// Sets the end time of a transfer; `None` if it is not being sent.
    pub(super) fn set(&mut self, transfer: u32, end: Option<Time>) {
        if self.slots.len() <= transfer as usize {
            self.slots.resize(transfer as usize + 1, NO_SLOT);
        }
        match (self.slots[transfer as usize], end) {
            (NO_SLOT, None) => {}
            (NO_SLOT, Some(at)) => {
                self.heap.push((at, transfer));
                self.settle(self.heap.len() - 1);
            }
            (slot, Some(at)) => {
                self.heap[slot as usize].0 = at;
                self.settle(slot as usize);
            }
            (slot, None) => {
                self.heap.swap_remove(slot as usize);
                self.slots[transfer as usize] = NO_SLOT;
                // The entry that was last in the heap may belong above or below this slot.
                if (slot as usize) < self.heap.len() {
                    self.settle(slot as usize);
                }
            }
        }
    }

    /// Returns the earliest end time.
    pub(super) fn first(&self) -> Option<Time> {
        self.heap.first().map(|&(at, _)| at)
    }

    /// Removes and returns the transfer with the earliest end, if that is at or before `now`.
    pub(super) fn pop_at(&mut self, now: Time) -> Option<u32> {
        let &(_, transfer) = self.heap.first().filter(|(at, _)| *at <= now)?;
        self.set(transfer, None);
        Some(transfer)
    }

    /// Sifts the entry at `slot` up or down until the heap is ordered.
    fn settle(&mut self, mut slot: usize) {
        let entry = self.heap[slot];
        while slot > 0 && entry < self.heap[(slot - 1) / 2] {
            self.put(slot, self.heap[(slot - 1) / 2]);
            slot = (slot - 1) / 2;
        }
        loop {
            let children = 2 * slot + 1..(2 * slot + 3).min(self.heap.len());
            let least = children.min_by_key(|&child| self.heap[child]);
            let Some(child) = least.filter(|&child| self.heap[child] < entry) else { break };
            self.put(slot, self.heap[child]);
            slot = child;
        }
        self.put(slot, entry);
    }

    fn put(&mut self, slot: usize, entry: (Time, u32)) {
        self.heap[slot] = entry;
        self.slots[entry.1 as usize] = slot as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    #[test]
    fn ends_stay_sorted_when_they_move() {
        let mut random = Stream::new(1, Purpose::Split, 0);
        let mut queue = EndQueue::default();
        let mut known: Vec<Option<Time>> = vec![None; 50];
        for _ in 0..2_000 {
            let transfer = random.below(50);
            let end = Some(Time::from_ps(u64::from(random.below(100))));
            let end = end.filter(|_| random.below(4) > 0);
            known[transfer as usize] = end;
            queue.set(transfer, end);
            let first = known.iter().flatten().min().copied();
            assert_eq!(queue.first(), first);
        }
        let mut last = Time::ZERO;
        while let Some(at) = queue.first() {
            assert!(last <= at);
            last = at;
            let transfer = queue.pop_at(at).unwrap();
            assert_eq!(known[transfer as usize].take(), Some(at));
        }
        assert!(known.iter().all(Option::is_none));
    }
}
