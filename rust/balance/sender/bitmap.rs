//! Bitmap: pseudo-random rounds over entropy values that skip those with penalties.
//!
//! Source: the path selectors of Ultra Ethernet's public simulator (ultraethernet/uet-htsim,
//! `uec_mp.cpp`, "bitmap") and the same code in the artifact of "REPS: Recycled Entropy Packet
//! Spraying" (EuroSys 2026; `uec.cpp`, `nextEntropy_bitmap`), whose evaluation has 256 values.
//!
//! Each value has a counter. A marked acknowledgement adds 1 to that of its value, a negative one
//! or a trimmed packet 4, a time-out 15; it holds 15 at most. The next packet takes the next value
//! of the round whose counter is 0, or, after N skips, what then comes; the first value that a
//! packet skips, and only that one, loses 1. So penalties fade by visits, not by time.

use serde::{Deserialize, Serialize};

use super::entropy_space::EntropySpace;
use super::spray_rr::Rotation;
use super::{FailedPath, Feedback, QpContext, SenderConfig, SenderPolicy, Verdict};
use crate::balance::{Preset, Scheme, configured};
use crate::nic::Recovery;
use crate::rng::{Purpose, Stream};
use crate::units::Time;

/// No counter holds more: 15 (4 bits).
const MOST: u8 = 15;

/// What can be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Entropy values, each with a counter. Default 256, as REPS' evaluation has it; Ultra
    /// Ethernet uses 64 to 256.
    pub entropies: EntropySpace,
    /// What a marked acknowledgement adds. Default 1.
    pub ecn_penalty: u8,
    /// What a negative acknowledgement or a trimmed packet adds. Default 4.
    pub nack_penalty: u8,
    /// What a time-out adds. Default 15.
    pub timeout_penalty: u8,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            entropies: EntropySpace::BITMAP,
            ecn_penalty: 1,
            nack_penalty: 4,
            timeout_penalty: MOST,
        }
    }
}

/// The counters of one queue pair.
#[derive(Debug, Clone)]
pub struct Bitmap(Box<State>);

#[derive(Debug, Clone)]
struct State {
    config: Config,
    rotation: Rotation,
    upper: u16,
    random: Stream,
    counters: Box<[u8]>,
}

/// `bitmap`.
pub const PRESETS: &[Preset] = &[Preset {
    name: "bitmap",
    summary: "pseudo-random rounds that skip entropy values with penalties",
    source: "ultraethernet/uet-htsim, uec_mp.cpp (2024), bitmap path selector",
    build: |parameters| {
        let sender = SenderConfig::Bitmap(configured("bitmap", parameters)?);
        Ok(Scheme { recovery: Recovery::PerPacket, ..Scheme::new("bitmap", sender) })
    },
}];

impl Bitmap {
    pub(super) fn new(config: &Config, qp: &QpContext) -> Self {
        let mut random = qp.random(Purpose::Entropy);
        let count = config.entropies.count();
        let rotation = Rotation::new(count, &mut random);
        let upper = rotation.upper(&mut random);
        let counters = vec![0; count as usize].into_boxed_slice();
        Self(Box::new(State { config: *config, rotation, upper, random, counters }))
    }

    fn penalise(&mut self, entropy: u16, penalty: u8) {
        let place = usize::from(entropy & !self.0.upper);
        // An echo may be of what another policy sent on the queue pair's number.
        if let Some(counter) = self.0.counters.get_mut(place) {
            *counter = counter.saturating_add(penalty).min(MOST);
        }
    }
}

impl SenderPolicy for Bitmap {
    #[inline]
    fn entropy(&mut self, _now: Time) -> u16 {
        let State { rotation, upper, random, counters, .. } = &mut *self.0;
        let first = &mut counters[usize::from(rotation.current())];
        if *first > 0 {
            *first -= 1;
            for _ in 0..counters.len() {
                rotation.advance(random);
                if counters[usize::from(rotation.current())] == 0 {
                    break;
                }
            }
        }
        let value = rotation.current();
        rotation.advance(random);
        value | *upper
    }

