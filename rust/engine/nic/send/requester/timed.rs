//! The time-driven work of a requester: its retransmission timer, losses that its recovery detects
//! by age, and path probes.

use std::collections::VecDeque;

use super::Requester;
use crate::balance::sender::{Feedback, PathSignal, SenderPolicy as _};
use crate::ids::{HostId, QpId};
use crate::nic::NicEvent;
use crate::nic::congestion::Loss;
use crate::nic::recovery::{Lost, SendRecovery as _};
use crate::packet::{Packet, Stamp};
use crate::units::{Span, Time};

impl Requester {
    /// Handles all retransmission timers that are due at `now`, if any.
    pub(in crate::nic) fn handle_timeout(&mut self, now: Time, events: &mut VecDeque<NicEvent>) {
        while self.recovery.deadline() <= now {
            let expired = self.recovery.handle_timeout(now);
            self.report_late_losses(now);
            let Some(expired) = expired else { return };
            // A policy whose values the recovery overrides gets no feedback.
            let failed = match self.path.is_chosen() {
                true => self.policy.handle_timeout(now, expired.entropy),
                false => None,
            };
            if let Some(failed) = failed {
                events.push_back(NicEvent::PathFailed { owner: self.owner, path: failed.0 });
            }
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

    /// Reports losses that a recovery detects by time, not by an acknowledgement.
    fn report_late_losses(&mut self, now: Time) {
        while let Some(Lost { entropy, position }) = self.recovery.poll_lost() {
            let (signal, rtt) = (PathSignal::Nack, Span::ZERO);
            self.notify_policy(now, Feedback { entropy, signal, packets: 0, marked: 0, rtt });
            self.on_gap(now, entropy, position);
        }
    }
}
