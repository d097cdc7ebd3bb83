//! What recoveries report, and are told, of packets that did not arrive.

use crate::units::Span;

/// What a negative acknowledgement reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::nic) struct Missed {
    /// Every packet before this one has arrived; with an erasure code, the message it is about.
    pub missing: u64,
    /// The packet that the receiver answers with it.
    pub psn: u64,
    /// Why it is missing.
    pub why: Why,
}

/// Why a receiver lacks a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::nic) enum Why {
    /// Another came before it.
    Gap,
    /// A switch cut it to its header.
    Trimmed,
}

/// The packets of one plane of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::nic) struct PlaneUse {
    /// Packets sent that are neither acknowledged nor given up.
    pub in_flight: u64,
    /// Packets that the last acknowledgement was the first to report.
    pub arrived: u32,
    /// The round trip of the last of them that was sent once.
    pub rtt: Option<Span>,
}

/// A packet that arrivals beyond it show to be lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::nic) struct Lost {
    /// The entropy value that it carried.
    pub entropy: u16,
    /// Whether it begins a recovery.
    pub position: LostPosition,
}

/// Where in a recovery a loss is: the losses of one round trip are one sign of congestion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::nic) enum LostPosition {
    /// A recovery begins with it.
    First,
    /// A recovery was under way.
    Later,
}

/// A packet whose timer expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::nic) struct Expired {
    /// The entropy value that it carried.
    pub entropy: u16,
}
