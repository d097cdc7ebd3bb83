//! Permutation: every host sends one flow and receives one.

use super::error::{self, WorkloadError};
use super::{Workload, flow};
use crate::ids::HostId;
use crate::rng::{Purpose, Stream};
use crate::units::Bytes;

/// A random permutation without fixed points: every host sends to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permutation {
    /// Hosts 0 to this one, excluded.
    pub hosts: u32,
    /// Of each flow.
    pub bytes: Bytes,
    /// What it is drawn from.
    pub seed: u64,
}

impl Permutation {
    /// The flows, in order of their senders, each a stream of its own; all start at 0.
    ///
    /// # Errors
    /// Fewer than two hosts, no bytes, or more than can be counted.
    pub fn build(&self) -> Result<Workload, WorkloadError> {
        error::check("a permutation", self.hosts, self.hosts, self.bytes)?;
        let receivers = derangement(self.hosts, self.seed);
        let flows = (0..).zip(receivers);
        Ok(Workload::independent(
            flows.map(|(src, dst)| flow(src, HostId(src), HostId(dst), self.bytes)).collect(),
        ))
    }
}

/// A uniformly random permutation of `0..count` (at least 2) in which nothing stays in its
/// place: shuffles are drawn until one is, which takes e = 2.7 of them in the mean, and all
/// derangements are equally likely because all shuffles are.
fn derangement(count: u32, seed: u64) -> Vec<u32> {
    // Pairs of hosts draw from streams of (src, dst); nobody sends to itself, so (0, 0) is free.
    let mut draws = Stream::for_pair(seed, Purpose::Workload, 0, 0);
    let mut places: Vec<u32> = (0..count).collect();
    loop {
        draws.shuffle(&mut places);
        if (0..count).zip(&places).all(|(place, &item)| place != item) {
            return places;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_sends_and_receives_once_and_nobody_to_itself() {
        for (hosts, seed) in [(2, 1), (3, 1), (16, 1), (1_024, 1), (1_024, 2)] {
            let workload = Permutation { hosts, bytes: Bytes::new(9), seed }.build().unwrap();
            let mut receivers: Vec<u32> = workload.messages.iter().map(|m| m.dst.0).collect();
            assert!(workload.messages.iter().all(|m| m.src != m.dst));
            receivers.sort_unstable();
            assert!(receivers.into_iter().eq(0..hosts), "{hosts} hosts, seed {seed}");
        }
    }

    #[test]
    fn all_derangements_are_equally_likely() {
        // Four things have nine derangements.
        let mut counts = std::collections::BTreeMap::new();
        for seed in 0..9_000 {
            *counts.entry(derangement(4, seed)).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 9);
        assert!(counts.values().all(|count| (850..1_150).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_seed_gives_the_same_flows_for_ever() {
        assert_eq!(derangement(8, 1), [1, 5, 7, 6, 3, 4, 2, 0]);
    }

    #[test]
    fn one_host_has_nobody_to_send_to() {
        let error = Permutation { hosts: 1, bytes: Bytes::new(1), seed: 1 }.build().unwrap_err();
        assert_eq!(error.to_string(), "a permutation needs at least 2 hosts; there are 1");
    }
}
