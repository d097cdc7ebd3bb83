//! The verbs: work requests in, completions out, and errors with the names of rdma-core.
//!
//! Source: InfiniBand Architecture Specification, volume 1, chapters 9 (transport) and 11
//! (software transport interface); statuses and error numbers are spelled as in rdma-core.
//!
//! Payloads are not carried, so there are no buffers, keys or addresses here. The model is simpler
//! than the specification in these points:
//!
//! - *READ*: the request is a message of one packet without payload. The peer's requester streams
//!   the response as a message with its own PSNs, loss recovery and congestion control. In the
//!   specification it uses PSNs that the reader reserves. The reader's work completes with the last
//!   byte. Any number of READs may be outstanding (the specification: as many as agreed on).
//! - *SEND* and immediate data name the receive that they consume by its number, as IRN does
//!   (SIGCOMM 2018, section 5.3), so they find it in whatever order packets arrive. A packet whose
//!   receive is not posted is refused (RNR NAK); the sender continues after the RNR timer. With the
//!   ideal erasure code there are only WRITEs.
//! - *Unordered delivery*: SENDs take receives in the order of delivery. There are no READs,
//!   because a response is identified by its position in the order.
//! - All queue pairs of a NIC share its completion queue, and every work request is signalled.

mod engine;
mod header;
mod queues;

pub(super) use engine::Verbs;
pub use header::VerbCode;
pub(super) use queues::WorkQueues;

use std::fmt;

use thiserror::Error;

use super::qp::QpState;
use super::{CacheConfig, Delivery};
use crate::ids::QpId;
use crate::units::{Bytes, Span};

/// The longest message: 2^31 bytes (specification, volume 1, section 9.7.6).
pub const LONGEST_MESSAGE: Bytes = Bytes::new(1 << 31);
/// The smallest MTU: 256 bytes (specification, volume 1, section 9.5).
pub const MIN_MTU: Bytes = Bytes::new(256);
/// The largest MTU: 9,000 bytes, a jumbo frame; the specification stops at 4,096.
pub const MAX_MTU: Bytes = Bytes::new(9_000);
/// The deepest queue: message numbers on our wire have 14 bits, and responses to READs take as many
/// as requests.
pub const MAX_QUEUE_DEPTH: usize = 4_095;

/// The configuration of queue pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QpConfig {
    /// Work requests that a send queue holds until they complete: 1,024, at most 4,095
    /// \[inferred\].
    pub send_queue: usize,
    /// Receives that a receive queue holds: 1,024, at most 4,095 \[inferred\].
    pub receive_queue: usize,
    /// Most WRITEs with immediate data in a send queue (`max_wimm` of MRC, OCP 1.0, 2026, whose
    /// example is 128): no limit.
    pub immediates: Option<u32>,
    /// Most messages in progress on a queue pair that reports by events, which are then WRITEs with
    /// immediate data (`max_wimm` of MRC). Further ones wait for a completion. By default they are
    /// plain WRITEs without a limit.
    pub immediate_messages: Option<u32>,
    /// Pause of a sender after an RNR NAK: 640 us, code 12 of the specification's table of RNR
    /// timers (volume 1, section 9.7.5.2.8), which the examples of rdma-core set.
    pub rnr_timer: Span,
    /// Consecutive RNR NAKs before work fails with `RNR_RETRY_EXC_ERR`; no limit by default, like
    /// code 7 of the specification.
    pub rnr_retries: Option<u32>,
    /// Consecutive timeouts before work fails with `RETRY_EXC_ERR`. No limit by default, as in the
    /// simulators of the field; hardware has at most 7. Only work requests can fail: a queue pair
    /// that reports by events has no completion to report it, and retries without limit.
    pub retries: Option<u32>,
    /// Memory of one context: 375 B, the figure commonly given for ConnectX NICs \[inferred\].
    pub context_bytes: Bytes,
    /// Delivery order of messages; by default that of the loss recovery, see
    /// [`crate::nic::Recovery::delivery`].
    pub delivery: Option<Delivery>,
    /// A cache of contexts; by default every context is in the NIC.
    pub cache: Option<CacheConfig>,
}

