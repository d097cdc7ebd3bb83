//! Credit requests of a requester, where receivers grant credit.

use super::Requester;
use crate::nic::congestion::{CongestionController as _, CreditController};
use crate::nic::recovery::SendRecovery as _;
use crate::packet::{Flags, Packet, Psn};
use crate::units::{Span, Time};

impl Requester {
    /// Adds a credit request to a departing packet, while `sources` requesters have something to
    /// send.
    pub(in crate::nic) fn with_credit_request(&mut self, packet: Packet, sources: u64) -> Packet {
        // A retransmission was subtracted when it was first sent.
        if !packet.flags.has(Flags::RETRANSMITTED) {
            self.unsent = self.unsent.saturating_sub(u64::from(packet.wire_bytes));
        }
        let target = self.target(sources);
        packet.with_credit_target(target)
    }

    /// Returns when it must ask for credit in a separate packet. `NEVER` while it has some, or
    /// packets in flight whose own timer runs.
    pub(in crate::nic) fn next_request(&mut self, timeout: Span) -> Time {
        // When the timer of packets in flight expires, it also asks for credit.
        if self.recovery.in_flight() > 0 || !self.has_waiting() {
            return Time::NEVER;
        }
        let waiting = self.waiting_bytes();
        let next = self.congestion.credit().and_then(|it| it.next_request(waiting, timeout));
        next.unwrap_or(Time::NEVER)
    }

    /// Returns the request for credit, if it lacks any and may ask now.
    pub(in crate::nic) fn poll_credit_request(
        &mut self,
        now: Time,
        sources: u64,
    ) -> Option<Packet> {
        let try_request = |credit: &mut dyn CreditController| credit.try_request(now);
        if !self.has_waiting() || !self.congestion.credit().is_some_and(try_request) {
            return None;
        }
        let (entropy, flags) = (self.entropy(now), self.flags);
        let (dst, label, route) = (self.peer, self.label, entropy);
        let target = self.target(sources);
        let request = Packet::credit_request(self.peer_qp, target);
        Some(Packet { dst, label, flags, entropy, route, ..request })
    }

    fn has_waiting(&self) -> bool {
        self.recovery.next(self.window_end()).is_some()
    }

    /// Returns the bytes on the wire that it has to send or retransmit.
    fn waiting_bytes(&self) -> u64 {
        self.unsent + self.recovery.pending_retransmissions() * u64::from(self.packet_bytes)
    }

    fn target(&mut self, sources: u64) -> Psn {
        let waiting = self.waiting_bytes();
        let credit = self.congestion.credit();
        credit.map(|it| it.credit_target(waiting, sources)).unwrap_or_default()
    }
}
