//! Prefetching the memory of upcoming events.
//!
//! With more than a few thousand hosts, memory latency limits the speed of a run: each event
//! accesses a port and a packet that are no longer cached. The calendar contains the upcoming
//! events, so their memory is prefetched while earlier events are handled. Results do not change.

/// Prefetches the first cache line of `item`; a no-op on processors without such a hint.
#[inline]
pub(crate) fn prefetch<T>(item: &T) {
    prefetch_line(item, 0);
}

#[inline]
fn prefetch_line<T>(item: &T, line: usize) {
    prefetch_byte(item, line * 64);
}

/// Prefetches the cache line that contains byte `byte` of the item.
#[inline]
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "the intrinsic takes a raw pointer; it reads and writes nothing")]
fn prefetch_byte<T>(item: &T, byte: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    let first = std::ptr::from_ref(item).cast::<i8>();
    // SAFETY: a prefetch has no effect on memory, whatever the address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(byte)) };
}

#[inline]
#[cfg(not(target_arch = "x86_64"))]
fn prefetch_byte<T>(_item: &T, _byte: usize) {}

/// Prefetches every cache line of a larger item.
#[inline]
pub(crate) fn prefetch_all<T>(item: &T) {
    prefetch_lines(item, size_of::<T>().div_ceil(64));
}

/// Prefetches an item of at most two cache lines by its first and its last byte.
#[inline]
pub(crate) fn prefetch_ends<T>(item: &T) {
    const { assert!(size_of::<T>() <= 65, "a larger item may have cache lines in between") };
    prefetch_byte(item, 0);
    prefetch_byte(item, size_of::<T>().saturating_sub(1));
}

/// Prefetches the first `lines` cache lines of `item`.
#[inline]
pub(crate) fn prefetch_lines<T>(item: &T, lines: usize) {
    for line in 0..lines {
        prefetch_line(item, line);
    }
}

/// Prefetches the slot after the last item of a list.
#[inline]
pub(crate) fn prefetch_next_slot<T>(items: &[T]) {
    let Some(first) = items.first() else { return };
    for line in 0..size_of::<T>().div_ceil(64) {
        prefetch_byte(first, size_of_val(items) + line * 64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Miri runs this and checks that the intrinsic accepts any address: lines begin in the middle
    /// of an item and end after it.
    #[test]
    fn items_of_any_length_are_prefetched_unchanged() {
        let lines = [[3_u8; 64]; 2];
        let mut items = vec![(1_u8, [2_u8; 200]); 3];
        prefetch(&());
        prefetch_all(&());
        prefetch_all(&lines);
        prefetch_all(&lines[1][63]);
        prefetch_ends(&());
        prefetch_ends(&lines[0]);
        prefetch_next_slot(&lines);
        prefetch_next_slot(&lines[..0]);
        for item in &mut items {
            item.0 += 1;
            prefetch(item);
            prefetch_all(item);
        }
        assert_eq!((lines, items), ([[3; 64]; 2], vec![(2, [2; 200]); 3]));
    }
}
