//! `[switch]` as written in the file.

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::toggle::Toggle;
use crate::fabric::{EcnPoint, PfcConfig};
use crate::scenario::input::section::{Form, Value, named, section};
use crate::units::{Bytes, Fraction};

named! { EcnPoint }

section! {
    /// `[switch]`: the settings of every switch.
    pub struct SwitchSection {
        /// Packet memory shared by all ports.
        buffer?: Bytes = "64 MB",
        /// Packet memory of each port, in place of `buffer`.
        port_buffer?: Bytes = "none: the buffer is shared",
        /// Marking: a step, or a ramp of `kmin`, `kmax` and `pmax`.
        ecn: EcnSection = EcnSection::default(),
        /// Priority flow control (PFC).
        pfc: Toggle<PfcSection> = Toggle::Off,
        /// Trimming of packets in place of dropping them.
        trim: Toggle<TrimSection> = Toggle::Off,
    }
}

section! {
    /// `ecn = { ... }`: a step, or a ramp of `kmin`, `kmax` and `pmax`.
    pub struct EcnSection {
        /// Step: the queue length in bytes above which every packet is marked.
        step?: Bytes = "800 KB",
        /// Ramp: the queue length in bytes up to which no packet is marked.
        kmin?: Bytes = "100 KB",
        /// Ramp: the queue length in bytes above which every packet is marked.
        kmax?: Bytes = "400 KB",
        /// Ramp: the probability of marking just below `kmax`.
        pmax?: Fraction = "1/5",
        /// The point at which the queue length is compared.
        at: EcnPoint = EcnPoint::default(),
    }
}

section! {
    /// `pfc = { ... }`: priority flow control (PFC).
    pub struct PfcSection {
        /// Memory of each link for what is in flight to a switch after it sent a pause: a size, or
        /// a rule that computes it. `hpcc` is three times rate times delay, which suffices for
        /// small packets on long links; `conweave` is twice rate times delay and two packets, one
        /// packet too few; `worst-case` is twice rate times delay, three packets and a pause frame.
        headroom: HeadroomName = HeadroomName::WorstCase,
        /// Memory of each link that it uses before it takes any of the pool (value of HPCC).
        reserve: Bytes = PfcConfig::HPCC.reserve,
        /// The share of the pool's free memory that a link may take (value of HPCC).
        alpha: Fraction = PfcConfig::HPCC.alpha,
        /// A paused link resumes when it is this far below that share (value of HPCC).
        resume_offset: Bytes = PfcConfig::HPCC.resume_offset,
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
        /// A trimmed packet on the wire (value of Ultra Ethernet's simulator).
        size: Bytes = Bytes::new(64),
        /// The maximum length of a port's queue with priority (value of NDP's simulator).
        limit?: Bytes = "twice the buffer",
    }
}
