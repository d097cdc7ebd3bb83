//! Round-trip times of host pairs, if each pair is configured with its own.

use crate::ids::HostId;
use crate::units::Span;

/// The round-trip time of each pair of hosts. Hosts of one kind share theirs: the table stays
/// small with many hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundTrips {
    /// The kind of each host.
    kinds: Vec<u32>,
    /// Indexed by the kind of the sender, then of the receiver.
    spans: Vec<Vec<Span>>,
}

impl RoundTrips {
    /// Creates the table for hosts of these kinds. `spans` is indexed by the kind of the sender,
    /// then of the receiver.
    pub fn new(kinds: Vec<u32>, spans: Vec<Vec<Span>>) -> Self {
        Self { kinds, spans }
    }

    /// Returns the round-trip time of a pair; `None` for hosts that are not listed.
    pub fn between(&self, from: HostId, to: HostId) -> Option<Span> {
        let kind = |host: HostId| self.kinds.get(host.index()).map(|&kind| kind as usize);
        self.spans.get(kind(from)?)?.get(kind(to)?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_one_kind_share_their_round_trips() {
        let us = |values: [u64; 2]| values.map(Span::from_us).to_vec();
        let trips = RoundTrips::new(vec![0, 0, 1], vec![us([2, 4]), us([4, 3])]);
        let between = |from, to| trips.between(HostId(from), HostId(to));
        assert_eq!(between(0, 1), Some(Span::from_us(2)));
        assert_eq!((between(1, 2), between(2, 0)), (Some(Span::from_us(4)), between(0, 2)));
        assert_eq!(between(0, 3), None);
    }
}
