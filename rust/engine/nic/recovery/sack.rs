//! Selective repeat with selective acknowledgements and a window of one BDP: IRN.
//!
//! Source: Mittal et al., "Revisiting Network Support for RDMA" (SIGCOMM 2018), sections 3.1 and
//! 3.2, with the timers of ConWeave's public simulator (conweave-project/conweave-ns3).
//!
//! - A packet counts as lost when more than `reordering` packets beyond it have arrived (0 in IRN;
//!   6 to 32 if packets are sprayed). It is retransmitted once. If the retransmission is lost too,
//!   the timer recovers it.
//! - A recovery lasts until everything sent before its start is acknowledged. Its losses are one
//!   sign of congestion. [`Retransmit`] says what is retransmitted at its start.
//! - A queue pair has one timer. It starts when the oldest packet became the oldest or was last
//!   sent. It is short while few packets are in flight, because no later arrival may ever reveal
//!   their loss. On expiry, everything sent longer ago is retransmitted. \[inferred\] The authors
//!   retransmit only the oldest packet and learn the rest from later arrivals.

use std::collections::VecDeque;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::selective::Selective;
use super::{Arrived, Lost, LostPosition, NackReport, PlaneUse, TimedOut};
use super::{MissReason, RecoveryConfig, SendRecovery, SenderFacts};
use crate::nic::congestion::PathFacts;
use crate::nic::parameters::{Configuration, InvalidValue, require, timer};
use crate::nic::qp::delivery::Delivery;
use crate::nic::receive::receiver::{AnyOrder, Receiving};
use crate::nic::timer::{SenderTimers, Timer};
use crate::units::{Bytes, Span, Time};

/// The parameters of `sack`. The defaults are those of IRN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// A packet is lost when more than this many beyond it have arrived: 0, as in IRN. Ofan (arXiv
    /// 2507.21372, figure 12) found 6 best for an all-to-all and 32 for permutations.
    pub reordering: u32,
    /// Bytes on the wire that may be in flight: one bandwidth-delay product.
    pub flow_control: Window,
    /// The timer while few packets are in flight: 100 us (ConWeave's run script). The longer timer
    /// is `retransmit_timeout`, 320 us in that script.
    pub rto_low: Span,
    /// The most packets in flight that count as few: 3 (the paper's N).
    pub rto_low_packets: u32,
    /// The packets retransmitted when a recovery starts: those of the gap.
    pub resends: Retransmit,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            reordering: 0,
            flow_control: Window::Bdp,
            rto_low: Span::from_us(100),
            rto_low_packets: 3,
            resends: Retransmit::Gap,
        }
    }
}

/// The packets retransmitted when arrivals reveal a loss outside of a recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Retransmit {
    /// The packets of the gap, as in IRN.
    Gap,
    /// Every packet that is not reported: like go-back-N, but without the reported packets. This is
    /// ConWeave's simulator (`RdmaHw::ReceiveAck`). A recovery also ends with an acknowledgement
    /// that shows no gap. \[inferred\] Entropy values are judged as with `Gap`.
    Unreported,
}

impl Configuration for Config {
    const NAME: &'static str = "sack";
    const SUMMARY: &'static str = "retransmits packets that later arrivals show to be lost (IRN)";
    const SOURCE: &'static str =
        "Mittal et al., Revisiting Network Support for RDMA, 2018, sections 3.1 and 3.2";

    fn check(&self) -> Result<(), InvalidValue> {
        let is_open = self.flow_control != Window::Bytes(Bytes::ZERO);
        require("flow_control", "0B", is_open, "it must be at least 1B, or 'off', or 'bdp'")?;
        timer("rto_low", self.rto_low)
    }
}

impl RecoveryConfig for Config {
    type Sender = Box<Sack>;

    const COUNTS_PLANES: bool = true;

    fn sender(&self, facts: &SenderFacts) -> Box<Sack> {
        Box::new(Sack::new(*self, facts))
    }

    fn receiver(&self, delivery: Delivery) -> Receiving {
        AnyOrder::new(self.reordering, delivery).into()
    }

    fn window(&self, path: &PathFacts) -> u64 {
        self.flow_control.bytes(path)
    }

    fn shortest_timeout(&self, timeout: Span) -> Span {
        timeout.min(self.rto_low)
    }
}

/// Limit of the bytes in flight, independent of the congestion control (IRN's BDP flow control).
/// Written `"off"`, `"bdp"`, or as bytes: `"104KB"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// Only the congestion control and the PSN space limit them.
    Off,
    /// The line rate times the round-trip time of the longest idle path, in whole packets.
    Bdp,
    /// This many bytes on the wire.
    Bytes(Bytes),
}

