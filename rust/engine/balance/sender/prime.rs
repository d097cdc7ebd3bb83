//! PRIME, reconstructed from the abstract of its paper; results are not those of PRIME.
//!
//! Source: Sobhani, Sadrhaghighi, Chu, "PRIME" (pseudo-randomised multi-part entropy spraying,
//! arXiv 2507.23012, 2025), abstract only: the full text was not available.
//!
//! From the abstract: the sender does a pseudo-random round-robin over entropy values of several
//! parts, which match the topology's tiers. Several congestion signals each have a severity and a
//! decay time. Acknowledgements of several packets are evaluated packet by packet. The rest is
//! \[inferred\], starting from Ultra Ethernet's bitmap ([`super::bitmap`]):
//!
//! - There is one part per tier ([`crate::balance::switch::hash_by_part`]). The edge part changes
//!   with every packet, the part of the tier above after each full round of the edge part. Both
//!   follow pseudo-random rounds. A part has as many values as its tier has choices.
//! - Each value, and each value of a part, has a score. Signals add to it: an ECN mark or a long
//!   round-trip time 1, a trimmed or missing packet 4, a timeout 15. Their half-lives are half a
//!   round of all values at line rate, 4 base round-trip times and 10 timeouts respectively. A mark
//!   therefore lasts until about the next visit, as in the bitmap. If marks lasted a round-trip
//!   time, all flows would leave a slow link and return to it together, which is worse than
//!   oblivious spraying. A score has the half-life of the heaviest signal that it still contains.
//! - A signal scores the value. If at least half of the values that share one of its parts reach
//!   the threshold, that part is scored too: the slow or failed link is probably there.
//! - A packet takes the next value in the rounds whose score and parts' scores add up to less than
//!   the threshold. After as many skips as there are values, it takes whatever comes next.
//! - A packet trimmed at the last hop is no evidence against a path. Neither are long round-trip
//!   times within one base round-trip time after it.
//!
//! Rescheduling of packets that wait in the NIC does not apply: values are chosen when packets are
//! sent. A retransmitted packet avoids the value that lost it while that value is scored.

use serde::{Deserialize, Serialize};

use super::xor_rounds::{Advance, XorRounds};
use super::{FailedPath, Feedback, PathSignal, QpContext, SenderConfig, SenderPolicy};
use crate::balance::switch::{SwitchConfig, hash_by_part};
use crate::balance::{Origin, Preset, Scheme, SchemeError, parse_config};
use crate::nic::Recovery;
use crate::packet::PlaneMask;
use crate::rng::{Purpose, Stream};
use crate::units::{Fraction, Span, Time};

/// Maximum number of values of a part, which is one byte.
const MAX_PART_VALUES: u16 = 256;

/// The parameters of `prime`; every default is \[inferred\].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Severity of an ECN mark or a long round-trip time. Default 1, as in `bitmap`.
    pub ecn_severity: Fraction,
    /// Severity of a trimmed or missing packet. Default 4, as in `bitmap`.
    pub loss_severity: Fraction,
    /// Severity of a timeout. Default 15, as in `bitmap`.
    pub timeout_severity: Fraction,
    /// Half-life of ECN marks, in rounds of all values at line rate. Default 1/2.
    pub ecn_decay: Fraction,
    /// Half-life of losses, in base round-trip times. Default 4.
    pub loss_decay: Fraction,
    /// Half-life of timeouts, in retransmission timeouts. Default 10.
    pub timeout_decay: Fraction,
    /// Score from which a value is skipped, above 0. Default 1/2: after one mark a value is skipped
    /// for its half-life, after two marks for twice that time.
    pub threshold: Fraction,
    /// Round-trip time that counts as a congestion signal, in base round-trip times. Default 2.
    pub long_rtt: Fraction,
}

impl Default for Config {
    fn default() -> Self {
        let whole = |value| Fraction::new(value, 1).expect("not zero");
        let half = Fraction::new(1, 2).expect("not zero");
        Self {
            ecn_severity: whole(1),
            loss_severity: whole(4),
            timeout_severity: whole(15),
            ecn_decay: half,
            loss_decay: whole(4),
            timeout_decay: whole(10),
            threshold: half,
            long_rtt: whole(2),
        }
    }
}

