//! Header fields whose meaning depends on the kind of packet, and the constructors that write them.
//! The views of `view` read them.
//!
//! Five fields serve all kinds, so that a packet stays at 48 bytes. The traffic class of data and
//! PFC frames is in the bits that `ack` does not need:
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
//! | credit request | target | - | queue pair that receives | - | - |

use super::{EndpointView, Flags, Packet, PacketKind, PlaneMask, Psn, Stamp};
use crate::ids::{ClassId, QpId};

/// Fields whose meaning depends on the kind of packet. Opaque: views read them, constructors of
/// [`Packet`] write them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KindFields {
    pub(super) sack: u64,
    pub(super) psn: Psn,
    pub(super) ack: ClassedPsn,
    pub(super) marked: u32,
    pub(super) stamp: Stamp,
}

/// A 24-bit PSN, with a traffic class in the upper bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ClassedPsn(u32);

/// Position of the lowest bit of the class.
const CLASS: u32 = Psn::MODULUS.trailing_zeros();
/// Mask of the PSN.
const PSN_BITS: u32 = (1 << CLASS) - 1;

impl ClassedPsn {
    /// Combines a PSN with the first class.
    #[inline]
    pub(super) const fn of(psn: Psn) -> Self {
        Self(psn.get())
    }

    #[inline]
    pub(super) const fn psn(self) -> Psn {
        Psn::on_wire((self.0 & PSN_BITS) as u64)
    }
}

/// Uninterpreted numeric form of [`KindFields`], for code that carries packets across a boundary or
/// forges them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RawFields {
    /// 64 bits: the bitmap of a report, the headers of a verb, a reason or a number of bytes.
    pub sack: u64,
    /// A PSN of 24 bits; higher bits are ignored.
    pub psn: u32,
    /// A PSN or the index of a message, of 24 bits; higher bits are ignored.
    pub ack: u32,
    /// 32 bits: the marks of a report, or the length of a message.
    pub marked: u32,
    /// 32 bits: a time in steps of 1,024 ps.
    pub stamp: u32,
}

impl KindFields {
    /// Returns the fields as numbers.
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

    /// Creates the fields from numbers.
    #[inline]
    pub const fn of_raw(raw: RawFields) -> Self {
        Self {
            sack: raw.sack,
            psn: Psn::on_wire(raw.psn as u64),
            ack: ClassedPsn::of(Psn::on_wire(raw.ack as u64)),
            marked: raw.marked,
            stamp: Stamp::from_bits(raw.stamp),
        }
    }
}

/// Fields of a data packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DataFields {
    /// Packet sequence number.
    pub psn: Psn,
    /// Time at which the packet was sent.
    pub sent: Stamp,
    /// Headers of its verb (RETH, immediate data), as `nic::verbs` encodes them; 0 for a plain
    /// WRITE.
    pub verb: u64,
    /// The message that the packet belongs to, if the receiver needs to know.
    pub message: MessageLabel,
}

/// The message that a data packet belongs to. With an erasure code or unordered delivery, each
/// packet names it; otherwise packets carry the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MessageLabel {
    /// Index of the message on its queue pair, in its wire form.
    pub index: Psn,
    /// Length of the message: in bytes with an erasure code, in packets with unordered delivery.
    pub length: u32,
}

/// Fields of an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AckFields {
    /// Every packet before this one has arrived. With an erasure code, it is the index of the
    /// acknowledged message.
    pub cumulative: Psn,
    /// The reported packets.
    pub report: ArrivalReport,
    /// Time stamp of the acknowledged packet.
    pub echo: Stamp,
}

/// The packets that an acknowledgement reports. If packets are reported individually, these are at
/// most [`ArrivalReport::MAX_PACKETS`] among 64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ArrivalReport {
    /// PSN of the lowest bit of `arrived`.
    pub base: Psn,
    /// Packets from `base` on that arrived, since the last report or at any time; lowest bit first.
    pub arrived: u64,
    /// ECN marks of the last packets of `arrived`; the lowest bit stands for the first of them. See
    /// [`ArrivalReport::marks`].
    pub(super) marked: u32,
}

