//! The header fields whose meaning depends on the kind of packet, and the constructors that write
//! them. The views of `view` read them.
//!
//! Five fields serve all kinds, so that a packet stays at 48 bytes. The traffic class of data and
//! of PFC frames is in the bits that `ack` does not need:
//!
//! | kind | `psn` | `ack` | `sack` | `marked` | `stamp` |
//! |---|---|---|---|---|---|
//! | data | its number | message, or none | header of its verb | length, or credit | sent |
//! | ACK | first of `sack` | cumulative, or message | arrivals | marks | echo |
//! | NACK, gap | as an ACK | missing packet | arrivals | marks | echo |
//! | NACK, trimmed | the trimmed packet | missing packet, or message | - | - | echo |
//! | CNP | - | - | - | - | echo |
//! | refusal | the refused packet | - | reason | - | echo |
//! | PFC frame | - | - | bytes waiting | - | - |
//! | CBFC frame | - | - | credits freed | - | - |
//! | probe, reply | - | - | queue pair that probes | - | sent, echo |
//! | port status | - | - | usable planes | - | - |
//! | credit | its number | - | - | - | - |
//! | request for credit | target | - | queue pair that receives | - | - |

use super::{EndpointView, Flags, Packet, PacketKind, PlaneMask, Psn, Stamp};
use crate::ids::{ClassId, QpId};

/// The fields whose meaning depends on the kind of packet. Opaque: views read them, constructors
/// of [`Packet`] write them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KindFields {
    pub(super) sack: u64,
    pub(super) psn: Psn,
    pub(super) ack: ClassedPsn,
    pub(super) marked: u32,
    pub(super) stamp: Stamp,
}

/// A PSN, which has 24 bits, and above it a traffic class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ClassedPsn(u32);

/// Where the bits of the class begin.
const CLASS: u32 = Psn::MODULUS.trailing_zeros();
/// The bits of the PSN.
const PSN_BITS: u32 = (1 << CLASS) - 1;

impl ClassedPsn {
    /// A PSN of the first class.
    #[inline]
    pub(super) const fn of(psn: Psn) -> Self {
        Self(psn.get())
    }

    #[inline]
    pub(super) const fn psn(self) -> Psn {
        Psn::on_wire((self.0 & PSN_BITS) as u64)
    }
}

/// [`KindFields`] as numbers without a meaning: for code that carries packets across a border, or
/// forges them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RawFields {
    /// 64 bits: a report's bitmap, a verb's headers, a reason or bytes.
    pub sack: u64,
    /// A PSN of 24 bits; higher bits are ignored.
    pub psn: u32,
    /// A PSN or the index of a message, of 24 bits; higher bits are ignored.
    pub ack: u32,
    /// 32 bits: a report's marks, or the length of a message.
    pub marked: u32,
    /// 32 bits: a time in steps of 1,024 ps.
    pub stamp: u32,
}

impl KindFields {
    /// The fields as numbers.
    #[inline]
    pub const fn raw(self) -> RawFields {
        RawFields {
            sack: self.sack,
            psn: self.psn.get(),
            ack: self.ack.psn().get(),
            marked: self.marked,
            stamp: self.stamp.bits(),
        }
    }

    /// The fields with these numbers.
    #[inline]
    pub const fn of_raw(raw: RawFields) -> Self {
        Self {
            sack: raw.sack,
            psn: Psn::on_wire(raw.psn as u64),
            ack: ClassedPsn::of(Psn::on_wire(raw.ack as u64)),
            marked: raw.marked,
            stamp: Stamp::of_bits(raw.stamp),
        }
    }
}

/// The fields of a data packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DataFields {
    /// Its packet sequence number.
    pub psn: Psn,
    /// When it was sent.
    pub sent: Stamp,
    /// The headers of its verb (RETH, immediate data), as `nic::verbs` encodes them; 0 for a plain
    /// WRITE.
    pub verb: u64,
    /// The message that it is part of, where the receiver needs to know.
    pub message: MessageLabel,
}

