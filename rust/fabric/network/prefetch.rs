//! Prefetching the memory of the events that follow.
//!
//! With more than a few thousand hosts the speed of a run is limited by memory latency: each event
//! accesses a port and a packet that are no longer cached. The calendar contains the coming events,
//! so their memory is fetched while earlier events are handled. Results do not change.

/// Starts to bring the cache line at `item` near; a hint, where the processor has one.
#[inline]
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "the intrinsic takes a raw pointer; it reads and writes nothing")]
pub(super) fn prefetch<T>(item: &T) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch has no effect on memory, and the pointer comes from a live reference.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast::<i8>()) };
}

/// Starts to bring the cache line at `item` near; a hint, where the processor has one.
#[inline]
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn prefetch<T>(_item: &T) {}
