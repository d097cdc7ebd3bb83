//! Go-back-N: after a loss, everything from the missing packet on is retransmitted.
//!
//! Source: InfiniBand Architecture Specification, volume 1, sections 9.7.5 and 9.9 (requester
//! behaviour, PSN sequence errors and timeouts), as in RoCEv2 NICs and the HPCC family of
//! simulators. A queue pair has one timer. Each packet sent and each acknowledgement restarts it
//! (specification, o9-85; Ethereal's public simulator).

use serde::{Deserialize, Serialize};

use super::{Arrived, NackReport, Recovery, RecoveryConfig, SendRecovery, SenderFacts, TimedOut};
use crate::nic::parameters::Configuration;
use crate::nic::qp::delivery::Delivery;
use crate::nic::receive::receiver::{InOrder, Receiving};
use crate::nic::timer::{SenderTimers, Timer};
use crate::units::{Span, Time};

/// The only parameter of `go-back-n`: how far both sides go back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The packet that both sides go back to after a gap: the missing one.
    pub back_to: BackTo,
}

impl Configuration for Config {
    const NAME: &'static str = "go-back-n";
    const SUMMARY: &'static str =
        "retransmits everything from the missing packet on; accepts packets only in order";
    const SOURCE: &'static str =
        "InfiniBand Architecture Specification, volume 1, sections 9.7.5 and 9.9";
}

impl RecoveryConfig for Config {
    type Sender = GoBackN;

    /// Packets are accepted in order, so no message can overtake another.
    const DELIVERIES: &'static [Delivery] = &[Delivery::Ordered];

    fn sender(&self, facts: &SenderFacts) -> GoBackN {
        GoBackN::new(self.back_to, facts.timeout)
    }

    fn receiver(&self, _delivery: Delivery) -> Receiving {
        match self.back_to {
            BackTo::Missing => InOrder::new().into(),
            BackTo::Message => InOrder::back_to_zero().into(),
        }
    }
}

impl Recovery {
    /// Go-back-N to the missing packet (RoCEv2): the default of RDMA NICs.
    pub const GO_BACK_N: Self = Self::GoBackN(Config { back_to: BackTo::Missing });
    /// Go-back-N to the first packet of the message (the first RoCE NICs).
    pub const GO_BACK_TO_ZERO: Self = Self::GoBackN(Config { back_to: BackTo::Message });
}

/// The packet that both sides go back to after a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BackTo {
    /// The missing packet.
    #[default]
    Missing,
    /// The first packet of its message, as in the first RoCE NICs. The receiver discards what it
    /// already has of the message. Guo et al., "RDMA over Commodity Ethernet at Scale" (SIGCOMM
    /// 2016), section 4.1, shows that it livelocks. (`L2_BACK_TO_ZERO` in the HPCC simulator.)
    Message,
}

/// The sending side: three numbers and a timer, however many packets are in flight.
#[derive(Debug, Clone)]
pub(in crate::nic) struct GoBackN {
    timeout: Span,
    back_to: BackTo,
    unacknowledged: u64,
    next: u64,
    never_sent: u64,
    timers: SenderTimers,
    last_entropy: u16,
}

impl GoBackN {
    pub(super) fn new(back_to: BackTo, timeout: Span) -> Self {
        Self {
            timeout,
            back_to,
            unacknowledged: 0,
            next: 0,
            never_sent: 0,
            timers: SenderTimers::default(),
            last_entropy: 0,
        }
    }

    fn go_back(&mut self) {
        // Nothing counts as in flight now, so the window is open. The first retransmission starts
        // the timer.
        self.next = self.unacknowledged;
        self.timers.stop(Timer::Retransmission);
    }

    fn restart_timer(&mut self, now: Time) {
        // With nothing in flight there is no loss to wait for.
        if self.unacknowledged < self.next {
            self.timers.set(Timer::Retransmission, now.saturating_add(self.timeout));
        } else {
            self.timers.stop(Timer::Retransmission);
        }
    }
}

impl SendRecovery for GoBackN {
    #[inline]
    fn next(&self, end: u64) -> Option<u64> {
        (self.next < end).then_some(self.next)
    }

    fn unacknowledged(&self) -> u64 {
        self.unacknowledged
    }

    fn never_sent(&self) -> u64 {
        self.never_sent
    }

    #[inline]
    fn handle_sent(&mut self, now: Time, entropy: u16) {
        // After going back, `next` passes packets that were sent before: `never_sent` must not.
        self.next += 1;
        self.never_sent = self.never_sent.max(self.next);
        self.last_entropy = entropy;
        // Every packet sent restarts the timer (o9-85).
        self.timers.set(Timer::Retransmission, now.saturating_add(self.timeout));
    }

    #[inline]
    fn in_flight(&self) -> u64 {
        self.next - self.unacknowledged
    }

    fn pending_retransmissions(&self) -> u64 {
        self.never_sent - self.next
    }