/// The message that a data packet is part of: with an erasure code and with unordered delivery
/// each packet names it. Other packets carry the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MessageLabel {
    /// Index of the message on its queue pair, as the wire has it.
    pub index: Psn,
    /// Length of the message: with an erasure code in bytes, with unordered delivery in packets.
    pub length: u32,
}

/// The fields of an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AckFields {
    /// Every packet before this one has arrived; with an erasure code, the index of the message
    /// that the acknowledgement is about.
    pub cumulative: Psn,
    /// The packets that it reports.
    pub report: ArrivalReport,
    /// The time stamp of the answered packet.
    pub echo: Stamp,
}

/// Which packets an acknowledgement reports. Where it reports each packet once these are at most
/// [`ArrivalReport::MOST_PACKETS`] among 64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ArrivalReport {
    /// The first PSN that `arrived` has a bit for.
    pub base: Psn,
    /// The packets from `base` on that arrived, since the last report or at any time, lowest bit
    /// first.
    pub arrived: u64,
    /// Which of the last packets of `arrived` were ECN marked; the lowest bit stands for the first
    /// of them. See [`ArrivalReport::marks`].
    pub(super) marked: u32,
}

impl ArrivalReport {
    /// A report has the marks of at most this many packets: the bits of its field of marks.
    pub const MOST_PACKETS: u32 = u32::BITS;

    /// A report of the packets of `arrived` from `base` on, of which those of `marks` were ECN
    /// marked. These are among the last [`Self::MOST_PACKETS`] of `arrived`.
    pub const fn new(base: Psn, arrived: u64, marks: u64) -> Self {
        Self { base, arrived, marked: compress(marks, arrived) }
    }

    /// Which of the 64 packets from `base` on were ECN marked, a subset of `arrived`.
    pub const fn marks(&self) -> u64 {
        // The n-th bit of `marked` is for the n-th of the last 32 bits that are set in `arrived`.
        // Most reports have no mark, and nothing runs.
        if self.marked == 0 {
            return 0;
        }
        let (mut left, mut marks, mut reported) = (self.marked, 0, last_of(self.arrived));
        while left != 0 && reported != 0 {
            if left & 1 == 1 {
                marks |= reported & reported.wrapping_neg();
            }
            reported &= reported - 1;
            left >>= 1;
        }
        marks
    }

    /// How many of the packets were ECN marked.
    #[inline]
    pub(crate) const fn marked_packets(&self) -> u32 {
        ones(self.marked as u64)
    }
}

/// How many bits are set: mostly none or one, which needs no instruction that not every processor
/// has, nor the dozen in its place.
#[inline]
pub(crate) const fn ones(bits: u64) -> u32 {
    if bits & bits.wrapping_sub(1) == 0 { (bits != 0) as u32 } else { bits.count_ones() }
}

/// The last of the bits that are set in `arrived`, as many as there is room for marks.
const fn last_of(mut arrived: u64) -> u64 {
    while ones(arrived) > ArrivalReport::MOST_PACKETS {
        arrived &= arrived - 1;
    }
    arrived
}

/// The bits of `marks`, a subset of `arrived`, moved together: bit `i` of the result stands for
/// the `i`-th of the last 32 bits that are set in `arrived`.
const fn compress(marks: u64, arrived: u64) -> u32 {
    if marks == 0 {
        return 0;
    }
    let arrived = last_of(arrived);
    let (mut left, mut marked) = (marks & arrived, 0u64);
    while left != 0 {
        // The position of a mark among the arrivals is the number of arrivals below it.
        let below = (1u64 << left.trailing_zeros()) - 1;
        marked |= 1 << (arrived & below).count_ones();
        left &= left - 1;
    }
    marked as u32
}

/// Why a packet is refused although it arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum RefusalReason {
    /// No receive is posted that the message could consume (RNR NAK).
    ReceiverNotReady = 0,
    /// The peer cannot serve the request (NAK, invalid request).
    InvalidRequest = 1,
}

