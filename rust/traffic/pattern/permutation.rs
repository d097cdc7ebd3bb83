//! Permutation: every host sends one flow and receives one.

use super::error::{self, PatternError};
use crate::ids::HostId;
use crate::rng::{Purpose, Stream};
use crate::units::Bytes;
use crate::workload::{Message, Workload};

/// A random permutation without fixed points: every host sends to another host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permutation {
    /// Number of hosts, with ids from 0.
    pub hosts: u32,
    /// Bytes of each flow.
    pub bytes: Bytes,
    /// Seed of the random draws.
    pub seed: u64,
}

impl Permutation {
    /// Returns the flows in sender order, each with its own stream, all starting at 0.
    ///
    /// # Errors
    /// Fails for fewer than two hosts, no bytes, and more than 2^64 bytes.
    pub fn build(&self) -> Result<Workload, PatternError> {
        error::check("a permutation", self.hosts, self.hosts, self.bytes)?;
        let receivers = derangement(self.hosts, self.seed);
        let flows = (0..).zip(receivers);
        Ok(Workload::independent(
            flows
                .map(|(src, dst)| {
                    Message::starting_at_zero(src, HostId(src), HostId(dst), self.bytes)
                })
                .collect(),
        ))
    }
}

/// Draws a uniformly random permutation of `0..count` (at least 2) without fixed points. Reshuffles
/// until no point is fixed, on average e = 2.7 times. All shuffles are equally likely, and so are
/// all derangements.
fn derangement(count: u32, seed: u64) -> Vec<u32> {
    // Host pairs use the streams of (src, dst). No host sends to itself, so (0, 0) is free.
    let mut draws = Stream::for_pair(seed, Purpose::Workload, 0, 0);
    let mut items: Vec<u32> = (0..count).collect();
    loop {
        draws.shuffle(&mut items);
        if (0..count).zip(&items).all(|(index, &item)| index != item) {
            return items;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_sends_and_receives_once_but_not_to_itself() {
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
        // Four items have nine derangements.
        let mut counts = std::collections::BTreeMap::new();
        for seed in 0..9_000 {
            *counts.entry(derangement(4, seed)).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 9);
        assert!(counts.values().all(|count| (850..1_150).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_seed_gives_the_same_flows_in_every_version() {
        assert_eq!(derangement(8, 1), [1, 5, 7, 6, 3, 4, 2, 0]);
    }

    #[test]
    fn a_single_host_is_rejected() {
        let error = Permutation { hosts: 1, bytes: Bytes::new(1), seed: 1 }.build().unwrap_err();
        assert_eq!(error.to_string(), "a permutation needs at least 2 hosts, found 1");
    }
}
