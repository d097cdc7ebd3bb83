//! Selective repeat with selective acknowledgements and BDP flow control: IRN.
//!
//! Source: Mittal et al., "Revisiting Network Support for RDMA" (SIGCOMM 2018), sections 3.1 and
//! 3.2, with the timers of ConWeave's public simulator (conweave-project/conweave-ns3).
//!
//! - A packet counts as lost when more than `reordering` packets beyond it have arrived (0 in IRN;
//!   6 to 32 where packets are sprayed). It is sent again once; if that is lost too, the timer
//!   brings it back.
//! - A recovery lasts until everything is acknowledged that had been sent when it began; its
//!   losses are one sign of congestion.
//! - One timer a queue pair, which runs from when its oldest packet became the oldest or was last
//!   sent: short while few packets are out, since no arrival may ever show that they are lost.
//!   When it runs out, everything that was sent longer ago is sent again. \[inferred\] The
//!   authors send only the oldest again and learn the rest from what then arrives.

use std::collections::VecDeque;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Arrived, Board, Expired, Lost, LostPlace, Missed, SendRecovery, Why};
use crate::nic::timer::{SenderTimers, Timer};
use crate::units::{Bytes, Span, Time};

/// Parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// A packet is lost when more than so many beyond it have arrived: 0, as in IRN. Ofan (arXiv
    /// 2507.21372, figure 12) found 6 best for an all-to-all and 32 for permutations.
    pub reordering: u32,
    /// Bytes on the wire that may be out at once: one bandwidth-delay product.
    pub flow_control: FlowControl,
    /// The timer while few packets are out: 100 us (ConWeave's run script; the longer one is
    /// `retransmit_timeout`, 320 us there).
    pub rto_low: Span,
    /// Few packets are so many: 3 (the paper's N).
    pub rto_low_packets: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            reordering: 0,
            flow_control: FlowControl::Bdp,
            rto_low: Span::from_us(100),
            rto_low_packets: 3,
        }
    }
}

/// What may be out at once, whatever the congestion control says. Written `"off"`, `"bdp"`, or as
/// bytes: `"104KB"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowControl {
    /// No limit.
    Off,
    /// The line rate times the round-trip time of the longest idle path, in whole packets.
    Bdp,
    /// So much on the wire.
    Bytes(Bytes),
}