    #[inline]
    fn handle_feedback(&mut self, _now: Time, feedback: Feedback) {
        match feedback.verdict {
            Verdict::Good => {}
            Verdict::Marked => self.penalise(feedback.entropy, self.0.config.ecn_penalty),
            Verdict::Nack | Verdict::Trimmed | Verdict::TrimmedAtLastHop => {
                self.penalise(feedback.entropy, self.0.config.nack_penalty);
            }
        }
    }

    fn handle_timeout(&mut self, _now: Time, entropy: u16) -> Option<FailedPath> {
        self.penalise(entropy, self.0.config.timeout_penalty);
        None
    }

    /// Four bits a value, and the state of the rounds.
    fn state_bits(&self) -> u64 {
        4 * self.0.counters.len() as u64 + self.0.rotation.state_bits()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Facts;
    use super::*;

    /// Values 0 to 7 in this order, round by round.
    fn ordered() -> Bitmap {
        let config = Config { entropies: EntropySpace::try_from(8).unwrap(), ..Config::default() };
        let mut bitmap = Bitmap::new(&config, &QpContext::for_test());
        straighten(&mut bitmap);
        bitmap
    }

    /// Draws rounds until one has the order of the numbers.
    fn straighten(bitmap: &mut Bitmap) {
        bitmap.0.upper = 0;
        while bitmap.0.rotation.current() != 0 {
            let State { rotation, random, .. } = &mut *bitmap.0;
            *rotation = Rotation::new(8, random);
        }
    }

    fn tell(bitmap: &mut Bitmap, entropy: u16, verdict: Verdict) {
        let rtt = Facts::default().base_rtt;
        let feedback = Feedback { entropy, verdict, packets: 1, marked: 0, rtt };
        bitmap.handle_feedback(Time::ZERO, feedback);
    }

    fn next(bitmap: &mut Bitmap) -> u16 {
        bitmap.entropy(Time::ZERO)
    }

    #[test]
    fn penalties_are_1_4_and_15_and_15_is_the_most() {
        let mut bitmap = ordered();
        tell(&mut bitmap, 0, Verdict::Good);
        tell(&mut bitmap, 1, Verdict::Marked);
        tell(&mut bitmap, 2, Verdict::Nack);
        tell(&mut bitmap, 3, Verdict::Trimmed);
        assert_eq!(bitmap.handle_timeout(Time::ZERO, 4), None);
        tell(&mut bitmap, 4, Verdict::Marked);
        (0..4).for_each(|_| tell(&mut bitmap, 5, Verdict::TrimmedAtLastHop));
        assert_eq!(*bitmap.0.counters, [0, 1, 4, 4, 15, 15, 0, 0]);
    }

    #[test]
    fn only_the_first_value_that_a_packet_skips_loses_one() {
        let mut bitmap = ordered();
        tell(&mut bitmap, 1, Verdict::Nack);
        tell(&mut bitmap, 2, Verdict::Marked);
        assert_eq!([next(&mut bitmap), next(&mut bitmap)], [0, 3]);
        assert_eq!(*bitmap.0.counters, [0, 3, 1, 0, 0, 0, 0, 0], "2 was skipped second");
    }

    #[test]
    fn a_penalty_of_one_is_gone_after_one_visit() {
        let mut bitmap = ordered();
        tell(&mut bitmap, 0, Verdict::Marked);
        let round: Vec<u16> = (0..7).map(|_| next(&mut bitmap)).collect();
        assert_eq!(round, [1, 2, 3, 4, 5, 6, 7], "0 was skipped");
        let mut again: Vec<u16> = (0..8).map(|_| next(&mut bitmap)).collect();
        again.sort_unstable();
        assert_eq!(again, [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn after_as_many_skips_as_values_it_takes_what_comes() {
        let mut bitmap = ordered();
        for entropy in 0..8 {
            bitmap.handle_timeout(Time::ZERO, entropy);
        }
        let chosen = next(&mut bitmap);
        assert!(chosen < 8);
        assert_eq!(bitmap.0.counters.iter().map(|&n| u32::from(n)).sum::<u32>(), 8 * 15 - 1);
        assert_eq!(bitmap.0.counters[0], 14, "the first that was skipped");
    }

    #[test]
    fn it_keeps_four_bits_a_value() {
        let bitmap = Bitmap::new(&Config::default(), &QpContext::for_test());
        assert_eq!(bitmap.state_bits(), 4 * 256 + 16);
    }
}