impl Default for QpConfig {
    fn default() -> Self {
        Self {
            send_queue: 1_024,
            receive_queue: 1_024,
            immediates: None,
            immediate_messages: None,
            rnr_timer: Span::from_us(640),
            rnr_retries: None,
            retries: None,
            context_bytes: Bytes::new(375),
            delivery: None,
            cache: None,
        }
    }
}

/// The operation of a work request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// RDMA WRITE: the bytes are placed in the peer's memory; the peer is not notified.
    Write,
    /// RDMA WRITE, then a completion with this number at the peer, which consumes one of its
    /// receives.
    WriteWithImmediate(u32),
    /// SEND: the bytes go to a receive that the peer posted.
    Send,
    /// RDMA READ: the peer's bytes are fetched.
    Read,
}

/// A work request for a send queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkRequest {
    /// Id in its completion.
    pub id: u64,
    /// The operation.
    pub operation: Operation,
    /// Length of the message.
    pub bytes: Bytes,
    /// Path that it is pinned to, if the policy pins and the queue pair is idle.
    pub path: u16,
}

/// The kind of work that a completion reports, spelled as in rdma-core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opcode {
    /// A WRITE, with or without immediate data.
    RdmaWrite,
    /// A SEND, at the end that posted it.
    Send,
    /// A READ, when the last byte of its response has arrived.
    RdmaRead,
    /// A receive that a SEND has consumed.
    Receive,
    /// A receive that a WRITE with immediate data has consumed.
    ReceiveRdmaWithImmediate,
}

/// Status of completed work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletionStatus {
    /// The work is done: the peer has acknowledged it, or the message has arrived.
    Success,
    /// The queue pair went to Error before the work was done.
    Flushed,
    /// The peer did not acknowledge within the permitted retries.
    RetryExceeded,
    /// The peer had no receive within the permitted retries.
    RnrRetryExceeded,
    /// The peer cannot serve the request: a READ from a queue pair that only receives.
    RemoteInvalidRequest,
}

impl fmt::Display for CompletionStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Success => "IBV_WC_SUCCESS",
            Self::Flushed => "IBV_WC_WR_FLUSH_ERR",
            Self::RetryExceeded => "IBV_WC_RETRY_EXC_ERR",
            Self::RnrRetryExceeded => "IBV_WC_RNR_RETRY_EXC_ERR",
            Self::RemoteInvalidRequest => "IBV_WC_REM_INV_REQ_ERR",
        })
    }
}

/// The completion of a work request or receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// The queue pair that it was posted to.
    pub qp: QpId,
    /// Id of the work request or receive.
    pub id: u64,
    /// Kind of work; always `Receive` for a flushed receive.
    pub opcode: Opcode,
    /// Success, or the reason of the failure.
    pub status: CompletionStatus,
    /// Bytes transferred; 0 if it failed.
    pub bytes: Bytes,
    /// Number that came with a WRITE with immediate data.
    pub immediate: Option<u32>,
}

