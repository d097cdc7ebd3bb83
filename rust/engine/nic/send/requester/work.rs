//! The incomplete messages of a requester.

use std::collections::VecDeque;

/// A message on a queue pair, as packets.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    pub first: u64,
    /// At least 1.
    pub packets: u64,
    pub bytes: u64,
    pub id: u64,
    /// Verb header of its packets, see [`crate::nic::verbs`]; 0 for a plain WRITE.
    pub verb: u64,
}

impl Work {
    /// Returns one past its last packet.
    #[inline]
    pub(super) const fn end(&self) -> u64 {
        self.first + self.packets
    }
}

/// Messages, oldest first. Packets and acknowledgements are mostly for the oldest, which is stored
/// in the requester itself: with thousands of queue pairs, memory elsewhere would not be cached.
#[derive(Debug, Clone)]
#[repr(C)]
pub(super) struct WorkList {
    /// Has no packets if the list is empty.
    oldest: Work,
    /// Allocated when it is first needed.
    later: Option<Box<Later>>,
}

#[derive(Debug, Clone, Default)]
struct Later(VecDeque<Work>);

impl WorkList {
    const NONE: Work = Work { first: 0, packets: 0, bytes: 0, id: 0, verb: 0 };

    pub(super) const fn new() -> Self {
        Self { oldest: Self::NONE, later: None }
    }

    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.oldest.packets == 0
    }

    pub(super) fn push(&mut self, work: Work) {
        match self.is_empty() {
            true => self.oldest = work,
            false => self.later.get_or_insert_default().0.push_back(work),
        }
    }

    fn later(&self) -> Option<&VecDeque<Work>> {
        self.later.as_ref().map(|later| &later.0)
    }

    fn later_mut(&mut self) -> Option<&mut VecDeque<Work>> {
        self.later.as_mut().map(|later| &mut later.0)
    }

    /// True if there is exactly one message.
    pub(super) fn is_single(&self) -> bool {
        !self.is_empty() && self.later().is_none_or(VecDeque::is_empty)
    }

    #[inline]
    pub(super) fn oldest(&self) -> Option<&Work> {
        (!self.is_empty()).then_some(&self.oldest)
    }

    /// Returns the message posted last.
    pub(super) fn newest(&self) -> Option<&Work> {
        self.later().and_then(VecDeque::back).or(self.oldest())
    }

    pub(super) fn newest_mut(&mut self) -> Option<&mut Work> {
        match self.later.as_mut().and_then(|later| later.0.back_mut()) {
            Some(work) => Some(work),
            None => (self.oldest.packets > 0).then_some(&mut self.oldest),
        }
    }

    /// Removes the oldest message.
    #[inline]
    pub(super) fn pop_oldest(&mut self) {
        self.oldest = self.later_mut().and_then(VecDeque::pop_front).unwrap_or(Self::NONE);
    }

    /// Removes the message posted last.
    pub(super) fn pop_newest(&mut self) {
        // Without later messages the oldest is also the newest.
        if self.later_mut().and_then(VecDeque::pop_back).is_none() {
            self.oldest = Self::NONE;
        }
    }

    /// Iterates over all messages, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Work> {
        self.oldest().into_iter().chain(self.later().into_iter().flatten())
    }

    /// Returns the message with `index` messages before it.
    pub(super) fn get(&self, index: usize) -> Option<&Work> {
        match index.checked_sub(1) {
            None => self.oldest(),
            Some(index) => self.later()?.get(index),
        }
    }

    /// Returns the number of messages that begin before packet `sequence`.
    pub(super) fn before(&self, sequence: u64) -> usize {
        match self.oldest() {
            Some(oldest) if oldest.first < sequence => {
                1 + self
                    .later()
                    .map_or(0, |later| later.partition_point(|work| work.first < sequence))
            }
            _ => 0,
        }
    }

    /// Returns the message of packet `sequence`, which is neither complete nor beyond the end.
    #[inline]
    pub(super) fn of(&self, sequence: u64) -> Work {
        // Mostly it is the oldest, which needs no access to other memory.
        if sequence < self.oldest.end() {
            return self.oldest;
        }
        let of = |later: &VecDeque<Work>| {
            // Messages are in the order of their packets, so a binary search finds it.
            later.get(later.partition_point(|work| work.end() <= sequence)).copied()
        };
        self.later().and_then(of).expect("every packet before the end belongs to a message")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    /// A list behaves like a plain queue under random operations.
    #[test]
    fn a_work_list_behaves_like_a_plain_queue() {
        let mut random = Stream::new(4, Purpose::Test, 0);
        let (mut list, mut queue, mut end) = (WorkList::new(), VecDeque::new(), 0);
        for id in 0..20_000 {
            // More are removed than added, so the list is often empty.
            match random.below(9) {
                0..4 => {
                    let packets = 1 + u64::from(random.below(3));
                    let work = Work { first: end, packets, bytes: packets, id, verb: 0 };
                    list.push(work);
                    queue.push_back(work);
                    end = work.end();
                }
                4..7 => {
                    list.pop_oldest();
                    queue.pop_front();
                }
                _ => {
                    list.pop_newest();
                    end = queue.pop_back().map_or(end, |work: Work| work.first);
                    match (list.newest_mut(), queue.back_mut()) {
                        (Some(newest), Some(same)) => (newest.verb, same.verb) = (id, id),
                        (newest, same) => assert!(newest.is_none() && same.is_none()),
                    }
                }
            }
            let parts = |work: &Work| (work.first, work.packets, work.id, work.verb);
            let all: Vec<_> = queue.iter().map(parts).collect();
            assert!(list.iter().map(parts).eq(all.iter().copied()));
            assert_eq!((list.is_empty(), list.is_single()), (all.is_empty(), all.len() == 1));
            assert_eq!(list.oldest().map(parts), all.first().copied());
            assert_eq!(list.newest().map(parts), all.last().copied());
            for (index, work) in queue.iter().enumerate() {
                assert_eq!(list.get(index).map(parts), Some(parts(work)));
                assert_eq!(list.before(work.first), index);
                for sequence in work.first..work.end() {
                    assert_eq!(parts(&list.of(sequence)), parts(work));
                }
            }
            assert!(list.get(all.len()).is_none());
        }
    }
}
