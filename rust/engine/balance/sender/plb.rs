//! PLB: a new entropy value after rounds with many marked packets, and after a timeout.
//!
//! Source: Qureshi et al., "PLB: Congestion Signals are Simple and Effective for Network Load
//! Balancing" (SIGCOMM 2022). A round is a round-trip time. It is congested if at least a given
//! fraction of its packets was marked. After several consecutive congested rounds, or a timeout,
//! the flow's label is redrawn. The defaults are those of the baseline in "REPS: Recycled Entropy
//! Packet Spraying" (EuroSys 2026): 25 % and more than one round. "Load Balancing for AI Training
//! Workloads" (arXiv 2507.21372 v2, 2026) has `marked = "2/5"` and one round; Linux, from the
//! authors of PLB, has `marked = "1/2"` and `rounds = 12`.
//!
//! A round ends with the first acknowledgement of a packet that was sent after the round began;
//! that acknowledgement still counts in the round. The first round after a change therefore reports
//! on packets sent before the change, as in Linux. The public simulator of REPS ends a round one
//! base RTT after the previous one instead: `round = "base-rtt"`. As in that simulator, a missing
//! or trimmed packet counts as marked, and timeouts redraw the label at most once per
//! retransmission timeout.
//!
//! \[inferred\] Two additions of Linux are left out. A connection with nothing in flight needs
//! fewer rounds there. After a timeout Linux pauses for a minute, which is longer than the
//! simulated times.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::{FailedPath, Feedback, PathSignal, QpContext, SenderConfig, SenderPolicy};
use crate::balance::{Preset, Scheme, parse_config};
use crate::nic::Recovery;
use crate::rng::{Purpose, Stream};
use crate::units::{Fraction, Span, Time};

/// The parameters of `plb`: what makes a round congested, and how many such rounds move the flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Fraction of marked packets from which a round is congested. Default 1/4 (REPS, baselines).
    pub marked: Fraction,
    /// Number of consecutive congested rounds after which the label changes. Default 2 (REPS,
    /// baselines: more than one).
    pub rounds: NonZeroU32,
    /// Event that ends a round. Default: a measured round-trip time has passed (PLB).
    pub round: RoundEnd,
}

/// Event that ends a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RoundEnd {
    /// The acknowledgement of a packet that was sent in the round.
    #[default]
    Acknowledged,
    /// One base RTT has passed since it began.
    BaseRtt,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            marked: Fraction::new(1, 4).expect("not zero"),
            rounds: NonZeroU32::new(2).expect("not zero"),
            round: RoundEnd::Acknowledged,
        }
    }
}

/// The label of a queue pair and the state of its rounds.
#[derive(Debug, Clone)]
pub struct Plb {
    label: u16,
    rounds: Box<Rounds>,
}

/// State that sending a packet does not read.
#[derive(Debug, Clone)]
struct Rounds {
    config: Config,
    /// Packets acknowledged in this round.
    packets: u32,
    /// Packets among them that were marked.
    marked: u32,
    /// Consecutive congested rounds.
    congested: u32,
    /// Start of this round; `NEVER` until the first acknowledgement begins the first round.
    began: Time,
    /// Timeouts before this time do not redraw the label.
    held: Time,
    base_rtt: Span,
    timeout: Span,
    random: Stream,
}

/// The preset `plb`: hashing switches, and a retransmission timer for each packet as in the
/// simulations of REPS. After a new label, packets may overtake others, which are not lost. TCP and
/// Pony Express, which PLB runs on, tolerate that too.
pub const PRESETS: &[Preset] = &[Preset {
    name: "plb",
    summary: "a new entropy value after rounds with many marks, and after a timeout (PLB)",
    source: "Qureshi et al., PLB (SIGCOMM 2022); REPS (EuroSys 2026), baselines",
    build: |parameters| {
        let sender = SenderConfig::Plb(parse_config("plb", parameters)?);
        Ok(Scheme { recovery: Recovery::PER_PACKET, ..Scheme::new("plb", sender) })
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
            base_rtt: qp.network.base_rtt,
            timeout: qp.network.retransmit_timeout,
            random,
        };
        Self { label, rounds: Box::new(rounds) }
    }

    fn redraw(&mut self) {
        self.label = self.rounds.random.next_u16();
        self.rounds.congested = 0;
    }
}

impl Rounds {
    fn count(&mut self, now: Time, packets: u32, marked: u32) {
        // `NEVER` is later than any time, so the first acknowledgement begins the first round.
        self.began = self.began.min(now);
        self.packets = self.packets.saturating_add(packets);
        self.marked = self.marked.saturating_add(marked);
    }

    fn has_ended(&self, now: Time, rtt: Span) -> bool {
        match self.config.round {
            // True if the acknowledged packet was sent, at `now - rtt`, in this round.
            RoundEnd::Acknowledged => now >= self.began.saturating_add(rtt),
            RoundEnd::BaseRtt => now > self.began.saturating_add(self.base_rtt),
        }
    }

