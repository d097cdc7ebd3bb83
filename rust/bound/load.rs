//! What a link, or a bundle of links, has to carry, and when it can begin and must end.

/// Picoseconds times bits in a byte: `bytes * PS_BITS / bps` is picoseconds.
const PS_BITS: u128 = 8_000_000_000_000;

/// Bytes that one bundle of links carries, with the soonest start and the shortest way home.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    bytes: u128,
    head: u128,
    tail: u128,
}

impl Load {
    /// Nothing to carry.
    pub const NONE: Self = Self { bytes: 0, head: u128::MAX, tail: u128::MAX };

    /// Adds packets of so many bytes, their gaps included, of which the first can start at `head`
    /// and which leave at least `tail` to do once the last of them is through.
    pub fn add(&mut self, bytes: u128, head: u128, tail: u128) {
        self.bytes += bytes;
        self.head = self.head.min(head);
        self.tail = self.tail.min(tail);
    }

    /// When everything can be complete at the soonest, over links of `bps` bits per second in
    /// all, where `last_gaps` bytes of gaps come after the last packets and delay nobody.
    pub fn end(&self, bps: u128, last_gaps: u128) -> u128 {
        if self.bytes == 0 || bps == 0 {
            return 0;
        }
        let bytes = self.bytes.saturating_sub(last_gaps);
        self.head + bytes.saturating_mul(PS_BITS) / bps + self.tail
    }
}

/// Loads of data alone, and of data with acknowledgements: either may bind, since data has the
/// longer way home.
#[derive(Debug, Clone, Copy)]
pub(super) struct Loads {
    data: Load,
    all: Load,
}

impl Loads {
    /// Nothing to carry.
    pub const NONE: Self = Self { data: Load::NONE, all: Load::NONE };

    /// Adds data packets, see [`Load::add`].
    pub fn add_data(&mut self, bytes: u128, head: u128, tail: u128) {
        self.data.add(bytes, head, tail);
        self.all.add(bytes, head, tail);
    }

    /// Adds acknowledgements, see [`Load::add`].
    pub fn add_acks(&mut self, bytes: u128, head: u128, tail: u128) {
        self.all.add(bytes, head, tail);
    }

    /// See [`Load::end`].
    pub fn end(&self, bps: u128, last_gaps: u128) -> u128 {
        self.data.end(bps, last_gaps).max(self.all.end(bps, last_gaps))
    }
}

/// Messages from the latest start to the earliest, in groups of equal starts: any bound on the
/// messages from some instant on is one on all of them.
pub(super) fn latest_first(starts: &[u128]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..starts.len()).collect();
    order.sort_by_key(|message| std::cmp::Reverse(starts[*message]));
    order.chunk_by(|a, b| starts[*a] == starts[*b]).map(<[usize]>::to_vec).collect()
}
