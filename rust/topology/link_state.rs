//! The state of links as known to routing.

use crate::units::BitRate;

/// The state of all links as routing has it once it has converged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkState {
    /// What is left of the rate of each link, by link; 0 where it is down.
    pub rates: Vec<BitRate>,
    /// Whether next hops are weighed for a failure.
    pub failures: FailuresKnown,
}

/// Whether routing weighs next hops because it knows of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailuresKnown {
    /// It knows of no failure, or does not distribute weights.
    None,
    /// It knows of one or more.
    Some,
}
