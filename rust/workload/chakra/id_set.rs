//! A set of node ids that is small where ids are dense, whatever their order: a bit each, and
//! nothing where none is missing.
//!
//! Source: the way of Roaring bitmaps (Lemire et al., "Roaring Bitmaps: Implementation of an
//! Optimized Software Library", 2018): lists where a stretch of ids holds few, bits where it
//! holds many.

use std::collections::BTreeMap;

/// Ids of a stretch, as a power of two.
const STRETCH: u32 = 12;

/// Above so many, bits are smaller than a list of 2 bytes each.
const FEW: usize = 1 << (STRETCH - 4);

/// A set of ids.
#[derive(Debug, Clone, Default)]
pub(super) struct IdSet(BTreeMap<u64, Stretch>);

#[derive(Debug, Clone)]
enum Stretch {
    /// In order.
    Few(Vec<u16>),
    /// How many there are, and a bit each.
    Many(u16, Box<[u64; 1 << (STRETCH - 6)]>),
    Full,
}

impl IdSet {
    /// Puts an id in; false if it was there.
    pub fn insert(&mut self, id: u64) -> bool {
        let within = (id & ((1 << STRETCH) - 1)) as u16;
        let stretch = self.0.entry(id >> STRETCH).or_insert(Stretch::Few(Vec::new()));
        match stretch {
            Stretch::Full => false,
            Stretch::Few(few) => {
                let Err(place) = few.binary_search(&within) else { return false };
                few.insert(place, within);
                if few.len() > FEW {
                    let mut bits = Box::new([0u64; 1 << (STRETCH - 6)]);
                    few.iter().for_each(|&it| bits[usize::from(it >> 6)] |= 1 << (it & 63));
                    *stretch = Stretch::Many(few.len() as u16, bits);
                }
                true
            }
            Stretch::Many(count, bits) => {
                let (word, bit) = (&mut bits[usize::from(within >> 6)], 1 << (within & 63));
                if *word & bit != 0 {
                    return false;
                }
                *word |= bit;
                *count += 1;
                if *count == 1 << STRETCH {
                    *stretch = Stretch::Full;
                }
                true
            }
        }
    }

    /// Whether an id is in.
    pub fn contains(&self, id: u64) -> bool {
        let within = (id & ((1 << STRETCH) - 1)) as u16;
        match self.0.get(&(id >> STRETCH)) {
            None => false,
            Some(Stretch::Full) => true,
            Some(Stretch::Few(few)) => few.binary_search(&within).is_ok(),
            Some(Stretch::Many(_, bits)) => {
                bits[usize::from(within >> 6)] >> (within & 63) & 1 == 1
            }
        }
    }

    /// Memory, about, in bytes.
    #[cfg(test)]
    fn size(&self) -> usize {
        let of = |stretch: &Stretch| match stretch {
            Stretch::Few(few) => 32 + 2 * few.capacity(),
            Stretch::Many(..) => 32 + (1 << (STRETCH - 3)),
            Stretch::Full => 32,
        };
        self.0.values().map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::rng::{Purpose, Stream};

    #[test]
    fn it_is_a_set() {
        let mut random = Stream::new(1, Purpose::Test, 0);
        let (mut set, mut expected) = (IdSet::default(), BTreeSet::new());
        for place in 0..40_000u64 {
            // Dense, thin, and at the far end.
            let id = match place % 3 {
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
    fn dense_ids_take_next_to_nothing() {
        let mut set = IdSet::default();
        (0..1 << 20).rev().for_each(|id| assert!(set.insert(id)));
        assert!(set.size() < 1 << 14, "{}", set.size());
        let mut every_fourth = IdSet::default();
        (0..1 << 18).for_each(|id| assert!(every_fourth.insert(4 * id)));
        assert!(every_fourth.size() < 1 << 18, "{}", every_fourth.size());
    }
}