/// The state of one queue pair.
#[derive(Debug, Clone)]
pub struct Prime(Box<State>);

#[derive(Debug, Clone)]
struct State {
    planes: u16,
    /// The plane that is next in round-robin order.
    next_plane: u16,
    /// Rounds and scores of the edge part.
    edge: Tier,
    /// Rounds and scores of the part of the tier above the edge.
    above: Tier,
    /// Score of each value, at index `above · edge.values + edge`.
    scores: Vec<Score>,
    /// After this time all scores have decayed so far that no sum of them skips a value.
    clear: Time,
    threshold: f32,
    ecn: Signal,
    loss: Signal,
    timeout: Signal,
    long_rtt: Span,
    base_rtt: Span,
    /// Long round-trip times are attributed to the last hop until this time.
    last_hop: Time,
    random: Stream,
}

/// One part of the entropy value, which selects the port at one tier.
#[derive(Debug, Clone)]
struct Tier {
    values: u16,
    rounds: XorRounds,
    scores: Vec<Score>,
}

/// Severity and half-life of a congestion signal.
#[derive(Debug, Clone, Copy)]
struct Signal {
    severity: f32,
    half_life: Span,
}

/// Score of a value, or of a value of a part, at a point in time.
#[derive(Debug, Clone, Copy, Default)]
struct Score {
    value: f32,
    at: Time,
    half_life: Span,
}

/// The preset `prime`: switches that use one part of the value per tier, and a retransmission timer
/// for each packet. Its results are marked as reconstructed.
pub const PRESETS: &[Preset] = &[Preset {
    name: "prime",
    summary: "reconstruction of PRIME: entropy in one part per tier, penalties that decay",
    source: "reconstructed from the abstract of PRIME (arXiv 2507.23012, 2025)",
    build: |parameters| {
        let config: Config = parse_config("prime", parameters)?;
        if config.threshold.numerator() == 0 {
            let reason = "'threshold' must be above 0, for example \"1/2\"".to_owned();
            return Err(SchemeError::Parameter { name: "prime", reason });
        }
        let sender = SenderConfig::Prime(config);
        Ok(Scheme {
            switch: SwitchConfig::HashByPart(hash_by_part::Config {}),
            recovery: Recovery::PER_PACKET,
            origin: Origin::Reconstructed,
            ..Scheme::new("prime", sender)
        })
    },
}];

impl Prime {
    pub(super) fn new(config: &Config, qp: &QpContext) -> Self {
        let mut random = qp.random(Purpose::Entropy);
        let planes = u16::try_from(qp.network.planes).unwrap_or(1).max(1);
        // The first radix is the choice of the plane, which is not one of the parts.
        let tiers = &qp.paths.radices()[usize::from(planes > 1).min(qp.paths.radices().len())..];
        let most_above = MAX_PART_VALUES / planes;
        let (edge, above) = match *tiers {
            [] => (1, 1),
            [edge] => (edge.min(MAX_PART_VALUES), 1),
            [edge, above, ..] => (edge.min(MAX_PART_VALUES), above.min(most_above)),
        };
        let network = &qp.network;
        let signal = |severity: Fraction, decay: Fraction, unit: Span| Signal {
            severity: severity.as_f64() as f32,
            half_life: Span::from_ps(decay.of(unit.as_ps())),
        };
        let values = u64::from(edge) * u64::from(above);
        // Serialization time of a full packet at line rate.
        let packet = network.base_rtt.as_ps() / u64::from(network.bdp_packets.max(1));
        let round = Span::from_ps(packet * values);
        let [edge, above] = [edge, above].map(|values| Tier::new(values, &mut random));
        // A common start would put the short messages of all queue pairs into one plane.
        let next_plane = if planes > 1 { random.below(planes.into()) as u16 } else { 0 };
        Self(Box::new(State {
            planes,
            next_plane,
            edge,
            above,
            scores: vec![Score::default(); values as usize],
            clear: Time::ZERO,
            threshold: config.threshold.as_f64() as f32,
            ecn: signal(config.ecn_severity, config.ecn_decay, round),
            loss: signal(config.loss_severity, config.loss_decay, network.base_rtt),
            timeout: signal(
                config.timeout_severity,
                config.timeout_decay,
                network.retransmit_timeout,
            ),
            long_rtt: Span::from_ps(config.long_rtt.of(network.base_rtt.as_ps())),
            base_rtt: network.base_rtt,
            last_hop: Time::ZERO,
            random,
        }))
    }
}

