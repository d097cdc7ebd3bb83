//! Random numbers: one seed gives an independent stream per purpose and id.
//!
//! The generator is PCG-XSH-RR 64/32 (O'Neill, "PCG: A Family of Simple Fast Space-Efficient
//! Statistically Good Algorithms for Random Number Generation", 2014), whose output is fixed by its
//! name. Ranges and shuffles are implemented here, because distribution libraries may change their
//! values between versions. The same seed gives the same numbers on every platform and in every
//! later version.
//!
//! A stream is selected by a purpose and an id (a host, a switch, a pair of hosts), never by the
//! order of construction. A new consumer does not change the draws of any other.

use rand_core::Rng as _;
use rand_pcg::Pcg32;

/// Purpose of a stream. The numbers are part of the stream's seed and never change; a new purpose
/// takes an unused number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Purpose {
    /// Per-packet or per-QP entropy values, by pair of hosts and QP.
    Entropy = 1,
    /// Hash salts of switches, by switch.
    SwitchSalt = 2,
    /// ECN marking between thresholds, by port.
    EcnMark = 3,
    /// Workload draws (permutations, jitter), by workload.
    Workload = 4,
    /// Ethereal's order of destinations and start delays, by sending host.
    Split = 5,
    /// Selection of failing links, by link.
    Failure = 6,
    /// Draws of switch policies, by switch.
    SwitchPolicy = 7,
    /// Packets lost on a lossy link, by port.
    Loss = 8,
    /// The new path after the current one failed, by QP.
    Repath = 9,
    /// Seeds of jobs after the first, by their indices.
    Job = 10,
    /// Partitioning of a parallel run; no result depends on it.
    Partitioning = 11,
    /// Rounding of PINT's utilizations up or down, by run.
    Telemetry = 12,
    /// Choice of the packet to trim among two, by port.
    Trim = 13,
    /// Values that queue pairs probe for the reverse direction, by host.
    Reverse = 14,
    /// Order of arrivals at one time, by run.
    Ties = 15,
    /// Draws of tests, by an id of the test's choice.
    Test = 1_000,
}

/// A stream of random numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "custom", derive(serde::Serialize, serde::Deserialize))]
pub struct Stream(Pcg32);

impl Stream {
    /// Returns the stream of `seed` for `purpose` and `id`.
    pub fn new(seed: u64, purpose: Purpose, id: u64) -> Self {
        let key = mix64(mix64(seed ^ 0x9e37_79b9_7f4a_7c15) ^ purpose as u64);
        let state = mix64(key ^ id);
        // State and increment both depend on the id, so two streams that reach the same state
        // diverge again.
        Self(Pcg32::new(state, mix64(state ^ key)))
    }

    /// Returns the stream of `seed` for `purpose` and an ordered pair of ids.
    pub fn for_pair(seed: u64, purpose: Purpose, first: u32, second: u32) -> Self {
        Self::new(seed, purpose, u64::from(first) << 32 | u64::from(second))
    }

    /// Draws 32 uniform bits: one step of the generator.
    pub fn next_u32(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// Draws 16 uniform bits: the upper half of one step of the generator.
    pub fn next_u16(&mut self) -> u16 {
        (self.next_u32() >> 16) as u16
    }

    /// Draws a uniform number below `bound` (Lemire, "Fast Random Integer Generation in an
    /// Interval", 2019). Panics if `bound` is zero.
    pub fn below(&mut self, bound: u32) -> u32 {
        assert!(bound > 0, "no number is below zero");
        let mut product = u64::from(self.next_u32()) * u64::from(bound);
        // Only products below `bound` can be biased, so the division is rarely needed.
        if (product as u32) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u32) < threshold {
                product = u64::from(self.next_u32()) * u64::from(bound);
            }
        }
        (product >> 32) as u32
    }

    /// Returns true with probability `numerator / denominator`.
    pub fn chance(&mut self, numerator: u32, denominator: u32) -> bool {
        self.below(denominator) < numerator
    }

    /// Puts `items` in uniformly random order (Fisher–Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let bound = u32::try_from(last + 1).expect("fewer than 2^32 items");
            items.swap(last, self.below(bound) as usize);
        }
    }
}

/// Mixes 64 bits so that each input bit moves half of the output bits (the finaliser of
/// SplitMix64; Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
pub const fn mix64(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Mixes 32 bits (Wellons, "Prospecting for Hash Functions", 2018: lowbias32); the hash function
/// of the switches.
#[inline]
pub(crate) const fn mix32(value: u32) -> u32 {
    let value = (value ^ (value >> 16)).wrapping_mul(0x7feb_352d);
    let value = (value ^ (value >> 15)).wrapping_mul(0x846c_a68b);
    value ^ (value >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// These numbers are guaranteed: they are the same on every platform and in every version.
    #[test]
    fn the_numbers_never_change() {
        let mut stream = Stream::new(1, Purpose::Test, 0);
        let first: Vec<u32> = (0..4).map(|_| stream.next_u32()).collect();
        let below: Vec<u32> = (0..8).map(|_| stream.below(10)).collect();
        let mut order: Vec<u32> = (0..8).collect();
        stream.shuffle(&mut order);
        assert_eq!(
            format!("{first:08x?} {below:?} {order:?}"),
            "[fe963913, 39cc6810, 387bbc94, 948946ee] [7, 8, 2, 9, 7, 9, 3, 6] \
             [3, 0, 4, 1, 7, 6, 5, 2]",
            "the generator changed: results of earlier versions can no longer be reproduced"
        );
    }

    #[test]
    fn streams_differ_by_seed_purpose_and_id() {
        let first = |seed, purpose, id| Stream::new(seed, purpose, id).next_u32();
        let all = [
            first(1, Purpose::Test, 0),
            first(2, Purpose::Test, 0),
            first(1, Purpose::Entropy, 0),
            first(1, Purpose::Test, 1),
        ];
        let distinct: std::collections::BTreeSet<u32> = all.into_iter().collect();
        assert_eq!(distinct.len(), all.len());
    }

    #[test]
    fn below_is_uniform() {
        let mut stream = Stream::new(7, Purpose::Test, 3);
        let mut counts = [0u32; 6];
        for _ in 0..60_000 {
            counts[stream.below(6) as usize] += 1;
        }
        assert!(counts.iter().all(|&n| (9_600..10_400).contains(&n)), "{counts:?}");
    }
}
