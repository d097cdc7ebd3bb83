//! Weighted round-robin over ports in a random order.
//!
//! Source: "Load Balancing for AI Training Workloads" (arXiv 2507.21372 v2, 2026), destination
//! rotation and its weighted form after failures. Capacities are divided by their greatest common
//! divisor and the order of the ports is shuffled. An interleaved weighted round-robin schedule is
//! read off in that order; the pointer into it starts at random. Hosts rotate over paths
//! (`host-dr`), switches over ports.
//!
//! \[inferred\] A schedule has at most 65,536 entries plus one per port: weights that need more are
//! scaled down. If every weight is 0, all ports have the same weight.

use super::state_size::index_bits;
use crate::rng::{Stream, mix64};

/// Longest schedule, in entries, whose weights are used without scaling.
const LONGEST_EXACT: u64 = 1 << 16;

/// A cyclic schedule of ports and a pointer into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotation {
    schedule: Box<[u16]>,
    next: u32,
}

impl Rotation {
    /// Creates a rotation over one port per weight (1 to 65,536 ports). The order of the ports and
    /// the start of the pointer are drawn from `random`.
    ///
    /// # Panics
    /// If `weights` is empty.
    pub fn new(weights: &[u32], random: &mut Stream) -> Self {
        assert!(!weights.is_empty(), "a rotation needs a port");
        let mut order: Vec<u16> = (0..=u16::MAX).take(weights.len()).collect();
        random.shuffle(&mut order);
        let weighted = weighted_schedule(&order, weights);
        // Every weight is 0: fall back to equal weights.
        let schedule = if weighted.is_empty() { order } else { weighted };
        let length = u32::try_from(schedule.len()).expect("131,072 entries at most");
        Self { next: random.below(length), schedule: schedule.into() }
    }

    /// Returns the port at the pointer and advances the pointer.
    #[inline]
    pub(crate) fn advance(&mut self) -> u16 {
        let port = self.schedule[self.next as usize];
        self.next += 1;
        // A comparison is cheaper than a division for each packet.
        if self.next as usize == self.schedule.len() {
            self.next = 0;
        }
        port
    }

    /// Returns one cycle of the schedule, from its first entry.
    pub fn schedule(&self) -> &[u16] {
        &self.schedule
    }

    /// Returns the size of the pointer, an index into the schedule, in bits.
    pub(crate) fn pointer_bits(&self) -> u64 {
        index_bits(self.schedule.len() as u64)
    }

    /// Returns the size of the schedule in bits: one port index per entry.
    pub(crate) fn schedule_bits(&self) -> u64 {
        let ports = self.schedule.iter().max().map_or(1, |&last| u64::from(last) + 1);
        self.schedule.len() as u64 * index_bits(ports)
    }
}

/// Returns an interleaved weighted round-robin schedule over the ports in `order`.
///
/// Weights are divided by their greatest common divisor. A port of weight w then appears once in
/// each of the first w rounds.
pub fn weighted_schedule(order: &[u16], weights: &[u32]) -> Vec<u16> {
    let weights = reduced(weights);
    let rounds = weights.iter().copied().max().unwrap_or(0);
    let in_round = |round| {
        let weights = &weights;
        order.iter().copied().filter(move |&port| weights[usize::from(port)] > round)
    };
    (0..rounds).flat_map(in_round).collect()
}

/// Divides `weights` by their greatest common divisor, and scales them down if their sum still
/// exceeds [`LONGEST_EXACT`].
fn reduced(weights: &[u32]) -> Vec<u32> {
    let divisor = weights.iter().copied().fold(0, gcd).max(1);
    let weights = weights.iter().map(|weight| weight / divisor);
    let sum: u64 = weights.clone().map(u64::from).sum();
    if sum <= LONGEST_EXACT {
        return weights.collect();
    }
    // Rounding up keeps every port with a weight above 0 in the schedule.
    let scaled = |weight: u32| (u64::from(weight) * LONGEST_EXACT).div_ceil(sum);
    weights.map(|weight| u32::try_from(scaled(weight)).expect("less than the weight")).collect()
}

