//! The receiving half of a queue pair: what it accepts, and what it answers.
//!
//! What it accepts is the recovery's: [`in_order`], [`any_order`] or [`coded`]. What they share is
//! here. A packet that a switch cut to its header carries nothing; whatever the recovery, it is
//! answered with a NACK that names it and says whether the last switch on its way cut it.

mod any_order;
mod coded;
mod in_order;
mod messages;

use std::collections::VecDeque;

use any_order::AnyOrder;
use coded::Coded;
use in_order::InOrder;

use super::ack::{Echo, Marked, Unreported};
use super::timer::{ReceiverTimers, Timer};
use super::{NicConfig, NicCounters, NicEvent, Recovery};
use crate::ids::{HostId, QpId};
use crate::packet::{Flags, Packet, PacketKind, Psn};
use crate::units::Time;

/// Where a responder's packets and news go.
pub(super) struct Outbox<'a> {
    pub config: &'a NicConfig,
    pub control: &'a mut VecDeque<Packet>,
    pub events: &'a mut VecDeque<NicEvent>,
    pub counters: &'a mut NicCounters,
}

/// Who the two halves of a queue pair are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer {
    pub host: HostId,
    pub peer: HostId,
    pub peer_qp: QpId,
    /// Hash of the 5-tuple of its answers.
    pub label: u32,
    pub cookie: u32,
}

/// The receiving half.
#[derive(Debug, Clone)]
pub(super) struct Responder {
    /// When its entry among the NIC's acknowledgement timers is due; `NEVER` if it has none.
    pub timer_entry: Time,
    shared: Shared,
    accepting: Accepting,
}

/// Which packets it accepts.
#[derive(Debug, Clone)]
enum Accepting {
    InOrder(InOrder),
    AnyOrder(AnyOrder),
    Coded(Coded),
}

/// What every recovery needs.
#[derive(Debug, Clone)]
struct Shared {
    peer: Peer,
    /// One past the highest that has arrived.
    highest: u64,
    unreported: Unreported,
    /// Silences begin when something is said: until then they are over.
    timers: ReceiverTimers,
}

impl Responder {
    pub fn new(peer: Peer, config: &NicConfig) -> Self {
        let delivery = config.delivery();
        let accepting = match config.recovery {
            Recovery::GoBackN => Accepting::InOrder(InOrder::new()),
            Recovery::GoBackToZero => Accepting::InOrder(InOrder::back_to_zero()),
            Recovery::Sack(sack) => Accepting::AnyOrder(AnyOrder::new(sack.reordering, delivery)),
            Recovery::PerPacket => Accepting::AnyOrder(AnyOrder::new(u32::MAX, delivery)),
            Recovery::Erasure => Accepting::Coded(Coded::new(delivery)),
        };
        let mut timers = ReceiverTimers::default();
        timers.expire(Timer::Cnp);
        let shared = Shared { peer, highest: 0, unreported: Unreported::default(), timers };
        Self { timer_entry: Time::NEVER, shared, accepting }
    }

    /// Who it is.
    pub fn as_peer(&self) -> Peer {
        self.shared.peer
    }

    /// The packet whose turn it is, where packets are accepted in order alone.
    pub fn expected(&self) -> Option<u64> {
        match &self.accepting {
            Accepting::InOrder(accepting) => Some(accepting.answer().ack),
            Accepting::AnyOrder(_) | Accepting::Coded(_) => None,
        }
    }

    /// Messages delivered, all before that number.
    pub fn messages(&self) -> u64 {
        match &self.accepting {
            Accepting::InOrder(accepting) => accepting.messages(),
            Accepting::AnyOrder(accepting) => accepting.messages().delivered(),
            Accepting::Coded(accepting) => accepting.messages(),
        }
    }

    /// Whether message `number` is delivered.
    pub fn has_delivered(&self, number: u64) -> bool {
        match &self.accepting {
            Accepting::AnyOrder(accepting) => accepting.messages().has_delivered(number),
            Accepting::InOrder(_) | Accepting::Coded(_) => number < self.messages(),
        }
    }

    /// Every packet before this one has arrived, where packets have numbers of their own.
    pub fn arrived(&self) -> u64 {
        match &self.accepting {
            Accepting::InOrder(accepting) => accepting.answer().ack,
            Accepting::AnyOrder(accepting) => accepting.answer().ack,
            Accepting::Coded(_) => 0,
        }
    }

    /// Refuses a packet for a reason of the verbs.
    pub fn refuse(&self, packet: &Packet, why: u64, out: &mut Outbox) {
        let answer = Answer { kind: PacketKind::Refusal, ack: 0, flags: Flags::NONE };
        let refusal = Packet {
            kind: answer.kind,
            psn: packet.psn,
            sack: why,
            wire_bytes: out.config.ack_wire_bytes(),
            ..Packet::default()
        };
        self.shared.send(refusal, answer, Echo::of(packet), out);
    }

    /// A data packet came in.
    pub fn handle_data(&mut self, now: Time, packet: &Packet, out: &mut Outbox) {
        out.counters.data_received += 1;
        let shared = &mut self.shared;
        if packet.flags.has(Flags::MARKED) {
            out.counters.marked += 1;
            shared.notify_congestion(now, packet, out);
        }
        out.counters.trimmed += u64::from(packet.flags.has(Flags::TRIMMED));
        match &mut self.accepting {
            Accepting::InOrder(accepting) => accepting.handle_data(now, packet, shared, out),
            Accepting::AnyOrder(accepting) => accepting.handle_data(now, packet, shared, out),
            Accepting::Coded(accepting) => accepting.handle_data(now, packet, shared, out),
        }
    }

