//! What receivers grant credit by, for controls that ask for it.

use super::PathFacts;
use crate::units::{Bytes, Fraction};

/// Bytes on the wire for each unit of credit.
pub const CREDIT_UNIT: u64 = 256;

/// Numbers of credit begin here, so that a target below the first one needs no sign.
pub const FIRST_CREDIT: u64 = 1 << 22;

/// How a receiver grants credit, and how it lowers its rate on an oversubscribed fabric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CreditRules {
    /// The most credit that a sender may have, in bandwidth-delay products.
    pub max_window: Fraction,
    /// What it grants at once: a multiple of [`CREDIT_UNIT`].
    pub grant: Bytes,
    /// The part of the rate of its ports that it grants.
    pub pace: Fraction,
    /// Whether it grants unasked while nobody asks.
    pub unasked: bool,
    /// How many bytes of hosts share one byte of the fabric; 1 for a rate that never falls.
    pub oversubscription: Fraction,
    /// The averaged part of marked packets above which its rate falls.
    pub target_congestion: Fraction,
    /// Weight of a new part in the average.
    pub gain: Fraction,
    /// How much of the excess above the target the rate loses.
    pub decrease: Fraction,
    /// What the rate gains in an interval without trims or excess.
    pub increase: Fraction,
}

impl CreditRules {
    /// The most credit that a sender on this path may have, in bytes on the wire; at least that of
    /// one packet.
    pub fn most(&self, path: &PathFacts) -> u64 {
        self.max_window.of(path.bdp().get()).max(path.packet.get())
    }
}