impl Serialize for FlowControl {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => to.serialize_str("off"),
            Self::Bdp => to.serialize_str("bdp"),
            Self::Bytes(bytes) => bytes.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for FlowControl {
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

impl FlowControl {
    /// Bytes on the wire, given the bandwidth-delay product and the length of a full packet.
    pub(in crate::nic) fn window(self, bdp: Bytes, packet: Bytes) -> u64 {
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

/// The window of one queue pair.
#[derive(Debug, Clone)]
pub(in crate::nic) struct Sack {
    config: Config,
    /// The timer while many packets are out.
    rto_high: Span,
    never_sent: u64,
    board: Board,
    /// Packets sent, from the first that is missing on.
    sent: VecDeque<Sent>,
    /// Packets to be sent again.
    lost: VecDeque<u64>,
    /// What is missing before this one was found lost already.
    judged: u64,
    /// The recovery is over when everything before this one has arrived (recovery sequence).
    recovery_end: u64,
    /// Since when the timer runs: how long it does changes with what is out.
    since: Time,
    timers: SenderTimers,
    /// Losses to be told of.
    news: VecDeque<Lost>,
}

impl Sack {
    pub fn new(config: Config, timeout: Span) -> Self {
        Self {
            config,
            rto_high: timeout,
            never_sent: 0,
            board: Board::default(),
            sent: VecDeque::new(),
            lost: VecDeque::new(),
            judged: 0,
            recovery_end: 0,
            since: Time::ZERO,
            timers: SenderTimers::default(),
            news: VecDeque::new(),
        }
    }

    fn timeout(&self) -> Span {
        if self.in_flight() <= u64::from(self.config.rto_low_packets) {
            self.config.rto_low.min(self.rto_high)
        } else {
            self.rto_high
        }
    }

    /// Brings the timer up to date with what is out and since when.
    #[inline]
    fn keep_timer(&mut self) {
        let waiting = self.in_flight() > 0;
        let due = if waiting { self.since.saturating_add(self.timeout()) } else { Time::NEVER };
        self.timers.set(Timer::Retransmission, due);
    }

    fn index(&self, sequence: u64) -> usize {
        (sequence - self.board.first()) as usize
    }

    /// True if `sequence` is out and nothing is known of it.
    fn flies(&self, sequence: u64) -> bool {
        (self.board.first()..self.never_sent).contains(&sequence)
            && !self.board.has(sequence)
            && self.sent[self.index(sequence)].state == State::Flying
    }

    fn lose(&mut self, sequence: u64) -> Sent {
        let index = self.index(sequence);
        self.sent[index].state = State::Lost;
        self.sent[index]
    }

    /// Finds what is lost by how much beyond it has arrived.
    fn judge(&mut self) {
        let Some(edge) = self.board.arrival_before(u64::from(self.config.reordering)) else {
            return;
        };
        for sequence in self.judged.max(self.board.first())..edge {
            if !self.flies(sequence) {
                continue;
            }
            let entropy = self.lose(sequence).entropy;
            self.lost.push_back(sequence);
            let place = self.enter_recovery();
            self.news.push_back(Lost { entropy, place });
        }
        self.judged = self.judged.max(edge);
    }

    fn enter_recovery(&mut self) -> LostPlace {
        if self.board.first() < self.recovery_end {
            return LostPlace::Later;
        }
        self.recovery_end = self.never_sent;
        LostPlace::First
    }
}

impl SendRecovery for Sack {
    #[inline]
    fn next(&self, end: u64) -> Option<u64> {
        match self.lost.front() {
            Some(&sequence) => Some(sequence),
            None => (self.never_sent < end).then_some(self.never_sent),
        }
    }

    fn unacknowledged(&self) -> u64 {
        self.board.first()
    }

    fn never_sent(&self) -> u64 {
        self.never_sent
    }

    #[inline]
    fn handle_sent(&mut self, now: Time, entropy: u16) {
        let idle = self.in_flight() == 0;
        let sent = Sent { at: now, entropy, state: State::Flying };
        let sequence = match self.lost.pop_front() {
            Some(again) => {
                let index = self.index(again);
                self.sent[index] = sent;
                again
            }
            None => {
                self.sent.push_back(sent);
                self.never_sent += 1;
                self.never_sent - 1
            }
        };
        if idle || sequence == self.board.first() {
            self.since = now;
        }
        self.keep_timer();
    }

    #[inline]
    fn in_flight(&self) -> u64 {
        self.never_sent - self.board.count() - self.lost.len() as u64
    }

    #[inline]
    fn handle_ack(&mut self, now: Time, arrived: Arrived) -> u64 {
        if arrived.ack > self.never_sent {
            return 0;
        }
        let (first, before) = (self.board.first(), self.board.count());
        self.board.advance_to(arrived.ack);
        if arrived.sack != 0 {
            self.board.mark(arrived.base, arrived.sack, self.never_sent);
        }
        let new = self.board.count() - before;
        if new == 0 {
            return 0;
        }
        if self.board.first() > first {
            self.sent.drain(..(self.board.first() - first) as usize);
            self.since = now;
        }
        if !self.lost.is_empty() {
            let board = &self.board;
            self.lost.retain(|&sequence| !board.has(sequence));
        }
        self.judge();
        self.keep_timer();
        new
    }

    fn handle_nack(&mut self, _now: Time, missed: Missed) -> bool {
        if missed.why != Why::Trimmed || !self.flies(missed.psn) {
            return false;
        }
        self.lose(missed.psn);
        self.lost.push_front(missed.psn);
        self.keep_timer();
        true
    }

    #[inline]
    fn poll_lost(&mut self) -> Option<Lost> {
        self.news.pop_front()
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
        for sequence in self.board.first()..self.never_sent {
            if !self.flies(sequence) {
                continue;
            }
            if self.sent[self.index(sequence)].at.saturating_add(timeout) <= now {
                let sent = self.lose(sequence);
                self.lost.push_back(sequence);
                oldest = oldest.or(Some(Expired { entropy: sent.entropy }));
            }
        }
        self.since = now;
        self.recovery_end = self.never_sent;
        self.keep_timer();
        oldest
    }
}

#[cfg(test)]
mod tests;