impl Serialize for Window {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => to.serialize_str("off"),
            Self::Bdp => to.serialize_str("bdp"),
            Self::Bytes(bytes) => bytes.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for Window {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        match text.as_str() {
            "off" => Ok(Self::Off),
            "bdp" => Ok(Self::Bdp),
            _ => text
                .parse()
                .map(Self::Bytes)
                .map_err(|error| serde::de::Error::custom(format!("{error}, or 'off', or 'bdp'"))),
        }
    }
}

impl Window {
    /// The limit in bytes on the wire.
    fn bytes(self, path: &PathFacts) -> u64 {
        let (bdp, packet) = (path.bdp(), path.packet);
        match self {
            Self::Off => u64::MAX,
            // Rounded up: a window that ends inside a packet would not fill the path.
            Self::Bdp => bdp.get().div_ceil(packet.get().max(1)).saturating_mul(packet.get()),
            Self::Bytes(bytes) => bytes.get(),
        }
    }
}

/// A packet in the window.
#[derive(Debug, Clone, Copy)]
struct Sent {
    at: Time,
    entropy: u16,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    InFlight,
    /// It waits for retransmission.
    Lost,
}

/// The sending side: arrivals, and the send time of each packet in flight.
#[derive(Debug, Clone)]
pub(in crate::nic) struct Sack {
    config: Config,
    /// The timer while many packets are in flight.
    rto_high: Span,
    window: Selective,
    /// Packets sent, from the first missing one on.
    sent: VecDeque<Sent>,
    /// Missing packets before this one were already declared lost.
    checked_until: u64,
    /// The recovery ends when everything before this packet has arrived (recovery sequence).
    recovery_end: u64,
    /// Start of the timer. Its length depends on the packets in flight.
    since: Time,
    timers: SenderTimers,
    /// Losses that are not yet reported.
    losses: VecDeque<Lost>,
}

impl Sack {
    fn new(config: Config, facts: &SenderFacts) -> Self {
        Self {
            config,
            rto_high: facts.timeout,
            window: Selective::new(facts.planes),
            sent: VecDeque::new(),
            checked_until: 0,
            recovery_end: 0,
            since: Time::ZERO,
            timers: SenderTimers::default(),
            losses: VecDeque::new(),
        }
    }

    fn timeout(&self) -> Span {
        if self.in_flight() <= u64::from(self.config.rto_low_packets) {
            // The short timer is never the longer of the two.
            self.config.rto_low.min(self.rto_high)
        } else {
            self.rto_high
        }
    }

    /// Sets the timer from its start and the packets in flight.
    #[inline]
    fn update_timer(&mut self) {
        let waiting = self.in_flight() > 0;
        // Its length depends on the packets in flight: every change of them calls this function.
        let due = if waiting { self.since.saturating_add(self.timeout()) } else { Time::NEVER };
        self.timers.set(Timer::Retransmission, due);
    }

    fn index(&self, sequence: u64) -> usize {
        (sequence - self.window.first_missing()) as usize
    }

    /// True if `sequence` is in flight as far as the sender knows.
    fn is_in_flight(&self, sequence: u64) -> bool {
        (self.window.first_missing()..self.window.never_sent()).contains(&sequence)
            && !self.window.has_arrived(sequence)
            && self.sent[self.index(sequence)].state == State::InFlight
    }

    fn lose(&mut self, sequence: u64) -> Sent {
        let index = self.index(sequence);
        self.sent[index].state = State::Lost;
        self.sent[index]
    }

    /// Declares packets lost if enough packets beyond them have arrived.
    fn detect_losses(&mut self) {
        let Some(edge) = self.window.arrival_before(u64::from(self.config.reordering)) else {
            if self.config.resends == Retransmit::Unreported {
                // No gap is left, which ends a recovery of ConWeave.
                self.recovery_end = self.recovery_end.min(self.window.first_missing());
            }
            return;
        };
        if self.config.resends == Retransmit::Unreported {
            return self.go_back(edge);
        }
        // Each packet is judged once, so the total work is linear. A retransmitted packet lies
        // before `checked_until` and is left to the timer.
        for sequence in self.checked_until.max(self.window.first_missing())..edge {
            if !self.is_in_flight(sequence) {
                continue;
            }
            let entropy = self.lose(sequence).entropy;
            self.window.lose(sequence);
            let position = self.enter_recovery();
            self.losses.push_back(Lost { entropy, position, timed_out: false });
        }
        self.checked_until = self.checked_until.max(edge);
    }

