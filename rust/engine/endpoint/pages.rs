//! A table by id whose memory follows the entries that it has.

/// Entries of a page.
const PAGE: usize = 64;

/// Entries by dense index, in pages of which those without an entry take no memory.
#[derive(Debug)]
pub(super) struct Pages<T>(Vec<Option<Box<Page<T>>>>);

#[derive(Debug)]
struct Page<T> {
    entries: [Option<T>; PAGE],
    /// How many entries there are.
    used: usize,
}

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Pages<T> {
    /// Adds an entry at an index that has none.
    pub(super) fn insert(&mut self, index: usize, entry: T) {
        let (page, offset) = (index / PAGE, index % PAGE);
        if self.0.len() <= page {
            self.0.resize_with(page + 1, || None);
        }
        let page = self.0[page].get_or_insert_with(|| {
            Box::new(Page { entries: std::array::from_fn(|_| None), used: 0 })
        });
        debug_assert!(page.entries[offset].is_none(), "entry {index} is in use");
        page.entries[offset] = Some(entry);
        page.used += 1;
    }

    /// Takes an entry out.
    pub(super) fn remove(&mut self, index: usize) -> Option<T> {
        let slot = self.0.get_mut(index / PAGE)?;
        let page = slot.as_mut()?;
        let entry = page.entries[index % PAGE].take()?;
        page.used -= 1;
        if page.used == 0 {
            *slot = None;
        }
        Some(entry)
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<&T> {
        self.0.get(index / PAGE)?.as_ref()?.entries[index % PAGE].as_ref()
    }

    #[inline]
    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        self.0.get_mut(index / PAGE)?.as_mut()?.entries[index % PAGE].as_mut()
    }

    /// Indices and entries, in order of indices.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        let pages = self.0.iter().enumerate().filter_map(|(at, page)| Some((at, page.as_ref()?)));
        pages.flat_map(|(at, page)| {
            let entries = page.entries.iter().enumerate();
            entries.filter_map(move |(offset, entry)| Some((at * PAGE + offset, entry.as_ref()?)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_and_go_and_empty_pages_take_no_memory() {
        let mut pages = Pages::default();
        for index in 0..200 {
            pages.insert(index, index as u32);
        }
        assert_eq!(pages.get(130), Some(&130));
        *pages.get_mut(131).unwrap() = 7;
        for index in 0..130 {
            assert_eq!(pages.remove(index), Some(index as u32));
        }
        assert_eq!((pages.get(3), pages.get(1_000)), (None, None));
        assert_eq!(pages.remove(3), None);
        assert_eq!(pages.0.iter().filter(|page| page.is_some()).count(), 2);
        let left: Vec<(usize, &u32)> = pages.iter().take(2).collect();
        assert_eq!(left, [(130, &130), (131, &7)]);
    }
}
