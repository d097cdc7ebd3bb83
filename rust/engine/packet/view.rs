//! Views of packets, one per kind: the meaning of the fields of [`super::KindFields`].
//!
//! A view exists only for a packet of its kind, so code that takes one needs no check. Everything
//! is inlined: a view costs the same comparison of the kind as a `match`.

use std::ops::Deref;

use super::{
    ArrivalReport, Flags, MessageLabel, Packet, PacketKind, PauseFrame, PauseOrder, PlaneMask, Psn,
    RefusalReason, Stamp,
};
use crate::ids::QpId;

/// A packet, by kind.
#[derive(Debug, Clone, Copy)]
pub enum View<'a> {
    /// A part of a message, whole or trimmed to its header.
    Data(DataView<'a>),
    /// A positive acknowledgement of one or more packets.
    Ack(AckView<'a>),
    /// A negative acknowledgement, for a gap or for a trimmed packet.
    Nack(NackView<'a>),
    /// A congestion notification packet: it has no further fields.
    Cnp,
    /// A packet that arrived but is rejected, for a reason of the verbs.
    Refusal(RefusalView<'a>),
    /// A frame of priority flow control (PFC).
    Pause(PauseFrame),
    /// A frame of credit-based flow control (CBFC): the credits that the far end has freed.
    LinkCredit(u64),
    /// Credit for a sender.
    Credit(CreditView<'a>),
    /// Messages between NICs that belong to no queue pair.
    Endpoint(EndpointView<'a>),
}

/// A data packet: its PSN, its time stamp, its message and its verb.
#[derive(Debug, Clone, Copy)]
pub struct DataView<'a>(&'a Packet);

/// An acknowledgement, or the acknowledgement fields of a NACK.
#[derive(Debug, Clone, Copy)]
pub struct AckView<'a>(&'a Packet);

/// A negative acknowledgement: the missing packet and the reason.
#[derive(Debug, Clone, Copy)]
pub struct NackView<'a>(&'a Packet);

/// A refusal: the packet and the reason.
#[derive(Debug, Clone, Copy)]
pub struct RefusalView<'a>(&'a Packet);

/// A grant of credit by a receiver.
#[derive(Debug, Clone, Copy)]
pub struct CreditView<'a>(&'a Packet);

/// A probe, the reply to one, a port status, or a request for credit.
#[derive(Debug, Clone, Copy)]
pub struct EndpointView<'a>(&'a Packet);

macro_rules! dereferences_to_its_packet {
    ($($view:ident),*) => {$(
        impl Deref for $view<'_> {
            type Target = Packet;

            #[inline]
            fn deref(&self) -> &Packet {
                self.0
            }
        }
    )*};
}

dereferences_to_its_packet!(DataView, AckView, NackView, RefusalView, CreditView, EndpointView);

impl Packet {
    /// Returns the view for the packet's kind.
    #[inline]
    pub const fn view(&self) -> View<'_> {
        match self.kind {
            PacketKind::Data => View::Data(DataView(self)),
            PacketKind::Ack => View::Ack(AckView(self)),
            PacketKind::Nack => View::Nack(NackView(self)),
            PacketKind::Cnp => View::Cnp,
            PacketKind::Refusal => View::Refusal(RefusalView(self)),
            PacketKind::Pause => View::Pause(self.frame(PauseOrder::Pause)),
            PacketKind::Resume => View::Pause(self.frame(PauseOrder::Resume)),
            PacketKind::LinkCredit => View::LinkCredit(self.fields.sack),
            PacketKind::Credit => View::Credit(CreditView(self)),
            PacketKind::Probe
            | PacketKind::ProbeReply
            | PacketKind::PortStatus
            | PacketKind::CreditRequest => View::Endpoint(EndpointView(self)),
        }
    }

    /// Returns the view of a data packet; `None` for every other kind.
    #[inline]
    pub const fn as_data(&self) -> Option<DataView<'_>> {
        // One comparison instead of a match over all kinds: this runs for every packet that reaches
        // a host.
        if self.is_control() { None } else { Some(DataView(self)) }
    }

    /// Returns the view of an acknowledgement; `None` for every other kind.
    #[inline]
    pub const fn as_ack(&self) -> Option<AckView<'_>> {
        if let View::Ack(ack) = self.view() { Some(ack) } else { None }
    }

    /// Returns the view of a negative acknowledgement; `None` for every other kind.
    #[inline]
    pub const fn as_nack(&self) -> Option<NackView<'_>> {
        if let View::Nack(nack) = self.view() { Some(nack) } else { None }
    }

    /// Returns the priority flow control (PFC) frame; `None` for every other kind.
    #[inline]
    pub const fn as_pause_frame(&self) -> Option<PauseFrame> {
        if let View::Pause(frame) = self.view() { Some(frame) } else { None }
    }

    #[inline]
    const fn frame(&self, order: PauseOrder) -> PauseFrame {
        PauseFrame { order, waiting: self.fields.sack, class: self.class() }
    }
}

