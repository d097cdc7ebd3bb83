//! Acknowledgements: what a receiver has still to report, and when it does.
//!
//! One acknowledgement covers up to 32 packets within 64 PSNs, as the SACK bitmap of Ultra
//! Ethernet 1.0 does; it reports for each whether it arrived and whether it was ECN marked. It goes
//! out after a number of packets, a number of bytes or a time, whichever comes first, and at once
//! with the last packet of a message and with one that fills its sender's window, which asks for
//! it: a window of fewer packets than one acknowledgement covers would never be acknowledged. It
//! echoes the stamp, the mark and the entropy value of the last packet that it covers.

use serde::{Deserialize, Serialize};

use crate::nic::receive::board::Board;
use crate::packet::{ArrivalReport, DataView, Flags, Packet, Psn, Stamp, ones};
use crate::units::{Bytes, Span};

/// How arrivals are acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckConfig {
    /// Length of an acknowledgement, NACK, CNP or refusal on the wire.
    pub bytes: Bytes,
    /// Data packets per acknowledgement, 1 to 32; the last packet of a message is acknowledged at
    /// once.
    pub every: u32,
    /// Bytes on the wire per acknowledgement, if fewer than `every` packets have them.
    pub every_bytes: Bytes,
    /// How long an arrival may wait to be acknowledged; `Span::MAX` without limit.
    pub within: Span,
    /// When a marked packet is acknowledged.
    pub marked: Marked,
    /// When the first packet of a queue pair is acknowledged.
    pub first: First,
    /// When a packet that was sent again is acknowledged.
    pub resent: Resent,
    /// How far apart packets may be that share an acknowledgement.
    pub span: AckSpan,
    /// The packets that it speaks of.
    pub range: AckRange,
    /// The packets whose entropy values the sender learns from it.
    pub entropies: Entropies,
    /// What a NACK for a gap says of congestion.
    pub nacks: NackSignal,
    /// Whether switches serve acknowledgements before data; NICs always do.
    pub priority: bool,
}

impl AckConfig {
    /// Length on the wire of an answer that reports `new` arrivals for the first time.
    #[inline]
    pub(in crate::nic) fn wire_bytes(&self, new: u32) -> u16 {
        let entropies = match self.entropies {
            Entropies::Last => 0,
            Entropies::Carry => 2 * new as u16,
        };
        // Scenarios refuse longer ones.
        let bare = u16::try_from(self.bytes.get());
        bare.expect("acknowledgements are shorter than 64 KiB").saturating_add(entropies)
    }
}

impl Default for AckConfig {
    /// 64 bytes for each packet, before data.
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

/// When a packet that is ECN marked is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Marked {
    /// It waits for its turn like an unmarked one: for count, bytes or time.
    #[default]
    Wait,
    /// At once, with all that waited (Ultra Ethernet's simulator, and REPS's with it).
    AtOnce,
}

/// When the first packet of a queue pair is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum First {
    /// It waits for its turn.
    #[default]
    Wait,
    /// At once, so that a sender learns the round trip of its path before the others of the window
    /// queue (uet-htsim, `UecSink::processData`).
    AtOnce,
}

/// When a packet that was sent again is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resent {
    /// It waits for its turn.
    #[default]
    Wait,
    /// At once: its sender asks for it (uet-htsim, `UecSrc::sendRtxPacket`).
    AtOnce,
}

/// How far apart packets may be that share an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AckSpan {
    /// So far that one bitmap reports them all: 64 PSNs (Ultra Ethernet 1.0), or 32 where it
    /// repeats. A packet that is further away has the others acknowledged first.
    #[default]
    Bitmap,
    /// Without limit: count, bytes and time alone make an acknowledgement due (uet-htsim,
    /// `UecSink::shouldSack`). What the bitmap of the latest arrivals does not reach is reported by
    /// a later one, or by the cumulative number.
    Unlimited,
}

