//! `[switch]` as written in the file.

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::toggle::Toggle;
use crate::fabric::{EcnPoint, PfcConfig, SlowPorts, TieOrder, TrimVictim};
use crate::input::section::{Form, Value, named, section};
use crate::nic::congestion::AbsoluteOrFraction;
use crate::units::{Bytes, Fraction, Span};

/// `admission`: the simulator whose switches admit packets and pause links like this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AdmissionName {
    /// HPCC's.
    #[default]
    Hpcc,
    /// ConWeave's.
    Conweave,
}

named! { EcnPoint, AdmissionName, SlowPorts, TieOrder, TrimVictim }

section! {
    /// `[switch]`: the settings of every switch.
    pub struct SwitchSection {
        /// Packet memory shared by all ports.
        buffer?: Bytes = "64 MB",
        /// Packet memory of each port, in place of `buffer`.
        port_buffer?: Bytes = "none: the buffer is shared",
        /// Marking: a step, or a ramp of `kmin`, `kmax` and `pmax`.
        ecn: EcnSection = EcnSection::default(),
        /// Marking at ports of switches to hosts, the last hop, too. Clusters with MRC mark at
        /// every hop except the last (G20).
        ecn_at_hosts: bool = true,
        /// Priority flow control (PFC).
        pfc: Toggle<PfcSection> = Toggle::Off,
        /// Credit-based flow control (CBFC), in place of `pfc`.
        cbfc: Toggle<CbfcSection> = Toggle::Off,
        /// Trimming of packets in place of dropping them.
        trim: Toggle<TrimSection> = Toggle::Off,
        /// The `port_buffer` and the marking thresholds of a port whose link is degraded: `keep`
        /// them, or `scale` them with the rate (as htsim does).
        slow_ports: SlowPorts = SlowPorts::default(),
        /// The order in which packets are taken that arrive at one time: `drawn` for each time, or
        /// by the `port` that sent them, low numbers first, as in simulators with a fixed order.
        ties: TieOrder = TieOrder::default(),
    }
}

section! {
    /// `ecn = { ... }`: a step, or a ramp of `kmin`, `kmax` and `pmax`. A threshold is a size, or a
    /// part of the bandwidth-delay product: the rate of the port times the longest base round trip
    /// of the workload, at least ten full packets. The default is a ramp from 1/5 to
    /// 4/5 (Ultra Ethernet's simulator).
    pub struct EcnSection {
        /// Step: the queue length above which every packet is marked.
        step?: AbsoluteOrFraction<Bytes> = "none: a ramp",
        /// Ramp: the queue length up to which no packet is marked.
        kmin?: AbsoluteOrFraction<Bytes> = "a quarter of `kmax`, or `1/5`",
        /// Ramp: the queue length above which every packet is marked.
        kmax?: AbsoluteOrFraction<Bytes> = "four times `kmin`",
        /// Ramp: the probability of marking just below `kmax`.
        pmax?: Fraction = "`1`",
        /// The point at which the queue length is compared.
        at: EcnPoint = EcnPoint::default(),
    }
}

section! {
    /// `pfc = { ... }`: priority flow control (PFC).
    pub struct PfcSection {
        /// Memory of each link, and of each `[[class]]` that it protects, for what is in flight to
        /// a switch after it sent a pause: a size, or a rule that computes it. `hpcc` is three
        /// times rate times delay, which suffices for small packets on long links; `conweave` is
        /// twice rate times delay and two packets, one packet too few; `worst-case` is twice rate
        /// times delay, three packets and a pause frame of each class.
        headroom: HeadroomName = HeadroomName::WorstCase,
        /// Memory of each link, and of each such class, that it uses before it takes any of the
        /// pool (value of HPCC).
        reserve: Bytes = PfcConfig::HPCC.reserve,
        /// The share of the pool's free memory that a link may take (value of HPCC).
        alpha: Fraction = PfcConfig::HPCC.alpha,
        /// A paused link resumes when it is this far below that share (value of HPCC).
        resume_offset: Bytes = PfcConfig::HPCC.resume_offset,
        /// The rule by which packets are admitted and links paused. `hpcc`: a link uses its
        /// reserve, then its share of the pool, then its headroom. `conweave`: a link beyond its
        /// share is paused, and may use the pool as long as there is any, then its headroom; a
        /// queue may take as much as the others leave.
        admission: AdmissionName = AdmissionName::default(),
        /// The time after which a pause expires if no other frame comes; switches then repeat the
        /// frame for each packet that still arrives (ConWeave's simulator: 5 us).
        pause_time?: Span = "none: until it is resumed",
    }
}

section! {
    /// `cbfc = { ... }`: credit-based flow control (Ultra Ethernet 1.0.1, section 5.2).
    pub struct CbfcSection {
        /// Memory for each link that ends at a switch: the most that its sender may send ahead
        /// \[inferred\].
        memory: Bytes = Bytes::new(1_000_000),
        /// A credit: a power of two from 32 B to 2048 B \[inferred\]. A packet takes whole ones.
        credit: Bytes = Bytes::new(256),
        /// Bytes that each packet counts beyond its length on the wire, from -16 to 127.
        overhead: i64 = 0,
        /// The time after the loss of a packet on a link until its credit is given back
        /// \[inferred\].
        correction: Span = Span::from_us(10),
    }
}

/// `headroom`: a rule by its name, or a size per link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadroomName {
    /// Three times rate times delay.
    Hpcc,
    /// Twice rate times delay, and two packets.
    ConWeave,
    /// Twice rate times delay, three packets and a frame: the most that can be in flight.
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
    /// `trim = { ... }`: trimming.
    pub struct TrimSection {
        /// A trimmed packet on the wire (64 B: value of Ultra Ethernet's simulator).
        size?: Bytes = "`64B`; with the policy `mrc` as `transport.header` (G21)",
        /// The maximum length of a port's queue with priority (value of NDP's simulator).
        limit?: Bytes = "twice the buffer",
        /// The packet that is trimmed where one finds no room: the `arriving` one, or with
        /// `arriving-or-last` with equal probability it or the last one of the queue, whose place
        /// it then takes (NDP, and its queue in htsim: flows whose packets arrive in step do not
        /// always lose the same ones). Not with `pfc` or `cbfc`.
        victim: TrimVictim = TrimVictim::default(),
    }
}
