//! The order of simultaneous arrivals.
//!
//! Ports are not processed by number: among equal senders into a full port, the low numbers would
//! always win. Instead, a keyed permutation of the port numbers orders them. It depends only on the
//! seed and the time, not on threads, partitions or scheduling order. Any two ports precede each
//! other equally often, and every order of a group of ports is about equally frequent (tests). The
//! ns-3 module uses the same arithmetic.

use serde::{Deserialize, Serialize};

use super::Switching;
use crate::rng::{Purpose, Stream};

/// Minimum width of the permuted numbers: fewer bits would allow few orders of a small fabric's
/// ports.
const FEWEST_BITS: u32 = 16;
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
const MIX: u64 = 0xbf58_476d_1ce4_e5b9;
/// Odd factors; `INVERSES` are their inverses modulo 2^32.
const FACTORS: [u32; 2] = [0x9e37_79b1, 0x85eb_ca77];
const INVERSES: [u32; 2] = [inverse(FACTORS[0]), inverse(FACTORS[1])];

/// Returns the inverse of an odd number modulo 2^32, by Newton's iteration.
const fn inverse(odd: u32) -> u32 {
    let mut inverse = odd;
    let mut step = 0;
    while step < 5 {
        inverse = inverse.wrapping_mul(2u32.wrapping_sub(odd.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
}

/// Order in which a switch processes packets that arrive at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TieOrder {
    /// Drawn at random for each time.
    #[default]
    Drawn,
    /// By input port, low numbers first, for comparison with simulators whose event queues have a
    /// fixed order. Some of several equal senders into a full queue then always win.
    Port,
}

/// The permutations of a run's port numbers, one for each time.
#[derive(Debug, Clone, Copy)]
pub struct Ties {
    order: TieOrder,
    key: u64,
    mask: u32,
    /// At least half of the bits, so the xor-shift is its own inverse.
    shift: u32,
}

impl Ties {
    /// Creates the permutations of `ports` numbers.
    pub fn new(order: TieOrder, seed: u64, ports: usize) -> Self {
        let bits = ports.next_power_of_two().ilog2().max(FEWEST_BITS);
        let mut random = Stream::new(seed, Purpose::Ties, 0);
        let key = u64::from(random.next_u32()) << 32 | u64::from(random.next_u32());
        Self { order, key, mask: (1 << bits) - 1, shift: bits.div_ceil(2) }
    }

    #[inline(always)]
    const fn pad(self, time: u64) -> u32 {
        let mixed = (time ^ self.key).wrapping_mul(SPREAD);
        ((mixed ^ mixed >> 32).wrapping_mul(MIX) >> 32) as u32
    }

    /// Returns the rank of a port among arrivals at a time.
    #[inline(always)]
    pub const fn rank_of(self, time: u64, port: u32) -> u32 {
        if matches!(self.order, TieOrder::Port) {
            return port;
        }
        // Every step is invertible within the mask, so distinct ports get distinct ranks.
        let mixed = (port ^ self.pad(time)).wrapping_mul(FACTORS[0]) & self.mask;
        (mixed ^ mixed >> self.shift).wrapping_mul(FACTORS[1]) & self.mask
    }

    /// Returns the port with this rank.
    #[inline(always)]
    pub const fn port_of_rank(self, time: u64, rank: u32) -> u32 {
        if matches!(self.order, TieOrder::Port) {
            return rank;
        }
        let mixed = rank.wrapping_mul(INVERSES[1]) & self.mask;
        let mixed = (mixed ^ mixed >> self.shift).wrapping_mul(INVERSES[0]);
        (mixed ^ self.pad(time)) & self.mask
    }
}

impl Switching {
    /// Returns the order in which simultaneous arrivals are handled.
    pub fn ties(&self) -> Ties {
        self.ties
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rank_belongs_to_exactly_one_port() {
        for ports in [1, 5_000, 1 << 16, (1 << 17) + 1, 1 << 25] {
            let ties = Ties::new(TieOrder::Drawn, 7, ports);
            for time in (0..500).map(|step| step * 81_920) {
                for port in [0, 1, ports as u32 / 3, ports as u32 - 1] {
                    let rank = ties.rank_of(time, port);
                    assert!(rank <= ties.mask);
                    assert_eq!(ties.port_of_rank(time, rank), port, "{ports} ports");
                }
            }
        }
    }

    /// Uses port numbers and times like those of real runs. Each port is first, and second, about
    /// as often as the others.
    #[test]
    fn no_port_is_first_more_often_than_another() {
        const TIMES: u32 = 40_000;
        for (count, stride) in [(2, 1), (3, 1), (3, 2), (5, 2), (8, 2), (7, 64), (20, 2), (64, 2)] {
            let ties = Ties::new(TieOrder::Drawn, 3, 4_096);
            let ports: Vec<u32> = (0..count).map(|it| 6 + it * stride).collect();
            let mut firsts = vec![[0u32; 2]; ports.len()];
            for step in 0..TIMES {
                let at = 1_000_000 + u64::from(step) * 83_200;
                let mut order: Vec<usize> = (0..ports.len()).collect();
                order.sort_by_key(|&it| ties.rank_of(at, ports[it]));
                firsts[order[0]][0] += 1;
                firsts[order[1]][1] += 1;
            }
            let mean = f64::from(TIMES) / f64::from(count);
            // Six standard deviations of a fair draw.
            let near = 6.0 * mean.sqrt();
            for (port, counts) in firsts.iter().enumerate() {
                for times in counts {
                    let off = f64::from(*times) - mean;
                    assert!(
                        off.abs() < near,
                        "{count} by {stride}: port {port}, {times} of {mean}"
                    );
                }
            }
        }
    }

    #[test]
    fn all_orders_of_three_ports_are_about_equally_frequent() {
        let ties = Ties::new(TieOrder::Drawn, 11, 64);
        let mut orders = std::collections::BTreeMap::<_, u32>::new();
        for step in 0..60_000u64 {
            let mut order = [3u32, 4, 5];
            order.sort_by_key(|&port| ties.rank_of(step * 41_600, port));
            *orders.entry(order).or_default() += 1;
        }
        assert!(orders.values().all(|times| (9_400..10_600).contains(times)), "{orders:?}");
        assert_eq!(orders.len(), 6);
    }
}
