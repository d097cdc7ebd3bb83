//! Acknowledgements: the arrivals that a receiver has still to report, and when it reports them.
//!
//! One acknowledgement covers up to 32 packets within 64 PSNs, like the SACK bitmap of Ultra
//! Ethernet 1.0. It reports for each packet whether it arrived and whether it was ECN marked. It is
//! sent after a number of packets, a number of bytes or a time, whichever comes first. The last
//! packet of a message is acknowledged immediately, and so is one that fills its sender's window.
//! Otherwise a window smaller than one acknowledgement covers would never be acknowledged. It
//! echoes the stamp, the mark and the entropy value of the last packet that it covers.

use serde::{Deserialize, Serialize};

use crate::nic::receive::board::Board;
use crate::packet::{ArrivalReport, DataView, Flags, Packet, Psn, Stamp, ones};
use crate::units::{Bytes, Span};

/// Configuration of acknowledgements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckConfig {
    /// Length of an acknowledgement, NACK, CNP or refusal on the wire.
    pub bytes: Bytes,
    /// Data packets per acknowledgement, 1 to 32. The last packet of a message is acknowledged
    /// immediately.
    pub every: u32,
    /// Bytes on the wire per acknowledgement, if they arrive in fewer than `every` packets.
    pub every_bytes: Bytes,
    /// Longest time before an arrival is acknowledged; `Span::MAX` for no limit.
    pub within: Span,
    /// When a marked packet is acknowledged.
    pub marked: Marked,
    /// When the first packet of a queue pair is acknowledged.
    pub first: First,
    /// When a retransmitted packet is acknowledged.
    pub resent: Resent,
    /// Largest distance of packets that share an acknowledgement.
    pub span: AckSpan,
    /// The packets that an acknowledgement reports.
    pub range: AckRange,
    /// The packets whose entropy values the sender learns from it.
    pub entropies: Entropies,
    /// Congestion signal of a NACK for a gap.
    pub nacks: NackSignal,
    /// True if switches serve acknowledgements before data; NICs always do.
    pub priority: bool,
}

impl AckConfig {
    /// Returns the length on the wire of an answer that reports `new` arrivals for the first time.
    #[inline]
    pub(in crate::nic) fn wire_bytes(&self, new: u32) -> u16 {
        let entropies = match self.entropies {
            Entropies::Last => 0,
            Entropies::Carry => 2 * new as u16,
        };
        // Scenarios reject longer ones.
        let bare = u16::try_from(self.bytes.get());
        bare.expect("acknowledgements are shorter than 64 KiB").saturating_add(entropies)
    }
}

impl Default for AckConfig {
    /// 64 bytes for each packet, sent before data.
    fn default() -> Self {
        Self {
            bytes: Bytes::new(64),
            every: 1,
            every_bytes: Bytes::new(u64::MAX),
            within: Span::MAX,
            marked: Marked::Wait,
            first: First::Wait,
            resent: Resent::Wait,
            span: AckSpan::Bitmap,
            range: AckRange::Cumulative,
            entropies: Entropies::Last,
            nacks: NackSignal::None,
            priority: true,
        }
    }
}

/// When an ECN-marked packet is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Marked {
    /// Like an unmarked one: by count, bytes or time.
    #[default]
    Wait,
    /// Immediately, with all that waited (Ultra Ethernet's simulator, and REPS's with it).
    AtOnce,
}

/// When the first packet of a queue pair is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum First {
    /// Like any other one.
    #[default]
    Wait,
    /// Immediately, so that a sender learns the round trip of its path before the rest of the
    /// window queues (uet-htsim, `UecSink::processData`).
    AtOnce,
}

/// When a retransmitted packet is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resent {
    /// Like any other one.
    #[default]
    Wait,
    /// Immediately: its sender asks for it (uet-htsim, `UecSrc::sendRtxPacket`).
    AtOnce,
}

/// Largest distance of packets that share an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AckSpan {
    /// As far as one bitmap reports them all: 64 PSNs (Ultra Ethernet 1.0), or 32 if it repeats
    /// arrivals. Before a packet that is further away, the others are acknowledged.
    #[default]
    Bitmap,
    /// Unlimited: only count, bytes and time make an acknowledgement due (uet-htsim,
    /// `UecSink::shouldSack`). Arrivals that the bitmap does not reach are reported by a later one,
    /// or by the cumulative number.
    Unlimited,
}

