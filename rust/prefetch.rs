//! Prefetching the memory of the events that follow.
//!
//! With more than a few thousand hosts the speed of a run is limited by memory latency: each event
//! accesses a port and a packet that are no longer cached. The calendar contains the coming events,
//! so their memory is fetched while earlier events are handled. Results do not change.

/// Starts to bring the first cache line of `item` near; a hint, where the processor has one.
#[inline]
pub(crate) fn prefetch<T>(item: &T) {
    prefetch_line(item, 0);
}

#[inline]
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "the intrinsic takes a raw pointer; it reads and writes nothing")]
fn prefetch_line<T>(item: &T, line: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    let first = std::ptr::from_ref(item).cast::<i8>();
    // SAFETY: a prefetch has no effect on memory, whatever the address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(line * 64)) };
}

#[inline]
#[cfg(not(target_arch = "x86_64"))]
fn prefetch_line<T>(_item: &T, _line: usize) {}

/// The same for every cache line of a larger item.
#[inline]
pub(crate) fn prefetch_all<T>(item: &T) {
    for line in 0..size_of::<T>().div_ceil(64) {
        prefetch_line(item, line);
    }
}
