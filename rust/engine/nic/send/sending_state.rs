//! The state of a requester, for observers.

use crate::ids::QpId;
use crate::nic::congestion::CongestionController;
use crate::nic::recovery::SendRecovery;
use crate::nic::{Backlog, Nic};
use crate::units::{BitRate, Time};

/// Packets and limits of a queue pair that sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendingState {
    /// Progress of its work.
    pub backlog: Backlog,
    /// Packets that were sent and are neither acknowledged nor given up.
    pub in_flight_packets: u64,
    /// Bytes on the wire that congestion control permits in flight; `u64::MAX` without a limit.
    /// Queue pairs that share a window each report all of it.
    pub window_bytes: u64,
    /// Rate that congestion control permits; [`BitRate::MAX`] without a limit.
    pub rate: BitRate,
}

impl Nic {
    /// Returns the progress of the work that `qp` sends.
    ///
    /// # Panics
    /// If there is no such queue pair, or it does not send.
    pub fn backlog(&self, qp: QpId) -> Backlog {
        self.requesters[self.qps[qp].requester].backlog()
    }

    /// Returns the number of queue pairs with work that is not acknowledged.
    pub(crate) fn unfinished_qps(&self) -> u64 {
        let halves = self.requesters.iter();
        halves.filter(|half| half.backlog() != Backlog::Nothing).count() as u64
    }

    /// Returns the state of the requester of `qp`. Observing it changes nothing.
    ///
    /// # Panics
    /// If there is no such queue pair, or it does not send.
    pub fn sending_state(&self, now: Time, qp: QpId) -> SendingState {
        let slot = self.qps[qp].requester;
        let requester = &self.requesters[slot];
        // A clone, because reading a rate that grows with time updates the control.
        let mut congestion = requester.congestion.clone();
        SendingState {
            backlog: requester.backlog(),
            in_flight_packets: requester.recovery.in_flight(),
            window_bytes: self.requesters.window_of(slot),
            rate: congestion.rate(now),
        }
    }
}
