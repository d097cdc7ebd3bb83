//! The sending half of a queue pair, for observers.

use crate::ids::QpId;
use crate::nic::congestion::CongestionController;
use crate::nic::recovery::SendRecovery;
use crate::nic::{Backlog, Nic};
use crate::units::{BitRate, Time};

/// What the sending half of a queue pair may send, and what it has sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendingState {
    /// How far its work has come.
    pub backlog: Backlog,
    /// Packets that were sent and are neither acknowledged nor given up.
    pub in_flight_packets: u64,
    /// What congestion control allows in flight, in bytes on the wire; `u64::MAX` without a limit.
    /// All queue pairs that share a window have it together.
    pub window_bytes: u64,
    /// The rate that congestion control allows; [`BitRate::MAX`] without a limit.
    pub rate: BitRate,
}

impl Nic {
    /// How far the work on the sending half of `qp` has come.
    ///
    /// # Panics
    /// If there is no such queue pair, or it does not send.
    pub fn backlog(&self, qp: QpId) -> Backlog {
        self.requesters[self.qps[qp].requester].backlog()
    }

    /// Queue pairs with work that is not acknowledged.
    pub(crate) fn unfinished_qps(&self) -> u64 {
        let halves = self.requesters.iter();
        halves.filter(|half| half.backlog() != Backlog::Nothing).count() as u64
    }

    /// The state of the sending half of `qp`. Observing it changes nothing.
    ///
    /// # Panics
    /// If there is no such queue pair, or it does not send.
    pub fn sending_state(&self, now: Time, qp: QpId) -> SendingState {
        let slot = self.qps[qp].requester;
        let requester = &self.requesters[slot];
        // A rate that grows with time is computed when it is asked for.
        let mut congestion = requester.congestion.clone();
        SendingState {
            backlog: requester.backlog(),
            in_flight_packets: requester.recovery.in_flight(),
            window_bytes: self.requesters.window_of(slot),
            rate: congestion.rate(now),
        }
    }
}
