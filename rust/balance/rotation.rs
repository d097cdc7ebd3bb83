//! Weighted rotations: ports in a random order of their own, turn by turn, each in as many turns
//! as its weight.
//!
//! Source: "Load Balancing for AI Training Workloads" (arXiv 2507.21372 v2, 2026), destination
//! rotation and its weighted form after failures: capacities are divided by their greatest common
//! divisor, the order of the ports is shuffled, and an interleaved weighted round-robin schedule
//! is read off in that order; the pointer into it starts at random. Hosts rotate over paths
//! (`host-dr`), switches over ports.
//!
//! \[inferred\] A schedule has at most 65,536 entries and one more a port: coarser weights stand
//! in for those that need more. Where every weight is 0 there is nothing to avoid, and all ports
//! count alike.

use crate::rng::Stream;

/// What a schedule may be long before its weights are made coarser.
const LONGEST: u64 = 1 << 16;

/// A schedule of ports and the pointer that goes round in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotation {
    schedule: Box<[u16]>,
    next: u32,
}

impl Rotation {
    /// A rotation over as many ports as there are `weights` (1 to 65,536): order and start are
    /// drawn.
    ///
    /// # Panics
    /// Without ports there is nothing to rotate over.
    pub fn new(weights: &[u32], random: &mut Stream) -> Self {
        assert!(!weights.is_empty(), "a rotation needs a port");
        let mut order: Vec<u16> = (0..=u16::MAX).take(weights.len()).collect();
        random.shuffle(&mut order);
        let schedule = match schedule(&order, weights) {
            none if none.is_empty() => order,
            schedule => schedule,
        };
        let length = u32::try_from(schedule.len()).expect("131,072 entries at most");
        Self { next: random.below(length), schedule: schedule.into() }
    }

    /// The port whose turn it is; the pointer moves on.
    #[inline]
    pub fn turn(&mut self) -> u16 {
        let port = self.schedule[self.next as usize];
        self.next += 1;
        if self.next as usize == self.schedule.len() {
            self.next = 0;
        }
        port
    }

    /// The schedule, once round, from its first entry.
    pub fn schedule(&self) -> &[u16] {
        &self.schedule
    }

    /// What the pointer takes: as many bits as number the entries.
    pub fn pointer_bits(&self) -> u64 {
        bits_to_number(self.schedule.len())
    }

    /// What the schedule takes: in each entry as many bits as number the ports up to the last.
    pub fn schedule_bits(&self) -> u64 {
        let ports = self.schedule.iter().max().map_or(1, |&last| usize::from(last) + 1);
        self.schedule.len() as u64 * bits_to_number(ports)
    }
}

/// How many bits tell so many things (at least one) apart.
fn bits_to_number(things: usize) -> u64 {
    u64::from(usize::BITS - (things - 1).leading_zeros())
}

/// Goes through the ports in `order`, turn by turn: each stands in the first so many turns as its
/// weight says, after division by their greatest common divisor.
pub fn schedule(order: &[u16], weights: &[u32]) -> Vec<u16> {
    let weights = reduced(weights);
    let turns = weights.iter().copied().max().unwrap_or(0);
    let in_turn = |turn| {
        let weights = &weights;
        order.iter().copied().filter(move |&port| weights[usize::from(port)] > turn)
    };
    (0..turns).flat_map(in_turn).collect()
}

/// `weights` divided by their greatest common divisor, made coarser where that is not enough.
fn reduced(weights: &[u32]) -> Vec<u32> {
    let divisor = weights.iter().copied().fold(0, gcd).max(1);
    let weights = weights.iter().map(|weight| weight / divisor);
    let sum: u64 = weights.clone().map(u64::from).sum();
    if sum <= LONGEST {
        return weights.collect();
    }
    let coarser = |weight: u32| (u64::from(weight) * LONGEST).div_ceil(sum);
    weights.map(|weight| u32::try_from(coarser(weight)).expect("less than it was")).collect()
}

const fn gcd(mut a: u32, mut b: u32) -> u32 {
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

    /// The source's example: P3, P2, P4, P1 after the shuffle, and P4 is the slow one.
    #[test]
    fn capacities_become_an_interleaved_schedule() {
        let capacities = [1_600, 1_600, 1_600, 800];
        assert_eq!(reduced(&capacities), [2, 2, 2, 1]);
        let shuffled = [3, 2, 4, 1].map(|port| port - 1);
        let schedule: Vec<u16> =
            schedule(&shuffled, &capacities).iter().map(|port| port + 1).collect();
        assert_eq!(schedule, [3, 2, 4, 1, 3, 2, 1]);
    }

    #[test]
    fn once_round_each_port_has_as_many_turns_as_its_weight() {
        let weights = [3, 0, 1, 2];
        let mut rotation = Rotation::new(&weights, &mut stream(0));
        for _ in 0..5 {
            let mut counts = [0; 4];
            (0..6).for_each(|_| counts[usize::from(rotation.turn())] += 1);
            assert_eq!(counts, weights);
        }
    }

    #[test]
    fn equal_weights_are_a_permutation_that_starts_anywhere() {
        let mut starts = [0u32; 8];
        let mut orders = std::collections::BTreeSet::new();
        for id in 0..800 {
            let mut rotation = Rotation::new(&[5; 8], &mut stream(id));
            assert_eq!(rotation.schedule().len(), 8);
            starts[usize::from(rotation.turn())] += 1;
            orders.insert(rotation.schedule().to_vec());
        }
        assert!(starts.iter().all(|&n| (70..130).contains(&n)), "{starts:?}");
        assert!(orders.len() > 750, "{} orders", orders.len());
    }

    #[test]
    fn pointers_take_the_bits_that_number_their_entries() {
        let bits = |ports| Rotation::new(&vec![1; ports], &mut stream(0)).pointer_bits();
        assert_eq!([1, 2, 3, 4, 5, 16, 17, 65_536].map(bits), [0, 1, 2, 2, 3, 4, 5, 16]);
    }

    #[test]
    fn a_schedule_takes_the_bits_that_number_its_ports() {
        let bits = |weights: &[u32]| Rotation::new(weights, &mut stream(0)).schedule_bits();
        assert_eq!(bits(&[1; 16]), 16 * 4);
        assert_eq!(bits(&[2, 2, 2, 1]), 7 * 2);
    }

    #[test]
    fn without_any_weight_all_ports_count_alike() {
        assert_eq!(Rotation::new(&[0; 4], &mut stream(0)).schedule().len(), 4);
    }

    #[test]
    fn odd_weights_do_not_make_schedules_without_end() {
        let weights = [u32::MAX, u32::MAX - 1, 1, 0];
        let counts =
            |port| schedule(&[0, 1, 2, 3], &weights).iter().filter(|&&p| p == port).count();
        assert_eq!([0, 1, 2, 3].map(counts), [32_768, 32_768, 1, 0]);
    }
}
