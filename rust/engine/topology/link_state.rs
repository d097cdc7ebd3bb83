//! The state of links as known to routing.

use super::Topology;
use crate::units::BitRate;

/// The state of all links as routing has it once it has converged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkState {
    /// The remaining rate of each link, by link; 0 if it is down.
    pub rates: Vec<BitRate>,
    /// Whether next hops are weighed for a failure.
    pub failures: FailuresKnown,
}

impl LinkState {
    /// The state before anything has failed.
    pub fn intact(topology: &Topology) -> Self {
        let rates = topology.links().iter().map(|link| link.rate).collect();
        let failures = if topology.is_uneven() { FailuresKnown::Some } else { FailuresKnown::None };
        Self { rates, failures }
    }
}

/// Whether routing weighs next hops by capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailuresKnown {
    /// No failure is known and all links are alike, or routing does not distribute weights.
    None,
    /// At least one failure is known, or links have different rates.
    Some,
}