    /// When what has arrived must be acknowledged; `NEVER` if all is.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.shared.timers.deadline(Timer::AckCoalescing)
    }

    /// The acknowledgement timer is due; it may turn out that it is not.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Outbox) {
        if !self.shared.timers.is_due(Timer::AckCoalescing, now) {
            return;
        }
        let answer = match &self.accepting {
            Accepting::InOrder(accepting) => accepting.answer(),
            Accepting::AnyOrder(accepting) => accepting.answer(),
            Accepting::Coded(accepting) => accepting.answer(),
        };
        self.shared.report(answer, out);
    }
}

/// What an answer says beyond what is unreported.
#[derive(Debug, Clone, Copy)]
struct Answer {
    kind: PacketKind,
    /// Every packet before this one is there; with an erasure code, which message it is about.
    ack: u64,
    flags: Flags,
}

impl Answer {
    fn ack(ack: u64) -> Self {
        Self { kind: PacketKind::Ack, ack, flags: Flags::NONE }
    }

    fn nack(ack: u64) -> Self {
        Self { kind: PacketKind::Nack, ack, flags: Flags::NONE }
    }
}

impl Shared {
    /// Whether what is unreported must be acknowledged with `packet`: it is the last of its
    /// message, its sender asks for it, it is marked and that cannot wait, or it is time by count
    /// or bytes.
    #[inline]
    fn is_due(&self, packet: &Packet, out: &Outbox) -> bool {
        packet.flags.has(Flags::LAST)
            || packet.flags.has(Flags::ACK_REQUEST)
            || packet.flags.has(Flags::MARKED) && out.config.ack.marked == Marked::AtOnce
            || self.unreported.is_full(&out.config.ack)
    }

    /// Adds an arrival to what is unreported; it has room for it.
    #[inline]
    fn note(&mut self, now: Time, sequence: u64, packet: &Packet, out: &Outbox) {
        if self.unreported.is_empty() {
            self.timers.set(Timer::AckCoalescing, now.saturating_add(out.config.ack.within));
        }
        self.unreported.note(sequence, packet);
    }

    /// All that is unreported, as the answer that reports it.
    #[inline]
    fn take(&mut self, answer: Answer, out: &Outbox) -> Packet {
        self.timers.stop(Timer::AckCoalescing);
        self.unreported.take(answer.kind, out.config)
    }

    /// Counts a packet that arrives whole behind one that was sent later.
    #[inline]
    fn count_order(&mut self, sequence: u64, out: &mut Outbox) {
        if sequence < self.highest {
            out.counters.out_of_order += 1;
        }
        self.highest = self.highest.max(sequence + 1);
    }

    /// Acknowledges all that is unreported.
    #[inline]
    fn report(&mut self, answer: Answer, out: &mut Outbox) {
        let echo = self.unreported.echo();
        let packet = self.take(answer, out);
        self.send(packet, answer, echo, out);
    }

    /// Acknowledges all that is unreported, in answer to a packet that is not.
    fn report_with(&mut self, packet: &Packet, answer: Answer, out: &mut Outbox) {
        let all = self.take(answer, out);
        self.send(all, answer, Echo::of(packet), out);
    }

    /// Answers one packet, whatever else is unreported.
    fn answer(&self, packet: &Packet, answer: Answer, out: &mut Outbox) {
        let blank = Packet {
            kind: answer.kind,
            wire_bytes: out.config.ack_wire_bytes(),
            ..Packet::default()
        };
        self.send(blank, answer, Echo::of(packet), out);
    }

    /// Says that a packet came without its payload, and where it lost it.
    fn refuse_trimmed(&self, packet: &Packet, ack: u64, out: &mut Outbox) {
        let last_hop = Flags::LAST_HOP.when(packet.flags.has(Flags::LAST_HOP));
        let answer = Answer { flags: Flags::TRIMMED.with(last_hop), ..Answer::nack(ack) };
        let nack = Packet {
            kind: answer.kind,
            psn: packet.psn,
            wire_bytes: out.config.ack_wire_bytes(),
            ..Packet::default()
        };
        self.send(nack, answer, Echo::of(packet), out);
    }

    #[inline]
    fn send(&self, packet: Packet, answer: Answer, echo: Echo, out: &mut Outbox) {
        let priority = Flags::PRIORITY.when(out.config.ack.priority);
        out.control.push_back(Packet {
            src: self.peer.host,
            dst: self.peer.peer,
            qp: self.peer.peer_qp,
            label: self.peer.label,
            ack: Psn::on_wire(answer.ack),
            stamp: echo.stamp,
            entropy: echo.entropy,
            route: echo.entropy,
            flags: priority.with(echo.mark).with(answer.flags),
            ..packet
        });
    }

    fn deliver(&self, message: u64, out: &mut Outbox) {
        let message = message as u32;
        out.events.push_back(NicEvent::Delivered { cookie: self.peer.cookie, message });
    }

    fn notify_congestion(&mut self, now: Time, packet: &Packet, out: &mut Outbox) {
        if out.config.congestion.wants_cnp() && self.timers.is_due(Timer::Cnp, now) {
            self.timers.set(Timer::Cnp, now.saturating_add(out.config.cnp_interval));
            let cnp = Answer { kind: PacketKind::Cnp, ack: 0, flags: Flags::NONE };
            self.answer(packet, cnp, out);
        }
    }
}

fn payload(packet: &Packet, config: &NicConfig) -> u64 {
    u64::from(packet.wire_bytes).saturating_sub(config.header.get())
}