impl ArrivalReport {
    /// Maximum number of packets whose marks a report has: the width of the field of marks.
    pub const MAX_PACKETS: u32 = u32::BITS;

    /// Creates a report of the packets `arrived` from `base` on. `marks` holds the ECN-marked ones,
    /// which must be among the last [`Self::MAX_PACKETS`] of `arrived`.
    pub const fn new(base: Psn, arrived: u64, marks: u64) -> Self {
        Self { base, arrived, marked: compress(marks, arrived) }
    }

    /// Returns the ECN-marked ones among the 64 packets from `base` on, a subset of `arrived`.
    pub const fn marks(&self) -> u64 {
        // The n-th bit of `marked` stands for the n-th of the last 32 set bits of `arrived`. Most
        // reports have no mark and return early.
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

    /// Returns the number of ECN-marked packets.
    #[inline]
    pub(crate) const fn marked_packets(&self) -> u32 {
        ones(self.marked as u64)
    }
}

/// Returns the number of set bits, with a fast path for at most one. This avoids a `popcnt`
/// instruction, which not every processor has, and its dozen replacement instructions.
#[inline]
pub(crate) const fn ones(bits: u64) -> u32 {
    if bits & bits.wrapping_sub(1) == 0 { (bits != 0) as u32 } else { bits.count_ones() }
}

/// Returns the last set bits of `arrived`, as many as the field of marks can describe.
const fn last_of(mut arrived: u64) -> u64 {
    while ones(arrived) > ArrivalReport::MAX_PACKETS {
        arrived &= arrived - 1;
    }
    arrived
}

/// Compresses `marks`, a subset of `arrived`: bit `i` of the result stands for the `i`-th of the
/// last 32 set bits of `arrived`.
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

/// Reason for rejecting a packet that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum RefusalReason {
    /// No receive is posted that the message could consume (RNR NAK).
    ReceiverNotReady = 0,
    /// The peer cannot serve the request (NAK, invalid request).
    InvalidRequest = 1,
}

impl RefusalReason {
    /// Returns the reason with this number, or `None` if the number is unknown.
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

/// Command of a priority flow control (PFC) frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PauseOrder {
    /// Stop sending packets without priority.
    Pause,
    /// Continue sending packets without priority.
    Resume,
}

/// Fields of a priority flow control (PFC) frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PauseFrame {
    /// Command for the other end of the link.
    pub order: PauseOrder,
    /// Bytes without priority queued at the port that sends the frame.
    pub waiting: u64,
    /// Traffic class of data that the frame applies to; the first one in a run without classes.
    pub class: ClassId,
}

impl Packet {
    /// Creates a data packet; the caller sets addresses, lengths and flags.
    #[inline]
    pub fn data(data: DataFields) -> Self {
        let DataFields { psn, sent, verb, message } = data;
        let MessageLabel { index, length } = message;
        let fields =
            KindFields { sack: verb, psn, ack: ClassedPsn::of(index), marked: length, stamp: sent };
        Self { kind: PacketKind::Data, fields, ..Self::default() }
    }

    /// Creates an acknowledgement; the caller sets addresses, lengths and further flags.
    #[inline]
    pub fn ack(ack: AckFields) -> Self {
        Self { kind: PacketKind::Ack, fields: ack.fields(), ..Self::default() }
    }

    /// Creates a NACK of a receiver that lacks the packet `ack.cumulative`. It reports arrivals
    /// like an acknowledgement.
    #[inline]
    pub fn gap_nack(ack: AckFields) -> Self {
        Self { kind: PacketKind::Nack, fields: ack.fields(), ..Self::default() }
    }

