//! The sections of a scenario that set what switches, NICs and failures do.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::balance::Parameters;
use crate::fabric::EcnPoint;
use crate::nic::{CacheConfig, Entropies, Marked};
use crate::scenario::resolve::buffering::{PfcSection, Toggle, TrimSection};
use crate::units::{Bytes, Fraction, Span};

/// `[switch]`: what every switch is set to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SwitchSection {
    /// Packet memory shared by all ports: 64 MB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Bytes>,
    /// In place of `buffer`: packet memory of each port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port_buffer: Option<Bytes>,
    /// Marking.
    pub ecn: EcnSection,
    /// Priority flow control: no.
    pub pfc: Toggle<PfcSection>,
    /// Trimming in place of dropping: no.
    pub trim: Toggle<TrimSection>,
}

/// `ecn`: a step, or a ramp of `kmin`, `kmax` and `pmax`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EcnSection {
    /// Above so many waiting bytes every packet is marked: 800 KB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<Bytes>,
    /// Ramp: up to so much, no packet is marked: 100 KB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kmin: Option<Bytes>,
    /// Ramp: above so much, every packet is marked: 400 KB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kmax: Option<Bytes>,
    /// Ramp: the probability just below `kmax`: 1/5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pmax: Option<Fraction>,
    /// When the queue is looked at: `enqueue`.
    pub at: EcnPoint,
}

/// What sets the sending rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CongestionName {
    /// Always line rate.
    LineRate,
    /// DCQCN in its authors' form.
    #[default]
    Dcqcn,
    /// DCQCN as ConnectX NICs do it.
    DcqcnMlx,
    /// DCTCP by rate.
    DctcpRate,
    /// DCTCP by window, as REPS was evaluated with.
    DctcpWindow,
    /// NSCC of Ultra Ethernet.
    Nscc,
    /// Swift.
    Swift,
    /// TCP's window.
    NewReno,
}

/// How losses are made good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecoveryName {
    /// What the policy is made for.
    #[default]
    Auto,
    /// Everything from the first missing packet on again.
    GoBackN,
    /// Selective acknowledgements.
    Sack,
    /// A timer for each packet.
    PerPacket,
    /// An ideal erasure code.
    Erasure,
}

/// In which order messages of a queue pair are delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeliveryName {
    /// As the recovery does it: in order, but with an erasure code.
    #[default]
    Auto,
    /// In the order posted.
    Ordered,
    /// As they come to be whole.
    Unordered,
}

/// `[transport]`: what every NIC is set to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TransportSection {
    /// Payload of a full packet: 4096 B.
    pub payload: Bytes,
    /// Headers of a data packet on the wire: 62 B.
    pub header: Bytes,
    /// An acknowledgement on the wire: 64 B.
    pub ack: Bytes,
    /// Data packets an acknowledgement: 1.
    pub ack_every: u32,
    /// Bytes of data packets on the wire an acknowledgement, if `ack_every` has not come before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_bytes: Option<Bytes>,
    /// How long an arrival may wait to be acknowledged, if neither has come before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_time: Option<Span>,
    /// When an ECN marked packet is acknowledged: it waits with others.
    pub ack_marked: Marked,
    /// Of which packets the sender learns the entropy values: `last`.
    pub ack_entropies: Entropies,
    /// Whether acknowledgements go before data: yes.
    pub ack_priority: bool,
    /// What sets the sending rate: `dcqcn`.
    pub congestion_control: CongestionName,
    /// Parameters of the congestion control; those left out are its preset's. `preset` names a
    /// set of them where a control has several; the first one is the default.
    #[serde(skip_serializing_if = "Parameters::is_empty")]
    pub parameters: Parameters,
    /// How losses are made good: `auto`.
    pub recovery: RecoveryName,
    /// Parameters of the loss recovery; those left out have its defaults.
    #[serde(skip_serializing_if = "Parameters::is_empty")]
    pub recovery_parameters: Parameters,
    /// In which order messages of a queue pair are delivered: `auto`.
    pub delivery: DeliveryName,
    /// How long a sender waits for an acknowledgement: 1 ms.
    pub retransmit_timeout: Span,
    /// How long a receiver waits before it repeats a NACK: 500 us, the HPCC simulator's.
    pub nack_interval: Span,
    /// Smallest span between two CNPs of a queue pair: 50 us (Zhu et al., SIGCOMM 2015).
    pub cnp_interval: Span,
    /// The cache of queue pair contexts in each NIC: none, every context is at hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qp_cache: Option<CacheConfig>,
}

impl Default for TransportSection {
    fn default() -> Self {
        Self {
            payload: Bytes::new(4096),
            header: Bytes::new(62),
            ack: Bytes::new(64),
            ack_every: 1,
            ack_bytes: None,
            ack_time: None,
            ack_marked: Marked::default(),
            ack_entropies: Entropies::default(),
            ack_priority: true,
            congestion_control: CongestionName::default(),
            parameters: Parameters::new(),
            recovery: RecoveryName::default(),
            recovery_parameters: Parameters::new(),
            delivery: DeliveryName::default(),
            retransmit_timeout: Span::from_ms(1),
            nack_interval: Span::from_us(500),
            cnp_interval: Span::from_us(50),
            qp_cache: None,
        }
    }
}

/// Ways of failing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureName {
    /// Nothing gets through.
    #[default]
    Down,
    /// A part of the rate is left.
    Degrade,
    /// A part of the packets is lost.
    Loss,
    /// Down and up again, over and over.
    Flap,
}

/// A span, or for ever: `"100ms"`, `"never"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanOrNever {
    /// So long.
    Span(Span),
    /// For ever.
    Never,
}

impl Serialize for SpanOrNever {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Span(span) => span.serialize(to),
            Self::Never => to.serialize_str("never"),
        }
    }
}

impl<'de> Deserialize<'de> for SpanOrNever {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Text;
        impl serde::de::Visitor<'_> for Text {
            type Value = SpanOrNever;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("\"never\", or a text with its unit, for example \"500ns\"")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<SpanOrNever, E> {
                if text == "never" {
                    return Ok(SpanOrNever::Never);
                }
                text.parse()
                    .map(SpanOrNever::Span)
                    .map_err(|error| E::custom(format!("{error}, or 'never'")))
            }
        }
        from.deserialize_str(Text)
    }
}

/// `[[failure]]`: what fails, how and when. Exactly one of `link`, `switch`, `probability`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FailureSection {
    /// A link, by the names of its ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// A switch: all its links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch: Option<String>,
    /// Each link between switches, drawn independently.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<Fraction>,
    /// How: `down`.
    pub kind: FailureName,
    /// Degrade: what is left of the rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factor: Option<Fraction>,
    /// Loss: the part of packets that is lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Fraction>,
    /// Flap: how long it is down each time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub down_for: Option<Span>,
    /// Flap: how long it is up in between.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up_for: Option<Span>,
    /// When it starts: 1 us.
    pub at: Span,
    /// When it ends: never.
    pub until: SpanOrNever,
    /// How long after each change the switches at its ends know: 0.
    pub detection: SpanOrNever,
    /// How long after each change routing everywhere knows (G): 100 ms.
    pub convergence: SpanOrNever,
}

impl Default for FailureSection {
    fn default() -> Self {
        Self {
            link: None,
            switch: None,
            probability: None,
            kind: FailureName::default(),
            factor: None,
            rate: None,
            down_for: None,
            up_for: None,
            at: Span::from_us(1),
            until: SpanOrNever::Never,
            detection: SpanOrNever::Span(Span::ZERO),
            convergence: SpanOrNever::Span(Span::from_ms(100)),
        }
    }
}
