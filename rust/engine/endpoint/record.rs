//! Records of flows and queue pairs at the end of a run.

use crate::ids::{HostId, MessageId};
use crate::units::{Bytes, Time};

/// A flow: a message, or a piece of one that a splitter posted to a queue pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowRecord {
    /// The message that the flow is, or is a piece of.
    pub message: MessageId,
    /// Index of the piece in its message.
    pub piece: u32,
    /// The host that sends the flow.
    pub src: HostId,
    /// The host that receives the flow.
    pub dst: HostId,
    /// Payload bytes, without headers and retransmissions.
    pub bytes: Bytes,
    /// Time at which it was posted to the NIC.
    pub start: Time,
    /// Time at which the receiver had its last byte; `Time::NEVER` if it was not delivered.
    pub delivered: Time,
    /// Time at which the sender had the last acknowledgement; `Time::NEVER` if it did not complete.
    pub completed: Time,
    /// UDP source port of its queue pair, from 49152, by pair and piece. 0 if a scale-up network
    /// carried the message.
    pub source_port: u16,
}

/// Queue pairs that messages opened, counted at the NIC that sends on them. The layout is fixed,
/// because C++ shares this record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct QpCounts {
    /// Maximum over NICs.
    pub per_nic_max: u64,
    /// Total over NICs.
    pub total: u64,
    /// Maximum over NICs, without the first queue pair of each peer and stream.
    pub extra_per_nic_max: u64,
    /// Total over NICs, without the first queue pair of each peer and stream.
    pub extra_total: u64,
    /// Maximum over NICs of queue pairs with incomplete work at the same time.
    pub in_use_per_nic_max: u64,
    /// Maximum over NIC and peer of queue pairs with incomplete work at the same time.
    pub in_use_per_peer_max: u64,
}