    /// Starts a recovery, unless one is under way: retransmits every packet that is not reported.
    fn go_back(&mut self, edge: u64) {
        let first = self.window.first_missing();
        if first >= edge || self.enter_recovery() == LostPosition::Later {
            return;
        }
        // Everything missing is queued again below, in order.
        self.window.clear_lost();
        for sequence in first..self.window.never_sent() {
            if self.window.has_arrived(sequence) {
                continue;
            }
            let entropy = self.lose(sequence).entropy;
            self.window.lose(sequence);
            let position =
                if sequence == first { LostPosition::First } else { LostPosition::Later };
            // Packets beyond the edge are retransmitted too, but arrivals do not prove their loss.
            if sequence < edge {
                self.losses.push_back(Lost { entropy, position, timed_out: false });
            }
        }
    }

    fn enter_recovery(&mut self) -> LostPosition {
        // IRN, section 3.1: packets sent before the recovery started belong to it (its recovery
        // sequence).
        if self.window.first_missing() < self.recovery_end {
            return LostPosition::Later;
        }
        self.recovery_end = self.window.never_sent();
        LostPosition::First
    }
}

impl SendRecovery for Sack {
    #[inline]
    fn next(&self, end: u64) -> Option<u64> {
        self.window.next(end)
    }

    fn unacknowledged(&self) -> u64 {
        self.window.first_missing()
    }

    fn never_sent(&self) -> u64 {
        self.window.never_sent()
    }

    #[inline]
    fn handle_sent(&mut self, now: Time, entropy: u16) {
        let idle = self.in_flight() == 0;
        let sequence = self.window.handle_sent(now, entropy);
        let (index, sent) =
            (self.index(sequence), Sent { at: now, entropy, state: State::InFlight });
        // New packets are sent in order, so a new one is exactly one past the end.
        match self.sent.get_mut(index) {
            Some(again) => *again = sent,
            None => self.sent.push_back(sent),
        }
        // The timer belongs to the oldest packet: other packets do not restart it.
        if idle || sequence == self.window.first_missing() {
            self.since = now;
        }
        self.update_timer();
    }

    #[inline]
    fn in_flight(&self) -> u64 {
        self.window.in_flight()
    }

    fn pending_retransmissions(&self) -> u64 {
        self.window.pending_retransmissions()
    }

    #[inline]
    fn handle_ack(&mut self, now: Time, arrived: Arrived) -> u64 {
        let first = self.window.first_missing();
        let new = self.window.handle_arrived(now, arrived);
        // Without new arrivals, neither the edge nor the packets in flight have changed.
        if new == 0 {
            return 0;
        }
        let passed = self.window.first_missing() - first;
        // A new oldest packet restarts the timer.
        if passed > 0 {
            self.sent.drain(..passed as usize);
            self.since = now;
        }
        self.detect_losses();
        self.update_timer();
        new
    }

    /// Losses are detected from the arrivals that each NACK reports.
    fn treats_gap_nacks_as_acks(&self) -> bool {
        true
    }

    fn handle_nack(&mut self, _now: Time, nack: NackReport) -> bool {
        if nack.reason != MissReason::Trimmed || !self.is_in_flight(nack.psn) {
            return false;
        }
        // The trimmed header proves the loss: it goes first, without waiting for later arrivals.
        self.lose(nack.psn);
        self.window.lose_first(nack.psn);
        self.update_timer();
        true
    }

    fn plane(&self, plane: u32) -> PlaneUse {
        self.window.plane(plane)
    }

    #[inline]
    fn poll_lost(&mut self) -> Option<Lost> {
        self.losses.pop_front()
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.timers.deadline(Timer::Retransmission)
    }

    fn handle_timeout(&mut self, now: Time) -> Option<TimedOut> {
        if !self.timers.is_due(Timer::Retransmission, now) {
            return None;
        }
        let timeout = self.timeout();
        let mut oldest = None;
        for sequence in self.window.first_missing()..self.window.never_sent() {
            if !self.is_in_flight(sequence) {
                continue;
            }
            // Packets sent less than a timeout ago may still arrive.
            if self.sent[self.index(sequence)].at.saturating_add(timeout) <= now {
                let sent = self.lose(sequence);
                self.window.lose(sequence);
                // One report per timeout: its packets are one sign of congestion.
                oldest = oldest.or(Some(TimedOut { entropy: sent.entropy }));
            }
        }
        self.since = now;
        // Losses found from here on belong to this timeout and are not a second sign of congestion.
        self.recovery_end = self.window.never_sent();
        self.update_timer();
        oldest
    }
}

#[cfg(test)]
mod tests;
