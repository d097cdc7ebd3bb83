//! The queue pairs of a NIC by number, of which those that nothing refers to any more take no
//! memory.
//!
//! Numbers are given in turn and never again, so that a packet for a queue pair that is gone finds
//! none. Queue pairs mostly go in the order in which they came: the table keeps those from the
//! first that is there on, and an entry of 16 bytes of each that is gone behind it.

use std::ops::{Index, IndexMut};

use crate::ids::{HostId, QpId};
use crate::nic::qp::accounting::PeerAccount;
use crate::nic::qp::peer_ranges::PeerRanges;
use crate::nic::qp::{FreeHalves, Life, Origin, Qp, QpState, Role, Slot};
use crate::prefetch::prefetch_behind;

/// Queue pairs by number.
#[derive(Debug, Clone, Default)]
#[repr(C)]
pub(in crate::nic) struct QpTable {
    /// From number `first` on.
    list: Vec<Qp>,
    first: usize,
    /// How many at the beginning of the list are gone.
    front: usize,
    gone: Gone,
    pub free: Box<FreeHalves>,
    /// Queue pairs that are not destroyed, and the most that there were at once.
    live: u64,
    peak: u64,
}

/// What is counted of the queue pairs that are gone.
#[derive(Debug, Clone, Default)]
pub(in crate::nic) struct Gone {
    /// All of them.
    pub all: u64,
    /// Those to send on.
    pub sending: u64,
    /// ... of which a splitter asked for beyond one a pair of peers and message stream.
    pub extra: u64,
    /// The same by peer.
    pub peers: PeerRanges,
    /// The largest state that a policy kept for one, in bits.
    pub policy_bits: u64,
}

impl QpTable {
    /// The queue pair of that number, unless it is gone and forgotten.
    #[inline]
    pub(in crate::nic) fn get(&self, id: QpId) -> Option<&Qp> {
        self.list.get(id.index().wrapping_sub(self.first))
    }

    /// How many were ever made: the next one gets this number.
    #[inline]
    pub(in crate::nic) fn len(&self) -> usize {
        self.first + self.list.len()
    }

    /// Prefetches the slot of the next entry.
    pub(in crate::nic) fn prefetch_behind(&self) {
        prefetch_behind(&self.list);
    }

    /// Makes room for so many more, if there is none for one.
    pub(in crate::nic) fn expect(&mut self, count: usize) {
        make_room(&mut self.list, count);
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

    /// Those that are not gone.
    pub(in crate::nic) fn iter(&self) -> impl Iterator<Item = (usize, &Qp)> {
        (self.first..).zip(&self.list).filter(|(_, qp)| qp.life != Life::Gone)
    }

    /// What is counted of those that are gone.
    pub(in crate::nic) fn gone(&self) -> &Gone {
        &self.gone
    }

    /// Removes a queue pair with that peer, whose policy kept so many bits. It stays counted.
    pub(in crate::nic) fn remove(&mut self, number: usize, peer: HostId, policy_bits: u64) {
        let qp = &mut self.list[number - self.first];
        (qp.life, qp.state) = (Life::Gone, QpState::Reset);
        (qp.requester, qp.responder) = (Slot::NONE, Slot::NONE);
        let sending = u64::from(qp.role == Role::Both);
        let extra = u64::from(qp.role == Role::Both && qp.origin == Origin::Extra);
        self.gone.all += 1;
        self.gone.sending += sending;
        self.gone.extra += extra;
        self.gone.peers.add(peer, PeerAccount { live: 1, sending, extra });
        self.gone.policy_bits = self.gone.policy_bits.max(policy_bits);
        self.forget_front();
    }

    /// Forgets the first ones as far as they are gone. Each is moved once on average.
    fn forget_front(&mut self) {
        let is_gone = |qp: &&Qp| qp.life == Life::Gone;
        self.front += self.list[self.front..].iter().take_while(is_gone).count();
        if 2 * self.front >= self.list.len() {
            self.list.drain(..self.front);
            self.first += self.front;
            self.front = 0;
        }
    }
}

/// Makes room for so many more items, if there is none for one.
pub(in crate::nic) fn make_room<T>(items: &mut Vec<T>, count: usize) {
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
    fn what_is_gone_is_forgotten_in_order_and_stays_counted() {
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
        let Gone { all, sending, extra, policy_bits, peers } = table.gone();
        assert_eq!((*all, *sending, *extra, *policy_bits), (998, 998, 332, 999));
        assert_eq!((peers.iter().count(), peers.iter().map(|it| it.1.extra).sum()), (7, 332));
        table.remove(600, HostId(0), 0);
        assert_eq!((table.len(), table.list.len(), table.first), (1_000, 100, 900));
    }
}