impl SenderPolicy for Prime {
    const NEEDS_PATHS: bool = true;
    const NEEDS_PACKET_FEEDBACK: bool = true;

    #[inline]
    fn entropy(&mut self, now: Time) -> u16 {
        let state = &mut *self.0;
        let plane = state.next_plane;
        state.value_in(now, plane)
    }

    /// Takes the next parts, in the next plane whose port is free \[inferred\].
    fn choose(&mut self, now: Time, free: PlaneMask) -> Option<u16> {
        let state = &mut *self.0;
        let plane = u16::try_from(free.next_from(state.next_plane.into())?).expect("at most 32");
        Some(state.value_in(now, plane))
    }

    #[inline]
    fn handle_feedback(&mut self, now: Time, feedback: Feedback) {
        let state = &mut *self.0;
        let signal = match feedback.signal {
            PathSignal::Marked => state.ecn,
            PathSignal::Nack | PathSignal::Trimmed | PathSignal::Condemned => state.loss,
            // A long round-trip time counts as a mark, unless the last hop explains it.
            PathSignal::Good if feedback.rtt > state.long_rtt && now >= state.last_hop => state.ecn,
            PathSignal::Good => return,
            PathSignal::TrimmedAtLastHop => {
                state.last_hop = now.saturating_add(state.base_rtt);
                return;
            }
        };
        state.score(now, feedback.entropy, signal);
    }

    fn handle_timeout(&mut self, now: Time, entropy: u16) -> Option<FailedPath> {
        let signal = self.0.timeout;
        self.0.score(now, entropy, signal);
        None
    }

    /// A score takes 4 bits for the severity, 2 for the half-life and 16 for the time; the rounds
    /// are added. Parts have scores if there are two of them, values if there is a choice. The NIC
    /// also stores the entropy value of each packet in flight for this policy; these 16 bits per
    /// packet are not counted here.
    fn state_bits(&self) -> u64 {
        let State { edge, above, scores, .. } = &*self.0;
        let parts = if self.0.has_two_parts() { edge.scores.len() + above.scores.len() } else { 0 };
        let values = if scores.len() > 1 { scores.len() } else { 0 };
        22 * (values + parts) as u64 + edge.rounds.state_bits() + above.rounds.state_bits()
    }
}

impl State {
    /// Returns true if two tiers have a choice; with only one, the part is the value itself.
    fn has_two_parts(&self) -> bool {
        self.above.values > 1 && self.edge.values > 1
    }

    /// Returns the next value in `plane`. The parts are above the plane: value = parts · planes +
    /// plane.
    #[inline]
    fn value_in(&mut self, now: Time, plane: u16) -> u16 {
        self.next_plane = if plane + 1 == self.planes { 0 } else { plane + 1 };
        // Fast path: no score is high enough to skip anything, so scores are not read.
        if now <= self.clear {
            // If every value is bad, the loop ends after one round and the next value is taken.
            let mut skips = self.scores.len();
            while skips > 0 && self.is_bad(now) {
                self.advance();
                skips -= 1;
            }
        }
        let (edge, above) = self.current();
        self.advance();
        hash_by_part::joined(edge, above) * self.planes + plane
    }

    /// Returns the parts (edge, above) of the current value of the rounds.
    fn current(&self) -> (u16, u16) {
        (self.edge.rounds.current(), self.above.rounds.current())
    }

    fn advance(&mut self) {
        // Like the digits of a counter: successive packets differ at the edge, where paths diverge
        // first.
        if self.edge.rounds.advance(&mut self.random) == Advance::NextRound {
            self.above.rounds.advance(&mut self.random);
        }
    }

    /// Returns the index of a value in `scores`.
    fn score_index(&self, edge: u16, above: u16) -> usize {
        usize::from(above) * usize::from(self.edge.values) + usize::from(edge)
    }