/// What a NACK for a gap says of congestion, beside the packet that is missing. A sender takes it
/// for a CNP, under a congestion control that knows them: DCQCN in both forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NackSignal {
    /// Nothing.
    #[default]
    None,
    /// That the packet which it answers was marked, if it was: HPCC's simulator
    /// (`RdmaHw::ReceiveUdp`, `ReceiveAck`).
    Mark,
    /// That there is congestion, always: ConWeave's simulator, whose receivers flag each NACK for a
    /// packet out of order as a CNP (`RdmaHw::ReceiverCheckSeq`).
    Congestion,
}

/// What a sender learns from an acknowledgement of the packets before those that it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AckRange {
    /// It has a cumulative number: a later acknowledgement makes up for one that is lost.
    #[default]
    Cumulative,
    /// Nothing: it speaks of one packet, as in Ethereal's simulator and in the older transports of
    /// htsim. The packet of a lost acknowledgement times out, and is sent again.
    Packet,
    /// Beside the cumulative number, all arrivals among the 64 PSNs that end with the last one that
    /// it answers, as often as that is: the SACK bitmap of Ultra Ethernet 1.0, as its simulator and
    /// REPS's artifact have it. A lost acknowledgement costs nothing. One acknowledgement then
    /// answers at most 32 PSNs.
    #[serde(rename = "last-64")]
    Last64,
}

/// Of which packets a sender learns the entropy values from an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entropies {
    /// The last that it covers.
    #[default]
    Last,
    /// All that it covers ("carry EVs" of REPS, arXiv 2407.21625): it is 2 bytes longer for each.
    /// The packet of this simulator has no room for them; the sender reads them from its record
    /// of what it sent, which holds the same values but where a packet was sent twice: then the
    /// later. An erasure code has no such record and falls back to the last.
    Carry,
}

/// What an acknowledgement echoes of the packet that it answers.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::nic) struct Echo {
    pub stamp: Stamp,
    pub entropy: u16,
    /// Those of that packet's flags that its answer repeats: that it was ECN marked, and that its
    /// ports are hashed.
    pub flags: Flags,
}

impl Echo {
    #[inline]
    pub(in crate::nic) fn of(packet: DataView<'_>) -> Self {
        let flags = packet.flags.among(Flags::MARKED.with(Flags::HASHED));
        Self { stamp: packet.sent(), entropy: packet.entropy, flags }
    }
}

/// Arrivals that were not yet acknowledged.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::nic) struct Unreported {
    packets: u16,
    /// Whether anything was reported before.
    has_reported: bool,
    bytes: u32,
    /// The first of them.
    base: u64,
    /// Which of the 64 from `base` on arrived.
    sack: u64,
    /// ... and which of these were marked.
    marks: u64,
    /// The last of them.
    echo: Echo,
}

impl Unreported {
    /// How many different packets it reports.
    #[inline]
    pub(in crate::nic) const fn packets(&self) -> u32 {
        ones(self.sack)
    }

    /// Whether there is nothing to report.
    #[inline]
    pub(in crate::nic) const fn is_empty(&self) -> bool {
        self.packets == 0
    }

    /// Whether one acknowledgement can cover `sequence` too.
    #[inline]
    pub(in crate::nic) fn has_room_for(&self, sequence: u64, range: AckRange) -> bool {
        if self.is_empty() {
            return true;
        }
        let last = self.last();
        let (low, high) = (self.base.min(sequence), last.max(sequence));
        // The bitmap spans 64 packets, but the field of marks has one bit for each of only 32: of
        // the last 32, if older arrivals are repeated.
        let span = match range {
            AckRange::Cumulative | AckRange::Packet => 64,
            AckRange::Last64 => u64::from(Packet::MOST_REPORTED),
        };
        high - low < span && u32::from(self.packets) < Packet::MOST_REPORTED
    }

    /// The last packet that is unreported, in the order of numbers; there is one.
    #[inline]
    fn last(&self) -> u64 {
        // The highest bit stands for it, wherever it came in the order of arrival.
        self.base + 63 - u64::from(self.sack.leading_zeros())
    }

