//! Queue pairs in use: those with flows that have not completed.

use std::collections::HashMap;

use crate::ids::HostId;

/// How many queue pairs are in use now, and the most at any time so far, by sending host and by
/// pair of hosts.
#[derive(Debug, Default)]
pub(super) struct InUse {
    by_host: HashMap<HostId, u64>,
    by_pair: HashMap<(HostId, HostId), u64>,
    per_nic_max: u64,
    per_peer_max: u64,
}

impl InUse {
    /// A queue pair from `src` to `dst` comes into use.
    pub(super) fn add(&mut self, src: HostId, dst: HostId) {
        let host = self.by_host.entry(src).or_default();
        *host += 1;
        self.per_nic_max = self.per_nic_max.max(*host);
        let pair = self.by_pair.entry((src, dst)).or_default();
        *pair += 1;
        self.per_peer_max = self.per_peer_max.max(*pair);
    }

    /// A queue pair from `src` to `dst` becomes idle.
    pub(super) fn remove(&mut self, src: HostId, dst: HostId) {
        release(&mut self.by_host, src);
        release(&mut self.by_pair, (src, dst));
    }

    /// The most at one sending host at any time.
    pub(super) fn per_nic_max(&self) -> u64 {
        self.per_nic_max
    }

    /// The most from one sending host to one receiving host at any time.
    pub(super) fn per_peer_max(&self) -> u64 {
        self.per_peer_max
    }
}

/// Takes one from a count, which is discarded at zero: memory follows what is in use.
fn release<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, u64>, key: K) {
    let count = counts.get_mut(&key).expect("it came into use");
    *count -= 1;
    if *count == 0 {
        counts.remove(&key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_at_once_is_kept_by_nic_and_by_peer() {
        let [a, b, c] = [0, 1, 2].map(HostId);
        let mut in_use = InUse::default();
        in_use.add(a, b);
        in_use.add(a, c);
        in_use.remove(a, b);
        in_use.add(a, b);
        in_use.add(b, a);
        assert_eq!((in_use.per_nic_max(), in_use.per_peer_max()), (2, 1));
        in_use.add(b, a);
        in_use.add(b, a);
        assert_eq!((in_use.per_nic_max(), in_use.per_peer_max()), (3, 3));
        for (src, dst) in [(a, b), (a, c), (b, a), (b, a), (b, a)] {
            in_use.remove(src, dst);
        }
        assert!(in_use.by_host.is_empty() && in_use.by_pair.is_empty());
        assert_eq!((in_use.per_nic_max(), in_use.per_peer_max()), (3, 3));
    }
}
