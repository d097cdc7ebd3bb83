//! Transport of a run, with `auto` resolved.

use schemars::JsonSchema;
use serde::Serialize;

use crate::endpoint::base_rtt;
use crate::fabric::Setup;
use crate::units::Span;

/// Transport of a run. It is that of the scenario's policy, even if jobs have other policies.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TransportSummary {
    /// Congestion control, by its name in scenarios.
    pub congestion_control: &'static str,
    /// Loss recovery: the one that the policy is designed for, unless the scenario names one.
    pub recovery: &'static str,
    /// Order of delivery: `ordered` or `unordered`.
    pub delivery: String,
    /// Retransmission timeout before any backoff, in nanoseconds: that of the scenario, or that of
    /// a recovery with its own timeouts.
    pub retransmit_timeout_ns: f64,
}

impl TransportSummary {
    /// Returns the transport of a setup.
    pub fn of(setup: &Setup) -> Self {
        let nic = &setup.nic;
        let delivery = nic.queue_pairs.delivery.unwrap_or(nic.recovery.delivery());
        Self {
            congestion_control: nic.congestion.name(),
            recovery: nic.recovery.name(),
            delivery: delivery.to_string(),
            retransmit_timeout_ns: first_timeout(setup).as_ns_f64(),
        }
    }
}

/// Returns the time until a packet without acknowledgement is retransmitted for the first time.
fn first_timeout(setup: &Setup) -> Span {
    let Setup { topology, nic, fabric, .. } = setup;
    // Routes are computed only for a recovery whose timer depends on the round trip.
    let round_trip = || {
        let routes = topology.routes();
        base_rtt(topology, routes, nic, fabric.forwarding_delay, &setup.workload)
    };
    nic.recovery.first_timeout(nic.retransmit_timeout, round_trip)
}
