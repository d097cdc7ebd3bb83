//! The queue pairs of a NIC by number. Those that nothing refers to any more take no memory.
//!
//! Numbers are assigned in order and never reused, so a packet for a discarded queue pair finds
//! none. Queue pairs are mostly discarded in the order in which they were created. The table starts
//! with the first that still exists and keeps a 16-byte entry for each discarded one behind it.

use std::ops::{Index, IndexMut};

use crate::ids::{HostId, QpId};
use crate::nic::qp::accounting::PeerAccount;
use crate::nic::qp::peer_ranges::PeerRanges;
use crate::nic::qp::{FreeHalves, Life, Origin, Qp, QpState, Role, Slot};
use crate::prefetch::prefetch_next_slot;

/// Queue pairs by number.
#[derive(Debug, Clone, Default)]
// `Nic::TOUCHED` ends after `first`: packets need no more of the table.
#[repr(C)]
pub(in crate::nic) struct QpTable {
    /// Queue pairs from number `first` on.
    list: Vec<Qp>,
    first: usize,
    /// Number of discarded ones at the beginning of the list.
    front: usize,
    discarded: DiscardedCounts,
    pub free: Box<FreeHalves>,
    /// Queue pairs that are not destroyed, and their peak.
    live: u64,
    peak: u64,
}

/// Counts of discarded queue pairs.
#[derive(Debug, Clone, Default)]
pub(in crate::nic) struct DiscardedCounts {
    /// All of them.
    pub all: u64,
    /// Those that send.
    pub sending: u64,
    /// Sending ones that a splitter asked for beyond one per pair of peers and message stream.
    pub extra: u64,
    /// These counts by peer.
    pub peers: PeerRanges,
    /// Largest state that a policy kept for one, in bits.
    pub policy_bits: u64,
}

impl QpTable {
    /// Returns the queue pair with that number, unless it was discarded and forgotten.
    #[inline]
    pub(in crate::nic) fn get(&self, id: QpId) -> Option<&Qp> {
        // A number below `first` wraps to an index beyond the end.
        self.list.get(id.index().wrapping_sub(self.first))
    }

    /// Returns how many were ever created, which is the number of the next one.
    #[inline]
    pub(in crate::nic) fn len(&self) -> usize {
        self.first + self.list.len()
    }

    /// Prefetches the slot of the next entry.
    pub(in crate::nic) fn prefetch_next_slot(&self) {
        prefetch_next_slot(&self.list);
    }

    /// Reserves room for `count` more once the list is full.
    pub(in crate::nic) fn reserve(&mut self, count: usize) {
        reserve_if_full(&mut self.list, count);
    }

    /// Adds a live queue pair.
    pub(in crate::nic) fn push(&mut self, qp: Qp) {
        self.list.push(qp);
        self.live += 1;
        self.peak = self.peak.max(self.live);
    }

    /// Marks a queue pair as destroyed.
    pub(in crate::nic) fn destroy(&mut self, id: QpId) {
        self[id].life = Life::Destroyed;
        self.live -= 1;
    }

    /// Returns the most queue pairs that were live at once.
    pub(in crate::nic) fn peak(&self) -> u64 {
        self.peak
    }

    /// Iterates over those that were not discarded, with their numbers.
    pub(in crate::nic) fn iter(&self) -> impl Iterator<Item = (usize, &Qp)> {
        (self.first..).zip(&self.list).filter(|(_, qp)| qp.life != Life::Discarded)
    }

    /// Returns the counts of discarded queue pairs.
    pub(in crate::nic) fn discarded(&self) -> &DiscardedCounts {
        &self.discarded
    }

    /// Discards a queue pair with `peer`, whose policy kept `policy_bits`. It stays counted.
    pub(in crate::nic) fn remove(&mut self, number: usize, peer: HostId, policy_bits: u64) {
        let qp = &mut self.list[number - self.first];
        // In Reset and without halves it fails the check of the fast path.
        (qp.life, qp.state) = (Life::Discarded, QpState::Reset);
        (qp.requester, qp.responder) = (Slot::NONE, Slot::NONE);
        let sending = u64::from(qp.role == Role::Both);
        let extra = u64::from(qp.role == Role::Both && qp.origin == Origin::Extra);
        self.discarded.all += 1;
        self.discarded.sending += sending;
        self.discarded.extra += extra;
        self.discarded.peers.add(peer, PeerAccount { live: 1, sending, extra });
        self.discarded.policy_bits = self.discarded.policy_bits.max(policy_bits);
        self.trim_front();
    }

    /// Forgets discarded queue pairs at the front. An entry is moved once on average, because the
    /// list is compacted only when at least half of it is discarded.
    fn trim_front(&mut self) {
        let is_discarded = |qp: &&Qp| qp.life == Life::Discarded;
        self.front += self.list[self.front..].iter().take_while(is_discarded).count();
        if 2 * self.front >= self.list.len() {
            self.list.drain(..self.front);
            self.first += self.front;
            self.front = 0;
        }
    }
}

/// Reserves room for `count` more items once the list is full.
pub(in crate::nic) fn reserve_if_full<T>(items: &mut Vec<T>, count: usize) {
    if items.len() == items.capacity() {
        items.reserve(count);
    }
}

impl Index<QpId> for QpTable {
    type Output = Qp;

    #[inline]
    fn index(&self, id: QpId) -> &Qp {
        &self.list[id.index().wrapping_sub(self.first)]
    }
}

impl IndexMut<QpId> for QpTable {
    #[inline]
    fn index_mut(&mut self, id: QpId) -> &mut Qp {
        &mut self.list[id.index().wrapping_sub(self.first)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discarded_queue_pairs_stay_counted() {
        let mut table = QpTable::default();
        let new = |origin| Qp {
            state: QpState::Reset,
            life: Life::Live,
            origin,
            role: Role::Both,
            requester: Slot::NONE,
            responder: Slot::NONE,
            queues: Slot::NONE,
        };
        for number in 0..1_000 {
            table.push(new(if number % 3 == 0 { Origin::Extra } else { Origin::Regular }));
        }
        for number in (0..1_000).rev().filter(|number| ![600, 900].contains(number)) {
            table.remove(number, HostId(number as u32 % 7), number as u64);
        }
        assert_eq!((table.len(), table.list.len()), (1_000, 400));
        assert!(table.get(QpId(599)).is_none() && table.get(QpId(1_000)).is_none());
        assert!(table.iter().map(|(number, _)| number).eq([600, 900]));
        let DiscardedCounts { all, sending, extra, policy_bits, peers } = table.discarded();
        assert_eq!((*all, *sending, *extra, *policy_bits), (998, 998, 332, 999));
        assert_eq!((peers.iter().count(), peers.iter().map(|it| it.1.extra).sum()), (7, 332));
        table.remove(600, HostId(0), 0);
        assert_eq!((table.len(), table.list.len(), table.first), (1_000, 100, 900));
    }
}
