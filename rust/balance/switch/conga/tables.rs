//! What leaves of CONGA tell each other: the header fields, and the tables they are from and for.

use super::{Span, SwitchId, Time};

/// Uplinks that an LBTag of 4 bits tells apart.
pub(super) const TAGS: usize = 16;

/// The fields of CONGA's overlay header: LBTag, CE, FB_LBTag, FB_Metric, and whether each tag is
/// there, from the lowest bit up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Header(pub u16);

const CE_SHIFT: u32 = 4;
const FEEDBACK_TAG_SHIFT: u32 = 7;
const FEEDBACK_SHIFT: u32 = 11;
const HAS_TAG: u16 = 1 << 14;
const HAS_FEEDBACK: u16 = 1 << 15;

impl Header {
    /// Of a packet that leaves a leaf by an uplink: nothing is congested yet.
    pub const fn new(tag: u8) -> Self {
        Self(tag as u16 & 15 | HAS_TAG)
    }

    /// ... with feedback for the leaf that it goes to.
    pub const fn with_feedback(self, tag: u8, metric: u8) -> Self {
        let tag = (tag as u16 & 15) << FEEDBACK_TAG_SHIFT;
        Self(self.0 | tag | (metric as u16 & 7) << FEEDBACK_SHIFT | HAS_FEEDBACK)
    }

    /// CE, raised to `level` if it is lower.
    pub const fn raised(self, level: u8) -> Self {
        let level = if self.congestion() < level { level } else { self.congestion() };
        Self(self.0 & !(7 << CE_SHIFT) | (level as u16 & 7) << CE_SHIFT)
    }

    /// CE.
    pub const fn congestion(self) -> u8 {
        (self.0 >> CE_SHIFT & 7) as u8
    }

    /// LBTag.
    pub const fn tag(self) -> Option<u8> {
        if self.0 & HAS_TAG == 0 { None } else { Some((self.0 & 15) as u8) }
    }

    /// FB_LBTag and FB_Metric.
    pub const fn feedback(self) -> Option<(u8, u8)> {
        let tag = (self.0 >> FEEDBACK_TAG_SHIFT & 15) as u8;
        let metric = (self.0 >> FEEDBACK_SHIFT & 7) as u8;
        if self.0 & HAS_FEEDBACK == 0 { None } else { Some((tag, metric)) }
    }
}

/// The LBTag of an uplink.
pub(super) const fn tag_of(port: u32) -> u8 {
    (port % TAGS as u32) as u8
}

/// Congestion of the paths to one leaf, by LBTag (the Congestion-To-Leaf table), and of those from
/// it (Congestion-From-Leaf).
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    to: [u8; TAGS],
    heard: [Time; TAGS],
    /// Which of `to` were ever heard of.
    to_known: u16,
    from: [u8; TAGS],
    from_known: u16,
    /// Which of `from` changed since they were last told.
    changed: u16,
    /// The tag whose turn it is to be told.
    next: u8,
}

impl Row {
    const EMPTY: Self = Self {
        to: [0; TAGS],
        heard: [Time::ZERO; TAGS],
        to_known: 0,
        from: [0; TAGS],
        from_known: 0,
        changed: 0,
        next: 0,
    };

    /// What was told of the path behind an uplink, unless that is too old.
    pub fn metric(&self, now: Time, port: u32, ageing: Span) -> u8 {
        let tag = usize::from(tag_of(port));
        if now.since(self.heard[tag]) > ageing { 0 } else { self.to[tag] }
    }

    /// The next metric to tell: round-robin over those that changed, or over all that are known.
    fn turn(&mut self) -> Option<(u8, u8)> {
        let among = if self.changed != 0 { self.changed } else { self.from_known };
        if among == 0 {
            return None;
        }
        let ahead = among.rotate_right(u32::from(self.next)).trailing_zeros() as u8;
        let tag = (self.next + ahead) % TAGS as u8;
        self.next = (tag + 1) % TAGS as u8;
        self.changed &= !(1 << tag);
        Some((tag, self.from[usize::from(tag)]))
    }
}

/// The tables of one leaf, by the other leaf.
#[derive(Debug, Clone)]
pub(super) struct Tables {
    /// What was heard is heeded for so long.
    pub ageing: Span,
    rows: Vec<Option<Box<Row>>>,
}

impl Tables {
    pub const fn new(ageing: Span) -> Self {
        Self { ageing, rows: Vec::new() }
    }

    /// What is known of the paths to a leaf.
    #[inline]
    pub fn told(&self, leaf: SwitchId) -> Option<&Row> {
        self.rows.get(leaf.index())?.as_deref()
    }

    /// The header of a packet that goes to `leaf` by the uplink `port`.
    pub fn write(&mut self, leaf: SwitchId, port: u32) -> Header {
        let header = Header::new(tag_of(port));
        let row = self.rows.get_mut(leaf.index()).and_then(Option::as_deref_mut);
        match row.and_then(Row::turn) {
            Some((tag, metric)) => header.with_feedback(tag, metric),
            None => header,
        }
    }

    /// Learns from the header of a packet that came from `leaf`.
    pub fn read(&mut self, now: Time, leaf: SwitchId, header: Header) {
        if self.rows.len() <= leaf.index() {
            self.rows.resize(leaf.index() + 1, None);
        }
        let row = self.rows[leaf.index()].get_or_insert_with(|| Box::new(Row::EMPTY));
        if let Some(tag) = header.tag() {
            let (place, bit) = (usize::from(tag), 1 << tag);
            if row.from[place] != header.congestion() || row.from_known & bit == 0 {
                row.changed |= bit;
            }
            row.from[place] = header.congestion();
            row.from_known |= bit;
        }
        if let Some((tag, metric)) = header.feedback() {
            let place = usize::from(tag);
            row.to[place] = metric;
            row.heard[place] = now;
            row.to_known |= 1 << tag;
        }
    }

    /// Cells in use.
    pub fn cells(&self) -> u64 {
        let rows = self.rows.iter().flatten();
        rows.map(|row| u64::from(row.to_known.count_ones() + row.from_known.count_ones())).sum()
    }
}
