//! Bitmap: pseudo-random rounds over entropy values that skip those with penalties.
//!
//! Source: the path selectors of Ultra Ethernet's public simulator (ultraethernet/uet-htsim,
//! `uec_mp.cpp`, "bitmap") and the same code in the artifact of "REPS: Recycled Entropy Packet
//! Spraying" (EuroSys 2026; `uec.cpp`, `nextEntropy_bitmap`), whose evaluation has 256 values.
//!
//! Each value has a counter of at most 15. A marked acknowledgement adds 1 to its value's counter,
//! a negative acknowledgement or a trimmed packet adds 4, and a timeout adds 15. The next packet
//! takes the next value of the round whose counter is 0; after N skips it takes whatever comes
//! next. Only the first value that a packet skips is decremented, so penalties decay with visits
//! rather than with time.

use serde::{Deserialize, Serialize};

use super::entropy_space::EntropySpace;
use super::xor_rounds::XorRounds;
use super::{FailedPath, Feedback, PathSignal, QpContext, SenderConfig, SenderPolicy};
use crate::balance::{Preset, Scheme, parse_config};
use crate::nic::Recovery;
use crate::rng::{Purpose, Stream};
use crate::units::Time;

/// Largest counter value (4 bits).
const MAX_COUNTER: u8 = 15;

/// The parameters of `bitmap`: the number of values and the penalty of each signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Number of entropy values, each with a counter. Default 256, as in the evaluation of REPS;
    /// Ultra Ethernet uses 64 to 256.
    pub entropies: EntropySpace,
    /// Penalty of a marked acknowledgement. Default 1.
    pub ecn_penalty: u8,
    /// Penalty of a negative acknowledgement or a trimmed packet. Default 4.
    pub nack_penalty: u8,
    /// Penalty of a timeout. Default 15.
    pub timeout_penalty: u8,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            entropies: EntropySpace::BITMAP,
            ecn_penalty: 1,
            nack_penalty: 4,
            timeout_penalty: MAX_COUNTER,
        }
    }
}

/// The counters of one queue pair.
#[derive(Debug, Clone)]
pub struct Bitmap(Box<State>);

#[derive(Debug, Clone)]
struct State {
    config: Config,
    rounds: XorRounds,
    upper: u16,
    random: Stream,
    counters: Box<[u8]>,
}

/// The preset `bitmap`: hashing switches, and a retransmission timer for each packet.
pub const PRESETS: &[Preset] = &[Preset {
    name: "bitmap",
    summary: "pseudo-random rounds that skip entropy values with penalties",
    source: "ultraethernet/uet-htsim, uec_mp.cpp (2024), bitmap path selector",
    build: |parameters| {
        let sender = SenderConfig::Bitmap(parse_config("bitmap", parameters)?);
        Ok(Scheme { recovery: Recovery::PER_PACKET, ..Scheme::new("bitmap", sender) })
    },
}];

impl Bitmap {
    pub(super) fn new(config: &Config, qp: &QpContext) -> Self {
        let mut random = qp.random(Purpose::Entropy);
        let count = config.entropies.count();
        let rounds = XorRounds::new(count, &mut random);
        let upper = rounds.upper(&mut random);
        let counters = vec![0; count as usize].into_boxed_slice();
        Self(Box::new(State { config: *config, rounds, upper, random, counters }))
    }

    /// Adds a penalty to a value's counter.
    fn penalise(&mut self, entropy: u16, penalty: u8) {
        // The upper bits are the same for all values of the queue pair.
        let index = usize::from(entropy & !self.0.upper);
        // An echo may carry a value that an earlier policy of the queue pair chose.
        if let Some(counter) = self.0.counters.get_mut(index) {
            *counter = counter.saturating_add(penalty).min(MAX_COUNTER);
        }
    }
}

impl SenderPolicy for Bitmap {
    const TAKES_ANY_PLANE: bool = true;

    #[inline]
    fn entropy(&mut self, _now: Time) -> u16 {
        let State { rounds, upper, random, counters, .. } = &mut *self.0;
        // Most packets take the first value, whose counter is 0.
        let first = &mut counters[usize::from(rounds.current())];
        if *first > 0 {
            // Only the first skipped value decays (`nextEntropy_bitmap`).
            *first -= 1;
            // At most one round: if every value has a penalty, the packet still takes the next one.
            for _ in 0..counters.len() {
                rounds.advance(random);
                if counters[usize::from(rounds.current())] == 0 {
                    break;
                }
            }
        }
        let value = rounds.current();
        rounds.advance(random);
        value | *upper
    }

