//! What a NIC is set to.

use serde::{Deserialize, Serialize};

use super::AckConfig;
use super::congestion::{CongestionControl, dcqcn};
use super::recovery::sack;
use super::verbs::QpConfig;
use crate::units::{BitRate, Bytes, Span};

/// How losses are made good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// Everything from the first missing packet on is sent again (RoCEv2).
    GoBackN,
    /// Everything from the first packet of the message on is sent again (the first RoCE NICs).
    GoBackToZero,
    /// Selective acknowledgements and BDP flow control (IRN).
    Sack(sack::Config),
    /// Each packet has a timer of its own and is sent again alone.
    PerPacket,
    /// An ideal rateless erasure code.
    Erasure,
}

/// What a NIC is told of the network it is plugged into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortFacts {
    /// The rate of its port.
    pub line_rate: BitRate,
    /// Round-trip time of a full packet and its acknowledgement on the longest idle path, as an
    /// operator would set it: windows are sized by it.
    pub base_rtt: Span,
}

/// The settings of a NIC; the same for every host of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct NicConfig {
    /// Payload of a full packet.
    pub payload: Bytes,
    /// Headers of a data packet on the wire.
    pub header: Bytes,
    /// Acknowledgements.
    pub ack: AckConfig,
    /// What sets the sending rate.
    pub congestion: CongestionControl,
    /// What makes losses good.
    pub recovery: Recovery,
    /// How long a sender waits for an acknowledgement; with selective acknowledgements, while
    /// more than a few packets are out (RTO_high).
    pub retransmit_timeout: Span,
    /// How long a receiver waits before it repeats a NACK for the same PSN (go-back-N).
    pub nack_interval: Span,
    /// Smallest span between two congestion notification packets of a QP, where the congestion
    /// control asks for them (DCQCN: 50 us).
    pub cnp_interval: Span,
    /// Queue pairs: their queues, their retries, what they cost.
    pub queue_pairs: QpConfig,
}

impl Default for NicConfig {
    /// As a scenario has it that says nothing else.
    fn default() -> Self {
        Self {
            payload: Bytes::new(4_096),
            header: Bytes::new(62),
            ack: AckConfig::default(),
            congestion: CongestionControl::Dcqcn(dcqcn::Config::default()),
            recovery: Recovery::GoBackN,
            retransmit_timeout: Span::from_ms(1),
            nack_interval: Span::from_us(500),
            cnp_interval: Span::from_us(50),
            queue_pairs: QpConfig::default(),
        }
    }
}

impl NicConfig {
    /// How soon after a packet was sent a retransmission timer may run out.
    pub fn shortest_timeout(&self) -> Span {
        match self.recovery {
            Recovery::Sack(sack) => self.retransmit_timeout.min(sack.rto_low),
            _ => self.retransmit_timeout,
        }
    }
}
