//! Flowlets: a new random entropy value after each gap between the packets of a queue pair.
//!
//! Source: Vanini, Pan, Alizadeh, Taheri, Edsall, "Let It Flow: Resilient Asymmetric Load Balancing
//! with Flowlet Switching" (NSDI 2017), section 2. A burst that follows the previous one by more
//! than a timeout may take any path without overtaking it. In LetFlow, switches detect the gaps.
//! Here the sender applies the same rule, as in the simulations of "REPS: Recycled Entropy Packet
//! Spraying" (EuroSys 2026), whose timeout (half a base RTT) is the default. Simulators of LetFlow
//! itself use `gap = "50us"` or `gap = "100us"`.
//!
//! The public simulator of REPS differs from its text. It measures the gap from the last received
//! acknowledgement, so a sender with its whole first window in flight counts as idle. It also
//! changes the value at most once per retransmission timeout. `after = "acknowledgement"` selects
//! this behaviour.
//!
//! A sender that always has data, and whose rate or window never stops it, has no gaps. In that
//! case this policy equals [`super::ecmp`], value by value.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Feedback, QpContext, SenderConfig, SenderPolicy};
use crate::balance::{Preset, Scheme, parse_config};
use crate::nic::Recovery;
use crate::rng::{Purpose, Stream};
use crate::units::{Fraction, Span, Time};

/// The parameters of `flowlet`: the definition of a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Gap after which a new flowlet begins. Default: half a base RTT (REPS, EuroSys 2026,
    /// baselines).
    pub gap: Gap,
    /// Event from which a gap is measured. Default: the previous packet (LetFlow, section 2).
    pub after: After,
}

/// Length of a gap, written as a fraction of the base RTT, `"1/2"`, or as a time, `"50us"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// A multiple of the base round-trip time.
    BaseRtts(Fraction),
    /// A time that does not depend on the path.
    Time(Span),
}

/// Event from which a gap is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum After {
    /// The last packet sent.
    #[default]
    Packet,
    /// The last acknowledgement; the value changes at most once per retransmission timeout.
    Acknowledgement,
}

impl Default for Gap {
    fn default() -> Self {
        Self::BaseRtts(Fraction::new(1, 2).expect("not zero"))
    }
}

impl Gap {
    /// Returns the gap on a network with this base RTT.
    pub fn span(self, base_rtt: Span) -> Span {
        match self {
            Self::BaseRtts(part) => Span::from_ps(part.of(base_rtt.as_ps())),
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
            serde::de::Error::custom(format!("{error}, or a fraction of the base RTT: '1/2'"))
        })
    }
}

/// The current flowlet of a queue pair.
#[derive(Debug, Clone)]
pub struct Flowlet(Box<State>);

#[derive(Debug, Clone)]
struct State {
    entropy: u16,
    /// A packet sent after this time begins a new flowlet.
    ends: Time,
    /// No flowlet begins up to this time.
    held: Time,
    gap: Span,
    after: After,
    hold: Span,
    random: Stream,
}

/// The preset `flowlet`: hashing switches, and a retransmission timer for each packet as in the
/// simulations of REPS. A gap of half a round trip does not keep packets in order.
pub const PRESETS: &[Preset] = &[Preset {
    name: "flowlet",
    summary: "a random entropy value for each burst of packets (LetFlow, at the sender)",
    source: "Vanini et al., Let It Flow (NSDI 2017), section 2; REPS (EuroSys 2026), baselines",
    build: |parameters| {
        let sender = SenderConfig::Flowlet(parse_config("flowlet", parameters)?);
        Ok(Scheme { recovery: Recovery::PER_PACKET, ..Scheme::new("flowlet", sender) })
    },
}];