    #[inline]
    fn handle_ack(&mut self, now: Time, arrived: Arrived) -> u64 {
        // An acknowledgement of packets that were never sent is invalid.
        if arrived.ack < self.unacknowledged || arrived.ack > self.never_sent {
            return 0;
        }
        let new = arrived.ack - self.unacknowledged;
        self.unacknowledged = arrived.ack;
        // After going back, a late acknowledgement may cover packets that wait for retransmission.
        // They are skipped.
        self.next = self.next.max(arrived.ack);
        self.restart_timer(now);
        new
    }

    fn handle_nack(&mut self, _now: Time, nack: NackReport) -> bool {
        let back_beyond = self.back_to == BackTo::Message;
        let missing = nack.missing;
        // A packet that was acknowledged since is no longer missing. Only back-to-zero revokes
        // acknowledgements.
        if missing >= self.never_sent || (missing < self.unacknowledged && !back_beyond) {
            return false;
        }
        // A NACK acknowledges every packet before the missing one.
        self.unacknowledged = missing;
        self.go_back();
        true
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.timers.deadline(Timer::Retransmission)
    }

    fn set_timeout(&mut self, now: Time, timeout: Span) {
        self.timeout = timeout;
        self.restart_timer(now);
    }

    fn handle_timeout(&mut self, _now: Time) -> Option<TimedOut> {
        self.go_back();
        // The lost packet is unknown: the entropy value sent last stands for all packets in flight.
        Some(TimedOut { entropy: self.last_entropy })
    }
}

#[cfg(test)]
mod tests {
    use super::super::MissReason;
    use super::*;

    fn arrived(ack: u64) -> Arrived {
        Arrived { ack, ..Arrived::default() }
    }

    fn gap_at(missing: u64) -> NackReport {
        NackReport { missing, psn: missing, reason: MissReason::Gap }
    }

    fn sent(packets: u64) -> GoBackN {
        let mut window = GoBackN::new(BackTo::Missing, Span::from_ms(1));
        for _ in 0..packets {
            window.handle_sent(Time::ZERO, 7);
        }
        window
    }

    #[test]
    fn a_nack_goes_back_to_the_missing_packet() {
        let mut window = sent(10);
        assert!(window.handle_nack(Time::ZERO, gap_at(4)));
        assert_eq!((window.next(10), window.unacknowledged()), (Some(4), 4));
        assert_eq!((window.never_sent(), window.pending_retransmissions()), (10, 6));
        // Packets from here on are retransmissions, up to 10.
        window.handle_ack(Time::ZERO, arrived(8));
        assert_eq!(window.next(10), Some(8), "late acknowledgements still count");
    }

    #[test]
    fn the_timer_runs_while_packets_are_in_flight_and_restarts_with_each_acknowledgement() {
        let mut window = sent(2);
        assert_eq!(window.deadline(), Time::from_ps(1_000_000_000));
        window.handle_ack(Time::from_ps(500), arrived(1));
        assert_eq!(window.deadline(), Time::from_ps(1_000_000_500));
        window.handle_ack(Time::from_ps(550), arrived(1));
        assert_eq!(window.deadline(), Time::from_ps(1_000_000_550), "a repeated one too");
        window.handle_ack(Time::from_ps(600), arrived(2));
        assert_eq!(window.deadline(), Time::NEVER);
    }

    #[test]
    fn a_timeout_starts_from_the_oldest_unacknowledged() {
        let mut window = sent(5);
        window.handle_ack(Time::ZERO, arrived(2));
        assert_eq!(window.handle_timeout(Time::ZERO), Some(TimedOut { entropy: 7 }));
        assert_eq!(window.next(5), Some(2));
    }

    #[test]
    fn back_to_zero_revokes_acknowledgements() {
        let mut window = GoBackN { back_to: BackTo::Message, ..sent(9) };
        window.handle_ack(Time::ZERO, arrived(6));
        assert!(window.handle_nack(Time::ZERO, gap_at(4)));
        assert_eq!((window.unacknowledged(), window.next(9), window.in_flight()), (4, Some(4), 0));
    }

    #[test]
    fn invalid_acknowledgements_and_nacks_change_nothing() {
        let mut window = sent(5);
        window.handle_ack(Time::ZERO, arrived(3));
        for nack in [0, 2, 5, 900] {
            assert!(!window.handle_nack(Time::ZERO, gap_at(nack)), "{nack}");
        }
        window.handle_ack(Time::ZERO, arrived(900));
        window.handle_ack(Time::ZERO, arrived(1));
        assert_eq!((window.unacknowledged(), window.next(5)), (3, None));
    }

    #[test]
    fn an_acknowledgement_counts_only_newly_covered_packets() {
        let mut window = sent(9);
        let new = [3, 3, 5, 9].map(|ack| window.handle_ack(Time::ZERO, arrived(ack)));
        assert_eq!(new, [3, 0, 2, 4]);
    }
}