    /// Begins the next round. Returns true if the label has to change.
    fn begin_next(&mut self, now: Time) -> bool {
        // Integer form of marked / packets >= configured fraction.
        let threshold = u64::from(self.config.marked.numerator()) * u64::from(self.packets);
        let marked = u64::from(self.marked) * u64::from(self.config.marked.denominator());
        // Without this check, a threshold of 0 would make rounds without any mark congested.
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
        let (packets, marked) = match feedback.signal {
            // As in the artifact of REPS, a loss counts as one marked packet.
            PathSignal::Good | PathSignal::Marked | PathSignal::Condemned => {
                (feedback.packets, feedback.marked)
            }
            PathSignal::Nack | PathSignal::Trimmed | PathSignal::TrimmedAtLastHop => (1, 1),
        };
        let rounds = &mut self.rounds;
        rounds.count(now, packets, marked);
        if rounds.packets > 0 && rounds.has_ended(now, feedback.rtt) && rounds.begin_next(now) {
            self.redraw();
        }
    }

    fn handle_timeout(&mut self, now: Time, _entropy: u16) -> Option<FailedPath> {
        // The timeouts of one loss event redraw the label only once.
        if now >= self.rounds.held {
            self.redraw();
            self.rounds.held = now.saturating_add(self.rounds.timeout);
        }
        None
    }

    /// The label, two packet counters, a round counter (8 bits), and two times of 32 bits each.
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

    /// Base RTT 8 us, timeout 1 ms; the first round begins at time zero.
    fn plb(config: Config) -> Plb {
        let mut policy = Plb::new(&config, &QpContext::for_test());
        policy.rounds.began = Time::ZERO;
        policy
    }

    fn acknowledge(policy: &mut Plb, ns: u64, marked: u32) {
        let signal = if marked > 0 { PathSignal::Marked } else { PathSignal::Good };
        let entropy = policy.label;
        let rtt = Span::from_ns(RTT_NS);
        let feedback = Feedback { entropy, signal, packets: 1, marked, rtt };
        policy.handle_feedback(at_ns(ns), feedback);
    }

    /// Simulates a round of eight packets that begins at `ns`, `marked` of them marked. The last
    /// acknowledgement ends it one round-trip time later.
    fn round(policy: &mut Plb, ns: u64, marked: u32) {
        assert_eq!((policy.rounds.began, policy.rounds.packets), (at_ns(ns), 0), "a new round");
        for n in 1..=8 {
            acknowledge(policy, ns + n * RTT_NS / 8, u32::from(n <= u64::from(marked)));
        }
    }

    #[test]
    fn the_label_changes_after_two_consecutive_congested_rounds() {
        let mut policy = plb(Config::default());
        let label = policy.entropy(Time::ZERO);
        // 2 of 8 are a quarter.
        round(&mut policy, 0, 2);
        assert_eq!(policy.entropy(Time::ZERO), label);
        round(&mut policy, RTT_NS, 2);
        let second = policy.entropy(Time::ZERO);
        assert_ne!(second, label);
        // Two more congested rounds are needed.
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
    fn a_round_below_the_threshold_resets_the_count_of_congested_rounds() {
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
    fn parameters_of_other_sources_can_be_configured() {
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
    fn a_round_of_a_base_rtt_ends_with_the_first_acknowledgement_after_it() {
        let mut policy = plb(Config { round: RoundEnd::BaseRtt, ..Config::default() });
        acknowledge(&mut policy, 8_000, 1);
        assert_eq!(policy.rounds.packets, 1);
        acknowledge(&mut policy, 8_001, 1);
        assert_eq!(
            (policy.rounds.packets, policy.rounds.congested, policy.rounds.began),
            (0, 1, at_ns(8_001))
        );
    }

    #[test]
    fn the_timeouts_of_one_loss_redraw_the_label_once() {
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
    fn a_trimmed_packet_counts_as_marked() {
        let mut policy = plb(Config::default());
        let rtt = Span::from_ns(RTT_NS);
        let trimmed =
            Feedback { entropy: 0, signal: PathSignal::Trimmed, packets: 0, marked: 0, rtt };
        policy.handle_feedback(at_ns(1), trimmed);
        assert_eq!((policy.rounds.packets, policy.rounds.marked), (1, 1));
    }

    #[test]
    fn without_marks_it_is_ecmp() {
        let mut policy = plb(Config { marked: Fraction::ZERO, ..Config::default() });
        let label = QpContext::for_test().random(Purpose::Entropy).next_u16();
        for n in 0..20 {
            round(&mut policy, n * RTT_NS, 0);
            assert_eq!(policy.entropy(Time::ZERO), label);
        }
    }

    #[test]
    fn the_state_is_a_label_three_counters_and_two_times() {
        assert_eq!(plb(Config::default()).state_bits(), 16 + 32 + 32 + 8 + 32 + 32);
    }

    #[test]
    fn an_acknowledgement_of_no_packet_ends_no_round() {
        let mut policy = plb(Config::default());
        let label = policy.entropy(Time::ZERO);
        round(&mut policy, 0, 8);
        let signal = PathSignal::Good;
        let rtt = Span::from_ns(1);
        let nothing = Feedback { entropy: label, signal, packets: 0, marked: 0, rtt };
        policy.handle_feedback(at_ns(RTT_NS + 10), nothing);
        assert_eq!((policy.rounds.congested, policy.rounds.began), (1, at_ns(RTT_NS)));
        round(&mut policy, RTT_NS, 8);
        assert_ne!(policy.entropy(Time::ZERO), label);
    }
}
