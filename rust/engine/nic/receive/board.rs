//! The packets of a window that have arrived, one bit each.

use std::collections::VecDeque;

use crate::packet::ones;

/// Arrivals of one sequence; everything before [`Board::first`] has arrived.
#[derive(Debug, Clone, Default)]
pub(in crate::nic) struct Board {
    first: u64,
    /// Bits from `first / 64 * 64` on, 64 per word.
    words: VecDeque<u64>,
    /// Number of arrivals beyond `first`.
    beyond_first: u64,
}

impl Board {
    /// Returns the oldest packet that is missing or was not sent.
    #[inline]
    pub(in crate::nic) const fn first(&self) -> u64 {
        self.first
    }

    /// Returns the number of arrivals beyond the first missing packet.
    #[inline]
    pub(in crate::nic) const fn beyond_first(&self) -> u64 {
        self.beyond_first
    }

    /// Returns the number of arrivals, counted from packet 0.
    #[inline]
    pub(in crate::nic) const fn count(&self) -> u64 {
        self.first + self.beyond_first
    }

    /// True if `sequence` has arrived.
    #[inline]
    pub(in crate::nic) fn has(&self, sequence: u64) -> bool {
        if sequence < self.first {
            return true;
        }
        let word = sequence / 64 - self.first / 64;
        // The deque ends with the last arrival: a packet beyond it has not arrived.
        self.words.get(word as usize).is_some_and(|bits| bits >> (sequence % 64) & 1 == 1)
    }

    /// Returns the arrivals among the 64 packets from `base` on, lowest bit first.
    pub(in crate::nic) fn block(&self, base: u64) -> u64 {
        let word = |number: u64| match number.checked_sub(self.first / 64) {
            // Words before `first` are gone, and bits before it are cleared: all of them arrived.
            None => u64::MAX,
            Some(index) => {
                let bits = self.words.get(index as usize).copied().unwrap_or(0);
                bits | !from(self.first, number)
            }
        };
        let low = word(base / 64) >> (base % 64);
        match base.is_multiple_of(64) {
            true => low,
            false => low | word(base / 64 + 1) << (64 - base % 64),
        }
    }

    /// Marks `sequence`, which was missing, as arrived.
    #[inline]
    pub(in crate::nic) fn insert(&mut self, sequence: u64) {
        // In order: no word is touched.
        if sequence == self.first && self.beyond_first == 0 {
            return self.step();
        }
        self.set(sequence / 64, 1 << (sequence % 64));
        self.advance();
    }

    /// Marks those of the 64 packets from `base` on as arrived whose bit is set. Packets from `end`
    /// on were never sent and are ignored.
    #[inline]
    pub(in crate::nic) fn mark(&mut self, base: u64, sack: u64, end: u64) {
        // The cumulative number usually covers the whole block.
        if base + 64 - u64::from(sack.leading_zeros()) <= self.first {
            return;
        }
        // Otherwise it usually reports a single packet.
        if sack == 1 {
            if base < end && !self.has(base) {
                self.insert(base);
            }
            return;
        }
        // A block of 64 from any base spans two words.
        for (word, bits) in [(base / 64, sack << (base % 64)), (base / 64 + 1, high(sack, base))] {
            // Bits before `first` are already counted, and their words may be gone. Without them
            // `set` never indexes before the front of the deque.
            let bits = bits & from(self.first, word) & !from(end, word);
            if bits != 0 {
                self.set(word, bits);
            }
        }
        self.advance();
    }

    /// Marks everything before `first` as arrived.
    #[inline]
    pub(in crate::nic) fn advance_to(&mut self, first: u64) {
        if first <= self.first {
            return;
        }
        if first == self.first + 1 && self.beyond_first == 0 {
            return self.step();
        }
        let words = first / 64 - self.first / 64;
        // The new `first` may lie beyond every word. The deque is then empty, and the next bit that
        // is set creates words from `first` on.
        let drained = self.words.drain(..(words as usize).min(self.words.len()));
        let mut passed: u64 = drained.map(|bits| u64::from(bits.count_ones())).sum();
        self.first = first;
        if let Some(front) = self.words.front_mut() {
            let below = *front & !from(first, first / 64);
            *front ^= below;
            passed += u64::from(below.count_ones());
        }
        self.beyond_first -= passed;
        self.advance();
    }

    /// Returns the arrived packet beyond which exactly `more` packets have arrived. `None` if at
    /// most `more` have arrived beyond the first missing packet.
    pub(in crate::nic) fn arrival_before(&self, more: u64) -> Option<u64> {
        if self.beyond_first <= more {
            return None;
        }
        // The search goes down from the newest arrival. It passes at most `more` arrivals and
        // usually ends in the last word.
        let mut left = more;
        for (index, &bits) in self.words.iter().enumerate().rev() {
            let word = self.first / 64 + index as u64;
            let mut bits = bits & from(self.first, word);
            let count = u64::from(bits.count_ones());
            if count <= left {
                left -= count;
                continue;
            }
            for _ in 0..left {
                bits ^= 1 << (63 - bits.leading_zeros());
            }
            return Some(word * 64 + 63 - u64::from(bits.leading_zeros()));
        }
        None
    }

