//! `[switch]` as written in a file.

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::toggle::Toggle;
use crate::fabric::{EcnPoint, PfcConfig, SlowPorts, TieOrder, TrimVictim};
use crate::input::section::{Form, Value, named, section};
use crate::nic::congestion::AbsoluteOrFraction;
use crate::units::{Bytes, Fraction, Span};

/// `admission`: the simulator whose rule admits packets and pauses links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AdmissionName {
    /// HPCC's simulator.
    #[default]
    Hpcc,
    /// ConWeave's simulator.
    Conweave,
}

named! { EcnPoint, AdmissionName, SlowPorts, TieOrder, TrimVictim }

section! {
    /// `[switch]`: the settings of every switch.
    pub struct SwitchSection {
        /// Packet memory shared by all ports.
        buffer?: Bytes = "64 MB",
        /// Packet memory of each port, instead of `buffer`.
        port_buffer?: Bytes = "none: the buffer is shared",
        /// ECN marking: a step or a ramp.
        ecn: EcnSection = EcnSection::default(),
        /// Marks at the last hop (ports to hosts) too. MRC clusters do not (G20).
        ecn_at_hosts: bool = true,
        /// Priority flow control (PFC).
        pfc: Toggle<PfcSection> = Toggle::Off,
        /// Credit-based flow control (CBFC), instead of `pfc`.
        cbfc: Toggle<CbfcSection> = Toggle::Off,
        /// Trims packets instead of dropping them.
        trim: Toggle<TrimSection> = Toggle::Off,
        /// `port_buffer` and ECN thresholds on a degraded link: `keep` them, or `scale` them with
        /// the rate (as htsim does).
        slow_ports: SlowPorts = SlowPorts::default(),
        /// Order of simultaneous arrivals: `drawn` at random each time, or by sending `port`,
        /// lowest first, as simulators with a fixed order do.
        ties: TieOrder = TieOrder::default(),
    }
}

section! {
    /// `ecn = { ... }`: a step, or a ramp of `kmin`, `kmax` and `pmax`.
    ///
    /// A threshold is a size, or a fraction of the bandwidth-delay product. The product is the
    /// port's rate times the longest base round trip of the workload, and at least ten full
    /// packets. The default is a ramp from 1/5 to 4/5 (Ultra Ethernet's simulator).
    pub struct EcnSection {
        /// Step: queue length above which every packet is marked.
        step?: AbsoluteOrFraction<Bytes> = "none: a ramp",
        /// Ramp: queue length up to which no packet is marked.
        kmin?: AbsoluteOrFraction<Bytes> = "a quarter of `kmax`, or `1/5`",
        /// Ramp: queue length above which every packet is marked.
        kmax?: AbsoluteOrFraction<Bytes> = "four times `kmin`",
        /// Ramp: marking probability just below `kmax`.
        pmax?: Fraction = "`1`",
        /// Event at which the queue length is compared.
        at: EcnPoint = EcnPoint::default(),
    }
}

section! {
    /// `pfc = { ... }`: priority flow control (PFC).
    pub struct PfcSection {
        /// Memory per link and protected `[[class]]` for packets in flight after a pause: a size or
        /// a rule. `worst-case`: 2 × rate × delay, 3 packets and a pause frame per class. `hpcc`: 3
        /// × rate × delay, enough for small packets on long links. `conweave`: 2 × rate × delay and
        /// 2 packets, one too few.
        headroom: HeadroomName = HeadroomName::WorstCase,
        /// Memory per link and protected class, used before the pool (HPCC's value).
        reserve: Bytes = PfcConfig::HPCC.reserve,
        /// Share of the pool's free memory that a link may take (HPCC's value).
        alpha: Fraction = PfcConfig::HPCC.alpha,
        /// Distance below that share at which a link resumes (HPCC's value).
        resume_offset: Bytes = PfcConfig::HPCC.resume_offset,
        /// Rule to admit packets and pause links. `hpcc`: a link fills its reserve, its share of
        /// the pool, then its headroom. `conweave`: a link above its share is paused but may fill
        /// the pool, then its headroom; a queue may take as much as is free.
        admission: AdmissionName = AdmissionName::default(),
        /// Lifetime of a pause unless renewed. Switches then repeat the frame for each packet that
        /// still arrives (ConWeave's simulator: 5 us).
        pause_time?: Span = "none: until it is resumed",
    }
}

section! {
    /// `cbfc = { ... }`: credit-based flow control (Ultra Ethernet 1.0.1, section 5.2).
    pub struct CbfcSection {
        /// Memory per link to a switch, the limit of its sender's credit \[inferred\].
        memory: Bytes = Bytes::new(1_000_000),
        /// Credit size: a power of two from 32 B to 2048 B \[inferred\]. Packets cost whole
        /// credits.
        credit: Bytes = Bytes::new(256),
        /// Bytes charged per packet beyond its wire length, from -16 to 127.
        overhead: i64 = 0,
        /// Delay until a lost packet's credit is returned \[inferred\].
        correction: Span = Span::from_us(10),
    }
}

/// `headroom`: the name of a rule, or a size per link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadroomName {
    /// Three times the rate times the delay.
    Hpcc,
    /// Twice the rate times the delay, plus two packets.
    ConWeave,
    /// Twice the rate times the delay, plus three packets and a pause frame: the most that can be
    /// in flight.
    WorstCase,
    /// A fixed number of bytes per link.
    Bytes(Bytes),
}

impl Value for HeadroomName {
    fn form() -> Form {
        Form::of("`\"worst-case\"`, `\"hpcc\"`, `\"conweave\"`, or a size such as `\"75KB\"`")
    }
}

impl Serialize for HeadroomName {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Hpcc => to.serialize_str("hpcc"),
            Self::ConWeave => to.serialize_str("conweave"),
            Self::WorstCase => to.serialize_str("worst-case"),
            Self::Bytes(bytes) => bytes.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for HeadroomName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = HeadroomName;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("\"worst-case\", \"hpcc\", \"conweave\", or a size such as \"75KB\"")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<HeadroomName, E> {
                match text {
                    "hpcc" => Ok(HeadroomName::Hpcc),
                    "conweave" => Ok(HeadroomName::ConWeave),
                    "worst-case" => Ok(HeadroomName::WorstCase),
                    _ => text.parse().map(HeadroomName::Bytes).map_err(|error| {
                        E::custom(format!("{error}, or one of 'worst-case', 'hpcc' and 'conweave'"))
                    }),
                }
            }
        }
        from.deserialize_str(Text)
    }
}

section! {
    /// `trim = { ... }`: packet trimming.
    pub struct TrimSection {
        /// Wire length of a trimmed packet (64 B: Ultra Ethernet's simulator).
        size?: Bytes = "`64B`; with the policy `mrc` as `transport.header` (G21)",
        /// Maximum length of a port's priority queue (NDP's simulator).
        limit?: Bytes = "twice the buffer",
        /// Packet trimmed when the queue is full: the `arriving` one, or by a fair coin it or the
        /// last in the queue, whose slot it takes (`arriving-or-last`: NDP, and its queue in
        /// htsim). The coin spreads losses among flows in lockstep. Not with `pfc` or `cbfc`.
        victim: TrimVictim = TrimVictim::default(),
    }
}
