//! The rules by which receivers grant credit, for controls that request it.

use super::PathFacts;
use crate::units::{Bytes, Fraction};

/// Bytes on the wire per unit of credit.
pub const CREDIT_UNIT: u64 = 256;

/// The first credit number. It is far above 0, so that a target below it needs no sign.
pub const FIRST_CREDIT: u64 = 1 << 22;

/// How a receiver grants credit, and how it lowers its rate on an oversubscribed fabric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CreditRules {
    /// The most credit that a sender may have, in bandwidth-delay products.
    pub max_window: Fraction,
    /// The size of one grant: a multiple of [`CREDIT_UNIT`].
    pub grant: Bytes,
    /// The fraction of its ports' rate that it grants.
    pub pace: Fraction,
    /// True if it also grants credit while no sender requests any.
    pub unsolicited: bool,
    /// Oversubscription of the fabric: host bytes per fabric byte. With 1, the rate never falls.
    pub oversubscription: Fraction,
    /// The averaged fraction of marked packets above which its rate falls.
    pub target_congestion: Fraction,
    /// Weight of a new fraction in the average.
    pub gain: Fraction,
    /// The fraction of the excess above the target that the rate loses.
    pub decrease: Fraction,
    /// The rate's gain in an interval without trims or excess.
    pub increase: Fraction,
}

impl CreditRules {
    /// The most credit that a sender on this path may have, in bytes on the wire. At least one
    /// packet.
    pub fn max_credit(&self, path: &PathFacts) -> u64 {
        self.max_window.of(path.bdp().get()).max(path.packet.get())
    }
}