    /// Advances by one packet when nothing has arrived beyond it: no bit is set.
    #[inline]
    fn step(&mut self) {
        self.first += 1;
        if self.first.is_multiple_of(64) {
            self.words.pop_front();
        }
    }

    /// Sets `bits` of `word`, which are from `first` on.
    #[inline(always)]
    fn set(&mut self, word: u64, bits: u64) {
        let index = (word - self.first / 64) as usize;
        if self.words.len() <= index {
            self.grow(index);
        }
        let known = &mut self.words[index];
        // Only new bits count: successive reports overlap if acknowledgements were lost.
        self.beyond_first += u64::from(ones(bits & !*known));
        *known |= bits;
    }

    /// Adds words up to `index`.
    // Cold: a word is added once per 64 packets at most.
    #[cold]
    fn grow(&mut self, index: usize) {
        self.words.resize(index + 1, 0);
    }

    /// Advances over the run of arrivals at `first`. The passed bits are cleared, so that every set
    /// bit is a packet from `first` on.
    #[inline]
    fn advance(&mut self) {
        while let Some(bits) = self.words.front_mut() {
            // The shift brings in zeros, so a run never reaches beyond this word.
            let run = (*bits >> (self.first % 64)).trailing_ones();
            self.first += u64::from(run);
            self.beyond_first -= u64::from(run);
            if run == 0 {
                return;
            }
            // The run ended with the word: it may continue in the next one.
            if self.first.is_multiple_of(64) {
                self.words.pop_front();
                continue;
            }
            *bits &= u64::MAX << (self.first % 64);
            return;
        }
    }
}

/// Returns the bits of `word` that stand for sequence numbers from `first` on.
const fn from(first: u64, word: u64) -> u64 {
    if word < first / 64 {
        0
    } else if word > first / 64 {
        u64::MAX
    } else {
        u64::MAX << (first % 64)
    }
}

/// Returns the bits of a block from `base` that are beyond its first word.
const fn high(sack: u64, base: u64) -> u64 {
    // A shift by 64 would overflow: an aligned block has no bits beyond its first word.
    if base.is_multiple_of(64) { 0 } else { sack >> (64 - base % 64) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::rng::{Purpose, Stream};

    #[test]
    fn a_block_of_64_may_start_anywhere() {
        for base in [0u64, 1, 63, 64, 100] {
            let mut board = Board::default();
            board.advance_to(base);
            board.mark(base, u64::MAX, 300);
            assert_eq!((board.first(), board.beyond_first()), (base + 64, 0), "from {base}");
        }
    }

    #[test]
    fn a_board_agrees_with_a_set() {
        let mut random = Stream::new(3, Purpose::Test, 0);
        for _ in 0..50 {
            let (mut board, mut set) = (Board::default(), BTreeSet::new());
            for _ in 0..300 {
                match random.below(3) {
                    0 => {
                        let sequence = u64::from(random.below(300));
                        if set.insert(sequence) {
                            board.insert(sequence);
                        }
                    }
                    1 => {
                        let (base, sack) = (random.below(300).into(), random.next_u32().into());
                        board.mark(base, sack, 300);
                        set.extend((0..64).filter(|n| sack >> n & 1 == 1).map(|n| base + n));
                        set.retain(|&sequence| sequence < 300);
                    }
                    _ => {
                        let upto = board.first() + u64::from(random.below(3));
                        board.advance_to(upto.min(300));
                        set.extend(0..upto.min(300));
                    }
                }
                let first = (0..).find(|n| !set.contains(n)).unwrap();
                assert_eq!((board.first(), board.count()), (first, set.len() as u64));
                let sequence = u64::from(random.below(300));
                assert_eq!(board.has(sequence), set.contains(&sequence));
                let block = (0..64).fold(0, |it, n| it | u64::from(board.has(sequence + n)) << n);
                assert_eq!(board.block(sequence), block);
                let more = random.below(9) as usize;
                let expected = set.range(first..).rev().nth(more).copied();
                assert_eq!(board.arrival_before(more as u64), expected);
            }
        }
    }

    #[test]
    fn a_step_of_one_counts_packets_that_arrived_beyond() {
        let mut board = Board::default();
        [1, 2, 5].into_iter().for_each(|sequence| board.insert(sequence));
        assert_eq!((board.first(), board.beyond_first()), (0, 3));
        board.advance_to(1);
        assert_eq!((board.first(), board.beyond_first()), (3, 1));
        board.advance_to(4);
        assert_eq!((board.first(), board.beyond_first()), (4, 1));
        board.advance_to(5);
        assert_eq!((board.first(), board.beyond_first()), (6, 0));
        board.advance_to(6);
        assert_eq!((board.first(), board.beyond_first()), (6, 0));
    }

    #[test]
    fn packets_never_sent_are_not_marked_as_arrived() {
        for sack in [1, 0b11] {
            let mut board = Board::default();
            board.mark(70, sack, 70);
            assert_eq!((board.has(70), board.has(71), board.count()), (false, false, 0));
            board.mark(69, sack, 70);
            assert_eq!((board.has(69), board.has(70), board.count()), (true, false, 1));
        }
    }
}
