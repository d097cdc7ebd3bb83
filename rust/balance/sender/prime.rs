//! PRIME, reconstructed from the abstract of its paper: results of it are not PRIME's.
//!
//! Source: Sobhani, Sadrhaghighi, Chu, "PRIME" (pseudo-randomised multi-part entropy spraying,
//! arXiv 2507.23012, 2025), abstract only: the full text was not to be had.
//!
//! From the abstract: a pseudo-random round-robin at the sender over entropy values of several
//! parts, in step with the topology's tiers; several signs of congestion, each with a severity
//! and a time of decay; acknowledgements of several packets are taken apart. The rest is
//! \[inferred\], starting from Ultra Ethernet's bitmap ([`super::bitmap`]):
//!
//! - A part a tier ([`crate::balance::switch::hash_by_part`]): that of the edge changes with
//!   every packet, that of the tier above after each full round of the first, each in
//!   pseudo-random rounds. A part has as many values as its tier has choices.
//! - Each value, and each value of a part, has a score, which signs add to and time halves: an
//!   ECN mark or a long round-trip time 1, a trimmed or missing packet 4, a time-out 15; halved
//!   within half a round of all values at line rate, 4 base round-trip times and 10 time-outs: a
//!   mark is heeded at about the next visit, as the bitmap does. (Where marks were remembered for
//!   a round-trip time, all flows left a slow link and came back to it together, and did worse
//!   than oblivious spraying.) A score halves as slowly as its heaviest sign of late asks.
//! - A sign scores the value; where half of the values that share one of its parts are scored,
//!   it scores the part too: what fails or is slow is probably at that tier.
//! - A packet takes the next value of the rounds whose score and parts' scores add up to less
//!   than the threshold, or, after as many skips as there are values, what then comes.
//! - A packet cut at the last hop is no path's fault; for a base round-trip time after one, long
//!   round-trip times are none either.
//!
//! Rescheduling of packets that wait in the NIC has no place here: values are chosen as packets
//! go out. What is sent again avoids the value that lost it as long as that is scored.

use serde::{Deserialize, Serialize};

use super::spray_rr::{Rotation, Round};
use super::{FailedPath, Feedback, QpContext, SenderConfig, SenderPolicy, Verdict};
use crate::balance::switch::{SwitchConfig, hash_by_part};
use crate::balance::{Origin, Preset, Scheme, SchemeError, configured};
use crate::nic::Recovery;
use crate::rng::{Purpose, Stream};
use crate::units::{Fraction, Span, Time};

/// Values of a part at most: what its byte holds.
const MOST: u16 = 256;

/// What can be set; every value is \[inferred\].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What an ECN mark or a long round-trip time adds. Default 1, that of `bitmap`.
    pub ecn_severity: Fraction,
    /// What a trimmed or missing packet adds. Default 4, that of `bitmap`.
    pub loss_severity: Fraction,
    /// What a time-out adds. Default 15, that of `bitmap`.
    pub timeout_severity: Fraction,
    /// In how many rounds of all values, at line rate, the first halves. Default 1/2.
    pub ecn_decay: Fraction,
    /// In how many base round-trip times the second halves. Default 4.
    pub loss_decay: Fraction,
    /// In how many retransmission time-outs the third halves. Default 10.
    pub timeout_decay: Fraction,
    /// What is scored as much is skipped; more than 0. Default 1/2: one mark makes a value skipped
    /// for the time in which it halves, two for twice that time.
    pub threshold: Fraction,
    /// A round-trip time of so many base ones is a sign of congestion. Default 2.
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

/// What one queue pair keeps.
#[derive(Debug, Clone)]
pub struct Prime(Box<State>);

#[derive(Debug, Clone)]
struct State {
    edge: Tier,
    above: Tier,
    /// Of each value: place `above · edge.values + edge`.
    scores: Vec<Score>,
    /// When every score is below the threshold, whatever they add up to.
    clear: Time,
    threshold: f32,
    ecn: Sign,
    loss: Sign,
    timeout: Sign,
    long_rtt: Span,
    base_rtt: Span,
    /// Until when the last hop is suspected of long round-trip times.
    last_hop: Time,
    random: Stream,
}