/// The error of a verb. [`VerbsError::errno`] names what rdma-core returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum VerbsError {
    /// No queue pair has this number, or it was destroyed (EINVAL).
    #[error("{qp} does not exist; create_qp returns the numbers in use")]
    UnknownQp {
        /// The number that was given.
        qp: QpId,
    },
    /// The transition is not legal (EINVAL).
    #[error("{qp}: {from} cannot become {to}; see the table of transitions")]
    InvalidTransition {
        /// The queue pair to be modified.
        qp: QpId,
        /// The current state.
        from: QpState,
        /// The requested state.
        to: QpState,
    },
    /// It cannot receive without knowing its other end (EINVAL).
    #[error("{qp} has no peer; call set_peer_qp before RTR")]
    NotConnected {
        /// The queue pair that lacks its other end.
        qp: QpId,
    },
    /// The queue pair's state does not permit the verb (EINVAL).
    #[error("{qp}: {verb} is not possible in state {state}")]
    WrongState {
        /// The queue pair of the call.
        qp: QpId,
        /// The current state.
        state: QpState,
        /// The verb.
        verb: &'static str,
    },
    /// The queue pair was created without a requester (EINVAL).
    #[error("{qp} is receive-only; pass a policy to create_qp")]
    ReceiveOnly {
        /// The queue pair without a requester.
        qp: QpId,
    },
    /// The queue pair reports by events, but work requests need completions (EINVAL).
    #[error("{qp} has no completions; create it with Reporting::Completions, or use Nic::post")]
    NoCompletions {
        /// The queue pair without completions.
        qp: QpId,
    },
    /// The message is too long (EINVAL).
    #[error("a message of {bytes} is too long; the longest is {} bytes", LONGEST_MESSAGE.get())]
    MessageTooLong {
        /// The requested length.
        bytes: Bytes,
    },
    /// A READ of zero bytes (EINVAL here; the specification permits it).
    #[error("a READ must request at least one byte")]
    EmptyRead,
    /// The payload of a packet is out of range (EINVAL).
    #[error("MTU {mtu} is out of range: it must be from {MIN_MTU} to {}B", MAX_MTU.get())]
    Mtu {
        /// The payload of a full packet.
        mtu: Bytes,
    },
    /// The send queue is full (ENOMEM).
    #[error("{qp}: its send queue holds {depth} work requests and is full; poll completions")]
    SendQueueFull {
        /// The queue pair whose send queue is full.
        qp: QpId,
        /// Work requests that it holds.
        depth: usize,
    },
    /// The receive queue is full (ENOMEM).
    #[error("{qp}: its receive queue holds {depth} receives and is full; poll completions")]
    ReceiveQueueFull {
        /// The queue pair whose receive queue is full.
        qp: QpId,
        /// Receives that it holds.
        depth: usize,
    },
    /// The limit of incomplete WRITEs with immediate data is reached (ENOMEM).
    #[error(
        "{qp}: the limit of {limit} incomplete WRITEs with immediate data is reached; poll \
             completions"
    )]
    TooManyImmediates {
        /// The queue pair.
        qp: QpId,
        /// The limit.
        limit: u32,
    },
    /// The packets of the loss recovery have no room for the headers of other verbs (EOPNOTSUPP).
    #[error("{recovery} supports only WRITEs; choose another loss recovery")]
    WritesOnly {
        /// The loss recovery.
        recovery: &'static str,
    },
    /// The loss recovery cannot deliver in this order (EOPNOTSUPP).
    #[error(
        "{recovery} does not support {delivery} delivery; choose another delivery or loss recovery"
    )]
    UnsupportedDelivery {
        /// The loss recovery.
        recovery: &'static str,
        /// The order.
        delivery: Delivery,
    },
    /// With unordered delivery, responses to READs cannot be identified (EOPNOTSUPP).
    #[error("unordered delivery does not support READs; choose ordered delivery")]
    UnorderedRead,
    /// All queue pair numbers, which have 24 bits, are in use (ENOMEM).
    #[error("all 2^24 queue pair numbers are in use")]
    TooManyQueuePairs,
}

impl VerbsError {
    /// Returns the name of the error number that rdma-core returns.
    pub const fn errno(&self) -> &'static str {
        match self {
            Self::SendQueueFull { .. }
            | Self::ReceiveQueueFull { .. }
            | Self::TooManyImmediates { .. }
            | Self::TooManyQueuePairs => "ENOMEM",
            Self::WritesOnly { .. } | Self::UnsupportedDelivery { .. } | Self::UnorderedRead => {
                "EOPNOTSUPP"
            }
            _ => "EINVAL",
        }
    }
}

#[cfg(test)]
mod tests;