impl RefusalReason {
    /// The reason of this number; `None` if no reason has it.
    pub(super) const fn of_number(number: u64) -> Option<Self> {
        const NOT_READY: u64 = RefusalReason::ReceiverNotReady as u64;
        const INVALID: u64 = RefusalReason::InvalidRequest as u64;
        match number {
            NOT_READY => Some(Self::ReceiverNotReady),
            INVALID => Some(Self::InvalidRequest),
            _ => None,
        }
    }
}

/// What a frame of priority flow control (PFC) orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PauseOrder {
    /// Stop sending what has no priority.
    Pause,
    /// Continue to send what has no priority.
    Resume,
}

/// The fields of a frame of priority flow control (PFC).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PauseFrame {
    /// What the other end of the link is to do.
    pub order: PauseOrder,
    /// Bytes without priority that wait at the port that sends the frame.
    pub waiting: u64,
    /// The traffic class of data that it is about; the first one where there are none.
    pub class: ClassId,
}

impl Packet {
    /// A data packet; addresses, lengths and flags are left to set.
    #[inline]
    pub fn data(data: DataFields) -> Self {
        let DataFields { psn, sent, verb, message } = data;
        let MessageLabel { index, length } = message;
        let fields =
            KindFields { sack: verb, psn, ack: ClassedPsn::of(index), marked: length, stamp: sent };
        Self { kind: PacketKind::Data, fields, ..Self::default() }
    }

    /// An acknowledgement; addresses, lengths and further flags are left to set.
    #[inline]
    pub fn ack(ack: AckFields) -> Self {
        Self { kind: PacketKind::Ack, fields: ack.fields(), ..Self::default() }
    }

    /// A NACK of a receiver that lacks the packet `ack.cumulative`: it reports arrivals as an
    /// acknowledgement does.
    #[inline]
    pub fn gap_nack(ack: AckFields) -> Self {
        Self { kind: PacketKind::Nack, fields: ack.fields(), ..Self::default() }
    }

    /// A NACK for the trimmed packet `psn`; `ack` has the cumulative PSN (or the message) and the
    /// echo of that packet, and an empty report.
    #[inline]
    pub fn trimmed_nack(psn: Psn, cumulative: Psn, echo: Stamp) -> Self {
        let report = ArrivalReport { base: psn, ..ArrivalReport::default() };
        let fields = AckFields { cumulative, report, echo }.fields();
        Self { kind: PacketKind::Nack, fields, flags: Flags::TRIMMED, ..Self::default() }
    }

    /// A congestion notification packet that echoes a stamp.
    #[inline]
    pub fn cnp(echo: Stamp) -> Self {
        let fields = KindFields { stamp: echo, ..KindFields::default() };
        Self { kind: PacketKind::Cnp, fields, ..Self::default() }
    }

    /// Credit up to `number`.
    pub fn credit(number: Psn) -> Self {
        let fields = KindFields { psn: number, ..KindFields::default() };
        Self { kind: PacketKind::Credit, fields, ..Self::default() }
    }

    /// The data packet with the number of credit that its sender asks for, in place of the length
    /// of its message.
    #[must_use]
    pub fn asking_for(mut self, target: Psn) -> Self {
        self.fields.marked = target.get();
        self
    }

    /// A refusal of the packet `psn`.
    pub fn refusal(psn: Psn, reason: RefusalReason, echo: Stamp) -> Self {
        let sack = reason as u64;
        let fields = KindFields { psn, sack, stamp: echo, ..KindFields::default() };
        Self { kind: PacketKind::Refusal, fields, ..Self::default() }
    }

    /// A frame of priority flow control (PFC).
    pub fn pause_frame(frame: PauseFrame) -> Self {
        let kind = match frame.order {
            PauseOrder::Pause => PacketKind::Pause,
            PauseOrder::Resume => PacketKind::Resume,
        };
        let fields = KindFields { sack: frame.waiting, ..KindFields::default() };
        let mut packet = Self { kind, fields, ..Self::default() };
        packet.set_class(frame.class);
        packet
    }
}

/// The traffic class.
impl Packet {
    /// The traffic class of a data packet, or of a frame of priority flow control (PFC); the first
    /// one where there are none.
    #[inline]
    pub const fn class(&self) -> ClassId {
        ClassId(self.fields.ack.0 >> CLASS)
    }

