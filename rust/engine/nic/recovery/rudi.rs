//! Reliable unordered delivery of idempotent operations (RUDI): each packet is a request with a
//! response of its own, and the target keeps no state.
//!
//! Source: Ultra Ethernet Specification 1.0, delivery modes of the packet delivery sublayer, by
//! public notes on it.
//!
//! - Packets may take any path and arrive in any order; the target executes each as it comes, and
//!   answers it at once. It does not know what it has executed: a packet whose response was lost is
//!   executed again, and answered again. So operations must be repeatable: WRITEs alone.
//! - A response speaks of one packet, without a cumulative number. The requester sends a packet
//!   again when no response has come for a time-out, `retransmit_timeout` without back-off
//!   \[inferred\], or at once when a NACK says that it was trimmed.

use serde::{Deserialize, Serialize};

use super::per_packet::PerPacket;
use super::{Recovery, RecoveryConfig, SenderFacts};
use crate::nic::parameters::Configuration;
use crate::nic::qp::delivery::Delivery;
use crate::nic::receive::ack::AckRange;
use crate::nic::receive::receiver::{Receiving, Stateless};

/// Parameters: none; the timer is `retransmit_timeout`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {}

impl Configuration for Config {
    const NAME: &'static str = "rudi";
    const SUMMARY: &'static str =
        "unordered delivery of idempotent operations of Ultra Ethernet: each packet has a response";
    const SOURCE: &'static str =
        "Ultra Ethernet Specification 1.0, delivery modes, by public notes";
}

impl RecoveryConfig for Config {
    type Sender = PerPacket;

    /// Without state a target cannot hold anything back.
    const DELIVERIES: &'static [Delivery] = &[Delivery::Unordered];
    const ACK_RANGES: &'static [AckRange] = &[AckRange::Packet];
    const REPEATS: bool = true;
    const COUNTS_PLANES: bool = true;

    fn sender(&self, facts: &SenderFacts) -> PerPacket {
        PerPacket::with_responses(facts)
    }

    fn receiver(&self, _delivery: Delivery) -> Receiving {
        Stateless::default().into()
    }
}

impl Recovery {
    /// Each packet with a response of its own.
    pub const RUDI: Self = Self::Rudi(Config {});
}
