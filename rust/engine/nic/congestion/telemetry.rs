//! The telemetry that a congestion control requests from switches.

use std::num::NonZero;

use super::AbsoluteOrFraction;
use crate::units::Span;

/// Telemetry that switches write into data packets and receivers return.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TelemetryRequest {
    /// Time, bytes sent, queue and rate of each hop (INT).
    Hops {
        /// Factor by which units are larger than those for 25 Gbps. If omitted, the rate of the
        /// fastest host's port divided by 25 Gbps.
        multiple: Option<NonZero<u16>>,
    },
    /// The utilization of the busiest hop, as a power of `base` (PINT).
    Utilization {
        /// The base of the powers, above 1.
        base: f64,
        /// The averaging time of ports, or its fraction of the round-trip time of the longest idle
        /// path.
        round_trip: AbsoluteOrFraction<Span>,
    },
}
