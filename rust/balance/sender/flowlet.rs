//! Flowlets: a new random entropy value after each gap between the packets of a queue pair.
//!
//! Source: Vanini, Pan, Alizadeh, Taheri, Edsall, "Let It Flow: Resilient Asymmetric Load
//! Balancing with Flowlet Switching" (NSDI 2017), section 2: a burst that follows the one before
//! by more than a time-out may take any path without overtaking it. LetFlow lets switches detect
//! the gaps; here the sender does, by the same rule, as the simulations of "REPS: Recycled
//! Entropy Packet Spraying" (EuroSys 2026) do, whose time-out (half a base RTT) is the default.
//! Simulators of LetFlow itself use `gap = "50us"` or `gap = "100us"`.
//!
//! The public simulator of REPS differs from its text: it measures the gap from the last
//! acknowledgement that came in, so that a sender whose first window is out counts as idle, and
//! changes at most once in a retransmission time-out. That is `after = "acknowledgement"`.
//!
//! A sender that always has something to send and a rate or window that lets it has no gaps: then
//! this is [`super::ecmp`], value by value.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Feedback, QpContext, SenderConfig, SenderPolicy};
use crate::balance::{Preset, Scheme, configured};
use crate::rng::{Purpose, Stream};
use crate::units::{Fraction, Span, Time};

/// What a gap is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// A longer silence ends a flowlet: half a base RTT (REPS, EuroSys 2026, baselines).
    pub gap: Gap,
    /// What the silence follows: the packet sent before (LetFlow, section 2).
    pub after: After,
}

/// How long a gap is. Written as a part of the base RTT, `"1/2"`, or as a time, `"50us"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// In round-trip times of the longest idle path.
    BaseRtts(Fraction),
    /// So long.
    Time(Span),
}

/// What a gap is measured from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum After {
    /// The last packet sent.
    #[default]
    Packet,
    /// The last acknowledgement; at most one change in a retransmission time-out.
    Acknowledgement,
}

impl Default for Gap {
    fn default() -> Self {
        Self::BaseRtts(Fraction::new(1, 2).expect("not zero"))
    }
}

impl Gap {
    fn span(self, base_rtt: Span) -> Span {
        match self {
            Self::BaseRtts(part) => {
                let scaled = u128::from(base_rtt.as_ps()) * u128::from(part.numerator());
                let span = scaled / u128::from(part.denominator());
                Span::from_ps(u64::try_from(span).unwrap_or(u64::MAX))
            }
            Self::Time(span) => span,
        }
    }
}

impl Serialize for Gap {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::BaseRtts(part) => part.serialize(to),
            Self::Time(span) => span.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for Gap {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        if let Ok(part) = text.parse() {
            return Ok(Self::BaseRtts(part));
        }
        text.parse().map(Self::Time).map_err(|error| {
            serde::de::Error::custom(format!("{error}, or a part of the base RTT: '1/2'"))
        })
    }
}

/// A queue pair's flowlet.
#[derive(Debug, Clone)]
pub struct Flowlet(Box<State>);

#[derive(Debug, Clone)]
struct State {
    entropy: u16,
    /// A packet later than this begins a new one.
    ends: Time,
    /// No new one begins up to this.
    held: Time,
    gap: Span,
    after: After,
    hold: Span,
    random: Stream,
}

/// `flowlet`.
pub const PRESETS: &[Preset] = &[Preset {
    name: "flowlet",
    summary: "a random entropy value for each burst of packets (LetFlow, at the sender)",
    source: "Vanini et al., Let It Flow (NSDI 2017), section 2; REPS (EuroSys 2026), baselines",
    build: |parameters| {
        let sender = SenderConfig::Flowlet(configured("flowlet", parameters)?);
        Ok(Scheme::new("flowlet", sender))
    },
}];

impl Flowlet {
    pub(super) fn new(config: &Config, qp: &QpContext) -> Self {
        let mut random = qp.random(Purpose::Entropy);
        let hold = match config.after {
            After::Packet => Span::ZERO,
            After::Acknowledgement => qp.facts.retransmit_timeout,
        };
        Self(Box::new(State {
            entropy: random.next_u16(),
            ends: Time::NEVER,
            held: Time::ZERO,
            gap: config.gap.span(qp.facts.base_rtt),
            after: config.after,
            hold,
            random,
        }))
    }
}

