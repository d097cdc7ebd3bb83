//! The configuration of a NIC.

mod peers;
pub(super) mod round_trips;

use std::sync::Arc;

pub use peers::{Mismatch, Peers};

use super::config::round_trips::RoundTrips;
use super::congestion::{CongestionControl, PathFacts, nscc};
use super::hardware::HardwareConfig;
use super::qp::delivery::Delivery;
use super::receive::ack::AckConfig;
use super::receive::receiver::ReceiverSettings;
use super::recovery::Recovery;
use super::verbs::QpConfig;
use crate::ids::HostId;
use crate::units::{BitRate, Bytes, Span};

/// The properties of the network that a NIC is configured with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortFacts {
    /// Rate of the NIC's port.
    pub line_rate: BitRate,
    /// Round-trip time of a full packet and its acknowledgement on the longest idle path, as an
    /// operator would set it. Windows are sized by it.
    pub base_rtt: Span,
}

/// The settings of a NIC.
#[derive(Debug, Clone, PartialEq)]
pub struct NicConfig {
    /// Payload of a full packet.
    pub payload: Bytes,
    /// Headers of a data packet on the wire.
    pub header: Bytes,
    /// When receivers acknowledge, and the size of their control packets.
    pub ack: AckConfig,
    /// The congestion control.
    pub congestion: CongestionControl,
    /// The loss recovery.
    pub recovery: Recovery,
    /// How long a sender waits for an acknowledgement. With `sack`, this is RTO_high: it applies
    /// while more than a few packets are in flight.
    pub retransmit_timeout: Span,
    /// How long a receiver waits before it repeats a NACK for the same PSN (go-back-N).
    pub nack_interval: Span,
    /// Minimum interval between two congestion notification packets of a QP, if the congestion
    /// control uses them (DCQCN: 50 us).
    pub cnp_interval: Span,
    /// Settings of queue pairs: queues, retries, per-operation costs.
    pub queue_pairs: QpConfig,
    /// Limits and costs of hardware; none by default.
    pub hardware: HardwareConfig,
    /// Intervals between packets are rounded down to multiples of this. A picosecond, or coarser to
    /// match a simulator whose results are compared.
    pub pace_unit: Span,
    /// Round-trip time of each pair of hosts; `None` if every queue pair is configured with that of
    /// the longest path ([`PortFacts::base_rtt`]).
    pub round_trips: Option<Arc<RoundTrips>>,
    /// The configurations of the other hosts' NICs; `None` if all hosts share this configuration.
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
            hardware: HardwareConfig::default(),
            pace_unit: Span::from_ps(1),
            round_trips: None,
            peers: None,
        }
    }
}

impl NicConfig {
    /// Returns the path facts for the congestion control of a queue pair on this port.
    pub fn path(&self, port: PortFacts) -> PathFacts {
        PathFacts {
            line_rate: port.line_rate,
            base_rtt: port.base_rtt,
            // Overridden per queue pair if the round trips of its paths are known.
            has_equal_paths: true,
            packet: self.payload + self.header,
            payload: self.payload,
            pace_unit: self.pace_unit,
        }
    }

    /// The order in which its queue pairs deliver messages.
    pub fn delivery(&self) -> Delivery {
        self.delivery_with(self.recovery)
    }

    /// The order in which a queue pair with `recovery` delivers messages.
    pub(super) fn delivery_with(&self, recovery: Recovery) -> Delivery {
        self.queue_pairs.delivery.unwrap_or(recovery.delivery())
    }

    /// The acknowledgement settings of `peer`'s NIC.
    pub(super) fn ack_of(&self, peer: HostId) -> AckConfig {
        self.peers.as_ref().map_or(self.ack, |peers| peers.ack_of(peer))
    }

    /// True if `peer` wants congestion notification packets. Only asked if some host does.
    pub(super) fn notifies(&self, peer: HostId) -> bool {
        self.peers.as_ref().is_none_or(|peers| peers.wants_cnp(peer))
    }

    /// True if receivers of its packets must send congestion notification packets.
    pub fn wants_cnp(&self) -> bool {
        self.congestion.wants_cnp() || self.hardware.cnp.is_active()
    }

    /// The settings of the responders.
    pub(super) fn receiver_settings(&self) -> ReceiverSettings {
        let own = self.wants_cnp();
        // A responder serves senders of any host, so one host that wants CNPs turns them on.
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
