//! Reliable unordered delivery of idempotent operations (RUDI): each packet is a request with its
//! own response, and the target keeps no state.
//!
//! Source: Ultra Ethernet Specification 1.0, delivery modes of the packet delivery sublayer, by
//! public notes on it.
//!
//! - Packets may take any path and arrive in any order. The target executes each one on arrival and
//!   responds immediately. It does not remember what it has executed: if the response is lost, the
//!   packet is executed and answered again. Operations must therefore be idempotent: only WRITEs.
//! - A response reports one packet, without a cumulative number. The requester retransmits a packet
//!   if no response comes within a timeout, `retransmit_timeout` without back-off \[inferred\]. If
//!   a NACK says that it was trimmed, it is retransmitted immediately.

use serde::{Deserialize, Serialize};

use super::per_packet::PerPacket;
use super::{Recovery, RecoveryConfig, SenderFacts};
use crate::nic::parameters::Configuration;
use crate::nic::qp::delivery::Delivery;
use crate::nic::receive::ack::AckRange;
use crate::nic::receive::receiver::{Receiving, Stateless};

/// Parameters: none. The timer is `retransmit_timeout`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {}

impl Configuration for Config {
    const NAME: &'static str = "rudi";
    const SUMMARY: &'static str =
        "unordered delivery of idempotent operations of Ultra Ethernet: one response per packet";
    const SOURCE: &'static str =
        "Ultra Ethernet Specification 1.0, delivery modes, by public notes";
}

impl RecoveryConfig for Config {
    type Sender = PerPacket;

    /// Without state, a target cannot hold anything back.
    const DELIVERIES: &'static [Delivery] = &[Delivery::Unordered];
    const ACK_RANGES: &'static [AckRange] = &[AckRange::Packet];
    const REQUIRES_IDEMPOTENCE: bool = true;
    const COUNTS_PLANES: bool = true;

    fn sender(&self, facts: &SenderFacts) -> PerPacket {
        PerPacket::with_responses(facts)
    }

    fn receiver(&self, _delivery: Delivery) -> Receiving {
        Stateless::default().into()
    }
}

impl Recovery {
    /// One response per packet.
    pub const RUDI: Self = Self::Rudi(Config {});
}
