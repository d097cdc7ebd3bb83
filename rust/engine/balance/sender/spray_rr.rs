//! Oblivious spraying in pseudo-random rounds: each entropy value occurs once per round, in an
//! order that changes from round to round.
//!
//! Source: the path selectors of Ultra Ethernet's public simulator (ultraethernet/uet-htsim,
//! `uec_mp.cpp`, "oblivious"). See `xor_rounds` for the rounds. The bits above those of the N
//! values are drawn once per queue pair.

use serde::{Deserialize, Serialize};

use super::entropy_space::EntropySpace;
use super::xor_rounds::XorRounds;
use super::{QpContext, SenderConfig, SenderPolicy};
use crate::balance::{Preset, Scheme, parse_config};
use crate::nic::Recovery;
use crate::packet::PlaneMask;
use crate::rng::{Purpose, Stream};
use crate::units::Time;

/// The only parameter of `spray-rr`: the number of values in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Number of entropy values in a round. Default 65,536, as the REPS artifact runs its baselines
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
    rounds: XorRounds,
    upper: u16,
    random: Stream,
}

/// The preset `spray-rr`: hashing switches, and a retransmission timer for each packet.
pub const PRESETS: &[Preset] = &[Preset {
    name: "spray-rr",
    summary: "each entropy value once per round, in changing pseudo-random order",
    source: "ultraethernet/uet-htsim, uec_mp.cpp (2024), oblivious path selector",
    build: |parameters| {
        let sender = SenderConfig::SprayRr(parse_config("spray-rr", parameters)?);
        Ok(Scheme { recovery: Recovery::PER_PACKET, ..Scheme::new("spray-rr", sender) })
    },
}];

impl SprayRr {
    pub(super) fn new(config: &Config, qp: &QpContext) -> Self {
        let mut random = qp.random(Purpose::Entropy);
        let rounds = XorRounds::new(config.entropies.count(), &mut random);
        let upper = rounds.upper(&mut random);
        Self { rounds, upper, random }
    }
}

impl SenderPolicy for SprayRr {
    const TAKES_ANY_PLANE: bool = true;

    #[inline]
    fn entropy(&mut self, _now: Time) -> u16 {
        let value = self.rounds.current();
        self.rounds.advance(&mut self.random);
        value | self.upper
    }

    /// A small power of two: the upper bits then do not change the remainder.
    fn paths(&self) -> Option<u32> {
        let values = self.rounds.values();
        (values.is_power_of_two() && values <= PlaneMask::MAX).then_some(values)
    }

    /// The next value of the round whose path is open.
    #[inline]
    fn choose_path(&mut self, now: Time, open: PlaneMask) -> u16 {
        while !open.has(self.rounds.current().into()) {
            self.rounds.advance(&mut self.random);
        }
        self.entropy(now)
    }

    /// The index and the XOR value. The upper bits count as part of the queue pair's identity.
    fn state_bits(&self) -> u64 {
        self.rounds.state_bits()
    }
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
    fn each_value_occurs_once_per_round_and_the_order_changes() {
        let mut policy = policy(64);
        let upper = policy.upper;
        let mut orders = std::collections::BTreeSet::new();
        for _ in 0..10 {
            let order = round(&mut policy, 64);
            let mut values: Vec<u16> = order.iter().map(|value| value & 63).collect();
            values.sort_unstable();
            assert_eq!(values, (0..64).collect::<Vec<u16>>());
            assert!(order.iter().all(|value| value & !63 == upper), "the upper bits stay");
            orders.insert(order);
        }
        assert!(orders.len() >= 8, "{} orders in 10 rounds of 64", orders.len());
    }

    #[test]
    fn a_round_is_its_first_value_xored_with_the_index() {
        let mut policy = policy(16);
        let order = round(&mut policy, 16);
        for (index, value) in (0u16..).zip(&order) {
            assert_eq!(value ^ order[0], index);
        }
    }

    #[test]
    fn rounds_are_complete_for_the_whole_field_and_for_counts_other_than_powers_of_two() {
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
    fn among_open_paths_each_takes_its_turn() {
        let mut policy = policy(8);
        assert_eq!(policy.paths(), Some(8));
        let open = PlaneMask::from_bits(0b1001_0010);
        let mut uses = [0; 8];
        for _ in 0..300 {
            let value = policy.choose_path(Time::ZERO, open);
            assert_eq!(value & !7, policy.upper);
            uses[usize::from(value % 8)] += 1;
        }
        assert_eq!(uses, [0, 100, 0, 0, 100, 0, 0, 100]);
        for entropies in [6, 64, 65_536] {
            assert_eq!(self::policy(entropies).paths(), None, "{entropies}");
        }
    }

    #[test]
    fn it_keeps_an_index_and_an_xor_value() {
        assert_eq!((policy(256).state_bits(), policy(65_536).state_bits()), (16, 32));
    }

    #[test]
    fn queue_pairs_have_their_own_upper_bits() {
        let entropies = EntropySpace::try_from(64).unwrap();
        let upper = |qp_index| {
            let qp = QpContext { qp_index, ..QpContext::for_test() };
            SprayRr::new(&Config { entropies }, &qp).entropy(Time::ZERO) >> 6
        };
        // 100 draws out of 1,024 give 95 different values on average.
        let seen: std::collections::BTreeSet<u16> = (0..100).map(upper).collect();
        assert!(seen.len() > 80, "{}", seen.len());
    }
}
