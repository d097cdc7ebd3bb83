//! Counts of queue pairs in use: those with flows that have not completed.

use crate::ids::{HostId, IdMap};

/// Current number of queue pairs in use and its peak, by sending host and by host pair.
///
/// Flows may be as short as a packet, and each makes a queue pair busy and idle. Counting therefore
/// uses indices and no hash lookup.
#[derive(Debug, Default)]
pub(super) struct InUse {
    /// Queue pairs in use, by host.
    by_host: Vec<u32>,
    /// Queue pairs in use, by pair index.
    by_pair: Vec<u32>,
    /// Existing queue pairs, by pair index.
    existing: Vec<u32>,
    /// Index of each host pair with a queue pair.
    pairs: IdMap<(HostId, HostId), u32>,
    /// Indices of pairs that no longer have a queue pair.
    free: Vec<u32>,
    per_nic_max: u32,
    per_peer_max: u32,
}

impl InUse {
    /// Counts a new queue pair from `src` to `dst`, and returns the index of the host pair.
    pub(super) fn pair(&mut self, src: HostId, dst: HostId) -> u32 {
        if self.by_host.len() <= src.index() {
            self.by_host.resize(src.index() + 1, 0);
        }
        // Split borrows: the closure needs these while `pairs` is borrowed.
        let (by_pair, existing, free) = (&mut self.by_pair, &mut self.existing, &mut self.free);
        let pair = *self.pairs.entry((src, dst)).or_insert_with(|| {
            free.pop().unwrap_or_else(|| {
                by_pair.push(0);
                existing.push(0);
                u32::try_from(existing.len() - 1).expect("fewer pairs than queue pairs")
            })
        });
        self.existing[pair as usize] += 1;
        pair
    }

    /// Discards an idle queue pair of this host pair. The index of a pair without any is reused.
    pub(super) fn discard(&mut self, src: HostId, dst: HostId, pair: u32) {
        let existing = &mut self.existing[pair as usize];
        *existing -= 1;
        if *existing == 0 {
            self.pairs.remove(&(src, dst));
            self.free.push(pair);
        }
    }

    /// Marks a queue pair of this sender and host pair as in use.
    #[inline]
    pub(super) fn add(&mut self, src: HostId, pair: u32) {
        let host = &mut self.by_host[src.index()];
        *host += 1;
        self.per_nic_max = self.per_nic_max.max(*host);
        let pair = &mut self.by_pair[pair as usize];
        *pair += 1;
        self.per_peer_max = self.per_peer_max.max(*pair);
    }

    /// Marks a queue pair of this sender and host pair as idle.
    #[inline]
    pub(super) fn remove(&mut self, src: HostId, pair: u32) {
        self.by_host[src.index()] -= 1;
        self.by_pair[pair as usize] -= 1;
    }

    /// Merges the peaks of another partition.
    pub(super) fn absorb(&mut self, other: &Self) {
        // Each host sends in one partition only, so the maximum over partitions is exact.
        self.per_nic_max = self.per_nic_max.max(other.per_nic_max);
        self.per_peer_max = self.per_peer_max.max(other.per_peer_max);
    }

    /// Returns the peak at any one sending host.
    pub(super) fn per_nic_max(&self) -> u64 {
        self.per_nic_max.into()
    }

    /// Returns the peak from any one sending host to any one receiving host.
    pub(super) fn per_peer_max(&self) -> u64 {
        self.per_peer_max.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_are_tracked_by_nic_and_by_peer() {
        let [a, b, c] = [0, 1, 2].map(HostId);
        let mut in_use = InUse::default();
        let [ab, ac, ba] = [(a, b), (a, c), (b, a)].map(|(src, dst)| in_use.pair(src, dst));
        assert_eq!([ab, ac, ba, in_use.pair(a, c)], [0, 1, 2, 1]);
        in_use.add(a, ab);
        in_use.add(a, ac);
        in_use.remove(a, ab);
        in_use.add(a, ab);
        in_use.add(b, ba);
        assert_eq!((in_use.per_nic_max(), in_use.per_peer_max()), (2, 1));
        in_use.add(b, ba);
        in_use.add(b, ba);
        assert_eq!((in_use.per_nic_max(), in_use.per_peer_max()), (3, 3));
        for (src, pair) in [(a, ab), (a, ac), (b, ba), (b, ba), (b, ba)] {
            in_use.remove(src, pair);
        }
        assert!(in_use.by_host.iter().chain(&in_use.by_pair).all(|&count| count == 0));
        assert_eq!((in_use.per_nic_max(), in_use.per_peer_max()), (3, 3));
    }

    #[test]
    fn the_index_of_a_pair_without_queue_pairs_is_reused() {
        let [a, b, c] = [0, 1, 2].map(HostId);
        let mut in_use = InUse::default();
        let pairs = [(a, b), (a, b), (b, c)].map(|(src, dst)| in_use.pair(src, dst));
        assert_eq!(pairs, [0, 0, 1]);
        in_use.discard(a, b, 0);
        assert_eq!(in_use.pair(c, a), 2);
        in_use.discard(a, b, 0);
        assert_eq!((in_use.pair(c, b), in_use.pair(a, b)), (0, 3));
    }
}
