//! A paged table by id. Its memory is proportional to the pages in use.

/// Entries per page.
const PAGE: usize = 64;

/// Entries by dense index. A page without entries is not allocated.
#[derive(Debug)]
pub(super) struct Pages<T>(Vec<Option<Box<Page<T>>>>);

#[derive(Debug)]
struct Page<T> {
    entries: [Option<T>; PAGE],
    /// Number of entries in use.
    used: usize,
}

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Pages<T> {
    /// Inserts an entry at an unused index.
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

    /// Removes an entry, and frees its page if that was the last one.
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

    /// Iterates over indices and entries, in order of indices.
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
    fn empty_pages_are_freed() {
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