    /// Adds an arrival, for which there is room.
    #[inline]
    pub(in crate::nic) fn note(&mut self, sequence: u64, packet: DataView<'_>) {
        if self.is_empty() {
            let has_reported = self.has_reported;
            *self = Self { base: sequence, has_reported, ..Self::default() };
        } else if sequence < self.base {
            // A packet that was sent earlier becomes the base. `has_room_for` has checked that no
            // bit is shifted out at the top.
            let shift = self.base - sequence;
            (self.sack, self.marks) = (self.sack << shift, self.marks << shift);
            self.base = sequence;
        }
        let bit = 1 << (sequence - self.base);
        self.packets += 1;
        self.bytes += u32::from(packet.wire_bytes);
        self.sack |= bit;
        // The last arrival is echoed, not the packet with the highest number: its stamp has waited
        // least for this acknowledgement, so that the round trip has little of that wait in it.
        self.echo = Echo::of(packet);
        if self.echo.flags.has(Flags::MARKED) {
            self.marks |= bit;
        }
    }

    /// Makes room for `sequence`: what cannot be reported together with it is left to later
    /// reports, which repeat it.
    pub(in crate::nic) fn make_room_for(&mut self, sequence: u64) {
        let most = u64::from(Packet::MOST_REPORTED);
        if self.is_empty() {
            return;
        }
        if sequence >= self.base {
            // The bits that stay are the last before it; `note` sets its own.
            let base = self.base.max(sequence.saturating_sub(most - 1));
            let shift = u32::try_from(base - self.base).unwrap_or(u32::MAX);
            self.sack = self.sack.checked_shr(shift).unwrap_or(0);
            self.marks = self.marks.checked_shr(shift).unwrap_or(0);
            self.base = base;
            return;
        }
        let kept = (sequence + most).saturating_sub(self.base).min(63);
        (self.sack, self.marks) = (self.sack & ((1 << kept) - 1), self.marks & ((1 << kept) - 1));
        if self.sack == 0 {
            // `note` takes it for the first.
            self.base = sequence;
        }
    }

    /// Whether it is time to report, by count or bytes, or because it would be the first report.
    #[inline]
    pub(in crate::nic) fn is_full(&self, config: &AckConfig) -> bool {
        u32::from(self.packets) >= config.every
            || u64::from(self.bytes) >= config.every_bytes.get()
            || config.first == First::AtOnce && !self.has_reported
    }

    /// The last packet noted.
    pub(in crate::nic) const fn echo(&self) -> Echo {
        self.echo
    }

    /// Takes all of it, as the report of an acknowledgement.
    #[inline]
    pub(in crate::nic) fn take(&mut self) -> ArrivalReport {
        let this = self.reset();
        ArrivalReport::new(Psn::on_wire(this.base), this.sack, this.marks)
    }

    /// Leaves nothing to report.
    #[inline]
    fn reset(&mut self) -> Self {
        std::mem::replace(self, Self { has_reported: true, ..Self::default() })
    }