/// A part of the entropy value.
#[derive(Debug, Clone)]
struct Tier {
    values: u16,
    rotation: Rotation,
    scores: Vec<Score>,
}

/// How bad it is, and how slowly it is forgotten.
#[derive(Debug, Clone, Copy)]
struct Sign {
    severity: f32,
    half_life: Span,
}

/// How bad a value, or a value of a part, was at some time.
#[derive(Debug, Clone, Copy, Default)]
struct Score {
    value: f32,
    at: Time,
    half_life: Span,
}

/// `prime`.
pub const PRESETS: &[Preset] = &[Preset {
    name: "prime",
    summary: "our reconstruction of PRIME: entropy in parts by tier, penalties that decay",
    source: "reconstructed from the abstract of PRIME (arXiv 2507.23012, 2025)",
    build: |parameters| {
        let config: Config = configured("prime", parameters)?;
        if config.threshold.numerator() == 0 {
            let reason = "'threshold' must be more than 0, for example \"1/2\"".to_owned();
            return Err(SchemeError::Parameter { name: "prime", reason });
        }
        let sender = SenderConfig::Prime(config);
        Ok(Scheme {
            switch: SwitchConfig::HashByPart(hash_by_part::Config {}),
            recovery: Recovery::PerPacket,
            origin: Origin::Reconstructed,
            ..Scheme::new("prime", sender)
        })
    },
}];

impl Prime {
    pub(super) fn new(config: &Config, qp: &QpContext) -> Self {
        let mut random = qp.random(Purpose::Entropy);
        let (edge, above) = match *qp.paths.radices() {
            [] => (1, 1),
            [edge] => (edge.min(MOST), 1),
            [edge, above, ..] => (edge.min(MOST), above.min(MOST)),
        };
        let facts = &qp.facts;
        let sign = |severity: Fraction, decay: Fraction, unit: Span| Sign {
            severity: severity.as_f64() as f32,
            half_life: Span::from_ps(decay.of(unit.as_ps())),
        };
        let values = u64::from(edge) * u64::from(above);
        let packet = facts.base_rtt.as_ps() / u64::from(facts.bdp_packets.max(1));
        let round = Span::from_ps(packet * values);
        Self(Box::new(State {
            edge: Tier::new(edge, &mut random),
            above: Tier::new(above, &mut random),
            scores: vec![Score::default(); values as usize],
            clear: Time::ZERO,
            threshold: config.threshold.as_f64() as f32,
            ecn: sign(config.ecn_severity, config.ecn_decay, round),
            loss: sign(config.loss_severity, config.loss_decay, facts.base_rtt),
            timeout: sign(config.timeout_severity, config.timeout_decay, facts.retransmit_timeout),
            long_rtt: Span::from_ps(config.long_rtt.of(facts.base_rtt.as_ps())),
            base_rtt: facts.base_rtt,
            last_hop: Time::ZERO,
            random,
        }))
    }
}

impl SenderPolicy for Prime {
    const KNOWS_PATHS: bool = true;
    const DEAGGREGATES: bool = true;

    #[inline]
    fn entropy(&mut self, now: Time) -> u16 {
        let state = &mut *self.0;
        if now < state.clear {
            let mut skips = state.scores.len();
            while skips > 0 && state.is_bad(now) {
                state.advance();
                skips -= 1;
            }
        }
        let (edge, above) = state.current();
        state.advance();
        hash_by_part::joined(edge, above)
    }

    #[inline]
    fn handle_feedback(&mut self, now: Time, feedback: Feedback) {
        let state = &mut *self.0;
        let sign = match feedback.verdict {
            Verdict::Marked => state.ecn,
            Verdict::Nack | Verdict::Trimmed => state.loss,
            Verdict::Good if feedback.rtt > state.long_rtt && now >= state.last_hop => state.ecn,
            Verdict::Good => return,
            Verdict::TrimmedAtLastHop => {
                state.last_hop = now.saturating_add(state.base_rtt);
                return;
            }
        };
        state.score(now, feedback.entropy, sign);
    }

    fn handle_timeout(&mut self, now: Time, entropy: u16) -> Option<FailedPath> {
        let sign = self.0.timeout;
        self.0.score(now, entropy, sign);
        None
    }

