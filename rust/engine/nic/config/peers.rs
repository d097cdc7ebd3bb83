//! Configurations of other NICs, for hosts that are not all configured alike.

use super::NicConfig;
use crate::ids::HostId;
use crate::nic::qp::delivery::Delivery;
use crate::nic::receive::ack::AckConfig;
use crate::nic::recovery::Recovery;
use crate::units::Bytes;

/// The part of a NIC's configuration that its peers need.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Facts {
    /// Its acknowledgement settings.
    ack: AckConfig,
    /// True if its congestion control wants congestion notification packets.
    wants_cnp: bool,
}

/// The peers' configurations, as queue pairs would negotiate them when they connect.
#[derive(Debug, Clone, PartialEq)]
pub struct Peers {
    /// By host.
    facts: Vec<Facts>,
}

impl Peers {
    /// Collects the configurations of all hosts, given in host order.
    pub fn new<'a>(configs: impl Iterator<Item = &'a NicConfig>) -> Self {
        let facts = |config: &NicConfig| Facts { ack: config.ack, wants_cnp: config.wants_cnp() };
        Self { facts: configs.map(facts).collect() }
    }

    /// The acknowledgement settings of `host`'s NIC.
    pub(in crate::nic) fn ack_of(&self, host: HostId) -> AckConfig {
        self.facts[host.index()].ack
    }

    /// True if the congestion control of `host` wants congestion notification packets.
    pub(in crate::nic) fn wants_cnp(&self, host: HostId) -> bool {
        self.facts[host.index()].wants_cnp
    }

    /// True if any host wants congestion notification packets.
    pub(in crate::nic) fn any_wants_cnp(&self) -> bool {
        self.facts.iter().any(|it| it.wants_cnp)
    }
}

/// A difference between two NICs that prevents a queue pair between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// Different payload sizes: a queue pair has one MTU.
    #[error("payload ({0} and {1})")]
    Payload(Bytes, Bytes),
    /// Different header sizes.
    #[error("header ({0} and {1})")]
    Header(Bytes, Bytes),
    /// Different loss recoveries.
    #[error("recovery ({0} and {1})")]
    Recovery(&'static str, &'static str),
    /// Different delivery orders: both ends number messages for the same order.
    #[error("delivery ({0} and {1})")]
    Delivery(Delivery, Delivery),
}

impl NicConfig {
    /// Returns the mismatch with `other` that prevents a queue pair, or `None` if the two can
    /// connect. `recovery` overrides the NICs' recovery for this queue pair.
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
        // The order may follow from the recovery, so it is compared after the recoveries agree.
        let [of_self, of_other] = [self, other].map(|it| it.delivery_with(of_self));
        (of_self != of_other).then_some(Mismatch::Delivery(of_self, of_other))
    }
}