    #[inline]
    fn handle_feedback(&mut self, _now: Time, feedback: Feedback) {
        match feedback.signal {
            PathSignal::Good => {}
            PathSignal::Marked => self.penalise(feedback.entropy, self.0.config.ecn_penalty),
            PathSignal::Nack
            | PathSignal::Trimmed
            | PathSignal::TrimmedAtLastHop
            | PathSignal::Condemned => {
                self.penalise(feedback.entropy, self.0.config.nack_penalty);
            }
        }
    }

    fn handle_timeout(&mut self, _now: Time, entropy: u16) -> Option<FailedPath> {
        self.penalise(entropy, self.0.config.timeout_penalty);
        None
    }

    /// Four bits per value, plus the state of the rounds.
    fn state_bits(&self) -> u64 {
        4 * self.0.counters.len() as u64 + self.0.rounds.state_bits()
    }
}

#[cfg(test)]
mod tests {
    use super::super::NetworkParameters;
    use super::*;

    /// A policy whose round has the values 0 to 7 in this order.
    fn ordered() -> Bitmap {
        let config = Config { entropies: EntropySpace::try_from(8).unwrap(), ..Config::default() };
        let mut bitmap = Bitmap::new(&config, &QpContext::for_test());
        straighten(&mut bitmap);
        bitmap
    }

    /// Draws rounds until one has the values in ascending order.
    fn straighten(bitmap: &mut Bitmap) {
        bitmap.0.upper = 0;
        while bitmap.0.rounds.current() != 0 {
            let State { rounds, random, .. } = &mut *bitmap.0;
            *rounds = XorRounds::new(8, random);
        }
    }

    fn feed(bitmap: &mut Bitmap, entropy: u16, signal: PathSignal) {
        let rtt = NetworkParameters::default().base_rtt;
        let feedback = Feedback { entropy, signal, packets: 1, marked: 0, rtt };
        bitmap.handle_feedback(Time::ZERO, feedback);
    }

    fn next(bitmap: &mut Bitmap) -> u16 {
        bitmap.entropy(Time::ZERO)
    }

    #[test]
    fn penalties_are_1_4_and_15_and_counters_hold_at_most_15() {
        let mut bitmap = ordered();
        feed(&mut bitmap, 0, PathSignal::Good);
        feed(&mut bitmap, 1, PathSignal::Marked);
        feed(&mut bitmap, 2, PathSignal::Nack);
        feed(&mut bitmap, 3, PathSignal::Trimmed);
        assert_eq!(bitmap.handle_timeout(Time::ZERO, 4), None);
        feed(&mut bitmap, 4, PathSignal::Marked);
        (0..4).for_each(|_| feed(&mut bitmap, 5, PathSignal::TrimmedAtLastHop));
        assert_eq!(*bitmap.0.counters, [0, 1, 4, 4, 15, 15, 0, 0]);
    }

    #[test]
    fn only_the_first_value_that_a_packet_skips_is_decremented() {
        let mut bitmap = ordered();
        feed(&mut bitmap, 1, PathSignal::Nack);
        feed(&mut bitmap, 2, PathSignal::Marked);
        assert_eq!([next(&mut bitmap), next(&mut bitmap)], [0, 3]);
        assert_eq!(*bitmap.0.counters, [0, 3, 1, 0, 0, 0, 0, 0], "2 was skipped second");
    }

    #[test]
    fn a_penalty_of_one_decays_with_one_visit() {
        let mut bitmap = ordered();
        feed(&mut bitmap, 0, PathSignal::Marked);
        let round: Vec<u16> = (0..7).map(|_| next(&mut bitmap)).collect();
        assert_eq!(round, [1, 2, 3, 4, 5, 6, 7], "0 was skipped");
        let mut again: Vec<u16> = (0..8).map(|_| next(&mut bitmap)).collect();
        again.sort_unstable();
        assert_eq!(again, [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn after_as_many_skips_as_values_the_next_value_is_taken() {
        let mut bitmap = ordered();
        for entropy in 0..8 {
            bitmap.handle_timeout(Time::ZERO, entropy);
        }
        let chosen = next(&mut bitmap);
        assert!(chosen < 8);
        assert_eq!(bitmap.0.counters.iter().map(|&n| u32::from(n)).sum::<u32>(), 8 * 15 - 1);
        assert_eq!(bitmap.0.counters[0], 14, "the first skipped value");
    }

    #[test]
    fn it_keeps_four_bits_per_value() {
        let bitmap = Bitmap::new(&Config::default(), &QpContext::for_test());
        assert_eq!(bitmap.state_bits(), 4 * 256 + 16);
    }
}
