//! The transport of a run, with what `auto` became.

use serde::Serialize;

use crate::fabric::Setup;

/// The transport of a run: that of its policy, where jobs have others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TransportSummary {
    /// The congestion control, by the name that scenarios use.
    pub congestion_control: &'static str,
    /// The loss recovery: that for which the policy is designed, unless the scenario names one.
    pub recovery: &'static str,
    /// The order of delivery: `ordered` or `unordered`.
    pub delivery: String,
    /// The retransmission timer, in nanoseconds.
    pub retransmit_timeout_ns: f64,
}

impl TransportSummary {
    /// The transport of a setup.
    pub fn of(setup: &Setup) -> Self {
        let nic = &setup.nic;
        let delivery = nic.queue_pairs.delivery.unwrap_or(nic.recovery.delivery());
        Self {
            congestion_control: nic.congestion.name(),
            recovery: nic.recovery.name(),
            delivery: delivery.to_string(),
            retransmit_timeout_ns: nic.retransmit_timeout.as_ns_f64(),
        }
    }
}
