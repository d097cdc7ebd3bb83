//! Queue pairs in use: those with flows that have not completed.

use crate::ids::{HostId, IdMap};

/// How many queue pairs are in use now, and the most at any time so far, by sending host and by
/// pair of hosts.
///
/// A queue pair comes into use with a flow, and flows may be as short as a packet: counting takes
/// no look-up.
#[derive(Debug, Default)]
pub(super) struct InUse {
    /// By host.
    by_host: Vec<u32>,
    /// By index of the pair.
    by_pair: Vec<u32>,
    /// By index of the pair: how many queue pairs it has.
    made: Vec<u32>,
    /// The index of each pair of hosts that has a queue pair.
    pairs: IdMap<(HostId, HostId), u32>,
    /// Indices of pairs without one.
    free: Vec<u32>,
    per_nic_max: u32,
    per_peer_max: u32,
}

impl InUse {
    /// The index of a pair of hosts, from `src` to `dst`, that gets a queue pair.
    pub(super) fn pair(&mut self, src: HostId, dst: HostId) -> u32 {
        if self.by_host.len() <= src.index() {
            self.by_host.resize(src.index() + 1, 0);
        }
        let (by_pair, made, free) = (&mut self.by_pair, &mut self.made, &mut self.free);
        let pair = *self.pairs.entry((src, dst)).or_insert_with(|| {
            free.pop().unwrap_or_else(|| {
                by_pair.push(0);
                made.push(0);
                u32::try_from(made.len() - 1).expect("fewer pairs than queue pairs")
            })
        });
        self.made[pair as usize] += 1;
        pair
    }

    /// A queue pair of that pair of hosts is discarded, which is idle.
    pub(super) fn discard(&mut self, src: HostId, dst: HostId, pair: u32) {
        let made = &mut self.made[pair as usize];
        *made -= 1;
        if *made == 0 {
            self.pairs.remove(&(src, dst));
            self.free.push(pair);
        }
    }

    /// A queue pair of that sender and pair comes into use.
    #[inline]
    pub(super) fn add(&mut self, src: HostId, pair: u32) {
        let host = &mut self.by_host[src.index()];
        *host += 1;
        self.per_nic_max = self.per_nic_max.max(*host);
        let pair = &mut self.by_pair[pair as usize];
        *pair += 1;
        self.per_peer_max = self.per_peer_max.max(*pair);
    }

    /// A queue pair of that sender and pair becomes idle.
    #[inline]
    pub(super) fn remove(&mut self, src: HostId, pair: u32) {
        self.by_host[src.index()] -= 1;
        self.by_pair[pair as usize] -= 1;
    }

    /// Takes over the maxima of other hosts.
    pub(super) fn absorb(&mut self, other: &Self) {
        self.per_nic_max = self.per_nic_max.max(other.per_nic_max);
        self.per_peer_max = self.per_peer_max.max(other.per_peer_max);
    }

    /// The most at one sending host at any time.
    pub(super) fn per_nic_max(&self) -> u64 {
        self.per_nic_max.into()
    }

    /// The most from one sending host to one receiving host at any time.
    pub(super) fn per_peer_max(&self) -> u64 {
        self.per_peer_max.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_at_once_is_kept_by_nic_and_by_peer() {
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
    fn a_pair_without_queue_pairs_gives_its_index_to_another() {
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
