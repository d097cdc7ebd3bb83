//! Acknowledgements of a responder: the arrivals still to be reported, and the packets that report
//! them.

use std::collections::VecDeque;

use crate::ids::{HostId, QpId};
use crate::nic::counters::NicCounters;
use crate::nic::event::{NicEvent, Owner};
use crate::nic::hardware::CnpOutput;
use crate::nic::output::Output;
use crate::nic::receive::ack::{
    AckConfig, AckRange, AckSpan, Echo, Marked, NackSignal, Resent, Unreported,
};
use crate::nic::receive::board::Board;
use crate::nic::timer::{ReceiverTimers, Timer};
use crate::packet::{AckFields, ArrivalReport, DataView, Flags, Packet, Psn, RefusalReason, Stamp};
use crate::units::{Bytes, Span, Time};

/// Configuration of responders.
#[derive(Debug, Clone, Copy)]
pub(in crate::nic) struct ReceiverSettings {
    /// Payload of a full packet.
    pub payload: Bytes,
    /// Headers of a data packet on the wire.
    pub header: Bytes,
    pub ack: AckConfig,
    /// Time before a receiver repeats a NACK for the same PSN.
    pub nack_interval: Span,
    /// Least time between two congestion notification packets; `None` if the congestion control
    /// uses none.
    pub cnp_interval: Option<Span>,
}

/// Destination of the packets and events of a responder.
pub(in crate::nic) struct Outbox<'a> {
    pub settings: &'a ReceiverSettings,
    pub control: &'a mut VecDeque<Packet>,
    pub events: &'a mut VecDeque<NicEvent>,
    pub counters: &'a mut NicCounters,
    pub cnps: Option<&'a mut CnpOutput>,
}

impl<'a> Outbox<'a> {
    pub(in crate::nic) fn new(settings: &'a ReceiverSettings, out: &'a mut Output) -> Self {
        let Output { control, events, counters, cnps } = out;
        Self { settings, control, events, counters, cnps: cnps.as_deref_mut() }
    }

    /// Returns the payload bytes of a whole data packet.
    pub(crate) fn payload(&self, packet: DataView<'_>) -> u64 {
        // A forged packet may be shorter than the header.
        u64::from(packet.wire_bytes).saturating_sub(self.settings.header.get())
    }
}

/// The ends of a queue pair, as both halves know them.
#[derive(Debug, Clone, Copy)]
pub(in crate::nic) struct QpEndpoints {
    pub host: HostId,
    pub peer: HostId,
    pub peer_qp: QpId,
    /// Hash of the 5-tuple of the packets that the half sends.
    pub label: u32,
    /// Owner of the events.
    pub owner: Owner,
}

/// The acknowledgement state of one responder.
#[derive(Debug, Clone)]
pub(in crate::nic) struct AckState {
    endpoints: QpEndpoints,
    /// One past the highest packet that has arrived.
    highest: u64,
    unreported: Unreported,
    /// A timer that limits how often something is sent counts as expired until it is first set.
    timers: ReceiverTimers,
}

/// An acknowledgement or NACK without the arrivals that it reports.
#[derive(Debug, Clone, Copy)]
pub(in crate::nic) struct Reply<'a> {
    kind: ReplyKind,
    /// First packet that has not arrived; with an erasure code, the index of the message that the
    /// reply is about.
    cumulative: u64,
    /// [`Flags::LAST`] if it completes its message, or none.
    flags: Flags,
    /// All arrivals, if a bitmap can repeat them.
    board: Option<&'a Board>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReplyKind {
    Ack,
    Nack,
}

impl<'a> Reply<'a> {
    pub(crate) fn ack(cumulative: u64) -> Self {
        Self { kind: ReplyKind::Ack, cumulative, flags: Flags::NONE, board: None }
    }

    pub(crate) fn nack(cumulative: u64) -> Self {
        Self { kind: ReplyKind::Nack, ..Self::ack(cumulative) }
    }

    /// Adds the arrivals that the bitmap may repeat.
    pub(crate) fn of(self, board: &'a Board) -> Self {
        Self { board: Some(board), ..self }
    }

    /// Adds a flag.
    pub(crate) fn with(self, flags: Flags) -> Self {
        Self { flags: self.flags.with(flags), ..self }
    }

