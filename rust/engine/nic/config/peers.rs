//! What NICs know of each other where they are not all configured alike.

use super::NicConfig;
use crate::ids::HostId;
use crate::nic::qp::delivery::Delivery;
use crate::nic::receive::ack::AckConfig;
use crate::nic::recovery::Recovery;
use crate::units::Bytes;

/// What the others must know of a NIC.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Facts {
    /// How it acknowledges.
    ack: AckConfig,
    /// Whether its congestion control wants congestion notification packets.
    wants_cnp: bool,
}

/// What NICs know of each other, as their queue pairs would learn it when they are connected.
#[derive(Debug, Clone, PartialEq)]
pub struct Peers {
    /// By host.
    facts: Vec<Facts>,
}

impl Peers {
    /// The NICs of all hosts, by host.
    pub fn new<'a>(configs: impl Iterator<Item = &'a NicConfig>) -> Self {
        let facts = |config: &NicConfig| Facts {
            ack: config.ack,
            wants_cnp: config.congestion.wants_cnp(),
        };
        Self { facts: configs.map(facts).collect() }
    }

    /// How the NIC of `host` acknowledges.
    pub(in crate::nic) fn ack_of(&self, host: HostId) -> AckConfig {
        self.facts[host.index()].ack
    }

    /// Whether the congestion control of `host` wants congestion notification packets.
    pub(in crate::nic) fn wants_cnp(&self, host: HostId) -> bool {
        self.facts[host.index()].wants_cnp
    }

    /// Whether that of any host wants them.
    pub(in crate::nic) fn any_wants_cnp(&self) -> bool {
        self.facts.iter().any(|it| it.wants_cnp)
    }
}

/// A difference of two NICs that prevents a queue pair between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// The packets of a queue pair have one MTU.
    #[error("payload ({0} and {1})")]
    Payload(Bytes, Bytes),
    /// Both ends read the same headers.
    #[error("header ({0} and {1})")]
    Header(Bytes, Bytes),
    /// Both ends find losses in the same way.
    #[error("recovery ({0} and {1})")]
    Recovery(&'static str, &'static str),
    /// Both ends number messages for the same order.
    #[error("delivery ({0} and {1})")]
    Delivery(Delivery, Delivery),
}

impl NicConfig {
    /// Returns the mismatch with `other` that prevents a queue pair; `None` if they can connect.
    /// `recovery` is that of the queue pair, if it differs from the NIC's.
    pub fn mismatch(&self, other: &Self, recovery: Option<Recovery>) -> Option<Mismatch> {
        if self.payload != other.payload {
            return Some(Mismatch::Payload(self.payload, other.payload));
        }
        if self.header != other.header {
            return Some(Mismatch::Header(self.header, other.header));
        }
        let [of_self, of_other] = [self, other].map(|it| recovery.unwrap_or(it.recovery));
        if of_self != of_other {
            return Some(Mismatch::Recovery(of_self.name(), of_other.name()));
        }
        let [of_self, of_other] = [self, other].map(|it| it.delivery_with(of_self));
        (of_self != of_other).then_some(Mismatch::Delivery(of_self, of_other))
    }
}
