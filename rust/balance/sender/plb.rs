//! PLB: a new entropy value after rounds in which many packets were marked, and after a time-out.
//!
//! Source: Qureshi et al., "PLB: Congestion Signals are Simple and Effective for Network Load
//! Balancing" (SIGCOMM 2022): a round is a round-trip time; one in which at least a part of the
//! packets was marked is congested; after several congested rounds in succession, or a time-out,
//! the flow's label is drawn anew. The defaults are those of the baseline in "REPS: Recycled
//! Entropy Packet Spraying" (EuroSys 2026): 25 % and more than one round. "Load Balancing for AI
//! Training Workloads" (arXiv 2507.21372 v2, 2026) has `marked = "2/5"` and one round; Linux, from
//! the authors of PLB, has `marked = "1/2"` and `rounds = 12`.
//!
//! A round ends with the first acknowledgement of a packet that was sent after it began, which
//! still counts in it. So the first round after a change tells of packets sent before the change,
//! as in Linux. The public simulator of REPS ends rounds by the clock instead, a base RTT after
//! the one before: `round = "base-rtt"`. As there, a packet that is missing or was cut counts as
//! marked, and time-outs draw one label in a retransmission time-out.
//!
//! \[inferred\] What Linux adds is left out: fewer rounds for a connection with nothing under way,
//! and a pause of a minute after a time-out, longer than what is simulated here.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::{FailedPath, Feedback, QpContext, SenderConfig, SenderPolicy, Verdict};
use crate::balance::{Preset, Scheme, configured};
use crate::rng::{Purpose, Stream};
use crate::units::{Fraction, Span, Time};

/// When a label is drawn anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// A round with so large a part of its packets marked, or a larger one, is congested: 1/4
    /// (REPS, baselines).
    pub marked: Fraction,
    /// After so many congested rounds in succession the label changes: 2 (REPS, baselines: more
    /// than one).
    pub rounds: NonZeroU32,
    /// What a round is: a round-trip time as it was (PLB).
    pub round: Round,
}

/// How long a round is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Round {
    /// Until a packet that was sent in it is acknowledged.
    #[default]
    Acknowledged,
    /// The base RTT.
    BaseRtt,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            marked: Fraction::new(1, 4).expect("not zero"),
            rounds: NonZeroU32::new(2).expect("not zero"),
            round: Round::Acknowledged,
        }
    }
}

/// A queue pair's label and its rounds.
#[derive(Debug, Clone)]
pub struct Plb {
    label: u16,
    rounds: Box<Rounds>,
}

/// Everything that sending a packet does not look at.
#[derive(Debug, Clone)]
struct Rounds {
    config: Config,
    /// Packets acknowledged in this round, and those of them that were marked.
    packets: u32,
    marked: u32,
    /// Congested rounds in succession.
    congested: u32,
    /// When this round began; `NEVER` before the first acknowledgement, with which the first does.
    began: Time,
    /// Time-outs before this draw no label.
    held: Time,
    base_rtt: Span,
    timeout: Span,
    random: Stream,
}

/// `plb`.
pub const PRESETS: &[Preset] = &[Preset {
    name: "plb",
    summary: "a new entropy value after rounds with many marks, and after a time-out (PLB)",
    source: "Qureshi et al., PLB (SIGCOMM 2022); REPS (EuroSys 2026), baselines",
    build: |parameters| {
        let sender = SenderConfig::Plb(configured("plb", parameters)?);
        Ok(Scheme::new("plb", sender))
    },
}];

impl Plb {
    pub(super) fn new(config: &Config, qp: &QpContext) -> Self {
        let mut random = qp.random(Purpose::Entropy);
        let label = random.next_u16();
        let rounds = Rounds {
            config: *config,
            packets: 0,
            marked: 0,
            congested: 0,
            began: Time::NEVER,
            held: Time::ZERO,
            base_rtt: qp.facts.base_rtt,
            timeout: qp.facts.retransmit_timeout,
            random,
        };
        Self { label, rounds: Box::new(rounds) }
    }