    /// Takes all of it, with the arrivals of `board` among the 64 packets before its end.
    pub(in crate::nic) fn take_with(&mut self, board: &Board) -> ArrivalReport {
        let this = self.reset();
        if this.is_empty() {
            return ArrivalReport::new(Psn::on_wire(this.base), this.sack, this.marks);
        }
        // Everything before the first missing packet is acknowledged by the cumulative number.
        let from = this.last().saturating_sub(63).max(board.first());
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

    fn note(unreported: &mut Unreported, sequence: u64, flags: Flags) {
        let packet = Packet { wire_bytes: 100, flags, ..Packet::default() };
        unreported.note(sequence, packet.as_data().unwrap());
    }

    fn noted(sequences: &[u64]) -> Unreported {
        let mut unreported = Unreported::default();
        for &sequence in sequences {
            assert!(unreported.has_room_for(sequence, AckRange::Cumulative), "{sequence}");
            note(&mut unreported, sequence, Flags::NONE);
        }
        unreported
    }

    #[test]
    fn what_it_covers_lies_within_64_in_any_order() {
        let all = noted(&[100, 163, 130]);
        let has_room = |sequence| all.has_room_for(sequence, AckRange::Cumulative);
        assert!(!has_room(99) && !has_room(164) && has_room(101));
        let mut later = noted(&[100, 37]);
        assert_eq!((later.base, later.sack), (37, 1 << 63 | 1));
        note(&mut later, 40, Flags::MARKED);
        assert_eq!(later.marks, 1 << 3);
    }

    #[test]
    fn it_covers_32_packets_at_most() {
        let all: Vec<u64> = (0..32).collect();
        assert!(!noted(&all).has_room_for(32, AckRange::Cumulative));
    }

    #[test]
    fn a_bitmap_that_repeats_has_what_arrived_among_the_64_before_its_end() {
        let mut board = Board::default();
        (0..300).filter(|n| ![10, 250, 290].contains(n)).for_each(|n| board.insert(n));
        let mut late = noted(&[250]);
        note(&mut late, 260, Flags::MARKED);
        assert!(
            late.has_room_for(281, AckRange::Last64) && !late.has_room_for(282, AckRange::Last64)
        );
        board.insert(250);
        let report = late.take_with(&board);
        assert_eq!((report.base.get(), report.arrived), (260 - 63, u64::MAX));
        assert_eq!(report.marks(), 1 << 63);
        board.insert(10);
        let report = noted(&[295]).take_with(&board);
        assert_eq!((report.base.get(), report.arrived), (290, 0b11_1110), "from the first missing");
        let report = noted(&[5]).take_with(&board);
        assert_eq!((report.base.get(), report.arrived), (5, 1), "a duplicate speaks for itself");
    }

    #[test]
    fn a_bitmap_begins_with_the_first_missing_packet_and_repeats_what_is_behind_it() {
        let mut board = Board::default();
        (0..249).chain([250, 260]).for_each(|n| board.insert(n));
        let report = noted(&[260]).take_with(&board);
        assert_eq!((report.base.get(), report.arrived), (249, 1 << 11 | 1 << 1));
        board.insert(251);
        let report = noted(&[251, 260]).take_with(&board);
        assert_eq!((report.base.get(), report.arrived), (249, 1 << 11 | 0b110), "no other");
    }

    #[test]
    fn without_a_limit_the_bitmap_keeps_what_fits_with_the_latest() {
        let mut far = noted(&[100, 110]);
        far.make_room_for(141);
        note(&mut far, 141, Flags::NONE);
        assert_eq!((far.base, far.sack, far.packets), (110, 1 << 31 | 1, 3));
        far.make_room_for(500);
        note(&mut far, 500, Flags::MARKED);
        assert_eq!((far.base, far.sack, far.marks, far.last()), (469, 1 << 31, 1 << 31, 500));
        // An older one: what is up to 31 beyond it stays.
        let mut late = noted(&[100, 110]);
        late.make_room_for(70);
        note(&mut late, 70, Flags::NONE);
        assert_eq!((late.base, late.sack), (70, 1 << 30 | 1));
        let mut late = noted(&[100, 110]);
        late.make_room_for(5);
        note(&mut late, 5, Flags::NONE);
        assert_eq!((late.base, late.sack, late.packets), (5, 1, 3));
    }

    #[test]
    fn count_and_bytes_each_make_it_due() {
        let config = AckConfig { every: 4, every_bytes: Bytes::new(300), ..AckConfig::default() };
        assert!(!noted(&[5, 6]).is_full(&config) && noted(&[5, 6, 7]).is_full(&config));
        let by_count = AckConfig { every: 2, ..AckConfig::default() };
        assert!(noted(&[5, 6]).is_full(&by_count));
    }

    #[test]
    fn room_for_an_older_one_is_made_by_leaving_out_what_is_32_beyond_it() {
        let mut late = noted(&[100, 101, 110]);
        note(&mut late, 131, Flags::MARKED);
        late.make_room_for(99);
        note(&mut late, 99, Flags::NONE);
        assert_eq!((late.base, late.sack), (99, 1 << 11 | 0b111));
        assert_eq!((late.marks, late.last()), (0, 110), "131 is 32 beyond 99");
        let mut late = noted(&[100]);
        note(&mut late, 131, Flags::MARKED);
        late.make_room_for(100);
        assert_eq!((late.sack, late.marks), (1 << 31 | 1, 1 << 31), "31 beyond");
        let mut none = Unreported::default();
        none.make_room_for(7);
        assert!(none.is_empty());
    }
}
