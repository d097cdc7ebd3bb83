//! Reliable ordered delivery (ROD): go-back-N over one path.
//!
//! Source: Ultra Ethernet Specification 1.0, delivery modes of the packet delivery sublayer, by
//! public notes on it.
//!
//! - Packets are accepted only in order. The receiver drops everything behind a gap and sends a
//!   NACK (out of order, 0x0D) for the first missing packet. The sender goes back to it.
//! - All packets of a queue pair carry one entropy value: the first that the policy chooses. A
//!   policy with one value per queue pair keeps it. If the splitter moves the queue pair between
//!   messages, the policy follows. No policy gets feedback.
//!
//! Open details follow `go-back-n` \[inferred\]. There is one NACK per gap, repeated
//! after `nack_interval`. A queue pair has one timer, `retransmit_timeout`, without back-off.

use serde::{Deserialize, Serialize};

use super::go_back_n::{BackTo, GoBackN};
use super::{Recovery, RecoveryConfig, SenderFacts};
use crate::nic::parameters::Configuration;
use crate::nic::qp::delivery::Delivery;
use crate::nic::receive::receiver::{InOrder, Receiving};

/// Parameters: none. The timers are `retransmit_timeout` and `nack_interval`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {}

impl Configuration for Config {
    const NAME: &'static str = "rod";
    const SUMMARY: &'static str =
        "reliable ordered delivery of Ultra Ethernet: go-back-N, one path per queue pair";
    const SOURCE: &'static str =
        "Ultra Ethernet Specification 1.0, delivery modes, by public notes";
}

impl RecoveryConfig for Config {
    type Sender = GoBackN;

    /// Packets are accepted in order, so no message can overtake another.
    const DELIVERIES: &'static [Delivery] = &[Delivery::Ordered];
    const SINGLE_PATH: bool = true;

    fn sender(&self, facts: &SenderFacts) -> GoBackN {
        GoBackN::new(BackTo::Missing, facts.timeout)
    }

    fn receiver(&self, _delivery: Delivery) -> Receiving {
        InOrder::new().into()
    }
}

impl Recovery {
    /// Go-back-N over one path.
    pub const ROD: Self = Self::Rod(Config {});
}