/// Congestion signal of a NACK for a gap, in addition to the missing packet. A sender treats it as
/// a CNP if its congestion control supports them: DCQCN in both forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NackSignal {
    /// No signal.
    #[default]
    None,
    /// The mark of the packet that it answers: HPCC's simulator (`RdmaHw::ReceiveUdp`,
    /// `ReceiveAck`).
    Mark,
    /// Congestion, always: ConWeave's simulator, whose receivers flag each NACK for an out-of-order
    /// packet as a CNP (`RdmaHw::ReceiverCheckSeq`).
    Congestion,
}

/// The packets that an acknowledgement reports in addition to those that it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AckRange {
    /// All before its cumulative number: a later acknowledgement makes up for a lost one.
    #[default]
    Cumulative,
    /// None: it reports one packet, as in Ethereal's simulator and in the older transports of
    /// htsim. If an acknowledgement is lost, its packet times out and is retransmitted.
    Packet,
    /// In addition to the cumulative number, it repeats all arrivals among the 64 PSNs up to the
    /// last one that it answers. This is the SACK bitmap of Ultra Ethernet 1.0, as its simulator
    /// and REPS's artifact implement it. A lost acknowledgement costs nothing. One acknowledgement
    /// then answers at most 32 PSNs.
    #[serde(rename = "last-64")]
    Last64,
}

/// The packets whose entropy values a sender learns from an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entropies {
    /// The last that it covers.
    #[default]
    Last,
    /// All that it covers ("carry EVs" of REPS, arXiv 2407.21625), 2 bytes longer for each. The
    /// packet of this simulator has no room for them, so the sender reads them from its record of
    /// sent packets. For a packet that was sent twice, the record has the later value. An erasure
    /// code has no such record and uses the last.
    Carry,
}

/// Fields of a packet that its answer echoes.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::nic) struct Echo {
    pub stamp: Stamp,
    pub entropy: u16,
    /// Flags that the answer repeats: the ECN mark, and that ports are hashed.
    pub flags: Flags,
}

impl Echo {
    #[inline]
    pub(in crate::nic) fn of(packet: DataView<'_>) -> Self {
        let flags = packet.flags.intersection(Flags::MARKED.with(Flags::HASHED));
        Self { stamp: packet.sent(), entropy: packet.entropy, flags }
    }
}

/// Arrivals that are not yet acknowledged.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::nic) struct Unreported {
    packets: u16,
    /// True once anything was reported.
    has_reported: bool,
    bytes: u32,
    /// Lowest of them.
    base: u64,
    /// Arrivals among the 64 packets from `base` on.
    sack: u64,
    /// Marked arrivals among these.
    marks: u64,
    /// Echo of the last arrival.
    echo: Echo,
}

impl Unreported {
    /// Returns the number of different packets that it reports.
    #[inline]
    pub(in crate::nic) const fn packets(&self) -> u32 {
        ones(self.sack)
    }

    /// True if there is nothing to report.
    #[inline]
    pub(in crate::nic) const fn is_empty(&self) -> bool {
        self.packets == 0
    }

    /// True if one acknowledgement can also cover `sequence`.
    #[inline]
    pub(in crate::nic) fn has_room_for(&self, sequence: u64, range: AckRange) -> bool {
        if self.is_empty() {
            return true;
        }
        let last = self.last();
        let (low, high) = (self.base.min(sequence), last.max(sequence));
        // The bitmap spans 64 packets, but the field of marks has only 32 bits. If older arrivals
        // are repeated, they stand for the last 32.
        let span = match range {
            AckRange::Cumulative | AckRange::Packet => 64,
            AckRange::Last64 => u64::from(Packet::MAX_REPORTED),
        };
        high - low < span && u32::from(self.packets) < Packet::MAX_REPORTED
    }

    /// Returns the unreported packet with the highest number; there is one.
    #[inline]
    fn last(&self) -> u64 {
        // The highest bit stands for it, whatever the order of arrival.
        self.base + 63 - u64::from(self.sack.leading_zeros())
    }

