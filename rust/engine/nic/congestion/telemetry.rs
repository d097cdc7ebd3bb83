//! What a congestion control wants to know from switches.

use std::num::NonZero;

use super::AbsoluteOrFraction;
use crate::units::Span;

/// What switches write into data packets for a congestion control, and receivers return.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TelemetryRequest {
    /// Time, bytes sent, queue and rate of each hop (INT).
    Hops {
        /// By how much units are larger than those of 25 Gbps; the rate of the fastest host's port
        /// divided by 25 Gbps if omitted.
        multiple: Option<NonZero<u16>>,
    },
    /// The utilization of the busiest hop, as a power of `base` (PINT).
    Utilization {
        /// The base of the powers, above 1.
        base: f64,
        /// The time over which ports average, or its part of the round trip of the longest idle
        /// path.
        round_trip: AbsoluteOrFraction<Span>,
    },
}