    fn draw(&mut self) {
        self.label = self.rounds.random.next_u16();
        self.rounds.congested = 0;
    }
}

impl Rounds {
    fn count(&mut self, now: Time, packets: u32, marked: u32) {
        self.began = self.began.min(now);
        self.packets = self.packets.saturating_add(packets);
        self.marked = self.marked.saturating_add(marked);
    }

    fn is_over(&self, now: Time, rtt: Span) -> bool {
        match self.config.round {
            Round::Acknowledged => now >= self.began.saturating_add(rtt),
            Round::BaseRtt => now > self.began.saturating_add(self.base_rtt),
        }
    }

    /// Begins the next round; true if the label has to change.
    fn end(&mut self, now: Time) -> bool {
        let threshold = u64::from(self.config.marked.numerator()) * u64::from(self.packets);
        let marked = u64::from(self.marked) * u64::from(self.config.marked.denominator());
        let is_congested = marked >= threshold && self.marked > 0;
        self.congested = if is_congested { self.congested + 1 } else { 0 };
        (self.packets, self.marked, self.began) = (0, 0, now);
        self.congested >= self.config.rounds.get()
    }
}

impl SenderPolicy for Plb {
    #[inline]
    fn entropy(&mut self, _now: Time) -> u16 {
        self.label
    }

    fn handle_feedback(&mut self, now: Time, feedback: Feedback) {
        let (packets, marked) = match feedback.verdict {
            Verdict::Good | Verdict::Marked => (feedback.packets, feedback.marked),
            Verdict::Nack | Verdict::Trimmed | Verdict::TrimmedAtLastHop => (1, 1),
        };
        let rounds = &mut self.rounds;
        rounds.count(now, packets, marked);
        if rounds.packets > 0 && rounds.is_over(now, feedback.rtt) && rounds.end(now) {
            self.draw();
        }
    }

    fn handle_timeout(&mut self, now: Time, _entropy: u16) -> Option<FailedPath> {
        if now >= self.rounds.held {
            self.draw();
            self.rounds.held = now.saturating_add(self.rounds.timeout);
        }
        None
    }

