//! Accounts of discarded queue pairs by peer. Neighbouring hosts with equal accounts share an
//! entry: in an exchange each host goes through its peers in order.

use std::collections::BTreeMap;

use crate::ids::HostId;
use crate::nic::qp::accounting::PeerAccount;

/// An account per host, run-length encoded, because most hosts equal the one before.
#[derive(Debug, Clone, Default)]
pub(in crate::nic) struct PeerRanges {
    /// Maps the first host of a range to the end of the range (exclusive) and the account of each
    /// host in it. Hosts without an account are in no range; neighbouring ranges differ.
    ranges: BTreeMap<u32, (u32, PeerAccount)>,
}

impl PeerRanges {
    /// Adds to the account of a host.
    pub(in crate::nic) fn add(&mut self, host: HostId, more: PeerAccount) {
        let first = host.0;
        let found = self.ranges.range(..=first).next_back().map(|(&start, &range)| (start, range));
        let mut account = PeerAccount::default();
        // Cuts the host out of its range: the parts on both sides keep their account.
        if let Some((start, (end, own))) = found.filter(|&(_, (end, _))| first < end) {
            account = own;
            self.ranges.remove(&start);
            let sides = [(start, first), (first + 1, end)].into_iter();
            self.ranges.extend(sides.filter(|(a, b)| a < b).map(|(a, b)| (a, (b, own))));
        }
        account = account.plus(more);
        let (mut start, mut end) = (first, first + 1);
        // Merges with neighbours of the same new account, so that an ordered exchange stays one
        // range.
        let before = self.ranges.range(..first).next_back().map(|(&start, &range)| (start, range));
        if let Some((left, _)) = before.filter(|&(_, range)| range == (first, account)) {
            self.ranges.remove(&left);
            start = left;
        }
        if let Some(&(right, _)) = self.ranges.get(&end).filter(|(_, own)| *own == account) {
            self.ranges.remove(&end);
            end = right;
        }
        self.ranges.insert(start, (end, account));
    }

    /// Iterates over the hosts with an account, in order.
    pub(in crate::nic) fn iter(&self) -> impl Iterator<Item = (HostId, PeerAccount)> {
        let ranges = self.ranges.iter();
        ranges.flat_map(|(&start, &(end, own))| (start..end).map(move |host| (HostId(host), own)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    const ONE: PeerAccount = PeerAccount { live: 1, sending: 1, extra: 0 };

    #[test]
    fn peer_ranges_behave_like_a_map() {
        let mut random = Stream::new(5, Purpose::Test, 0);
        for hosts in [1, 2, 5, 40] {
            let (mut ranges, mut map) = (PeerRanges::default(), BTreeMap::new());
            for _ in 0..4 * hosts {
                let host = HostId(random.below(hosts));
                let more = PeerAccount { extra: u64::from(random.below(2)), ..ONE };
                ranges.add(host, more);
                let own: &mut PeerAccount = map.entry(host).or_default();
                *own = own.plus(more);
                assert!(ranges.iter().eq(map.iter().map(|(host, own)| (*host, *own))));
            }
        }
    }

    #[test]
    fn peers_in_order_are_one_range() {
        let mut ranges = PeerRanges::default();
        for host in (500..1_000).chain(0..499) {
            ranges.add(HostId(host), ONE);
            assert!(ranges.ranges.len() <= 2);
        }
        // From the other side, two at a time in descending order.
        for pair in (0..250).rev().map(|pair| 2 * pair) {
            ranges.add(HostId(pair), ONE);
            ranges.add(HostId(pair + 1), ONE);
            assert!(ranges.ranges.len() <= 4, "{ranges:?}");
        }
        assert_eq!(ranges.iter().map(|(_, own)| own.live).sum::<u64>(), 999 + 500);
    }
}