    /// Puts a data packet, or a frame of priority flow control, into a class.
    ///
    /// # Panics
    /// If the class has more than eight bits.
    #[inline]
    pub fn set_class(&mut self, class: ClassId) {
        assert!(class.0 < 1 << (u32::BITS - CLASS), "{class} has no room in a packet");
        self.fields.ack.0 = self.fields.ack.0 & PSN_BITS | class.0 << CLASS;
    }
}

/// Packets from NIC to NIC, beside queue pairs.
impl Packet {
    /// A frame of credit-based flow control (CBFC).
    pub fn link_credit(freed: u64) -> Self {
        let fields = KindFields { sack: freed, ..KindFields::default() };
        Self { kind: PacketKind::LinkCredit, fields, ..Self::default() }
    }

    /// A probe for the queue pair `prober` of the host that sends it.
    pub fn probe(prober: QpId, sent: Stamp) -> Self {
        Self::endpoint(PacketKind::Probe, u64::from(prober.0), sent)
    }

    /// The reply to a probe; addresses, lengths and flags are left to set.
    pub fn probe_reply(probe: EndpointView<'_>) -> Self {
        let (kind, prober) = (PacketKind::ProbeReply, u64::from(probe.prober().0));
        Self { entropy: probe.entropy, ..Self::endpoint(kind, prober, probe.stamp()) }
    }

    /// The planes whose ports are usable at the host that sends it.
    pub fn port_status(usable: PlaneMask) -> Self {
        Self::endpoint(PacketKind::PortStatus, u64::from(usable.bits()), Stamp::default())
    }

    /// Asks the receiving half of queue pair `receiver` for credit up to `target`.
    pub fn credit_request(receiver: QpId, target: Psn) -> Self {
        let request =
            Self::endpoint(PacketKind::CreditRequest, u64::from(receiver.0), Stamp::default());
        Self { fields: KindFields { psn: target, ..request.fields }, ..request }
    }

    fn endpoint(kind: PacketKind, sack: u64, stamp: Stamp) -> Self {
        let fields = KindFields { sack, stamp, ..KindFields::default() };
        // It is for no queue pair: numbers of queue pairs have 24 bits, as PSNs.
        Self { kind, fields, qp: QpId(1 << 24), ..Self::default() }
    }
}

impl AckFields {
    #[inline]
    const fn fields(self) -> KindFields {
        let ArrivalReport { base, arrived, marked } = self.report;
        let ack = ClassedPsn::of(self.cumulative);
        KindFields { sack: arrived, psn: base, ack, marked, stamp: self.echo }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_the_last_32_packets_are_found_among_64() {
        let mut random = crate::rng::Stream::new(4, crate::rng::Purpose::Test, 0);
        let mut draw = || u64::from(random.next_u32()) << 32 | u64::from(random.next_u32());
        for round in 0..2_000 {
            let arrived = if round % 2 == 0 { draw() & draw() } else { draw() | draw() };
            let marks = last_of(arrived) & draw();
            let report = ArrivalReport::new(Psn::default(), arrived, marks);
            assert_eq!(report.marks(), marks, "{arrived:#x}");
            assert_eq!(report.marked_packets(), marks.count_ones());
        }
    }

    #[test]
    fn a_class_changes_no_other_field() {
        let message = MessageLabel { index: Psn::on_wire(0xff_fffe), length: 9 };
        let mut packet = Packet::data(DataFields { message, ..DataFields::default() });
        let raw = packet.fields.raw();
        for class in [5, 2, 0, 6].map(ClassId) {
            packet.set_class(class);
            assert_eq!((packet.class(), packet.fields.raw()), (class, raw));
            assert_eq!(packet.as_data().unwrap().message(), message);
        }
    }

    #[test]
    fn raw_fields_keep_every_bit() {
        let raw = RawFields { sack: u64::MAX, psn: 0xff_ffff, ack: 7, marked: 1 << 31, stamp: 9 };
        assert_eq!(KindFields::of_raw(raw).raw(), raw);
    }
}
