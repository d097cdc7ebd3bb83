//! A set of node ids that is compact where ids are dense, in any order of insertion. It takes one
//! bit per id, and no memory for ranges without gaps.
//!
//! Source: Roaring bitmaps (Lemire et al., "Roaring Bitmaps: Implementation of an Optimized
//! Software Library", 2018). Chunks of ids with few members are lists; those with many are bitmaps.

use std::collections::BTreeMap;

/// Binary logarithm of the number of ids in a chunk.
const CHUNK_BITS: u32 = 12;

/// Maximum length of a chunk's list. Beyond it, a bitmap is smaller than a list of 2 bytes each.
const MAX_LIST: usize = 1 << (CHUNK_BITS - 4);

/// A set of ids.
#[derive(Debug, Clone, Default)]
pub(super) struct IdSet(BTreeMap<u64, IdChunk>);

#[derive(Debug, Clone)]
enum IdChunk {
    /// The members, in ascending order.
    List(Vec<u16>),
    /// The number of members, and one bit per id.
    Bitmap(u16, Box<[u64; 1 << (CHUNK_BITS - 6)]>),
    Full,
}

impl IdSet {
    /// Inserts an id; returns false if it already was a member.
    pub(super) fn insert(&mut self, id: u64) -> bool {
        let within = (id & ((1 << CHUNK_BITS) - 1)) as u16;
        let chunk = self.0.entry(id >> CHUNK_BITS).or_insert(IdChunk::List(Vec::new()));
        match chunk {
            IdChunk::Full => false,
            IdChunk::List(list) => {
                let Err(index) = list.binary_search(&within) else { return false };
                list.insert(index, within);
                if list.len() > MAX_LIST {
                    let mut bits = Box::new([0u64; 1 << (CHUNK_BITS - 6)]);
                    list.iter().for_each(|&it| bits[usize::from(it >> 6)] |= 1 << (it & 63));
                    *chunk = IdChunk::Bitmap(list.len() as u16, bits);
                }
                true
            }
            IdChunk::Bitmap(count, bits) => {
                let (word, bit) = (&mut bits[usize::from(within >> 6)], 1 << (within & 63));
                if *word & bit != 0 {
                    return false;
                }
                *word |= bit;
                *count += 1;
                if *count == 1 << CHUNK_BITS {
                    *chunk = IdChunk::Full;
                }
                true
            }
        }
    }

    /// True if an id is a member.
    pub(super) fn contains(&self, id: u64) -> bool {
        let within = (id & ((1 << CHUNK_BITS) - 1)) as u16;
        match self.0.get(&(id >> CHUNK_BITS)) {
            None => false,
            Some(IdChunk::Full) => true,
            Some(IdChunk::List(list)) => list.binary_search(&within).is_ok(),
            Some(IdChunk::Bitmap(_, bits)) => {
                bits[usize::from(within >> 6)] >> (within & 63) & 1 == 1
            }
        }
    }

    /// Returns the approximate memory in bytes.
    #[cfg(test)]
    fn size(&self) -> usize {
        let of = |chunk: &IdChunk| match chunk {
            IdChunk::List(list) => 32 + 2 * list.capacity(),
            IdChunk::Bitmap(..) => 32 + (1 << (CHUNK_BITS - 3)),
            IdChunk::Full => 32,
        };
        self.0.values().map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use evenkeel_engine::rng::{Purpose, Stream};

    #[test]
    fn id_sets_agree_with_an_ordinary_set() {
        let mut random = Stream::new(1, Purpose::Test, 0);
        let (mut set, mut expected) = (IdSet::default(), BTreeSet::new());
        for draw in 0..40_000u64 {
            // Dense ids, sparse ids, and the largest ids.
            let id = match draw % 3 {
                0 => u64::from(random.below(9_000)),
                1 => u64::from(random.next_u32()) << 20,
                _ => u64::MAX - u64::from(random.below(300)),
            };
            assert_eq!(set.insert(id), expected.insert(id), "{id}");
        }
        for id in (0..9_000).chain(expected.iter().map(|id| id.wrapping_add(1))) {
            assert_eq!(set.contains(id), expected.contains(&id), "{id}");
        }
        assert!(expected.iter().all(|&id| set.contains(id)));
    }

    #[test]
    fn dense_ids_take_little_memory() {
        let mut set = IdSet::default();
        (0..1 << 20).rev().for_each(|id| assert!(set.insert(id)));
        assert!(set.size() < 1 << 14, "{}", set.size());
        let mut every_fourth = IdSet::default();
        (0..1 << 18).for_each(|id| assert!(every_fourth.insert(4 * id)));
        assert!(every_fourth.size() < 1 << 18, "{}", every_fourth.size());
    }
}