    /// Adds an arrival, for which there is room.
    #[inline]
    pub(in crate::nic) fn record(&mut self, sequence: u64, packet: DataView<'_>) {
        if self.is_empty() {
            let has_reported = self.has_reported;
            *self = Self { base: sequence, has_reported, ..Self::default() };
        } else if sequence < self.base {
            // An earlier packet becomes the base. `has_room_for` has checked that no bit is shifted
            // out at the top.
            let shift = self.base - sequence;
            (self.sack, self.marks) = (self.sack << shift, self.marks << shift);
            self.base = sequence;
        }
        let bit = 1 << (sequence - self.base);
        self.packets += 1;
        self.bytes += u32::from(packet.wire_bytes);
        self.sack |= bit;
        // The last arrival is echoed, not the highest number: its stamp has waited least for this
        // acknowledgement, so the round trip includes little of that wait.
        self.echo = Echo::of(packet);
        if self.echo.flags.has(Flags::MARKED) {
            self.marks |= bit;
        }
    }

    /// Makes room for `sequence`. Arrivals that no longer fit are left to later reports, which
    /// repeat them.
    pub(in crate::nic) fn make_room_for(&mut self, sequence: u64) {
        let span = u64::from(Packet::MAX_REPORTED);
        if self.is_empty() {
            return;
        }
        if sequence >= self.base {
            // The bits that stay are the last before it; `record` sets its own.
            let base = self.base.max(sequence.saturating_sub(span - 1));
            let shift = u32::try_from(base - self.base).unwrap_or(u32::MAX);
            self.sack = self.sack.checked_shr(shift).unwrap_or(0);
            self.marks = self.marks.checked_shr(shift).unwrap_or(0);
            self.base = base;
            return;
        }
        let kept = (sequence + span).saturating_sub(self.base).min(63);
        (self.sack, self.marks) = (self.sack & ((1 << kept) - 1), self.marks & ((1 << kept) - 1));
        if self.sack == 0 {
            // Nothing is left to shift: `record` finds the base in place.
            self.base = sequence;
        }
    }

    /// True if a report is due by count or bytes, or because it would be the first.
    #[inline]
    pub(in crate::nic) fn is_full(&self, config: &AckConfig) -> bool {
        u32::from(self.packets) >= config.every
            || u64::from(self.bytes) >= config.every_bytes.get()
            || config.first == First::AtOnce && !self.has_reported
    }

    /// Returns the echo of the last arrival.
    pub(in crate::nic) const fn echo(&self) -> Echo {
        self.echo
    }

    /// Takes all arrivals as the report of an acknowledgement.
    #[inline]
    pub(in crate::nic) fn take(&mut self) -> ArrivalReport {
        let this = self.reset();
        ArrivalReport::new(Psn::on_wire(this.base), this.sack, this.marks)
    }

    /// Returns the arrivals and leaves nothing to report.
    #[inline]
    fn reset(&mut self) -> Self {
        std::mem::replace(self, Self { has_reported: true, ..Self::default() })
    }

