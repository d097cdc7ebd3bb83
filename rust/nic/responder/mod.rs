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
use super::{NicConfig, NicCounters, NicEvent, Owner, Recovery};
use crate::ids::{HostId, QpId};
use crate::packet::{AckFields, ArrivalReport, DataView, Flags, Packet, Psn, RefusalReason, Stamp};
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
    /// Whom its events are for.
    pub owner: Owner,
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
            Accepting::InOrder(accepting) => Some(accepting.answer().cumulative),
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
            Accepting::InOrder(accepting) => accepting.answer().cumulative,
            Accepting::AnyOrder(accepting) => accepting.answer().cumulative,
            Accepting::Coded(_) => 0,
        }
    }

    /// Refuses a packet for a reason of the verbs.
    pub fn refuse(&self, packet: DataView<'_>, reason: RefusalReason, out: &mut Outbox) {
        let echo = Echo::of(packet);
        self.shared.send_bare(Packet::refusal(packet.psn(), reason, echo.stamp), echo, out);
    }

    /// A data packet came in.
    pub fn handle_data(&mut self, now: Time, packet: DataView<'_>, out: &mut Outbox) {
        out.counters.data_received += 1;
        let shared = &mut self.shared;
        if packet.flags.has(Flags::MARKED) {
            out.counters.marked += 1;
            shared.notify_congestion(now, packet, out);
        }
        out.counters.trimmed += u64::from(packet.is_trimmed());
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

/// What an acknowledgement or NACK says beyond the arrivals that it reports.
#[derive(Debug, Clone, Copy)]
struct Answer {
    is: AckOrNack,
    /// Every packet before this one is there; with an erasure code, the index of the message that
    /// it is about.
    cumulative: u64,
    flags: Flags,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AckOrNack {
    Ack,
    Nack,
}

impl Answer {
    fn ack(cumulative: u64) -> Self {
        Self { is: AckOrNack::Ack, cumulative, flags: Flags::NONE }
    }

    fn nack(cumulative: u64) -> Self {
        Self { is: AckOrNack::Nack, cumulative, flags: Flags::NONE }
    }

    /// The packet that says so and reports `report`.
    #[inline]
    fn packet(self, report: ArrivalReport, echo: Stamp) -> Packet {
        let fields = AckFields { cumulative: Psn::on_wire(self.cumulative), report, echo };
        let packet = match self.is {
            AckOrNack::Ack => Packet::ack(fields),
            AckOrNack::Nack => Packet::gap_nack(fields),
        };
        Packet { flags: self.flags, ..packet }
    }
}

impl Shared {
    /// Whether what is unreported must be acknowledged with `packet`: it is the last of its
    /// message, its sender asks for it, it is marked and that cannot wait, or it is time by count
    /// or bytes.
    #[inline]
    fn is_due(&self, packet: DataView<'_>, out: &Outbox) -> bool {
        packet.is_last()
            || packet.flags.has(Flags::ACK_REQUEST)
            || packet.flags.has(Flags::MARKED) && out.config.ack.marked == Marked::AtOnce
            || self.unreported.is_full(&out.config.ack)
    }

    /// Adds an arrival to what is unreported; it has room for it.
    #[inline]
    fn note(&mut self, now: Time, sequence: u64, packet: DataView<'_>, out: &Outbox) {
        if self.unreported.is_empty() {
            self.timers.set(Timer::AckCoalescing, now.saturating_add(out.config.ack.within));
        }
        self.unreported.note(sequence, packet);
    }

    /// Counts a packet that arrives whole behind one that was sent later.
    #[inline]
    fn count_order(&mut self, sequence: u64, out: &mut Outbox) {
        if sequence < self.highest {
            out.counters.out_of_order += 1;
        }
        self.highest = self.highest.max(sequence + 1);
    }

    /// Reports all arrivals that are unreported, with an echo of the last of them.
    #[inline]
    fn report(&mut self, answer: Answer, out: &mut Outbox) {
        let echo = self.unreported.echo();
        self.report_with(echo, answer, out);
    }

    /// Reports all arrivals that are unreported, with an echo of another packet.
    #[inline]
    fn report_with(&mut self, echo: Echo, answer: Answer, out: &mut Outbox) {
        self.timers.stop(Timer::AckCoalescing);
        let report = self.unreported.take();
        let wire_bytes = out.config.ack.wire_bytes(&report);
        self.send(Packet { wire_bytes, ..answer.packet(report, echo.stamp) }, echo, out);
    }

    /// Answers one packet and reports nothing.
    fn answer(&self, packet: DataView<'_>, answer: Answer, out: &mut Outbox) {
        let echo = Echo::of(packet);
        self.send_bare(answer.packet(ArrivalReport::default(), echo.stamp), echo, out);
    }

    /// Answers a packet that was trimmed to its header, with its PSN and whether the last switch
    /// on its way trimmed it.
    fn refuse_trimmed(&self, packet: DataView<'_>, cumulative: u64, out: &mut Outbox) {
        let echo = Echo::of(packet);
        let last_hop = Flags::LAST_HOP.when(packet.flags.has(Flags::LAST_HOP));
        let nack = Packet::trimmed_nack(packet.psn(), Psn::on_wire(cumulative), echo.stamp);
        self.send_bare(Packet { flags: nack.flags.with(last_hop), ..nack }, echo, out);
    }

    /// Sends an answer that reports nothing.
    fn send_bare(&self, answer: Packet, echo: Echo, out: &mut Outbox) {
        let wire_bytes = out.config.ack.wire_bytes(&ArrivalReport::default());
        self.send(Packet { wire_bytes, ..answer }, echo, out);
    }

    /// Sends an answer, to which addresses and what all answers echo are added.
    #[inline]
    fn send(&self, answer: Packet, echo: Echo, out: &mut Outbox) {
        let priority = Flags::PRIORITY.when(out.config.ack.priority);
        out.control.push_back(Packet {
            src: self.peer.host,
            dst: self.peer.peer,
            qp: self.peer.peer_qp,
            label: self.peer.label,
            entropy: echo.entropy,
            route: echo.entropy,
            flags: priority.with(echo.mark).with(answer.flags),
            ..answer
        });
    }

    fn deliver(&self, message: u64, out: &mut Outbox) {
        let message = message as u32;
        out.events.push_back(NicEvent::Delivered { owner: self.peer.owner, message });
    }

    fn notify_congestion(&mut self, now: Time, packet: DataView<'_>, out: &mut Outbox) {
        if out.config.congestion.wants_cnp() && self.timers.is_due(Timer::Cnp, now) {
            self.timers.set(Timer::Cnp, now.saturating_add(out.config.cnp_interval));
            let echo = Echo::of(packet);
            self.send_bare(Packet::cnp(echo.stamp), echo, out);
        }
    }
}

/// Payload bytes of a data packet that is whole.
fn payload(packet: DataView<'_>, config: &NicConfig) -> u64 {
    u64::from(packet.wire_bytes).saturating_sub(config.header.get())
}
