//! Reports about packets that did not arrive, to and from loss recoveries.

use crate::units::Span;

/// The content of a negative acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::nic) struct NackReport {
    /// Every packet before this one has arrived. With an erasure code, the message that it reports.
    pub missing: u64,
    /// The packet that triggered the NACK.
    pub psn: u64,
    /// The reason.
    pub reason: MissReason,
}

/// The reason that a receiver lacks a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::nic) enum MissReason {
    /// A later packet arrived first.
    Gap,
    /// A switch trimmed it to its header.
    Trimmed,
}

/// The packets of one plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::nic) struct PlaneUse {
    /// Packets sent that are neither acknowledged nor given up.
    pub in_flight: u64,
    /// Packets that the last acknowledgement was the first to report.
    pub arrived: u32,
    /// Round-trip time of the last of them that was sent only once.
    pub rtt: Option<Span>,
}

/// A packet that later arrivals show to be lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::nic) struct Lost {
    /// Its entropy value.
    pub entropy: u16,
    /// Its position in the recovery.
    pub position: LostPosition,
    /// True if its path also gave no answer within a timeout.
    pub timed_out: bool,
}

/// Position of a loss in a recovery. All losses of one round trip are one sign of congestion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::nic) enum LostPosition {
    /// It starts a recovery.
    First,
    /// A recovery was already under way.
    Later,
}

/// A packet whose timer expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::nic) struct TimedOut {
    /// Its entropy value.
    pub entropy: u16,
}