/// Returns a hash of the proportions between weights; 0 if all weights are equal.
pub(crate) fn fingerprint(weights: &[u32]) -> u64 {
    if weights.windows(2).all(|pair| pair[0] == pair[1]) {
        return 0;
    }
    reduced(weights).iter().fold(0, |sum, &weight| mix64(sum ^ mix64(u64::from(weight) + 1)))
}

/// Returns the greatest common divisor of `a` and `b`.
pub(crate) const fn gcd(mut a: u32, mut b: u32) -> u32 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    fn stream(id: u64) -> Stream {
        Stream::new(1, Purpose::Test, id)
    }

    #[test]
    fn a_fingerprint_distinguishes_proportions() {
        assert_eq!([fingerprint(&[1, 1]), fingerprint(&[7, 7, 7])], [0, 0]);
        assert_eq!(fingerprint(&[2, 4, 4]), fingerprint(&[1, 2, 2]));
        let all = [[1, 2, 2], [3, 2, 2], [2, 1, 2], [2, 2, 1], [1, 2, 3], [0, 2, 2]];
        let distinct: std::collections::BTreeSet<u64> =
            all.iter().map(|weights| fingerprint(weights)).collect();
        assert_eq!(distinct.len(), all.len());
        assert!(!distinct.contains(&0));
    }

    /// The source's example: the shuffled order is P3, P2, P4, P1, and P4 is the slow port.
    #[test]
    fn capacities_become_an_interleaved_schedule() {
        let capacities = [1_600, 1_600, 1_600, 800];
        assert_eq!(reduced(&capacities), [2, 2, 2, 1]);
        let shuffled = [3, 2, 4, 1].map(|port| port - 1);
        let schedule: Vec<u16> =
            weighted_schedule(&shuffled, &capacities).iter().map(|port| port + 1).collect();
        assert_eq!(schedule, [3, 2, 4, 1, 3, 2, 1]);
    }

    #[test]
    fn each_port_appears_once_per_unit_of_weight_in_a_cycle() {
        let weights = [3, 0, 1, 2];
        let mut rotation = Rotation::new(&weights, &mut stream(0));
        for _ in 0..5 {
            let mut counts = [0; 4];
            (0..6).for_each(|_| counts[usize::from(rotation.advance())] += 1);
            assert_eq!(counts, weights);
        }
    }

    #[test]
    fn equal_weights_give_a_random_permutation_with_a_random_start() {
        let mut starts = [0u32; 8];
        let mut orders = std::collections::BTreeSet::new();
        for id in 0..800 {
            let mut rotation = Rotation::new(&[5; 8], &mut stream(id));
            assert_eq!(rotation.schedule().len(), 8);
            starts[usize::from(rotation.advance())] += 1;
            orders.insert(rotation.schedule().to_vec());
        }
        assert!(starts.iter().all(|&n| (70..130).contains(&n)), "{starts:?}");
        assert!(orders.len() > 750, "{} orders", orders.len());
    }

    #[test]
    fn a_pointer_takes_the_bits_of_an_index_into_the_schedule() {
        let bits = |ports| Rotation::new(&vec![1; ports], &mut stream(0)).pointer_bits();
        assert_eq!([1, 2, 3, 4, 5, 16, 17, 65_536].map(bits), [0, 1, 2, 2, 3, 4, 5, 16]);
    }

    #[test]
    fn a_schedule_takes_the_bits_of_a_port_index_per_entry() {
        let bits = |weights: &[u32]| Rotation::new(weights, &mut stream(0)).schedule_bits();
        assert_eq!(bits(&[1; 16]), 16 * 4);
        assert_eq!(bits(&[1; 17]), 17 * 5);
        assert_eq!(bits(&[2, 2, 2, 1]), 7 * 2);
    }

    #[test]
    fn if_all_weights_are_zero_every_port_appears_once() {
        assert_eq!(Rotation::new(&[0; 4], &mut stream(0)).schedule().len(), 4);
    }

    #[test]
    fn large_coprime_weights_are_scaled_down() {
        let weights = [u32::MAX, u32::MAX - 1, 1, 0];
        let counts = |port| {
            weighted_schedule(&[0, 1, 2, 3], &weights).iter().filter(|&&p| p == port).count()
        };
        assert_eq!([0, 1, 2, 3].map(counts), [32_768, 32_768, 1, 0]);
    }
}
