//! Selective repeat with selective acknowledgements and a window of one BDP: IRN.
//!
//! Source: Mittal et al., "Revisiting Network Support for RDMA" (SIGCOMM 2018), sections 3.1 and
//! 3.2, with the timers of ConWeave's public simulator (conweave-project/conweave-ns3).
//!
//! - A packet counts as lost when more than `reordering` packets beyond it have arrived (0 in IRN;
//!   6 to 32 where packets are sprayed). It is sent again once; if that is lost too, the timer
//!   brings it back.
//! - A recovery lasts until everything is acknowledged that had been sent when it began; its
//!   losses are one sign of congestion. [`Resends`] says what its beginning sends again.
//! - One timer a queue pair, which runs from when its oldest packet became the oldest or was last
//!   sent: short while few packets are in flight, since no arrival may ever show that they are
//!   lost. When it runs out, everything that was sent longer ago is sent again. \[inferred\] The
//!   authors send only the oldest again and learn the rest from what then arrives.

use std::collections::VecDeque;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::selective::Selective;
use super::{Arrived, Expired, Lost, LostPosition, Missed, PlaneUse};
use super::{RecoveryConfig, SendRecovery, SenderFacts, Why};
use crate::nic::congestion::PathFacts;
use crate::nic::parameters::{Configuration, InvalidValue, require, timer};
use crate::nic::qp::delivery::Delivery;
use crate::nic::receive::receiver::{AnyOrder, Receiving};
use crate::nic::timer::{SenderTimers, Timer};
use crate::units::{Bytes, Span, Time};

/// The parameters of `sack`; by default those of IRN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// A packet is lost when more than this many beyond it have arrived: 0, as in IRN. Ofan (arXiv
    /// 2507.21372, figure 12) found 6 best for an all-to-all and 32 for permutations.
    pub reordering: u32,
    /// Bytes on the wire that may be in flight at once: one bandwidth-delay product.
    pub flow_control: Window,
    /// The timer while few packets are in flight: 100 us (ConWeave's run script; the longer one is
    /// `retransmit_timeout`, 320 us there).
    pub rto_low: Span,
    /// The most packets that are few: 3 (the paper's N).
    pub rto_low_packets: u32,
    /// What is sent again when a recovery begins: the packets of the gap.
    pub resends: Resends,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            reordering: 0,
            flow_control: Window::Bdp,
            rto_low: Span::from_us(100),
            rto_low_packets: 3,
            resends: Resends::Gap,
        }
    }
}

/// What is sent again when arrivals show a loss and no recovery is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resends {
    /// The packets of the gap, as in IRN.
    Gap,
    /// Every packet that is not reported, as with go-back-N but for those that are: ConWeave's
    /// simulator (`RdmaHw::ReceiveAck`). A recovery also ends with an acknowledgement that shows no
    /// gap. \[inferred\] The verdict on entropy values is that of `Gap`.
    Unreported,
}

impl Configuration for Config {
    const NAME: &'static str = "sack";
    const SUMMARY: &'static str =
        "selective acknowledgements: what later arrivals show to be lost is sent again (IRN)";
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

/// What may be in flight at once, whatever the congestion control allows (IRN's BDP flow control).
/// Written `"off"`, `"bdp"`, or as
/// bytes: `"104KB"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// Only congestion control and the PSN space limit it.
    Off,
    /// The line rate times the round-trip time of the longest idle path, in whole packets.
    Bdp,
    /// So much on the wire.
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
    /// Bytes on the wire.
    fn bytes(self, path: &PathFacts) -> u64 {
        let (bdp, packet) = (path.bdp(), path.packet);
        match self {
            Self::Off => u64::MAX,
            Self::Bdp => bdp.get().div_ceil(packet.get().max(1)).saturating_mul(packet.get()),
            Self::Bytes(bytes) => bytes.get(),
        }
    }
}

/// A packet on its way.
#[derive(Debug, Clone, Copy)]
struct Sent {
    at: Time,
    entropy: u16,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Flying,
    /// It waits to be sent again.
    Lost,
}

/// The sending side: what has arrived, and when each packet in flight was sent.
#[derive(Debug, Clone)]
pub(in crate::nic) struct Sack {
    config: Config,
    /// The timer while many packets are in flight.
    rto_high: Span,
    window: Selective,
    /// Packets sent, from the first that is missing on.
    sent: VecDeque<Sent>,
    /// What is missing before this one was found lost already.
    judged: u64,
    /// The recovery ends when everything before this one has arrived (recovery sequence).
    recovery_end: u64,
    /// Since when the timer runs; its length changes with what is in flight.
    since: Time,
    timers: SenderTimers,
    /// Losses that are still to be reported.
    losses: VecDeque<Lost>,
}

impl Sack {
    fn new(config: Config, facts: &SenderFacts) -> Self {
        Self {
            config,
            rto_high: facts.timeout,
            window: Selective::new(facts.planes),
            sent: VecDeque::new(),
            judged: 0,
            recovery_end: 0,
            since: Time::ZERO,
            timers: SenderTimers::default(),
            losses: VecDeque::new(),
        }
    }

    fn timeout(&self) -> Span {
        if self.in_flight() <= u64::from(self.config.rto_low_packets) {
            self.config.rto_low.min(self.rto_high)
        } else {
            self.rto_high
        }
    }

