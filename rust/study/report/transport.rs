//! The transport of a run, with what `auto` became.

use schemars::JsonSchema;
use serde::Serialize;

use crate::endpoint::base_rtt;
use crate::fabric::Setup;
use crate::units::Span;

/// The transport of a run: that of its policy, where jobs have others.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TransportSummary {
    /// The congestion control, by the name that scenarios use.
    pub congestion_control: &'static str,
    /// The loss recovery: that for which the policy is designed, unless the scenario names one.
    pub recovery: &'static str,
    /// The order of delivery: `ordered` or `unordered`.
    pub delivery: String,
    /// The retransmission timer before any back-off, in nanoseconds: that of the scenario, or that
    /// of a recovery with time-outs of its own.
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
            retransmit_timeout_ns: first_timeout(setup).as_ns_f64(),
        }
    }
}

/// How long a packet waits for an acknowledgement before it is sent again for the first time.
fn first_timeout(setup: &Setup) -> Span {
    let Setup { topology, nic, fabric, .. } = setup;
    // Routes are computed only for a recovery whose timer follows from the round trip.
    let round_trip = || {
        let routes = topology.routes();
        base_rtt(topology, routes, nic, fabric.forwarding_delay, &setup.workload)
    };
    nic.recovery.first_timeout(nic.retransmit_timeout, round_trip)
}
