//! Idle connections of a host pair and message stream.

/// Idle connections, by slot. Marking one idle sets a bit. A heap would move entries of cold memory
/// at the end of every flow.
#[derive(Debug, Default)]
pub(super) struct Pool {
    /// Connection of each slot; undefined for slots outside the pool.
    ids: Vec<u32>,
    /// One bit per slot, set if its connection is idle.
    idle: Vec<u64>,
    /// Lower bound: no earlier word of `idle` has a bit set.
    first: usize,
}

impl Pool {
    /// Adds a connection that is in use.
    pub(super) fn add(&mut self, slot: u32, id: u32) {
        let slot = slot as usize;
        if self.ids.len() <= slot {
            self.ids.resize(slot + 1, u32::MAX);
            self.idle.resize(slot / 64 + 1, 0);
        }
        self.ids[slot] = id;
    }

    /// Marks the connection of a slot as idle.
    #[inline]
    pub(super) fn put(&mut self, slot: u32) {
        let word = slot as usize / 64;
        self.idle[word] |= 1 << (slot % 64);
        // Lowers the bound, so that the next search finds this slot.
        self.first = self.first.min(word);
    }

    /// Takes the idle connection with the lowest slot.
    pub(super) fn take(&mut self) -> Option<u32> {
        let found = self.idle[self.first..].iter().position(|&word| word != 0);
        self.first = found.map_or(self.idle.len(), |words| self.first + words);
        let word = self.idle.get_mut(self.first)?;
        let bit = word.trailing_zeros() as usize;
        // Clears the lowest set bit.
        *word &= *word - 1;
        Some(self.ids[self.first * 64 + bit])
    }

    /// Removes all connections.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_idle_slot_is_taken_first() {
        let mut pool = Pool::default();
        assert_eq!(pool.take(), None);
        (0..200).filter(|slot| slot % 3 > 0).for_each(|slot| pool.add(slot, 1_000 + slot));
        assert_eq!(pool.take(), None);
        [199, 70, 64, 65, 1].into_iter().filter(|slot| slot % 3 > 0).for_each(|it| pool.put(it));
        assert_eq!([(); 3].map(|()| pool.take()), [Some(1_001), Some(1_064), Some(1_065)]);
        pool.put(2);
        assert_eq!([(); 3].map(|()| pool.take()), [Some(1_002), Some(1_070), Some(1_199)]);
        assert_eq!((pool.take(), pool.take()), (None, None));
        pool.put(128);
        assert_eq!((pool.take(), pool.take()), (Some(1_128), None));
        pool.put(128);
        pool.clear();
        pool.add(128, 7);
        assert_eq!(pool.take(), None);
    }
}