impl DataView<'_> {
    /// Returns the packet sequence number.
    #[inline]
    pub const fn psn(&self) -> Psn {
        self.0.fields.psn
    }

    /// Returns the time at which the packet was sent.
    #[inline]
    pub const fn sent(&self) -> Stamp {
        self.0.fields.stamp
    }

    /// Returns the headers of its verb, as `nic::verbs` encodes them; 0 for a plain WRITE.
    #[inline]
    pub const fn verb(&self) -> u64 {
        self.0.fields.sack
    }

    /// Returns the message that the packet belongs to, with an erasure code or unordered delivery.
    #[inline]
    pub const fn message(&self) -> MessageLabel {
        MessageLabel { index: self.0.fields.ack.psn(), length: self.0.fields.marked }
    }

    /// Returns the number up to which its sender requests credit, if receivers grant credit.
    #[inline]
    pub const fn credit_target(&self) -> Psn {
        Psn::on_wire(self.0.fields.marked as u64)
    }

    /// Returns true if a switch trimmed the packet to its header.
    #[inline]
    pub const fn is_trimmed(&self) -> bool {
        self.0.flags.has(Flags::TRIMMED)
    }

    /// Returns true for the last packet of a message.
    #[inline]
    pub const fn is_last(&self) -> bool {
        self.0.flags.has(Flags::LAST)
    }
}

impl AckView<'_> {
    /// Returns the cumulative PSN: every packet before it has arrived. With an erasure code use
    /// [`AckView::message`].
    #[inline]
    pub const fn cumulative(&self) -> Psn {
        self.0.fields.ack.psn()
    }

    /// With an erasure code: returns the index of the acknowledged message.
    #[inline]
    pub const fn message(&self) -> Psn {
        self.0.fields.ack.psn()
    }

    /// With an erasure code: returns true if that message needs no more packets.
    #[inline]
    pub const fn completes_message(&self) -> bool {
        self.0.flags.has(Flags::LAST)
    }

    /// Returns the reported packets.
    #[inline]
    pub const fn report(&self) -> ArrivalReport {
        let fields = &self.0.fields;
        ArrivalReport { base: fields.psn, arrived: fields.sack, marked: fields.marked }
    }

    /// Returns the time stamp of the acknowledged packet.
    #[inline]
    pub const fn echo(&self) -> Stamp {
        self.0.fields.stamp
    }

    /// Returns true if the receiver asks to leave the path of the acknowledged packet (ALWAYS_SKIP
    /// of MRC). Receivers here never do: when one should is undefined.
    #[inline]
    pub const fn condemns_path(&self) -> bool {
        self.0.flags.has(Flags::LAST_HOP)
    }

    /// Returns true if the acknowledged packet was ECN marked.
    #[inline]
    pub const fn echoes_mark(&self) -> bool {
        self.0.flags.has(Flags::MARKED)
    }
}

impl<'a> NackView<'a> {
    /// Returns the acknowledgement in the NACK, which has all of an acknowledgement's fields. For a
    /// trimmed packet, the base of the report is that packet.
    #[inline]
    pub const fn as_ack(self) -> AckView<'a> {
        AckView(self.0)
    }

    /// Returns true if the NACK reports a packet that was trimmed to its header.
    #[inline]
    pub const fn is_for_trimmed(&self) -> bool {
        self.0.flags.has(Flags::TRIMMED)
    }

    /// Returns true if the switch that the receiver is attached to trimmed that packet.
    #[inline]
    pub const fn was_trimmed_at_last_hop(&self) -> bool {
        self.0.flags.has(Flags::LAST_HOP)
    }
}