    /// Creates a NACK for the trimmed packet `psn`, with the cumulative PSN (or the message), the
    /// echo of that packet and an empty report.
    #[inline]
    pub fn trimmed_nack(psn: Psn, cumulative: Psn, echo: Stamp) -> Self {
        let report = ArrivalReport { base: psn, ..ArrivalReport::default() };
        let fields = AckFields { cumulative, report, echo }.fields();
        Self { kind: PacketKind::Nack, fields, flags: Flags::TRIMMED, ..Self::default() }
    }

    /// Creates a congestion notification packet that echoes a stamp.
    #[inline]
    pub fn cnp(echo: Stamp) -> Self {
        let fields = KindFields { stamp: echo, ..KindFields::default() };
        Self { kind: PacketKind::Cnp, fields, ..Self::default() }
    }

    /// Creates a grant of credit up to `number`.
    pub fn credit(number: Psn) -> Self {
        let fields = KindFields { psn: number, ..KindFields::default() };
        Self { kind: PacketKind::Credit, fields, ..Self::default() }
    }

    /// Turns a data packet into one that requests credit up to `target`, which replaces the length
    /// of its message.
    #[must_use]
    pub fn with_credit_target(mut self, target: Psn) -> Self {
        self.fields.marked = target.get();
        self
    }

    /// Creates a refusal of the packet `psn`.
    pub fn refusal(psn: Psn, reason: RefusalReason, echo: Stamp) -> Self {
        let sack = reason as u64;
        let fields = KindFields { psn, sack, stamp: echo, ..KindFields::default() };
        Self { kind: PacketKind::Refusal, fields, ..Self::default() }
    }

    /// Creates a priority flow control (PFC) frame.
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

/// Traffic class.
impl Packet {
    /// Returns the traffic class of a data packet or a priority flow control (PFC) frame; the first
    /// one in a run without classes.
    #[inline]
    pub const fn class(&self) -> ClassId {
        ClassId(self.fields.ack.0 >> CLASS)
    }

    /// Sets the traffic class of a data packet or a priority flow control frame.
    ///
    /// # Panics
    /// If the class has more than eight bits.
    #[inline]
    pub fn set_class(&mut self, class: ClassId) {
        assert!(class.0 < 1 << (u32::BITS - CLASS), "{class} has no room in a packet");
        self.fields.ack.0 = self.fields.ack.0 & PSN_BITS | class.0 << CLASS;
    }
}

/// Packets from NIC to NIC that belong to no queue pair.
impl Packet {
    /// Creates a credit-based flow control (CBFC) frame.
    pub fn link_credit(freed: u64) -> Self {
        let fields = KindFields { sack: freed, ..KindFields::default() };
        Self { kind: PacketKind::LinkCredit, fields, ..Self::default() }
    }

    /// Creates a probe for queue pair `prober` of the sending host.
    pub fn probe(prober: QpId, sent: Stamp) -> Self {
        Self::endpoint(PacketKind::Probe, u64::from(prober.0), sent)
    }

    /// Creates the reply to a probe; the caller sets addresses, lengths and flags.
    pub fn probe_reply(probe: EndpointView<'_>) -> Self {
        let (kind, prober) = (PacketKind::ProbeReply, u64::from(probe.prober().0));
        Self { entropy: probe.entropy, ..Self::endpoint(kind, prober, probe.stamp()) }
    }

    /// Creates a port status: the planes whose ports are usable at the sending host.
    pub fn port_status(usable: PlaneMask) -> Self {
        Self::endpoint(PacketKind::PortStatus, u64::from(usable.bits()), Stamp::default())
    }

    /// Creates a request for credit up to `target`, addressed to the responder of queue pair
    /// `receiver`.
    pub fn credit_request(receiver: QpId, target: Psn) -> Self {
        let request =
            Self::endpoint(PacketKind::CreditRequest, u64::from(receiver.0), Stamp::default());
        Self { fields: KindFields { psn: target, ..request.fields }, ..request }
    }

    fn endpoint(kind: PacketKind, sack: u64, stamp: Stamp) -> Self {
        let fields = KindFields { sack, stamp, ..KindFields::default() };
        // An invalid queue pair: numbers of queue pairs have 24 bits, like PSNs.
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