    /// Takes all arrivals, with those of `board` among the 64 packets before their end.
    pub(in crate::nic) fn take_with(&mut self, board: &Board) -> ArrivalReport {
        let this = self.reset();
        if this.is_empty() {
            return ArrivalReport::new(Psn::on_wire(this.base), this.sack, this.marks);
        }
        // The cumulative number covers everything before the first missing packet.
        let from = this.last().saturating_sub(63).max(board.first());
        // A duplicate may be older than that, and is reported all the same.
        let base = this.base.min(from);
        let (behind, length) = (this.base - base, this.last() - base);
        let repeated = board.block(base) & (u64::MAX >> (63 - length));
        let (sack, marks) = (this.sack << behind | repeated, this.marks << behind);
        ArrivalReport::new(Psn::on_wire(base), sack, marks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(unreported: &mut Unreported, sequence: u64, flags: Flags) {
        let packet = Packet { wire_bytes: 100, flags, ..Packet::default() };
        unreported.record(sequence, packet.as_data().unwrap());
    }

    fn recorded(sequences: &[u64]) -> Unreported {
        let mut unreported = Unreported::default();
        for &sequence in sequences {
            assert!(unreported.has_room_for(sequence, AckRange::Cumulative), "{sequence}");
            record(&mut unreported, sequence, Flags::NONE);
        }
        unreported
    }

    #[test]
    fn covered_packets_span_at_most_64_in_any_order() {
        let all = recorded(&[100, 163, 130]);
        let has_room = |sequence| all.has_room_for(sequence, AckRange::Cumulative);
        assert!(!has_room(99) && !has_room(164) && has_room(101));
        let mut later = recorded(&[100, 37]);
        assert_eq!((later.base, later.sack), (37, 1 << 63 | 1));
        record(&mut later, 40, Flags::MARKED);
        assert_eq!(later.marks, 1 << 3);
    }

    #[test]
    fn an_acknowledgement_covers_at_most_32_packets() {
        let all: Vec<u64> = (0..32).collect();
        assert!(!recorded(&all).has_room_for(32, AckRange::Cumulative));
    }

    #[test]
    fn a_repeating_bitmap_covers_the_last_64_packets() {
        let mut board = Board::default();
        (0..300).filter(|n| ![10, 250, 290].contains(n)).for_each(|n| board.insert(n));
        let mut late = recorded(&[250]);
        record(&mut late, 260, Flags::MARKED);
        assert!(
            late.has_room_for(281, AckRange::Last64) && !late.has_room_for(282, AckRange::Last64)
        );
        board.insert(250);
        let report = late.take_with(&board);
        assert_eq!((report.base.get(), report.arrived), (260 - 63, u64::MAX));
        assert_eq!(report.marks(), 1 << 63);
        board.insert(10);
        let report = recorded(&[295]).take_with(&board);
        assert_eq!((report.base.get(), report.arrived), (290, 0b11_1110), "from the first missing");
        let report = recorded(&[5]).take_with(&board);
        assert_eq!((report.base.get(), report.arrived), (5, 1), "a duplicate reports only itself");
    }

    #[test]
    fn a_bitmap_starts_at_the_first_missing_packet_and_repeats_later_ones() {
        let mut board = Board::default();
        (0..249).chain([250, 260]).for_each(|n| board.insert(n));
        let report = recorded(&[260]).take_with(&board);
        assert_eq!((report.base.get(), report.arrived), (249, 1 << 11 | 1 << 1));
        board.insert(251);
        let report = recorded(&[251, 260]).take_with(&board);
        assert_eq!((report.base.get(), report.arrived), (249, 1 << 11 | 0b110), "no other");
    }

    #[test]
    fn without_a_limit_the_bitmap_keeps_packets_near_the_latest() {
        let mut far = recorded(&[100, 110]);
        far.make_room_for(141);
        record(&mut far, 141, Flags::NONE);
        assert_eq!((far.base, far.sack, far.packets), (110, 1 << 31 | 1, 3));
        far.make_room_for(500);
        record(&mut far, 500, Flags::MARKED);
        assert_eq!((far.base, far.sack, far.marks, far.last()), (469, 1 << 31, 1 << 31, 500));
        // For an older packet, arrivals up to 31 beyond it stay.
        let mut late = recorded(&[100, 110]);
        late.make_room_for(70);
        record(&mut late, 70, Flags::NONE);
        assert_eq!((late.base, late.sack), (70, 1 << 30 | 1));
        let mut late = recorded(&[100, 110]);
        late.make_room_for(5);
        record(&mut late, 5, Flags::NONE);
        assert_eq!((late.base, late.sack, late.packets), (5, 1, 3));
    }

    #[test]
    fn either_packets_or_bytes_make_an_acknowledgement_due() {
        let config = AckConfig { every: 4, every_bytes: Bytes::new(300), ..AckConfig::default() };
        assert!(!recorded(&[5, 6]).is_full(&config) && recorded(&[5, 6, 7]).is_full(&config));
        let by_count = AckConfig { every: 2, ..AckConfig::default() };
        assert!(recorded(&[5, 6]).is_full(&by_count));
    }

    #[test]
    fn an_older_packet_displaces_packets_32_beyond_it() {
        let mut late = recorded(&[100, 101, 110]);
        record(&mut late, 131, Flags::MARKED);
        late.make_room_for(99);
        record(&mut late, 99, Flags::NONE);
        assert_eq!((late.base, late.sack), (99, 1 << 11 | 0b111));
        assert_eq!((late.marks, late.last()), (0, 110), "131 is 32 beyond 99");
        let mut late = recorded(&[100]);
        record(&mut late, 131, Flags::MARKED);
        late.make_room_for(100);
        assert_eq!((late.sack, late.marks), (1 << 31 | 1, 1 << 31), "31 beyond");
        let mut none = Unreported::default();
        none.make_room_for(7);
        assert!(none.is_empty());
    }
}
