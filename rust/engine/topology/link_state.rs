//! Link state as known to routing.

use super::Topology;
use crate::units::BitRate;

/// The state of all links as routing sees it after convergence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkState {
    /// Remaining rate of each link, by link id; 0 if it is down.
    pub rates: Vec<BitRate>,
    /// Whether next hops are weighted.
    pub failures: KnownFailures,
}

impl LinkState {
    /// Returns the state without failures.
    pub fn intact(topology: &Topology) -> Self {
        let rates = topology.links().iter().map(|link| link.rate).collect();
        let failures = if topology.is_uneven() { KnownFailures::Some } else { KnownFailures::None };
        Self { rates, failures }
    }
}

/// Whether routing weights next hops by capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownFailures {
    /// No failure is known and all fabric links have the same rate, or routing does not distribute
    /// weights.
    None,
    /// At least one failure is known, or links have different rates.
    Some,
}
