//! The global allocator of the program and of its benchmarks.

/// Requests pages of 2 MiB from Linux. A run accesses memory at random, and pages of 4 KiB would
/// add TLB misses to cache misses.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// `mi_option_purge_delay` of `mimalloc.h`: milliseconds until free memory is returned to the
/// system; -1 for never. The crate does not name the option's number.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

/// Keeps freed memory for later allocations. Returning part of a 2 MiB page would split it into 512
/// pages of 4 KiB. A run frees most memory while it grows, when lists are reallocated.
#[expect(unsafe_code, reason = "the allocator's options are set through its C interface")]
pub(super) fn keep_freed_memory() {
    // SAFETY: the option exists, it accepts any number, and no other thread runs yet.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, -1) };
}
