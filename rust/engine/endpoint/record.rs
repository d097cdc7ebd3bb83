//! The records of flows and queue pairs at the end of a run.

use crate::ids::{HostId, MessageId};
use crate::units::{Bytes, Time};

/// One flow: a message, or the piece of it that a splitter put on a queue pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowRecord {
    /// The message it is (a piece of).
    pub message: MessageId,
    /// The index of the piece in its message.
    pub piece: u32,
    /// The host that sends the flow.
    pub src: HostId,
    /// The host that receives the flow.
    pub dst: HostId,
    /// Payload of the flow, without headers and retransmissions.
    pub bytes: Bytes,
    /// When it was posted to the NIC.
    pub start: Time,
    /// When its last byte was at the receiver; `Time::NEVER` if that did not happen.
    pub delivered: Time,
    /// When its sender had the last acknowledgement; `Time::NEVER` if that did not happen.
    pub completed: Time,
    /// UDP source port of its queue pair (49152 and up, by pair and piece); 0 of a message that
    /// the scale-up network of a server carried.
    pub source_port: u16,
}

/// Queue pairs that messages opened, counted at the NIC that sends on them. C++ shares the record,
/// so that its layout is fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct QpCounts {
    /// The most at one NIC.
    pub per_nic_max: u64,
    /// At all NICs together.
    pub total: u64,
    /// The most at one NIC, without the first of each peer and stream.
    pub extra_per_nic_max: u64,
    /// At all NICs together, without the first of each peer and stream.
    pub extra_total: u64,
    /// The most at one NIC that had incomplete work at the same time.
    pub in_use_per_nic_max: u64,
    /// The most from one NIC to one peer that had incomplete work at the same time.
    pub in_use_per_peer_max: u64,
}
