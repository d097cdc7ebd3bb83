//! The part of a requester that only verbs other than plain WRITEs need.

use super::{Requester, Work};
use crate::nic::recovery::{MissReason, NackReport, SendRecovery as _};
use crate::packet::Psn;
use crate::units::{Bytes, Time};

impl Requester {
    /// Sets the verb header of the message posted last, if it is not a plain WRITE.
    pub(in crate::nic) fn set_verb(&mut self, verb: u64) {
        if let Some(work) = self.work.newest_mut() {
            work.verb = verb;
        }
    }

    /// Withdraws the messages that have not begun, newest first, and returns their ids.
    pub(in crate::nic) fn withdraw(&mut self, header: Bytes) -> impl Iterator<Item = u64> + '_ {
        std::iter::from_fn(move || {
            let first = self.recovery.first_withdrawable();
            let work = *self.work.newest().filter(|work| work.first >= first)?;
            self.work.pop_newest();
            // Later messages reuse the numbers of its packets.
            self.end = work.first;
            let bytes = work.bytes + work.packets * header.get();
            self.unsent = self.unsent.saturating_sub(bytes);
            Some(work.id)
        })
    }

    /// Handles a refusal of packet `psn`: it is retransmitted, and nothing is sent before `resume`.
    pub(in crate::nic) fn handle_refusal(&mut self, now: Time, psn: Psn, resume: Time) {
        let psn = psn.unwrap_near(self.recovery.unacknowledged());
        // Like a trimmed packet: it arrived, but was not accepted.
        self.recovery
            .handle_nack(now, NackReport { missing: psn, psn, reason: MissReason::Trimmed });
        self.pacer.hold_until(resume);
    }

    /// Returns the id of the incomplete message that contains packet `psn`, if any.
    pub(in crate::nic) fn message_of(&self, psn: Psn) -> Option<u64> {
        let sequence = psn.unwrap_near(self.recovery.unacknowledged());
        let holds = |work: &&Work| (work.first..work.end()).contains(&sequence);
        self.work.iter().find(holds).map(|work| work.id)
    }
}
