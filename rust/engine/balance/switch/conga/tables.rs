//! Congestion feedback between the leaves of CONGA: header fields and tables (section 3.3).

use super::{Span, SwitchId, Time};

/// Number of uplinks that an LBTag of 4 bits distinguishes.
pub(super) const TAGS: usize = 16;

/// CONGA's overlay header. Fields from the lowest bit up: LBTag, CE, FB_LBTag, FB_Metric, and one
/// bit each for the presence of LBTag and FB_LBTag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Header(pub(super) u16);

const CE_SHIFT: u32 = 4;
const FEEDBACK_TAG_SHIFT: u32 = 7;
const FEEDBACK_SHIFT: u32 = 11;
const HAS_TAG: u16 = 1 << 14;
const HAS_FEEDBACK: u16 = 1 << 15;

impl Header {
    /// Creates the header of a packet that enters the fabric through the uplink of `tag`, with CE =
    /// 0.
    pub(super) const fn new(tag: u8) -> Self {
        Self(tag as u16 & 15 | HAS_TAG)
    }

    /// Adds feedback for the leaf to which the packet goes.
    pub(super) const fn with_feedback(self, tag: u8, metric: u8) -> Self {
        let tag = (tag as u16 & 15) << FEEDBACK_TAG_SHIFT;
        Self(self.0 | tag | (metric as u16 & 7) << FEEDBACK_SHIFT | HAS_FEEDBACK)
    }

    /// Raises CE to at least `level`.
    pub(super) const fn raised(self, level: u8) -> Self {
        let level = if self.congestion() < level { level } else { self.congestion() };
        Self(self.0 & !(7 << CE_SHIFT) | (level as u16 & 7) << CE_SHIFT)
    }

    /// Returns the CE field: the highest utilisation on the way so far, in eighths, 0 to 7.
    pub(super) const fn congestion(self) -> u8 {
        (self.0 >> CE_SHIFT & 7) as u8
    }

    /// Returns the LBTag, if present.
    pub(super) const fn tag(self) -> Option<u8> {
        if self.0 & HAS_TAG == 0 { None } else { Some((self.0 & 15) as u8) }
    }

    /// Returns FB_LBTag and FB_Metric, if present.
    pub(super) const fn feedback(self) -> Option<(u8, u8)> {
        let tag = (self.0 >> FEEDBACK_TAG_SHIFT & 15) as u8;
        let metric = (self.0 >> FEEDBACK_SHIFT & 7) as u8;
        if self.0 & HAS_FEEDBACK == 0 { None } else { Some((tag, metric)) }
    }
}

/// Returns the LBTag of an uplink.
pub(super) const fn tag_of(port: u32) -> u8 {
    (port % TAGS as u32) as u8
}

/// Congestion by LBTag of the paths to one other leaf (the Congestion-To-Leaf table) and of the
/// paths from it (Congestion-From-Leaf).
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    to: [u8; TAGS],
    /// Time of the last report for each entry of `to`.
    reported: [Time; TAGS],
    /// One bit for each entry of `to` that was ever reported.
    to_known: u16,
    from: [u8; TAGS],
    from_known: u16,
    /// One bit for each entry of `from` that changed since it was last sent as feedback.
    changed: u16,
    /// Tag from which the search for the next feedback starts.
    next: u8,
}

impl Row {
    const EMPTY: Self = Self {
        to: [0; TAGS],
        reported: [Time::ZERO; TAGS],
        to_known: 0,
        from: [0; TAGS],
        from_known: 0,
        changed: 0,
        next: 0,
    };

    /// Returns the metric of the path behind an uplink; 0 if its report is older than `ageing`.
    pub(super) fn metric(&self, now: Time, port: u32, ageing: Span) -> u8 {
        let tag = usize::from(tag_of(port));
        if now.since(self.reported[tag]) > ageing { 0 } else { self.to[tag] }
    }

    /// Returns the next feedback as (tag, metric): round-robin over the changed entries, or over
    /// all known entries if none has changed.
    fn next_feedback(&mut self) -> Option<(u8, u8)> {
        let among = if self.changed != 0 { self.changed } else { self.from_known };
        if among == 0 {
            return None;
        }
        // The rotation moves tag `next` to bit 0, so the first set bit is the next tag in
        // round-robin order.
        let ahead = among.rotate_right(u32::from(self.next)).trailing_zeros() as u8;
        let tag = (self.next + ahead) % TAGS as u8;
        self.next = (tag + 1) % TAGS as u8;
        self.changed &= !(1 << tag);
        Some((tag, self.from[usize::from(tag)]))
    }
}

/// Tables of one leaf, with a row for each other leaf.
#[derive(Debug, Clone)]
pub(super) struct Tables {
    /// Time for which a reported metric is valid.
    pub(super) ageing: Span,
    rows: Vec<Option<Box<Row>>>,
}

impl Tables {
    pub(super) const fn new(ageing: Span) -> Self {
        Self { ageing, rows: Vec::new() }
    }

    /// Returns the row of another leaf, if a packet has arrived from it.
    #[inline]
    pub(super) fn row(&self, leaf: SwitchId) -> Option<&Row> {
        self.rows.get(leaf.index())?.as_deref()
    }

    /// Returns the header of a packet to `leaf` that leaves through the uplink `port`.
    pub(super) fn write(&mut self, leaf: SwitchId, port: u32) -> Header {
        let header = Header::new(tag_of(port));
        // No feedback until a packet from that leaf has arrived.
        let row = self.rows.get_mut(leaf.index()).and_then(Option::as_deref_mut);
        match row.and_then(Row::next_feedback) {
            Some((tag, metric)) => header.with_feedback(tag, metric),
            None => header,
        }
    }

    /// Stores the header fields of a packet from `leaf`.
    pub(super) fn read(&mut self, now: Time, leaf: SwitchId, header: Header) {
        if self.rows.len() <= leaf.index() {
            self.rows.resize(leaf.index() + 1, None);
        }
        let row = self.rows[leaf.index()].get_or_insert_with(|| Box::new(Row::EMPTY));
        if let Some(tag) = header.tag() {
            let (index, bit) = (usize::from(tag), 1 << tag);
            // Changes are fed back before metrics that the other leaf already knows (section 3.3).
            if row.from[index] != header.congestion() || row.from_known & bit == 0 {
                row.changed |= bit;
            }
            row.from[index] = header.congestion();
            row.from_known |= bit;
        }
        if let Some((tag, metric)) = header.feedback() {
            let index = usize::from(tag);
            row.to[index] = metric;
            row.reported[index] = now;
            row.to_known |= 1 << tag;
        }
    }

    /// Returns the number of used cells.
    pub(super) fn cells(&self) -> u64 {
        let rows = self.rows.iter().flatten();
        rows.map(|row| u64::from(row.to_known.count_ones() + row.from_known.count_ones())).sum()
    }
}
