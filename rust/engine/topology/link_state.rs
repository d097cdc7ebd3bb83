//! The state of links as known to routing.

use crate::units::BitRate;

/// The state of all links as routing has it once it has converged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkState {
    /// The remaining rate of each link, by link; 0 if it is down.
    pub rates: Vec<BitRate>,
    /// Whether next hops are weighed for a failure.
    pub failures: FailuresKnown,
}

/// Whether routing weighs next hops because of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailuresKnown {
    /// No failure is known, or routing does not distribute weights.
    None,
    /// At least one failure is known.
    Some,
}
