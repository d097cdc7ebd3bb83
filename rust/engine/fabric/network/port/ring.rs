//! Ring buffer of a port's queue.
//!
//! The capacity is a power of two, so that an index is masked instead of compared. A ring takes
//! three quarters of the memory of the library's deque, which lets a port fit two cache lines.

use super::Queued;
use crate::prefetch::prefetch;

/// Queued packets, next one first.
#[derive(Debug, Default)]
pub(super) struct Ring {
    /// Storage; its length is zero or a power of two.
    slots: Box<[Queued]>,
    /// Index of the first packet, modulo the capacity.
    first: u32,
    count: u32,
}

/// Minimum capacity of a ring that has held a packet.
const MIN_CAPACITY: usize = 4;

impl Ring {
    /// True if the ring has no packet.
    #[inline(always)]
    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the number of packets.
    pub(super) const fn len(&self) -> usize {
        self.count as usize
    }

    /// Returns the storage index of a packet.
    #[inline(always)]
    fn slot_index(&self, index: u32) -> usize {
        // Without storage the mask wraps to all ones, and `get` then returns `None`.
        self.first.wrapping_add(index) as usize & self.slots.len().wrapping_sub(1)
    }

    /// Returns the packet at an index.
    pub(super) fn get(&self, index: u32) -> Option<Queued> {
        (index < self.count).then(|| self.slots[self.slot_index(index)])
    }

    /// Returns the first packet.
    #[inline(always)]
    pub(super) fn first(&self) -> Option<Queued> {
        self.slots.get(self.slot_index(0)).filter(|_| !self.is_empty()).copied()
    }

    /// Prefetches the entry of the first packet.
    #[inline]
    pub(super) fn prefetch_first(&self) {
        if let Some(slot) = self.slots.get(self.slot_index(0)) {
            prefetch(slot);
        }
    }

    /// Prefetches the entry behind the last packet.
    #[inline]
    pub(super) fn prefetch_next_slot(&self) {
        if let Some(slot) = self.slots.get(self.slot_index(self.count)) {
            prefetch(slot);
        }
    }

    /// Returns the last packet.
    pub(super) fn last(&self) -> Option<Queued> {
        self.get(self.count.checked_sub(1)?)
    }

    /// Iterates over the packets, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Queued> + '_ {
        (0..self.count).filter_map(|index| self.get(index))
    }

    /// Appends a packet.
    #[inline(always)]
    pub(super) fn push_back(&mut self, queued: Queued) {
        if self.count as usize == self.slots.len() {
            self.grow(queued);
        }
        let index = self.slot_index(self.count);
        self.slots[index] = queued;
        self.count += 1;
    }

    /// Prepends a packet.
    pub(super) fn push_front(&mut self, queued: Queued) {
        if self.count as usize == self.slots.len() {
            self.grow(queued);
        }
        // `first` may wrap below zero: it counts modulo the capacity.
        self.first = self.first.wrapping_sub(1);
        let index = self.slot_index(0);
        self.slots[index] = queued;
        self.count += 1;
    }

    /// Removes and returns the first packet.
    #[inline(always)]
    pub(super) fn pop_front(&mut self) -> Option<Queued> {
        let first = self.first()?;
        self.first = self.first.wrapping_add(1);
        self.count -= 1;
        Some(first)
    }

    /// Removes and returns the last packet.
    pub(super) fn pop_back(&mut self) -> Option<Queued> {
        let last = self.last()?;
        self.count -= 1;
        Some(last)
    }

    /// Doubles the capacity. Unused entries are filled with `any`.
    #[cold]
    fn grow(&mut self, any: Queued) {
        let slots = (2 * self.slots.len()).max(MIN_CAPACITY);
        let mut all = Vec::with_capacity(slots);
        // Copied in order, so the first packet moves to the front.
        all.extend(self.iter());
        all.resize(slots, any);
        self.slots = all.into_boxed_slice();
        self.first = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::fabric::network::pool::SlotId;
    use crate::packet::Packet;
    use crate::rng::{Purpose, Stream};

    #[test]
    fn a_ring_agrees_with_the_library_deque() {
        let mut random = Stream::new(6, Purpose::Test, 0);
        let (mut ring, mut deque) = (Ring::default(), VecDeque::new());
        for n in 0..20_000 {
            let queued = Queued::of(SlotId(n), &Packet::default());
            // Long queues now and then, and empty ones.
            match (random.below(5), n / 200 % 2) {
                (0, _) => assert_eq!(ring.pop_back(), deque.pop_back()),
                (1, _) | (_, 0) => assert_eq!(ring.pop_front(), deque.pop_front()),
                (2, _) => {
                    ring.push_front(queued);
                    deque.push_front(queued);
                }
                _ => {
                    ring.push_back(queued);
                    deque.push_back(queued);
                }
            }
            ring.prefetch_first();
            ring.prefetch_next_slot();
            assert_eq!(ring.first(), deque.front().copied());
            assert!(ring.iter().eq(deque.iter().copied()), "{n}");
            assert_eq!((ring.len(), ring.is_empty()), (deque.len(), deque.is_empty()));
            assert_eq!((ring.get(0), ring.last()), (deque.front().copied(), deque.back().copied()));
        }
    }
}
