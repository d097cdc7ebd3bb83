//! The time-driven work of a requester: its retransmission timer, losses that its recovery detects
//! by age, and path probes.

use std::collections::VecDeque;

use super::Requester;
use crate::balance::sender::SenderPolicy as _;
use crate::ids::{HostId, QpId};
use crate::nic::NicEvent;
use crate::nic::congestion::Loss;
use crate::nic::recovery::SendRecovery as _;
use crate::packet::{Packet, Stamp};
use crate::units::{Span, Time};

impl Requester {
    /// Handles all retransmission timers that are due at `now`, if any.
    pub(in crate::nic) fn handle_timeout(&mut self, now: Time, events: &mut VecDeque<NicEvent>) {
        while self.recovery.deadline() <= now {
            let expired = self.recovery.handle_timeout(now);
            // Losses that a recovery detects by time, not by an acknowledgement.
            while let Some(lost) = self.recovery.poll_lost() {
                self.handle_hole(now, lost, Span::ZERO, events);
            }
            let Some(expired) = expired else { return };
            self.notify_policy_of_timeout(now, expired.entropy, events);
            self.notify_loss(now, expired.entropy, Loss::Timeout);
        }
    }

    /// True if packets have gone without an acknowledgement for a timeout.
    pub(in crate::nic) fn has_timed_out(&self, now: Time) -> bool {
        self.recovery.has_timed_out(now)
    }

    /// Returns the host at its other end.
    pub(in crate::nic) fn peer(&self) -> HostId {
        self.peer
    }

    /// Returns when the timer of its recovery expires, a probe is due, or it has waited `timeout`
    /// for credit, whichever comes first.
    #[inline(always)]
    pub(in crate::nic) fn wake(&mut self, timeout: Span) -> Time {
        let deadline = self.deadline();
        // Most requesters neither probe nor ask for credit.
        if !self.may_wake {
            return deadline;
        }
        let probe = self.policy.prober().map_or(Time::NEVER, |prober| prober.next_probe());
        deadline.min(probe).min(self.next_request(timeout))
    }

    /// Returns the probe that is due at `now`, if any, from queue pair `own`.
    pub(in crate::nic) fn poll_probe(&mut self, now: Time, own: QpId) -> Option<Packet> {
        if !self.path.is_chosen() {
            return None;
        }
        let entropy = self.policy.prober()?.poll_probe(now)?;
        let (route, label, flags) = (entropy, self.label, self.flags);
        let probe = Packet::probe(own, Stamp::at(now));
        Some(Packet { dst: self.peer, label, flags, entropy, route, ..probe })
    }
}
