//! Collective operations: one algorithm a file, and the registry of them all.
//!
//! A collective turns a plan (which host is which rank, and how much each rank holds) into
//! messages and what they wait for. It knows no fabric and no policy. A new collective is a file
//! here and a line in [`ALL`].

mod all_to_all;
mod ring_all_reduce;

use thiserror::Error;

use crate::ids::HostId;
use crate::units::Bytes;
use crate::workload::Workload;

/// Most messages of one collective: 2^28, whose records alone take 8 GiB.
pub const MAX_MESSAGES: u64 = 1 << 28;

/// Every collective there is.
pub const ALL: &[Collective] = &[all_to_all::ALL_TO_ALL, ring_all_reduce::RING_ALL_REDUCE];

/// A collective algorithm.
#[derive(Debug, Clone, Copy)]
pub struct Collective {
    /// What scenarios call it.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// Where it is from: title, year, section.
    pub source: &'static str,
    /// Makes its messages.
    pub build: fn(&Plan) -> Result<Workload, CollectiveError>,
}

/// Who takes part, and with how much.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The host of each rank, by rank; no host twice.
    pub ranks: Vec<HostId>,
    /// What each rank holds: for all-to-all what it has for all ranks together (itself
    /// included), for a reduction the length of its vector.
    pub bytes: Bytes,
}

/// Why a plan is no collective.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CollectiveError {
    /// No collective of that name.
    #[error("no collective is called '{name}'; there are {known}")]
    Unknown {
        /// What was given.
        name: String,
        /// Those that exist.
        known: String,
    },
    /// Nobody to talk to.
    #[error("a collective needs at least 2 ranks; there are {ranks}")]
    TooFewRanks {
        /// How many there are.
        ranks: usize,
    },
    /// One host for two ranks.
    #[error("{host} is rank {first} and rank {second}; each rank needs a host of its own")]
    HostTwice {
        /// The host.
        host: HostId,
        /// The first rank that it is.
        first: usize,
        /// The next one.
        second: usize,
    },
    /// Nothing to send.
    #[error("0 bytes per rank: there is nothing to send; the least is 1B")]
    NoBytes,
    /// More bytes than can be counted.
    #[error("{ranks} ranks with {bytes} each send more than the 2^64 bytes that can be counted")]
    TooManyBytes {
        /// How many there are.
        ranks: usize,
        /// What each holds.
        bytes: Bytes,
    },
    /// More messages than a machine holds.
    #[error(
        "{ranks} ranks send {messages} messages; the most is {MAX_MESSAGES} (2^28), so take fewer \
         ranks"
    )]
    TooManyMessages {
        /// How many there are.
        ranks: usize,
        /// What they would send.
        messages: u128,
    },
}

/// The collective of that name.
///
/// # Errors
/// `CollectiveError::Unknown` names those that exist.
pub fn find(name: &str) -> Result<&'static Collective, CollectiveError> {
    ALL.iter().find(|collective| collective.name == name).ok_or_else(|| CollectiveError::Unknown {
        name: name.to_owned(),
        known: ALL.iter().map(|collective| collective.name).collect::<Vec<_>>().join(", "),
    })
}

impl Plan {
    /// Refuses plans that no algorithm here can take: `messages` and `total` (bytes) are what
    /// this one would send.
    fn check(&self, messages: u128, total: u128) -> Result<(), CollectiveError> {
        let ranks = self.ranks.len();
        if ranks < 2 {
            return Err(CollectiveError::TooFewRanks { ranks });
        }
        if self.bytes == Bytes::ZERO {
            return Err(CollectiveError::NoBytes);
        }
        if messages > u128::from(MAX_MESSAGES) {
            return Err(CollectiveError::TooManyMessages { ranks, messages });
        }
        if total > u128::from(u64::MAX) {
            return Err(CollectiveError::TooManyBytes { ranks, bytes: self.bytes });
        }
        let mut by_host: Vec<(HostId, usize)> = self.ranks.iter().copied().zip(0..).collect();
        by_host.sort_unstable();
        let twice = by_host.windows(2).find(|pair| pair[0].0 == pair[1].0);
        twice.map_or(Ok(()), |pair| {
            let (host, first) = pair[0];
            Err(CollectiveError::HostTwice { host, first, second: pair[1].1 })
        })
    }

    /// The length of block `index` of as many equal blocks as there are ranks; the bytes that
    /// are left over go one each to the first blocks.
    fn block(&self, index: usize) -> Bytes {
        let (count, index) = (self.ranks.len() as u64, index as u64);
        let bytes = self.bytes.get();
        Bytes::new(bytes / count + u64::from(index < bytes % count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(ranks: u32, bytes: u64) -> Plan {
        Plan { ranks: (0..ranks).map(HostId).collect(), bytes: Bytes::new(bytes) }
    }

    #[test]
    fn names_are_unique_and_found() {
        for collective in ALL {
            assert_eq!(find(collective.name).unwrap().summary, collective.summary);
            assert!((collective.build)(&plan(4, 4096)).is_ok(), "{}", collective.name);
        }
        assert_eq!(
            find("all2all").unwrap_err().to_string(),
            "no collective is called 'all2all'; there are all-to-all, ring-all-reduce"
        );
    }

    #[test]
    fn every_collective_refuses_what_none_can_do() {
        for collective in ALL {
            let says = |plan: &Plan| (collective.build)(plan).unwrap_err().to_string();
            assert_eq!(
                says(&plan(1, 8)),
                "a collective needs at least 2 ranks; there are 1",
                "{}",
                collective.name
            );
            assert!(says(&plan(2, 0)).starts_with("0 bytes per rank"));
            assert!(says(&plan(3, u64::MAX)).contains("more than the 2^64 bytes"));
            assert!(says(&plan(20_000, 1 << 20)).contains("the most is 268435456"));
            let mut twice = plan(3, 8);
            twice.ranks[2] = HostId(0);
            assert!(says(&twice).starts_with("host0 is rank 0 and rank 2"));
        }
    }

    #[test]
    fn blocks_are_as_equal_as_can_be() {
        for (ranks, bytes) in [(2, 1), (3, 10), (7, 6), (5, 5)] {
            let plan = plan(ranks, bytes);
            let blocks: Vec<u64> =
                (0..ranks as usize).map(|index| plan.block(index).get()).collect();
            assert_eq!(blocks.iter().sum::<u64>(), bytes);
            assert!(blocks[0] - blocks[ranks as usize - 1] <= 1, "{blocks:?}");
        }
    }
}
