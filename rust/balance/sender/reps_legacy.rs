//! REPS in its first version: a queue of all values that came back well, and no freezing.
//!
//! Source: "REPS: Recycled Entropy Packet Spraying" (arXiv 2407.21625), first version, as the
//! artifact of the EuroSys version keeps it (tommasobo/REPS_EuroSys_Artifact, `uec.cpp`,
//! `nextEntropy_REPS`): the packets of the first window take the values 1, 2, 3 and so on; then
//! each takes the oldest value that came back well, or a random one. The artifact compares with
//! the window of congestion control, which starts at 3/2 bandwidth-delay products: a policy does
//! not see it, so the start window is taken \[inferred\].

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::entropy_space::EntropySpace;
use super::{Feedback, QpContext, SenderConfig, SenderPolicy, Verdict};
use crate::balance::{Preset, Scheme, configured};
use crate::nic::Recovery;
use crate::rng::{Purpose, Stream};
use crate::units::{Fraction, Time};

/// What can be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Entropy values. Default 65,536 (artifact: `-paths 65535`).
    pub entropies: EntropySpace,
    /// Packets that take values in order, in bandwidth-delay products. Default 3/2 (the start
    /// window of the artifact).
    pub first_window: Fraction,
}

impl Default for Config {
    fn default() -> Self {
        let first_window = Fraction::new(3, 2).expect("not zero");
        Self { entropies: EntropySpace::ALL, first_window }
    }
}

/// What one queue pair keeps.
#[derive(Debug, Clone)]
pub struct RepsLegacy(Box<State>);

#[derive(Debug, Clone)]
struct State {
    entropies: EntropySpace,
    /// Packets of the first window still to be sent.
    first_window: u32,
    last: u16,
    good: VecDeque<u16>,
    random: Stream,
}

/// `reps-legacy`.
pub const PRESETS: &[Preset] = &[Preset {
    name: "reps-legacy",
    summary: "REPS' first version: an endless queue of good entropy values, no freezing",
    source: "REPS: Recycled Entropy Packet Spraying (arXiv 2407.21625v1, 2024)",
    build: |parameters| {
        let sender = SenderConfig::RepsLegacy(configured("reps-legacy", parameters)?);
        Ok(Scheme { recovery: Recovery::PerPacket, ..Scheme::new("reps-legacy", sender) })
    },
}];

impl RepsLegacy {
    pub(super) fn new(config: &Config, qp: &QpContext) -> Self {
        let window = config.first_window.of(qp.facts.bdp_packets.into());
        let window = window.min(config.entropies.count().into());
        Self(Box::new(State {
            entropies: config.entropies,
            first_window: u32::try_from(window).expect("no more than 65,536"),
            last: 0,
            good: VecDeque::new(),
            random: qp.random(Purpose::Entropy),
        }))
    }
}

impl SenderPolicy for RepsLegacy {
    #[inline]
    fn entropy(&mut self, _now: Time) -> u16 {
        let State { entropies, first_window, last, good, random } = &mut *self.0;
        if *first_window > 0 {
            *first_window -= 1;
            *last = ((u32::from(*last) + 1) % entropies.count()) as u16;
            return *last;
        }
        good.pop_front().unwrap_or_else(|| entropies.draw(random))
    }

    #[inline]
    fn handle_feedback(&mut self, _now: Time, feedback: Feedback) {
        if feedback.verdict == Verdict::Good {
            self.0.good.push_back(feedback.entropy);
        }
    }

    /// What the queue holds now, and the counter of the first window.
    fn state_bits(&self) -> u64 {
        16 * self.0.good.len() as u64 + 16
    }
}

#[cfg(test)]
mod tests {
    use super::super::Facts;
    use super::*;

    #[test]
    fn a_window_in_order_then_all_good_values_in_their_order() {
        let facts = Facts { bdp_packets: 4, ..Facts::default() };
        let qp = QpContext { facts, ..QpContext::for_test() };
        let mut policy = RepsLegacy::new(&Config::default(), &qp);
        let next = |policy: &mut RepsLegacy, packets: usize| -> Vec<u16> {
            (0..packets).map(|_| policy.entropy(Time::ZERO)).collect()
        };
        let tell = |policy: &mut RepsLegacy, entropy, verdict| {
            let rtt = Facts::default().base_rtt;
            let feedback = Feedback { entropy, verdict, packets: 1, marked: 0, rtt };
            policy.handle_feedback(Time::ZERO, feedback);
        };
        tell(&mut policy, 40, Verdict::Good);
        assert_eq!(next(&mut policy, 6), [1, 2, 3, 4, 5, 6], "3/2 of 4 packets");
        tell(&mut policy, 41, Verdict::Marked);
        (50..90).for_each(|value| tell(&mut policy, value, Verdict::Good));
        assert_eq!(policy.state_bits(), 41 * 16 + 16);
        let recycled: Vec<u16> = std::iter::once(40).chain(50..90).collect();
        assert_eq!(next(&mut policy, 41), recycled, "it has no end");
    }

    #[test]
    fn with_few_values_the_first_window_uses_each_once() {
        let entropies = EntropySpace::try_from(3).unwrap();
        let config = Config { entropies, ..Config::default() };
        let mut policy = RepsLegacy::new(&config, &QpContext::for_test());
        let first: Vec<u16> = (0..3).map(|_| policy.entropy(Time::ZERO)).collect();
        assert_eq!((first, policy.0.first_window), (vec![1, 2, 0], 0));
    }
}