    /// A score is 4 bits of severity, a half-life of 2 and a time of 16; then the rounds. Parts
    /// have scores where there are two of them, values where there is a choice. What each packet
    /// out was sent with, which the NIC remembers for it, is not counted here: 16 bits a packet.
    fn state_bits(&self) -> u64 {
        let State { edge, above, scores, .. } = &*self.0;
        let parts = if self.0.has_two_parts() { edge.scores.len() + above.scores.len() } else { 0 };
        let values = if scores.len() > 1 { scores.len() } else { 0 };
        22 * (values + parts) as u64 + edge.rotation.state_bits() + above.rotation.state_bits()
    }
}

impl State {
    /// Whether there is a choice at two tiers: with one, a part is the value itself.
    fn has_two_parts(&self) -> bool {
        self.above.values > 1 && self.edge.values > 1
    }

    /// The value whose turn it is, in parts.
    fn current(&self) -> (u16, u16) {
        (self.edge.rotation.current(), self.above.rotation.current())
    }

    fn advance(&mut self) {
        if self.edge.rotation.advance(&mut self.random) == Round::Next {
            self.above.rotation.advance(&mut self.random);
        }
    }

    fn place(&self, edge: u16, above: u16) -> usize {
        usize::from(above) * usize::from(self.edge.values) + usize::from(edge)
    }

    /// Whether the value whose turn it is should be skipped.
    fn is_bad(&self, now: Time) -> bool {
        let (edge, above) = self.current();
        let own = self.scores[self.place(edge, above)].now(now);
        let parts = self.edge.score(edge).now(now) + self.above.score(above).now(now);
        own + parts >= self.threshold
    }

    fn score(&mut self, now: Time, entropy: u16, sign: Sign) {
        let (edge, above) = hash_by_part::parts(entropy);
        if edge >= self.edge.values || above >= self.above.values {
            return;
        }
        let place = self.place(edge, above);
        self.scores[place].add(now, sign);
        let row = usize::from(self.edge.values);
        if self.has_two_parts() {
            let in_row = usize::from(above) * row..(usize::from(above) + 1) * row;
            if self.half_are_bad(now, self.scores[in_row].iter()) {
                self.above.scores[usize::from(above)].add(now, sign);
            }
            let in_column = self.scores[usize::from(edge)..].iter().step_by(row);
            if self.half_are_bad(now, in_column) {
                self.edge.scores[usize::from(edge)].add(now, sign);
            }
        }
        self.clear = self.clear.max(self.clear_of(place, edge, above));
    }

    fn half_are_bad<'a>(&self, now: Time, scores: impl Iterator<Item = &'a Score>) -> bool {
        let (bad, all) = scores.fold((0, 0), |(bad, all), score| {
            (bad + u32::from(score.now(now) >= self.threshold), all + 1)
        });
        2 * bad >= all
    }

    /// When these three are so low that they no longer make anything skipped.
    fn clear_of(&self, place: usize, edge: u16, above: u16) -> Time {
        let scores = [&self.scores[place], self.edge.score(edge), self.above.score(above)];
        scores
            .map(|score| score.falls_to(self.threshold / 3.0))
            .into_iter()
            .fold(Time::ZERO, Time::max)
    }
}

impl Tier {
    fn new(values: u16, random: &mut Stream) -> Self {
        let rotation = Rotation::new(values.into(), random);
        Self { values, rotation, scores: vec![Score::default(); values.into()] }
    }

    fn score(&self, value: u16) -> &Score {
        &self.scores[usize::from(value)]
    }
}

impl Score {
    /// Half as much after each half-life.
    fn now(&self, now: Time) -> f32 {
        if self.value == 0.0 {
            return 0.0;
        }
        let passed = now.since(self.at).as_ps() as f32 / self.half_life.as_ps().max(1) as f32;
        self.value * halved(passed)
    }

    fn add(&mut self, now: Time, sign: Sign) {
        let left = self.now(now);
        if sign.severity >= left {
            self.half_life = sign.half_life;
        }
        *self = Self { value: left + sign.severity, at: now, half_life: self.half_life };
    }

    /// When it is no more than `threshold`, in whole half-lives.
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

/// What so many half-lives (at least 0) leave of 1: the series of the exponential function in
/// basic arithmetic, since a platform's own power of two need not give the same bytes as others'.
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