    /// Marks a reply to a packet beyond a gap, if NACKs signal congestion.
    #[inline]
    pub(crate) fn beyond_gap(self, out: &Outbox) -> Self {
        let carries =
            self.kind == ReplyKind::Nack && out.settings.ack.nacks == NackSignal::Congestion;
        self.with(Flags::MARKED.when(carries))
    }

    /// Returns the packet of this reply with `report`.
    #[inline]
    fn packet(self, report: ArrivalReport, echo: Stamp) -> Packet {
        let fields = AckFields { cumulative: Psn::on_wire(self.cumulative), report, echo };
        let packet = match self.kind {
            ReplyKind::Ack => Packet::ack(fields),
            ReplyKind::Nack => Packet::gap_nack(fields),
        };
        Packet { flags: self.flags, ..packet }
    }
}

impl AckState {
    pub(crate) fn new(endpoints: QpEndpoints) -> Self {
        let mut timers = ReceiverTimers::default();
        // The first CNP may be sent at any time.
        timers.expire(Timer::Cnp);
        Self { endpoints, highest: 0, unreported: Unreported::default(), timers }
    }

    /// Returns the ends of its queue pair.
    pub(crate) const fn endpoints(&self) -> QpEndpoints {
        self.endpoints
    }

    /// Returns when arrivals must be acknowledged; `NEVER` if none are unreported.
    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        self.timers.deadline(Timer::AckCoalescing)
    }

    /// True if arrivals are unreported.
    #[inline]
    pub(crate) const fn has_unreported(&self) -> bool {
        !self.unreported.is_empty()
    }

    /// True if one acknowledgement can report `sequence` together with the unreported arrivals.
    #[inline]
    pub(crate) fn has_room_for(&self, sequence: u64, out: &Outbox) -> bool {
        out.settings.ack.span == AckSpan::Unlimited
            || self.unreported.has_room_for(sequence, out.settings.ack.range)
    }

    /// Refuses a packet for a reason that the verbs give.
    pub(crate) fn refuse(&self, packet: DataView<'_>, reason: RefusalReason, out: &mut Outbox) {
        let echo = Echo::of(packet);
        self.send_bare(Packet::refusal(packet.psn(), reason, echo.stamp), echo, out);
    }

    /// True if unreported arrivals must be acknowledged with `packet`. It is the last of its
    /// message, its sender asks, enough packets or bytes have arrived, or it is marked or
    /// retransmitted and such packets do not wait.
    #[inline]
    pub(crate) fn is_due(&self, packet: DataView<'_>, out: &Outbox) -> bool {
        packet.is_last()
            || packet.flags.has(Flags::ACK_REQUEST)
            || packet.flags.has(Flags::MARKED) && out.settings.ack.marked == Marked::AtOnce
            || packet.flags.has(Flags::RETRANSMITTED) && out.settings.ack.resent == Resent::AtOnce
            || self.unreported.is_full(&out.settings.ack)
    }

    /// Adds an arrival to the unreported ones, which have room for it.
    #[inline(always)]
    pub(crate) fn record(&mut self, now: Time, sequence: u64, packet: DataView<'_>, out: &Outbox) {
        if self.unreported.is_empty() {
            // The oldest arrival sets the deadline; later ones do not postpone it.
            self.timers.set(Timer::AckCoalescing, now.saturating_add(out.settings.ack.within));
        }
        if out.settings.ack.span == AckSpan::Unlimited
            && !self.unreported.has_room_for(sequence, out.settings.ack.range)
        {
            self.unreported.make_room_for(sequence);
        }
        self.unreported.record(sequence, packet);
    }

    /// Counts a packet that arrives whole after one that was sent later.
    #[inline]
    pub(crate) fn count_order(&mut self, sequence: u64, out: &mut Outbox) {
        if sequence < self.highest {
            out.counters.out_of_order += 1;
        }
        self.highest = self.highest.max(sequence + 1);
    }

    /// Reports all unreported arrivals, with an echo of the last one.
    #[inline]
    pub(crate) fn report(&mut self, reply: Reply<'_>, out: &mut Outbox) {
        let echo = self.unreported.echo();
        self.report_with(echo, reply, out);
    }

    /// Reports all unreported arrivals, with an echo of another packet.
    #[inline]
    pub(crate) fn report_with(&mut self, echo: Echo, reply: Reply<'_>, out: &mut Outbox) {
        // The entry among the NIC's timers stays: it fires, finds nothing due and is dropped.
        self.timers.stop(Timer::AckCoalescing);
        // Counted before a bitmap adds arrivals that were reported earlier.
        let new = self.unreported.packets();
        let report = match (out.settings.ack.range, reply.board) {
            (AckRange::Last64, Some(board)) => self.unreported.take_with(board),
            _ => self.unreported.take(),
        };
        let wire_bytes = out.settings.ack.wire_bytes(new);
        self.send(Packet { wire_bytes, ..reply.packet(report, echo.stamp) }, echo, out);
    }

    /// Answers one packet without reporting arrivals.
    pub(crate) fn send_reply(&self, packet: DataView<'_>, reply: Reply<'_>, out: &mut Outbox) {
        let echo = Echo::of(packet);
        self.send_bare(reply.packet(ArrivalReport::default(), echo.stamp), echo, out);
    }

    /// Sends a NACK for a packet that was trimmed to its header, with its PSN and whether the last
    /// switch on its path trimmed it.
    pub(crate) fn nack_trimmed(&self, packet: DataView<'_>, cumulative: u64, out: &mut Outbox) {
        let echo = Echo::of(packet);
        let last_hop = Flags::LAST_HOP.when(packet.flags.has(Flags::LAST_HOP));
        let nack = Packet::trimmed_nack(packet.psn(), Psn::on_wire(cumulative), echo.stamp);
        self.send_bare(Packet { flags: nack.flags.with(last_hop), ..nack }, echo, out);
    }

    /// Sends a reply that reports no arrivals.
    fn send_bare(&self, reply: Packet, echo: Echo, out: &mut Outbox) {
        let wire_bytes = out.settings.ack.wire_bytes(0);
        self.send(Packet { wire_bytes, ..reply }, echo, out);
    }

    /// Sends a reply, after adding addresses and the echo that all replies have.
    #[inline]
    fn send(&self, reply: Packet, echo: Echo, out: &mut Outbox) {
        // The flag is for switches: in the NIC, control packets always go before data.
        let priority = Flags::PRIORITY.when(out.settings.ack.priority);
        out.control.push_back(Packet {
            src: self.endpoints.host,
            dst: self.endpoints.peer,
            qp: self.endpoints.peer_qp,
            label: self.endpoints.label,
            // The value of the acknowledged packet serves twice: it tells the sender which path the
            // reply is about, and it selects the reply's own reverse path.
            entropy: echo.entropy,
            route: echo.entropy,
            flags: priority.with(echo.flags).with(reply.flags),
            ..reply
        });
    }

    /// Reports the delivery of a message.
    pub(crate) fn deliver(&self, message: u64, out: &mut Outbox) {
        let message = message as u32;
        out.events.push_back(NicEvent::Delivered { owner: self.endpoints.owner, message });
    }

    /// Disables congestion notification packets.
    pub(crate) fn stop_notifications(&mut self) {
        // A stopped timer is never due, and only its expiry permits a CNP.
        self.timers.stop(Timer::Cnp);
    }

    /// Sends a congestion notification packet, if the congestion control uses them and none was
    /// sent within the interval.
    pub(crate) fn notify_congestion(&mut self, now: Time, packet: DataView<'_>, out: &mut Outbox) {
        let Some(interval) = out.settings.cnp_interval else { return };
        // DCQCN, section 3.1: at most one CNP per flow and interval, the first one immediately.
        let is_due = self.timers.is_due(Timer::Cnp, now);
        let shared = match self.timers.deadline(Timer::Cnp) == Time::NEVER {
            true => None,
            false => {
                out.cnps.as_mut().and_then(|it| it.permits(now, self.endpoints.peer, interval))
            }
        };
        if shared.unwrap_or(is_due) {
            self.timers.set(Timer::Cnp, now.saturating_add(interval));
            if let Some(cnps) = &mut out.cnps {
                cnps.sent += 1;
            }
            let echo = Echo::of(packet);
            self.send_bare(Packet::cnp(echo.stamp), echo, out);
        }
    }
}