impl RefusalView<'_> {
    /// Returns the PSN of the rejected packet.
    pub const fn psn(&self) -> Psn {
        self.0.fields.psn
    }

    /// Returns the reason; `None` for an unknown number.
    pub const fn reason(&self) -> Option<RefusalReason> {
        RefusalReason::of_number(self.0.fields.sack)
    }
}

impl CreditView<'_> {
    /// Returns the number up to which credit is granted.
    pub const fn number(&self) -> Psn {
        self.0.fields.psn
    }
}

impl EndpointView<'_> {
    /// Credit request: returns the queue pair at the destination whose sender requests credit.
    pub const fn receiver(&self) -> QpId {
        QpId(self.0.fields.sack as u32)
    }

    /// Credit request: returns the number up to which credit is requested.
    pub const fn credit_target(&self) -> Psn {
        self.0.fields.psn
    }

    /// Probe and reply: returns the queue pair, at the probing host, whose path is probed.
    pub const fn prober(&self) -> QpId {
        QpId(self.0.fields.sack as u32)
    }

    /// Port status: returns the planes whose ports are usable at the sending host.
    pub const fn usable(&self) -> PlaneMask {
        PlaneMask::from_bits(self.0.fields.sack as u32)
    }

    /// Probe and reply: returns the time at which the probe was sent.
    pub const fn stamp(&self) -> Stamp {
        self.0.fields.stamp
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ClassId;
    use crate::packet::{AckFields, DataFields};

    #[test]
    fn a_view_reads_what_its_constructor_writes() {
        let message = MessageLabel { index: Psn::on_wire(7), length: 9 };
        let sent = Stamp::from_bits(5);
        let data = Packet::data(DataFields { psn: Psn::on_wire(3), sent, verb: 11, message });
        let view = data.as_data().unwrap();
        assert_eq!((view.psn().get(), view.sent(), view.verb()), (3, sent, 11));
        assert_eq!((view.message(), data.as_ack().is_none()), (message, true));

        let report = ArrivalReport::new(Psn::on_wire(20), 0b1011, 0b1000);
        let fields = AckFields { cumulative: Psn::on_wire(19), report, echo: sent };
        let (ack, gap) = (Packet::ack(fields), Packet::gap_nack(fields));
        for view in [ack.as_ack().unwrap(), gap.as_nack().unwrap().as_ack()] {
            assert_eq!((view.cumulative().get(), view.report(), view.echo()), (19, report, sent));
        }

        let trimmed = Packet::trimmed_nack(Psn::on_wire(4), Psn::on_wire(2), sent);
        let view = trimmed.as_nack().unwrap();
        assert!(view.is_for_trimmed() && !gap.as_nack().unwrap().is_for_trimmed());
        assert_eq!(view.as_ack().report().base.get(), 4);

        let frame = Packet::link_credit(1 << 40);
        let View::LinkCredit(freed) = frame.view() else { panic!("it is one") };
        assert_eq!(freed, 1 << 40);
        let credit = Packet::credit(Psn::on_wire(77));
        let View::Credit(view) = credit.view() else { panic!("it is one") };
        assert_eq!(view.number().get(), 77);
        let request = Packet::credit_request(QpId(8), Psn::on_wire(9));
        let View::Endpoint(view) = request.view() else { panic!("it is one") };
        assert_eq!((view.receiver(), view.credit_target().get()), (QpId(8), 9));
        let asking = Packet::data(DataFields::default()).with_credit_target(Psn::on_wire(5));
        assert_eq!(asking.as_data().unwrap().credit_target().get(), 5);

        for order in [PauseOrder::Pause, PauseOrder::Resume] {
            let frame = PauseFrame { order, waiting: 1 << 40, class: ClassId(5) };
            assert_eq!(Packet::pause_frame(frame).as_pause_frame(), Some(frame));
        }
    }

    #[test]
    fn refusals_have_a_reason_or_an_unknown_number() {
        for reason in [RefusalReason::ReceiverNotReady, RefusalReason::InvalidRequest] {
            let mut packet = Packet::refusal(Psn::on_wire(1), reason, Stamp::default());
            let View::Refusal(refusal) = packet.view() else { panic!("it is one") };
            assert_eq!((refusal.psn().get(), refusal.reason()), (1, Some(reason)));
            packet.fields.sack = 2;
            let View::Refusal(refusal) = packet.view() else { panic!("it is one") };
            assert_eq!(refusal.reason(), None);
        }
    }
}
