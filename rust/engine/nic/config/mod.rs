//! The configuration of a NIC.

mod peers;
pub(super) mod round_trips;

use std::sync::Arc;

pub use peers::{Mismatch, Peers};

use super::config::round_trips::RoundTrips;
use super::congestion::{CongestionControl, PathFacts, nscc};
use super::qp::delivery::Delivery;
use super::receive::ack::AckConfig;
use super::receive::receiver::ReceiverSettings;
use super::recovery::Recovery;
use super::verbs::QpConfig;
use crate::ids::HostId;
use crate::units::{BitRate, Bytes, Span};

/// What a NIC is configured with of the network that it is attached to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortFacts {
    /// The rate of its port.
    pub line_rate: BitRate,
    /// Round-trip time of a full packet and its acknowledgement on the longest idle path, as an
    /// operator would set it: windows are sized by it.
    pub base_rtt: Span,
}

/// The settings of a NIC.
#[derive(Debug, Clone, PartialEq)]
pub struct NicConfig {
    /// Payload of a full packet.
    pub payload: Bytes,
    /// Headers of a data packet on the wire.
    pub header: Bytes,
    /// When receivers acknowledge, and how long their answers are.
    pub ack: AckConfig,
    /// What sets the sending rate.
    pub congestion: CongestionControl,
    /// How lost packets are found and sent again.
    pub recovery: Recovery,
    /// How long a sender waits for an acknowledgement; with selective acknowledgements, while
    /// more than a few packets are in flight (RTO_high).
    pub retransmit_timeout: Span,
    /// How long a receiver waits before it repeats a NACK for the same PSN (go-back-N).
    pub nack_interval: Span,
    /// Smallest span between two congestion notification packets of a QP, where the congestion
    /// control asks for them (DCQCN: 50 us).
    pub cnp_interval: Span,
    /// Queue pairs: their queues, their retries, what they cost.
    pub queue_pairs: QpConfig,
    /// Times between packets are cut to multiples of this: a picosecond, or as coarse as the
    /// simulator whose results are compared.
    pub pace_unit: Span,
    /// The round trip of each pair of hosts, where queue pairs are not all configured with that of
    /// the longest path ([`PortFacts::base_rtt`]).
    pub round_trips: Option<Arc<RoundTrips>>,
    /// What it knows of the NICs of the other hosts, where they are not all configured as it is.
    pub peers: Option<Arc<Peers>>,
}

impl Default for NicConfig {
    /// The defaults of a scenario.
    fn default() -> Self {
        Self {
            payload: Bytes::new(4_096),
            header: Bytes::new(62),
            ack: AckConfig::default(),
            congestion: CongestionControl::Nscc(nscc::Config::default()),
            recovery: Recovery::GO_BACK_N,
            retransmit_timeout: Span::from_ms(1),
            nack_interval: Span::from_us(500),
            cnp_interval: Span::from_us(50),
            queue_pairs: QpConfig::default(),
            pace_unit: Span::from_ps(1),
            round_trips: None,
            peers: None,
        }
    }
}

impl NicConfig {
    /// The network as the congestion control of a queue pair on this port knows it.
    pub fn path(&self, port: PortFacts) -> PathFacts {
        PathFacts {
            line_rate: port.line_rate,
            base_rtt: port.base_rtt,
            is_even: true,
            packet: self.payload + self.header,
            payload: self.payload,
            pace_unit: self.pace_unit,
        }
    }

    /// In which order its queue pairs deliver messages.
    pub fn delivery(&self) -> Delivery {
        self.delivery_with(self.recovery)
    }

    /// In which order a queue pair with that recovery delivers messages.
    pub(super) fn delivery_with(&self, recovery: Recovery) -> Delivery {
        self.queue_pairs.delivery.unwrap_or(recovery.delivery())
    }

    /// How the NIC of `peer` acknowledges.
    pub(super) fn ack_of(&self, peer: HostId) -> AckConfig {
        self.peers.as_ref().map_or(self.ack, |peers| peers.ack_of(peer))
    }

    /// Whether `peer` wants the congestion notification packets that are sent to some hosts.
    pub(super) fn notifies(&self, peer: HostId) -> bool {
        self.peers.as_ref().is_none_or(|peers| peers.wants_cnp(peer))
    }

    /// What receiving halves need of it.
    pub(super) fn receiving(&self) -> ReceiverSettings {
        let own = self.congestion.wants_cnp();
        let wants_cnp = self.peers.as_ref().map_or(own, |peers| peers.any_wants_cnp());
        ReceiverSettings {
            payload: self.payload,
            header: self.header,
            ack: self.ack,
            nack_interval: self.nack_interval,
            cnp_interval: wants_cnp.then_some(self.cnp_interval),
        }
    }
}
