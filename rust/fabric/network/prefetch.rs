//! Asking the processor to fetch what will be needed soon.
//!
//! Beyond a few thousand hosts a run waits for memory, not for arithmetic: each event touches a
//! port and a packet that nothing has touched for a while. The calendar knows the coming events,
//! so their memory can be on its way while earlier ones are handled. It changes no result.

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

/// The same for an item of two cache lines.
#[inline]
pub(super) fn prefetch_lines<T: Lines>(item: &T) {
    prefetch(item);
    prefetch(item.second_line());
}

/// An item of two cache lines.
pub(super) trait Lines {
    /// Something in the second.
    fn second_line(&self) -> &u64;
}
