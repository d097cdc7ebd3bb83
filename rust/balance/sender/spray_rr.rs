//! Oblivious spraying in pseudo-random rounds: each entropy value once a round, in an order that
//! changes from round to round.
//!
//! Source: the path selectors of Ultra Ethernet's public simulator (ultraethernet/uet-htsim,
//! `uec_mp.cpp`, "oblivious"): of N values, the i-th of a round is i XOR x, where x is drawn anew
//! for each round; bits above those of N are drawn once for a queue pair. It asks for a power of
//! two; other N skip what is not below N \[inferred\].

use serde::{Deserialize, Serialize};

use super::entropy_space::EntropySpace;
use super::{QpContext, SenderConfig, SenderPolicy};
use crate::balance::{Preset, Scheme, configured};
use crate::nic::Recovery;
use crate::rng::{Purpose, Stream};
use crate::units::Time;

/// What can be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Entropy values in a round. Default 65,536, as the REPS artifact runs its baselines
    /// (`-paths 65535`); Ultra Ethernet uses 64 to 256.
    pub entropies: EntropySpace,
}

impl Default for Config {
    fn default() -> Self {
        Self { entropies: EntropySpace::ALL }
    }
}

/// The rounds of one queue pair.
#[derive(Debug, Clone)]
pub struct SprayRr {
    rotation: Rotation,
    upper: u16,
    random: Stream,
}

/// `spray-rr`.
pub const PRESETS: &[Preset] = &[Preset {
    name: "spray-rr",
    summary: "each entropy value once a round, in an order that changes (pseudo-random rounds)",
    source: "ultraethernet/uet-htsim, uec_mp.cpp (2024), oblivious path selector",
    build: |parameters| {
        let sender = SenderConfig::SprayRr(configured("spray-rr", parameters)?);
        Ok(Scheme { recovery: Recovery::PerPacket, ..Scheme::new("spray-rr", sender) })
    },
}];

impl SprayRr {
    pub(super) fn new(config: &Config, qp: &QpContext) -> Self {
        let mut random = qp.random(Purpose::Entropy);
        let rotation = Rotation::new(config.entropies.count(), &mut random);
        let upper = rotation.upper(&mut random);
        Self { rotation, upper, random }
    }
}

impl SenderPolicy for SprayRr {
    #[inline]
    fn entropy(&mut self, _now: Time) -> u16 {
        let value = self.rotation.current();
        self.rotation.advance(&mut self.random);
        value | self.upper
    }

    /// Index and XOR value; the bits above are a part of the queue pair's name.
    fn state_bits(&self) -> u64 {
        self.rotation.state_bits()
    }
}

/// A pseudo-random round-robin over the numbers below N.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rotation {
    values: u32,
    mask: u16,
    index: u16,
    xor: u16,
}

impl Rotation {
    /// Over the numbers below `values`, 1 to 65,536.
    pub fn new(values: u32, random: &mut Stream) -> Self {
        let mask = (values.next_power_of_two() - 1) as u16;
        let mut rotation = Self { values, mask, index: 0, xor: random.next_u16() & mask };
        rotation.skip_absent(random);
        rotation
    }

    /// Random bits above those of its numbers.
    pub fn upper(&self, random: &mut Stream) -> u16 {
        random.next_u16() & !self.mask
    }

    /// The number whose turn it is.
    #[inline]
    pub fn current(&self) -> u16 {
        self.index ^ self.xor
    }

    /// On to the next one; tells whether a round begins with it.
    #[inline]
    pub fn advance(&mut self, random: &mut Stream) -> Round {
        let mut round = self.step(random);
        if self.skip_absent(random) == Round::Next {
            round = Round::Next;
        }
        round
    }

    /// The index and the XOR value.
    pub fn state_bits(&self) -> u64 {
        2 * u64::from(self.mask.count_ones())
    }

    #[inline]
    fn step(&mut self, random: &mut Stream) -> Round {
        if self.index < self.mask {
            self.index += 1;
            return Round::Same;
        }
        self.index = 0;
        self.xor = random.next_u16() & self.mask;
        Round::Next
    }

    #[inline]
    fn skip_absent(&mut self, random: &mut Stream) -> Round {
        let mut round = Round::Same;
        while u32::from(self.current()) >= self.values {
            if self.step(random) == Round::Next {
                round = Round::Next;
            }
        }
        round
    }
}

/// Whether a step began another round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Round {
    Same,
    Next,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(entropies: u32) -> SprayRr {
        let entropies = EntropySpace::try_from(entropies).unwrap();
        SprayRr::new(&Config { entropies }, &QpContext::for_test())
    }

    fn round(policy: &mut SprayRr, packets: usize) -> Vec<u16> {
        (0..packets).map(|_| policy.entropy(Time::ZERO)).collect()
    }

    #[test]
    fn each_value_comes_once_a_round_and_the_order_changes() {
        let mut policy = policy(64);
        let upper = policy.upper;
        let mut orders = std::collections::BTreeSet::new();
        for _ in 0..10 {
            let order = round(&mut policy, 64);
            let mut values: Vec<u16> = order.iter().map(|value| value & 63).collect();
            values.sort_unstable();
            assert_eq!(values, (0..64).collect::<Vec<u16>>());
            assert!(order.iter().all(|value| value & !63 == upper), "upper bits stay");
            orders.insert(order);
        }
        assert!(orders.len() >= 8, "{} orders in 10 rounds of 64", orders.len());
    }

    #[test]
    fn a_round_is_its_first_value_xored_with_the_place() {
        let mut policy = policy(16);
        let order = round(&mut policy, 16);
        for (place, value) in (0u16..).zip(&order) {
            assert_eq!(value ^ order[0], place);
        }
    }

    #[test]
    fn the_whole_field_and_numbers_that_are_no_power_of_two_come_once_a_round_too() {
        for entropies in [1, 3, 6, 65_536] {
            let mut policy = policy(entropies);
            policy.upper = 0;
            for _ in 0..3 {
                let mut values = round(&mut policy, entropies as usize);
                values.sort_unstable();
                assert!((0..entropies).eq(values.iter().map(|&v| u32::from(v))), "{entropies}");
            }
        }
    }

    #[test]
    fn it_keeps_an_index_and_a_xor_value() {
        assert_eq!((policy(256).state_bits(), policy(65_536).state_bits()), (16, 32));
    }
}
