//! Limits and costs of RoCE NICs that are absent by default: a receive pool that drains and stalls,
//! costs of a message, ceilings in packets per second, turns by message, further sources of
//! congestion notification packets, and timeouts by the local ACK timeout code.
//!
//! A NIC without any of them has no [`Hardware`], so each packet pays one test. Sources of the
//! mechanisms: InfiniBand Architecture Specification, volume 1, section 9.7.6.1.3 (local ACK
//! timeout); the documents of NVIDIA's adapters (adaptive retransmission, DCQCN registers); Lumina
//! (SIGCOMM 2023), which measured when NICs send notifications.
//!
//! A packet that the pool accepts is handled at once: the pool decides about losses, and adds no
//! delay. Costs of messages and errors after retries apply to queue pairs that report by events.

mod ack_timeout;
mod cnp;
mod paths;
mod pool;

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

pub use ack_timeout::AckTimeout;
pub(in crate::nic) use cnp::CnpOutput;
pub use cnp::{CnpLimiter, CnpSources};
use pool::Pool;
pub use pool::ReceivePool;

use crate::ids::QpId;
use crate::nic::NicEvent;
use crate::nic::qp::Slot;
use crate::nic::qp::event_qps::Write;
use crate::units::{Span, Time};

/// The optional limits and costs of a NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HardwareConfig {
    /// Pool that arriving data passes; none by default.
    pub receive: Option<ReceivePool>,
    /// Costs of a message: none by default.
    pub message: MessageCost,
    /// Ceilings in packets per second: none by default.
    pub packet_rate: PacketRate,
    /// Turns of queue pairs: by packet by default.
    pub turns: QpTurns,
    /// Sources of notifications in addition to marks.
    pub cnp: CnpSources,
    /// Timeouts by code and retry count; by default the retransmission timeout, without a limit.
    pub ack_timeout: Option<AckTimeout>,
}

impl HardwareConfig {
    /// True if it changes nothing.
    pub fn is_neutral(&self) -> bool {
        *self == Self::default()
    }
}

/// Costs of a message in addition to its packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MessageCost {
    /// Time from posting a message until its first packet may leave. Messages that were posted
    /// ahead overlap it with earlier transmissions.
    pub start: Span,
    /// Time from the last acknowledgement of a message until its completion.
    pub complete: Span,
}

/// Ceilings in data packets per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PacketRate {
    /// Ceiling of a queue pair.
    pub qp: Option<u64>,
    /// Ceiling of the NIC.
    pub nic: Option<u64>,
}

/// How queue pairs take turns on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QpTurns {
    /// A packet each.
    #[default]
    Packet,
    /// A message each, as far as rate and window permit.
    Message,
}

/// Counters of the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HardwareCounters {
    /// Data packets dropped in the NIC because its receive pool was full.
    pub rx_discards: u64,
    /// NACKs for a gap received (`packet_seq_err`).
    pub nacks_received: u64,
    /// Congestion notification packets sent (`np_cnp_sent`).
    pub cnps_sent: u64,
    /// Congestion notification packets received (`rp_cnp_handled`).
    pub cnps_received: u64,
    /// Timeouts that led to a retransmission (`local_ack_timeout_err`).
    pub timeouts: u64,
    /// Queue pairs in the error state because their retries were exceeded.
    pub qp_errors: u64,
    /// Time of the first of these errors.
    pub first_error: Option<Time>,
}

impl HardwareCounters {
    /// Returns the sums of both, and the earlier error.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            rx_discards: self.rx_discards + other.rx_discards,
            nacks_received: self.nacks_received + other.nacks_received,
            cnps_sent: self.cnps_sent + other.cnps_sent,
            cnps_received: self.cnps_received + other.cnps_received,
            timeouts: self.timeouts + other.timeouts,
            qp_errors: self.qp_errors + other.qp_errors,
            first_error: [self.first_error, other.first_error].into_iter().flatten().min(),
        }
    }
}

/// A message whose initiation is in progress.
#[derive(Debug, Clone, Copy)]
struct Starting {
    due: Time,
    qp: QpId,
    write: Write,
}

/// Timeouts of a requester since its last progress.
#[derive(Debug, Clone, Copy)]
struct Attempts {
    unacknowledged: u64,
    expired: u32,
}

/// The state of the limits of one NIC.
#[derive(Debug, Clone)]
pub(in crate::nic) struct Hardware {
    config: HardwareConfig,
    pool: Option<Pool>,
    /// Shortest time between two packets of a queue pair, and of the NIC.
    qp_interval: Span,
    nic_interval: Span,
    /// Earliest start of the next data packet.
    next_data: Time,
    // Both delays are constants, so these are in order of time.
    starting: VecDeque<Starting>,
    completing: VecDeque<(Time, NicEvent)>,
    attempts: BTreeMap<Slot, Attempts>,
    counters: HardwareCounters,
}

impl Hardware {
    /// Returns the state of a NIC with this configuration; `None` if it changes nothing.
    pub(in crate::nic) fn of(config: &HardwareConfig) -> Option<Box<Self>> {
        let interval = |rate: Option<u64>| {
            rate.map_or(Span::ZERO, |rate| Span::from_ps(1_000_000_000_000 / rate.max(1)))
        };
        (!config.is_neutral()).then(|| {
            Box::new(Self {
                config: *config,
                pool: config.receive.map(Pool::new),
                qp_interval: interval(config.packet_rate.qp),
                nic_interval: interval(config.packet_rate.nic),
                next_data: Time::ZERO,
                starting: VecDeque::new(),
                completing: VecDeque::new(),
                attempts: BTreeMap::new(),
                counters: HardwareCounters::default(),
            })
        })
    }

    /// Returns when the next message starts or completes; `NEVER` without one.
    fn next_due(&self) -> Time {
        let start = self.starting.front().map_or(Time::NEVER, |it| it.due);
        self.completing.front().map_or(start, |&(due, _)| due.min(start))
    }
}