    /// Returns true if the current value of the rounds should be skipped.
    fn is_bad(&self, now: Time) -> bool {
        let (edge, above) = self.current();
        let own = self.scores[self.score_index(edge, above)].now(now);
        let parts = self.edge.score(edge).now(now) + self.above.score(above).now(now);
        own + parts >= self.threshold
    }

    /// Adds a signal to the score of a value. A part's score is raised too if at least half of the
    /// values that share the part are bad.
    fn score(&mut self, now: Time, entropy: u16, signal: Signal) {
        let (edge, above) = hash_by_part::parts(entropy / self.planes);
        // An echo may carry a value that an earlier policy of the queue pair chose.
        if edge >= self.edge.values || above >= self.above.values {
            return;
        }
        let index = self.score_index(edge, above);
        self.scores[index].add(now, signal);
        let row = usize::from(self.edge.values);
        if self.has_two_parts() {
            let in_row = usize::from(above) * row..(usize::from(above) + 1) * row;
            if self.half_are_bad(now, self.scores[in_row].iter()) {
                self.above.scores[usize::from(above)].add(now, signal);
            }
            let in_column = self.scores[usize::from(edge)..].iter().step_by(row);
            if self.half_are_bad(now, in_column) {
                self.edge.scores[usize::from(edge)].add(now, signal);
            }
        }
        self.clear = self.clear.max(self.clear_time(index, edge, above));
    }

    /// Returns true if at least half of the scores reach the threshold.
    fn half_are_bad<'a>(&self, now: Time, scores: impl Iterator<Item = &'a Score>) -> bool {
        let (bad, all) = scores.fold((0, 0), |(bad, all), score| {
            (bad + u32::from(score.now(now) >= self.threshold), all + 1)
        });
        2 * bad >= all
    }

    /// Returns the time from which a value's score and its parts' scores add up to less than the
    /// threshold.
    fn clear_time(&self, index: usize, edge: u16, above: u16) -> Time {
        let scores = [&self.scores[index], self.edge.score(edge), self.above.score(above)];
        scores
            // With each of the three scores below a third, their sum is below the threshold.
            .map(|score| score.falls_to(self.threshold / 3.0))
            .into_iter()
            .fold(Time::ZERO, Time::max)
    }
}

impl Tier {
    fn new(values: u16, random: &mut Stream) -> Self {
        let rounds = XorRounds::new(values.into(), random);
        Self { values, rounds, scores: vec![Score::default(); values.into()] }
    }

    fn score(&self, value: u16) -> &Score {
        &self.scores[usize::from(value)]
    }
}

impl Score {
    /// Returns the score at `now`; it halves with each half-life that has passed.
    fn now(&self, now: Time) -> f32 {
        if self.value == 0.0 {
            return 0.0;
        }
        let passed = now.since(self.at).as_ps() as f32 / self.half_life.as_ps().max(1) as f32;
        self.value * halved(passed)
    }

    fn add(&mut self, now: Time, signal: Signal) {
        let left = self.now(now);
        // A weaker signal must not shorten the life of a stronger one that is still in the score.
        if signal.severity >= left {
            self.half_life = signal.half_life;
        }
        *self = Self { value: left + signal.severity, at: now, half_life: self.half_life };
    }

    /// Returns the time when the score is at most `threshold`, rounded up to whole half-lives.
    fn falls_to(&self, threshold: f32) -> Time {
        let (mut left, mut halves) = (self.value, 0);
        while left > threshold {
            left /= 2.0;
            halves += 1;
        }
        let span = self.half_life.as_ps().saturating_mul(halves);
        self.at.saturating_add(Span::from_ps(span))
    }
}

/// Returns 2^−`lives`, where `lives` ≥ 0. The exponential series in basic arithmetic gives the same
/// bits everywhere; the platforms' own power functions differ in the last bits.
fn halved(lives: f32) -> f32 {
    let whole = lives.floor();
    if whole >= 126.0 {
        return 0.0;
    }
    let exponent = -f64::from(lives - whole) * std::f64::consts::LN_2;
    let series = |sum, n: u32| 1.0 + exponent * sum / f64::from(n);
    let part = (1..=12).rev().fold(1.0, series);
    part as f32 * f32::from_bits((127 - whole as u32) << 23)
}

#[cfg(test)]
#[path = "prime/tests.rs"]
mod tests;
