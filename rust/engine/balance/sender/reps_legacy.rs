//! The first version of REPS: an unbounded queue of good entropy values, without freezing.
//!
//! Source: "REPS: Recycled Entropy Packet Spraying" (arXiv 2407.21625), first version, as kept in
//! the artifact of the EuroSys version (tommasobo/REPS_EuroSys_Artifact, `uec.cpp`,
//! `nextEntropy_REPS`). The packets of the first window carry the values 1, 2, 3 and so on. Each
//! later packet takes the oldest value that was acknowledged unmarked, or a random one. The
//! artifact compares with the congestion window, which starts at 3/2 bandwidth-delay products. A
//! policy does not see that window, so the start window is used \[inferred\].

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::entropy_space::EntropySpace;
use super::{Feedback, PathSignal, QpContext, SenderConfig, SenderPolicy};
use crate::balance::{Preset, Scheme, parse_config};
use crate::nic::Recovery;
use crate::rng::{Purpose, Stream};
use crate::units::{Fraction, Time};

/// The parameters of `reps-legacy`: the number of values, and how many are first used in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Number of entropy values. Default 65,536 (artifact: `-paths 65535`).
    pub entropies: EntropySpace,
    /// Number of packets that carry values in order, in bandwidth-delay products. Default 3/2 (the
    /// start window of the artifact).
    pub first_window: Fraction,
}

impl Default for Config {
    fn default() -> Self {
        let first_window = Fraction::new(3, 2).expect("not zero");
        Self { entropies: EntropySpace::ALL, first_window }
    }
}

/// The state of one queue pair.
#[derive(Debug, Clone)]
pub struct RepsLegacy(Box<State>);

#[derive(Debug, Clone)]
struct State {
    entropies: EntropySpace,
    /// Unsent packets of the first window.
    first_window: u32,
    /// The most recent value of the first window.
    last: u16,
    /// Values that were acknowledged unmarked and not used since, oldest first.
    good: VecDeque<u16>,
    random: Stream,
}

/// The preset `reps-legacy`: hashing switches, and a retransmission timer for each packet.
pub const PRESETS: &[Preset] = &[Preset {
    name: "reps-legacy",
    summary: "first version of REPS: an unbounded queue of good entropy values, no freezing",
    source: "REPS: Recycled Entropy Packet Spraying (arXiv 2407.21625v1, 2024)",
    build: |parameters| {
        let sender = SenderConfig::RepsLegacy(parse_config("reps-legacy", parameters)?);
        Ok(Scheme { recovery: Recovery::PER_PACKET, ..Scheme::new("reps-legacy", sender) })
    },
}];

impl RepsLegacy {
    pub(super) fn new(config: &Config, qp: &QpContext) -> Self {
        let window = config.first_window.of(qp.network.bdp_packets.into());
        // A longer first window would probe values twice.
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
    const TAKES_ANY_PLANE: bool = true;

    #[inline]
    fn entropy(&mut self, _now: Time) -> u16 {
        let State { entropies, first_window, last, good, random } = &mut *self.0;
        // The first window probes the values in order, before any acknowledgement has returned.
        if *first_window > 0 {
            *first_window -= 1;
            *last = ((u32::from(*last) + 1) % entropies.count()) as u16;
            return *last;
        }
        // Each good acknowledgement permits one reuse of its value; without one, explore.
        good.pop_front().unwrap_or_else(|| entropies.draw(random))
    }

    #[inline]
    fn handle_feedback(&mut self, _now: Time, feedback: Feedback) {
        if feedback.signal == PathSignal::Good {
            self.0.good.push_back(feedback.entropy);
        }
    }

    /// The current contents of the queue, plus the counter of the first window.
    fn state_bits(&self) -> u64 {
        16 * self.0.good.len() as u64 + 16
    }
}

#[cfg(test)]
mod tests {
    use super::super::NetworkParameters;
    use super::*;

    #[test]
    fn the_first_window_is_in_order_and_then_good_values_are_reused_in_order() {
        let network = NetworkParameters { bdp_packets: 4, ..NetworkParameters::default() };
        let qp = QpContext { network, ..QpContext::for_test() };
        let mut policy = RepsLegacy::new(&Config::default(), &qp);
        let next = |policy: &mut RepsLegacy, packets: usize| -> Vec<u16> {
            (0..packets).map(|_| policy.entropy(Time::ZERO)).collect()
        };
        let feed = |policy: &mut RepsLegacy, entropy, signal| {
            let rtt = NetworkParameters::default().base_rtt;
            let feedback = Feedback { entropy, signal, packets: 1, marked: 0, rtt };
            policy.handle_feedback(Time::ZERO, feedback);
        };
        feed(&mut policy, 40, PathSignal::Good);
        assert_eq!(next(&mut policy, 6), [1, 2, 3, 4, 5, 6], "3/2 of 4 packets");
        feed(&mut policy, 41, PathSignal::Marked);
        (50..90).for_each(|value| feed(&mut policy, value, PathSignal::Good));
        assert_eq!(policy.state_bits(), 41 * 16 + 16);
        let recycled: Vec<u16> = std::iter::once(40).chain(50..90).collect();
        assert_eq!(next(&mut policy, 41), recycled, "the queue has no limit");
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
