//! Cost of a run in state: queue pairs of NICs, and what policies keep.

use schemars::JsonSchema;
use serde::Serialize;

use crate::fabric::{Outcome, QpCounts};

/// Counts of queue pairs at the NICs that send on them. A queue pair is extra if a splitter opened
/// it beyond the first for its pair of peers and message stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Qps {
    /// Maximum number of queue pairs at one NIC.
    pub per_nic_max: u64,
    /// Total number of queue pairs of all NICs.
    pub total: u64,
    /// Maximum number of extra queue pairs at one NIC.
    pub extra_per_nic_max: u64,
    /// Total number of extra queue pairs.
    pub extra_total: u64,
    /// Maximum number of queue pairs at one NIC with incomplete work at the same time; `None`
    /// without a simulation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_use_per_nic_max: Option<u64>,
    /// Maximum number of queue pairs from one NIC to one peer with incomplete work at the same
    /// time; `None` without a simulation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_use_per_peer_max: Option<u64>,
}

impl Qps {
    /// Returns the counts of opened queue pairs, without those of concurrent use.
    pub fn opened(counts: QpCounts) -> Self {
        Self { in_use_per_nic_max: None, in_use_per_peer_max: None, ..counts.into() }
    }
}

/// State that policies keep at run time, which hardware would have to store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct State {
    /// Maximum number of entries (pointers, remembered ports, table cells) in one switch.
    pub switch_entries_max: u64,
    /// Maximum number of bits in one switch.
    pub switch_bits_max: u64,
    /// Maximum number of bits that a sender policy keeps for one queue pair.
    pub sender_bits_per_qp_max: u64,
}

impl State {
    pub(super) fn of(outcome: &Outcome) -> Self {
        let switches = || outcome.switch_states.iter();
        Self {
            switch_entries_max: switches().map(|it| it.entries).max().unwrap_or(0),
            switch_bits_max: switches().map(|it| it.bits).max().unwrap_or(0),
            sender_bits_per_qp_max: outcome.sender_bits_per_qp_max,
        }
    }
}

impl From<QpCounts> for Qps {
    fn from(counts: QpCounts) -> Self {
        Self {
            per_nic_max: counts.per_nic_max,
            total: counts.total,
            extra_per_nic_max: counts.extra_per_nic_max,
            extra_total: counts.extra_total,
            in_use_per_nic_max: Some(counts.in_use_per_nic_max),
            in_use_per_peer_max: Some(counts.in_use_per_peer_max),
        }
    }
}