    /// Brings the timer up to date with what is in flight and since when.
    #[inline]
    fn update_timer(&mut self) {
        let waiting = self.in_flight() > 0;
        // The length depends on what is in flight: everything that changes this comes through here.
        let due = if waiting { self.since.saturating_add(self.timeout()) } else { Time::NEVER };
        self.timers.set(Timer::Retransmission, due);
    }

    fn index(&self, sequence: u64) -> usize {
        (sequence - self.window.first_missing()) as usize
    }

    /// True if `sequence` is in flight, as far as is known.
    fn flies(&self, sequence: u64) -> bool {
        (self.window.first_missing()..self.window.never_sent()).contains(&sequence)
            && !self.window.has_arrived(sequence)
            && self.sent[self.index(sequence)].state == State::Flying
    }

    fn lose(&mut self, sequence: u64) -> Sent {
        let index = self.index(sequence);
        self.sent[index].state = State::Lost;
        self.sent[index]
    }

    /// Finds what is lost by how much beyond it has arrived.
    fn judge(&mut self) {
        let Some(edge) = self.window.arrival_before(u64::from(self.config.reordering)) else {
            if self.config.resends == Resends::Unreported {
                self.recovery_end = self.recovery_end.min(self.window.first_missing());
            }
            return;
        };
        // Each packet is judged once, so that this is linear over a run. A packet that was sent
        // again lies before `judged` and is left to the timer.
        if self.config.resends == Resends::Unreported {
            return self.go_back(edge);
        }
        for sequence in self.judged.max(self.window.first_missing())..edge {
            if !self.flies(sequence) {
                continue;
            }
            let entropy = self.lose(sequence).entropy;
            self.window.lose(sequence);
            let position = self.enter_recovery();
            self.losses.push_back(Lost { entropy, position });
        }
        self.judged = self.judged.max(edge);
    }

    /// Begins a recovery, unless one is under way: all that is not reported is sent again.
    fn go_back(&mut self, edge: u64) {
        let first = self.window.first_missing();
        if first >= edge || self.enter_recovery() == LostPosition::Later {
            return;
        }
        self.window.clear_lost();
        for sequence in first..self.window.never_sent() {
            if self.window.has_arrived(sequence) {
                continue;
            }
            let entropy = self.lose(sequence).entropy;
            self.window.lose(sequence);
            let position =
                if sequence == first { LostPosition::First } else { LostPosition::Later };
            if sequence < edge {
                self.losses.push_back(Lost { entropy, position });
            }
        }
    }

    fn enter_recovery(&mut self) -> LostPosition {
        // IRN, section 3.1: what was sent before the recovery began belongs to it (its recovery
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
        let (index, sent) = (self.index(sequence), Sent { at: now, entropy, state: State::Flying });
        // Packets go out for the first time in order: a new one is exactly one past the end.
        match self.sent.get_mut(index) {
            Some(again) => *again = sent,
            None => self.sent.push_back(sent),
        }
        // The timer is that of the oldest packet: other packets do not put it off.
        if idle || sequence == self.window.first_missing() {
            self.since = now;
        }
        self.update_timer();
    }

    #[inline]
    fn in_flight(&self) -> u64 {
        self.window.in_flight()
    }

    fn waiting_again(&self) -> u64 {
        self.window.waiting_again()
    }

    #[inline]
    fn handle_ack(&mut self, now: Time, arrived: Arrived) -> u64 {
        let first = self.window.first_missing();
        let new = self.window.handle_arrived(now, arrived);
        // Without news neither the edge nor what is in flight has moved.
        if new == 0 {
            return 0;
        }
        let passed = self.window.first_missing() - first;
        if passed > 0 {
            self.sent.drain(..passed as usize);
            self.since = now;
        }
        self.judge();
        self.update_timer();
        new
    }

    /// The receiver reports arrivals with each NACK; which packets are lost is judged by them.
    fn reads_gap_nacks_as_acks(&self) -> bool {
        true
    }

    fn handle_nack(&mut self, _now: Time, missed: Missed) -> bool {
        if missed.why != Why::Trimmed || !self.flies(missed.psn) {
            return false;
        }
        // The header says for certain what is lost: no later arrival is needed, and it goes first.
        self.lose(missed.psn);
        self.window.lose_first(missed.psn);
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

    fn handle_timeout(&mut self, now: Time) -> Option<Expired> {
        if !self.timers.is_due(Timer::Retransmission, now) {
            return None;
        }
        let timeout = self.timeout();
        let mut oldest = None;
        for sequence in self.window.first_missing()..self.window.never_sent() {
            if !self.flies(sequence) {
                continue;
            }
            // Packets sent less than a timeout ago may still arrive.
            if self.sent[self.index(sequence)].at.saturating_add(timeout) <= now {
                let sent = self.lose(sequence);
                self.window.lose(sequence);
                oldest = oldest.or(Some(Expired { entropy: sent.entropy }));
            }
        }
        self.since = now;
        // Losses that arrivals show from here on belong to this timeout: they are no second sign of
        // congestion.
        self.recovery_end = self.window.never_sent();
        self.update_timer();
        oldest
    }
}

#[cfg(test)]
mod tests;