impl Flowlet {
    pub(super) fn new(config: &Config, qp: &QpContext) -> Self {
        let mut random = qp.random(Purpose::Entropy);
        let hold = match config.after {
            After::Packet => Span::ZERO,
            After::Acknowledgement => qp.network.retransmit_timeout,
        };
        Self(Box::new(State {
            entropy: random.next_u16(),
            // No gap is measured before the first packet.
            ends: Time::NEVER,
            held: Time::ZERO,
            gap: config.gap.span(qp.network.base_rtt),
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
        // Strictly later: a burst begins after more than the gap (LetFlow, section 2).
        if now > flowlet.ends && now > flowlet.held {
            flowlet.entropy = flowlet.random.next_u16();
            flowlet.held = now.saturating_add(flowlet.hold);
        }
        // The first packet starts the first gap, whatever later gaps are measured from.
        if flowlet.after == After::Packet || flowlet.ends == Time::NEVER {
            flowlet.ends = now.saturating_add(flowlet.gap);
        }
        flowlet.entropy
    }

    fn handle_feedback(&mut self, now: Time, _feedback: Feedback) {
        let flowlet = &mut *self.0;
        // Any feedback counts, even for a lost packet: the sender is not idle.
        if flowlet.after == After::Acknowledgement {
            flowlet.ends = now.saturating_add(flowlet.gap);
        }
    }

    /// The value and a time of 32 bits, plus a second time if changes are limited.
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
    use super::super::{NetworkParameters, PathSignal};
    use super::*;

    /// Base RTT 8 us, timeout 1 ms.
    fn flowlet(config: Config) -> Flowlet {
        Flowlet::new(&config, &QpContext::for_test())
    }

    #[test]
    fn its_state_is_a_value_and_one_or_two_times() {
        let bits = |after| flowlet(Config { after, ..Config::default() }).state_bits();
        assert_eq!([After::Packet, After::Acknowledgement].map(bits), [48, 80]);
    }

    fn at_ns(ns: u64) -> Time {
        Time::ZERO + Span::from_ns(ns)
    }

    fn good(entropy: u16) -> Feedback {
        let rtt = NetworkParameters::default().base_rtt;
        Feedback { entropy, signal: PathSignal::Good, packets: 1, marked: 0, rtt }
    }

    #[test]
    fn only_a_gap_longer_than_half_a_base_rtt_begins_a_flowlet() {
        let mut policy = flowlet(Config::default());
        let first = policy.entropy(at_ns(100_000));
        assert_eq!(policy.entropy(at_ns(101_000)), first);
        assert_eq!(policy.entropy(at_ns(105_000)), first, "4 us is not longer than 4 us");
        let second = policy.entropy(at_ns(105_000) + Span::from_ps(4_000_001));
        assert_ne!(second, first);
        assert_eq!(policy.entropy(at_ns(113_000)), second);
    }

    #[test]
    fn acknowledgements_do_not_extend_a_flowlet() {
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
    fn an_absolute_gap_overrides_the_base_rtt() {
        let gap = Gap::Time(Span::from_us(50));
        let mut policy = flowlet(Config { gap, ..Config::default() });
        let first = policy.entropy(at_ns(0));
        assert_eq!(policy.entropy(at_ns(50_000)), first);
        assert_ne!(policy.entropy(at_ns(100_001)), first);
    }

    #[test]
    fn after_acknowledgements_the_value_changes_once_per_timeout() {
        let mut policy = flowlet(Config { after: After::Acknowledgement, ..Config::default() });
        let first = policy.entropy(at_ns(0));
        assert_eq!(policy.entropy(at_ns(4_000)), first);
        let second = policy.entropy(at_ns(4_001));
        assert_ne!(second, first, "no acknowledgement for half a base RTT");
        assert_eq!(policy.entropy(at_ns(900_000)), second, "held for 1 ms");
        assert_eq!(policy.entropy(at_ns(1_004_001)), second, "held for 1 ms");
        policy.handle_feedback(at_ns(1_005_000), good(second));
        assert_eq!(policy.entropy(at_ns(1_009_000)), second);
        assert_ne!(policy.entropy(at_ns(1_009_001)), second);
    }

    #[test]
    fn a_gap_is_written_as_a_fraction_or_as_a_time() {
        let config = |text: &str| toml::from_str::<Config>(text);
        assert_eq!(config("gap = \"50us\"").unwrap().gap, Gap::Time(Span::from_us(50)));
        let third = Gap::BaseRtts(Fraction::new(1, 3).unwrap());
        assert_eq!(config("gap = \"1/3\"").unwrap().gap, third);
        let error = config("gap = \"soon\"").unwrap_err().to_string();
        assert!(error.contains("'500ns', or a fraction of the base RTT: '1/2'"), "{error}");
        let written = toml::to_string(&Config::default()).unwrap();
        assert_eq!(written, "gap = \"1/2\"\nafter = \"packet\"\n");
    }
}