    /// The label, two counters of packets, one of rounds (8 bits), and two times, of 32 bits each.
    fn state_bits(&self) -> u64 {
        16 + 2 * 32 + 8 + 2 * 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT_NS: u64 = 10_000;

    fn at_ns(ns: u64) -> Time {
        Time::ZERO + Span::from_ns(ns)
    }

    /// Base RTT 8 us, time-out 1 ms; a round has just begun.
    fn plb(config: Config) -> Plb {
        let mut policy = Plb::new(&config, &QpContext::for_test());
        policy.rounds.began = Time::ZERO;
        policy
    }

    fn acknowledge(policy: &mut Plb, ns: u64, marked: u32) {
        let verdict = if marked > 0 { Verdict::Marked } else { Verdict::Good };
        let entropy = policy.label;
        let rtt = Span::from_ns(RTT_NS);
        let feedback = Feedback { entropy, verdict, packets: 1, marked, rtt };
        policy.handle_feedback(at_ns(ns), feedback);
    }

    /// A round of eight packets that begins at `ns`, of which so many are marked; its last
    /// acknowledgement ends it, a round trip later.
    fn round(policy: &mut Plb, ns: u64, marked: u32) {
        assert_eq!((policy.rounds.began, policy.rounds.packets), (at_ns(ns), 0), "a round begins");
        for n in 1..=8 {
            acknowledge(policy, ns + n * RTT_NS / 8, u32::from(n <= u64::from(marked)));
        }
    }

    #[test]
    fn the_label_changes_after_the_second_congested_round_in_succession() {
        let mut policy = plb(Config::default());
        let label = policy.entropy(Time::ZERO);
        // 2 of 8 are a quarter.
        round(&mut policy, 0, 2);
        assert_eq!(policy.entropy(Time::ZERO), label);
        round(&mut policy, RTT_NS, 2);
        let second = policy.entropy(Time::ZERO);
        assert_ne!(second, label);
        // It takes two more.
        round(&mut policy, 2 * RTT_NS, 8);
        assert_eq!(policy.entropy(Time::ZERO), second);
        round(&mut policy, 3 * RTT_NS, 8);
        assert_ne!(policy.entropy(Time::ZERO), second);
    }

    #[test]
    fn the_first_round_begins_with_the_first_acknowledgement() {
        let mut policy = Plb::new(&Config::default(), &QpContext::for_test());
        acknowledge(&mut policy, 50_000, 1);
        acknowledge(&mut policy, 59_999, 1);
        assert_eq!((policy.rounds.packets, policy.rounds.congested), (2, 0));
        acknowledge(&mut policy, 60_000, 1);
        assert_eq!((policy.rounds.packets, policy.rounds.congested), (0, 1));
    }

    #[test]
    fn a_round_below_the_threshold_forgets_those_before() {
        let mut policy = plb(Config::default());
        let label = policy.entropy(Time::ZERO);
        for (n, marked) in [8, 1, 8, 1, 8, 0, 8].into_iter().enumerate() {
            round(&mut policy, n as u64 * RTT_NS, marked);
        }
        assert_eq!(policy.entropy(Time::ZERO), label);
        round(&mut policy, 7 * RTT_NS, 2);
        assert_ne!(policy.entropy(Time::ZERO), label);
    }

    #[test]
    fn numbers_of_other_sources_are_keys() {
        let config = "marked = \"2/5\"\nrounds = 1";
        let mut policy = plb(toml::from_str(config).unwrap());
        let label = policy.entropy(Time::ZERO);
        round(&mut policy, 0, 3);
        assert_eq!(policy.entropy(Time::ZERO), label, "3 of 8 are less than 40 %");
        round(&mut policy, RTT_NS, 4);
        assert_ne!(policy.entropy(Time::ZERO), label);
        assert!(toml::from_str::<Config>("rounds = 0").is_err());
    }

    #[test]
    fn a_round_by_the_clock_is_longer_than_a_base_rtt() {
        let mut policy = plb(Config { round: Round::BaseRtt, ..Config::default() });
        acknowledge(&mut policy, 8_000, 1);
        assert_eq!(policy.rounds.packets, 1);
        acknowledge(&mut policy, 8_001, 1);
        assert_eq!(
            (policy.rounds.packets, policy.rounds.congested, policy.rounds.began),
            (0, 1, at_ns(8_001))
        );
    }

    #[test]
    fn a_timeout_draws_a_label_and_those_of_the_same_loss_do_not() {
        let mut policy = plb(Config::default());
        round(&mut policy, 0, 8);
        let label = policy.entropy(Time::ZERO);
        assert_eq!(policy.handle_timeout(at_ns(50_000), label), None);
        let second = policy.entropy(Time::ZERO);
        assert_ne!(second, label);
        assert_eq!(policy.rounds.congested, 0);
        policy.handle_timeout(at_ns(1_049_999), second);
        assert_eq!(policy.entropy(Time::ZERO), second);
        policy.handle_timeout(at_ns(1_050_000), second);
        assert_ne!(policy.entropy(Time::ZERO), second);
    }

    #[test]
    fn a_packet_cut_on_its_way_counts_as_marked() {
        let mut policy = plb(Config::default());
        let rtt = Span::from_ns(RTT_NS);
        let cut = Feedback { entropy: 0, verdict: Verdict::Trimmed, packets: 0, marked: 0, rtt };
        policy.handle_feedback(at_ns(1), cut);
        assert_eq!((policy.rounds.packets, policy.rounds.marked), (1, 1));
    }

    #[test]
    fn unmarked_it_is_ecmp() {
        let mut policy = plb(Config { marked: Fraction::ZERO, ..Config::default() });
        let label = QpContext::for_test().random(Purpose::Entropy).next_u16();
        for n in 0..20 {
            round(&mut policy, n * RTT_NS, 0);
            assert_eq!(policy.entropy(Time::ZERO), label);
        }
    }
}
