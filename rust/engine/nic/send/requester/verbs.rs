//! What verbs other than plain WRITEs need of a sending half.

use super::{Requester, Work};
use crate::nic::recovery::{Missed, SendRecovery as _, Why};
use crate::packet::Psn;
use crate::units::{Bytes, Time};

impl Requester {
    /// Sets the headers of the verb of the message posted last, if it is not a WRITE.
    pub(in crate::nic) fn set_verb(&mut self, verb: u64) {
        if let Some(work) = self.work.newest_mut() {
            work.verb = verb;
        }
    }

    /// Withdraws the messages of which nothing was sent, newest first, and returns their names.
    pub(in crate::nic) fn withdraw(&mut self, header: Bytes) -> impl Iterator<Item = u64> + '_ {
        std::iter::from_fn(move || {
            let first = self.recovery.first_withdrawable();
            let work = *self.work.newest().filter(|work| work.first >= first)?;
            self.work.pop_newest();
            self.end = work.first;
            let bytes = work.bytes + work.packets * header.get();
            self.unsent = self.unsent.saturating_sub(bytes);
            Some(work.id)
        })
    }

    /// The receiver refuses the packet of `psn` for now: it is sent again, and nothing before
    /// `resume`.
    pub(in crate::nic) fn handle_refusal(&mut self, now: Time, psn: Psn, resume: Time) {
        let psn = psn.near(self.recovery.unacknowledged());
        // Like a trimmed packet: it arrived, and was not accepted.
        self.recovery.handle_nack(now, Missed { missing: psn, psn, why: Why::Trimmed });
        self.pacer.hold_until(resume);
    }

    /// The name of the message that the packet of `psn` is part of, if it is not complete.
    pub(in crate::nic) fn message_of(&self, psn: Psn) -> Option<u64> {
        let sequence = psn.near(self.recovery.unacknowledged());
        let holds = |work: &&Work| (work.first..work.end()).contains(&sequence);
        self.work.iter().find(holds).map(|work| work.id)
    }
}
