//! The counters of NICs with limits of hardware, as part of a run's results.

use schemars::JsonSchema;
use serde::Serialize;

use super::human;
use crate::nic::HardwareCounters;

/// Sums over all NICs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HardwareSummary {
    /// Data packets dropped inside NICs because the receive pool was full.
    pub rx_discards: u64,
    /// NACKs for a gap that senders received.
    pub nacks_received: u64,
    /// Congestion notification packets that receivers sent.
    pub cnps_sent: u64,
    /// Congestion notification packets that senders received.
    pub cnps_received: u64,
    /// Timeouts that led to a retransmission.
    pub timeouts: u64,
    /// Queue pairs whose retries were exceeded.
    pub qp_errors: u64,
}

impl HardwareSummary {
    pub(super) fn of(counters: HardwareCounters) -> Self {
        Self {
            rx_discards: counters.rx_discards,
            nacks_received: counters.nacks_received,
            cnps_sent: counters.cnps_sent,
            cnps_received: counters.cnps_received,
            timeouts: counters.timeouts,
            qp_errors: counters.qp_errors,
        }
    }

    /// Returns the counters for the table of a run.
    pub(super) fn line(&self) -> String {
        format!(
            "{} discarded; {} NACKs and {} CNPs received; {}; {} failed",
            human::plural(self.rx_discards, "packet"),
            self.nacks_received,
            self.cnps_received,
            human::plural(self.timeouts, "timeout"),
            human::plural(self.qp_errors, "queue pair"),
        )
    }
}