impl SenderPolicy for Flowlet {
    #[inline]
    fn entropy(&mut self, now: Time) -> u16 {
        let flowlet = &mut *self.0;
        if now > flowlet.ends && now > flowlet.held {
            flowlet.entropy = flowlet.random.next_u16();
            flowlet.held = now.saturating_add(flowlet.hold);
        }
        // The first packet begins the first silence, whatever else it is measured from.
        if flowlet.after == After::Packet || flowlet.ends == Time::NEVER {
            flowlet.ends = now.saturating_add(flowlet.gap);
        }
        flowlet.entropy
    }

    fn handle_feedback(&mut self, now: Time, _feedback: Feedback) {
        let flowlet = &mut *self.0;
        if flowlet.after == After::Acknowledgement {
            flowlet.ends = now.saturating_add(flowlet.gap);
        }
    }

    /// The value and a time of 32 bits; another one where changes are held back.
    fn state_bits(&self) -> u64 {
        match self.0.after {
            After::Packet => 16 + 32,
            After::Acknowledgement => 16 + 32 + 32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ecmp::{self, Ecmp};
    use super::super::{Facts, Verdict};
    use super::*;

    /// Base RTT 8 us, time-out 1 ms.
    fn flowlet(config: Config) -> Flowlet {
        Flowlet::new(&config, &QpContext::for_test())
    }

    fn at_ns(ns: u64) -> Time {
        Time::ZERO + Span::from_ns(ns)
    }

    fn good(entropy: u16) -> Feedback {
        let rtt = Facts::default().base_rtt;
        Feedback { entropy, verdict: Verdict::Good, packets: 1, marked: 0, rtt }
    }

    #[test]
    fn a_gap_of_half_a_base_rtt_is_none_and_a_longer_one_is() {
        let mut policy = flowlet(Config::default());
        let first = policy.entropy(at_ns(100_000));
        assert_eq!(policy.entropy(at_ns(101_000)), first);
        assert_eq!(policy.entropy(at_ns(105_000)), first, "4 us is not longer than 4 us");
        let second = policy.entropy(at_ns(105_000) + Span::from_ps(4_000_001));
        assert_ne!(second, first);
        assert_eq!(policy.entropy(at_ns(113_000)), second);
    }

    #[test]
    fn acknowledgements_end_no_flowlet() {
        let mut policy = flowlet(Config::default());
        let first = policy.entropy(at_ns(0));
        policy.handle_feedback(at_ns(3_900), good(first));
        assert_ne!(policy.entropy(at_ns(4_001)), first);
    }

    #[test]
    fn without_a_gap_it_is_ecmp() {
        let mut policy = flowlet(Config::default());
        let mut ecmp = Ecmp::new(&ecmp::Config {}, &QpContext::for_test());
        for n in 0..1_000 {
            assert_eq!(policy.entropy(at_ns(84 * n)), ecmp.entropy(at_ns(84 * n)));
        }
    }

    #[test]
    fn with_a_gap_of_its_own_the_base_rtt_does_not_count() {
        let gap = Gap::Time(Span::from_us(50));
        let mut policy = flowlet(Config { gap, ..Config::default() });
        let first = policy.entropy(at_ns(0));
        assert_eq!(policy.entropy(at_ns(50_000)), first);
        assert_ne!(policy.entropy(at_ns(100_001)), first);
    }

    #[test]
    fn after_acknowledgements_one_change_a_timeout() {
        let mut policy = flowlet(Config { after: After::Acknowledgement, ..Config::default() });
        let first = policy.entropy(at_ns(0));
        assert_eq!(policy.entropy(at_ns(4_000)), first);
        let second = policy.entropy(at_ns(4_001));
        assert_ne!(second, first, "no acknowledgement for half a round trip");
        assert_eq!(policy.entropy(at_ns(900_000)), second, "held for 1 ms");
        assert_eq!(policy.entropy(at_ns(1_004_001)), second, "held for 1 ms");
        policy.handle_feedback(at_ns(1_005_000), good(second));
        assert_eq!(policy.entropy(at_ns(1_009_000)), second);
        assert_ne!(policy.entropy(at_ns(1_009_001)), second);
    }

    #[test]
    fn a_gap_is_written_as_a_part_or_as_a_time() {
        let config = |text: &str| toml::from_str::<Config>(text);
        assert_eq!(config("gap = \"50us\"").unwrap().gap, Gap::Time(Span::from_us(50)));
        let third = Gap::BaseRtts(Fraction::new(1, 3).unwrap());
        assert_eq!(config("gap = \"1/3\"").unwrap().gap, third);
        let error = config("gap = \"soon\"").unwrap_err().to_string();
        assert!(error.contains("'500ns', or a part of the base RTT: '1/2'"), "{error}");
        let written = toml::to_string(&Config::default()).unwrap();
        assert_eq!(written, "gap = \"1/2\"\nafter = \"packet\"\n");
    }
}
