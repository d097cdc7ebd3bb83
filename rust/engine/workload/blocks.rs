//! Blocks of a divided vector.

use std::ops::Range;

use crate::units::Bytes;

/// Blocks of a segment, in equal sets. Within a set they differ by at most one byte, longer ones
/// first. Lengths are computed, not stored: an all-to-all of 8,192 ranks has 67 million blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocks {
    /// Bytes per set.
    bytes: u64,
    /// Number of blocks per set.
    count: usize,
    sets: usize,
}

impl Blocks {
    /// Creates one set of `count` blocks.
    ///
    /// # Panics
    /// If `count` is zero.
    pub fn equal(bytes: Bytes, count: usize) -> Self {
        assert_ne!(count, 0, "a vector has one block at least");
        Self { bytes: bytes.get(), count, sets: 1 }
    }

    /// Repeats the blocks `sets` times.
    pub fn repeated(self, sets: usize) -> Self {
        Self { sets: self.sets * sets, ..self }
    }

    /// Returns the total bytes of a range of blocks.
    ///
    /// # Panics
    /// If the range reaches beyond the blocks.
    pub fn bytes(&self, range: &Range<usize>) -> u64 {
        assert!(range.end <= self.count * self.sets, "blocks {range:?} of {self:?}");
        if range.is_empty() { 0 } else { self.before(range.end) - self.before(range.start) }
    }

    /// Returns the total bytes of the blocks before `block`.
    fn before(&self, block: usize) -> u64 {
        let count = self.count as u64;
        let (sets, block) = (block as u64 / count, block as u64 % count);
        sets * self.bytes + block * (self.bytes / count) + block.min(self.bytes % count)
    }
}

/// Divides `bytes` into `count` blocks that differ by at most one byte, longer ones first.
pub fn equal_blocks(bytes: Bytes, count: usize) -> Vec<Bytes> {
    let (each, left) = (bytes.get() / count as u64, bytes.get() % count as u64);
    (0..count as u64).map(|block| Bytes::new(each + u64::from(block < left))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_the_list() {
        for (bytes, count, sets) in [(10u64, 4usize, 1usize), (3, 5, 3), (64, 8, 8), (1, 1, 2)] {
            let list = equal_blocks(Bytes::new(bytes), count).repeat(sets);
            let blocks = Blocks::equal(Bytes::new(bytes), count).repeated(sets);
            for start in 0..=list.len() {
                for end in start..=list.len() {
                    let sum: u64 = list[start..end].iter().map(|block| block.get()).sum();
                    assert_eq!(blocks.bytes(&(start..end)), sum, "{start}..{end} of {blocks:?}");
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "blocks 3..6")]
    fn a_range_beyond_the_blocks_panics() {
        Blocks::equal(Bytes::new(10), 5).bytes(&(3..6));
    }
}
