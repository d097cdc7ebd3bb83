//! The load of a link or a bundle of links, with its earliest start and the least time that remains
//! after it.

/// Picoseconds per second times bits per byte: `bytes * PS_BITS / bps` is picoseconds.
const PS_BITS: u128 = 8_000_000_000_000;

/// The bytes that a bundle of links carries. `head` is the earliest start of the first packet,
/// `tail` the least time from the last packet to a completion, both in picoseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    bytes: u128,
    head: u128,
    tail: u128,
}

impl Load {
    /// The load of an unused link. `head` and `tail` are the identity of `min`.
    pub(super) const NONE: Self = Self { bytes: 0, head: u128::MAX, tail: u128::MAX };

    /// Adds packets of `bytes` in total, gaps included. The first can start at `head`, and the
    /// completion is at least `tail` after the last.
    pub(super) fn add(&mut self, bytes: u128, head: u128, tail: u128) {
        self.bytes += bytes;
        self.head = self.head.min(head);
        self.tail = self.tail.min(tail);
    }

    /// Returns the earliest completion of all added packets over links with a total rate of `bps`
    /// bits per second. `last_gaps` are the bytes of gaps after the last packets.
    pub(super) fn end(&self, bps: u128, last_gaps: u128) -> u128 {
        if self.bytes == 0 || bps == 0 {
            return 0;
        }
        // No packet waits for the gap after the last one, so a lower bound must not count it.
        let bytes = self.bytes.saturating_sub(last_gaps);
        self.head + bytes.saturating_mul(PS_BITS) / bps + self.tail
    }
}

/// The load of data alone, and of data with acknowledgements. Either may complete later, because
/// data has the longer tail.
#[derive(Debug, Clone, Copy)]
pub(super) struct Loads {
    data: Load,
    all: Load,
}

impl Loads {
    /// The loads of an unused link.
    pub(super) const NONE: Self = Self { data: Load::NONE, all: Load::NONE };

    /// Adds data packets, see [`Load::add`].
    pub(super) fn add_data(&mut self, bytes: u128, head: u128, tail: u128) {
        self.data.add(bytes, head, tail);
        self.all.add(bytes, head, tail);
    }

    /// Adds acknowledgements, see [`Load::add`].
    pub(super) fn add_acks(&mut self, bytes: u128, head: u128, tail: u128) {
        self.all.add(bytes, head, tail);
    }

    /// Returns the later of the two earliest completions, see [`Load::end`].
    pub(super) fn end(&self, bps: u128, last_gaps: u128) -> u128 {
        self.data.end(bps, last_gaps).max(self.all.end(bps, last_gaps))
    }
}

/// Returns indices of messages from the latest start to the earliest, in groups of equal starts. A
/// lower bound for the messages that start at or after some time also bounds all messages.
pub(super) fn latest_first(starts: &[u128]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..starts.len()).collect();
    order.sort_by_key(|message| std::cmp::Reverse(starts[*message]));
    order.chunk_by(|a, b| starts[*a] == starts[*b]).map(<[usize]>::to_vec).collect()
}
