//! The allocator of the program, and of what measures its speed.

/// A run touches memory all over the place: with pages of 4 KiB each access to it also looks up
/// where its page is. This allocator asks Linux for pages of 2 MiB.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// `mi_option_purge_delay` of `mimalloc.h`: after how many milliseconds memory that is free is
/// given back to the system; -1 for never. Its crate leaves the option's number to its users.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

/// Keeps memory that is freed for what is allocated next. To give a part of a page of 2 MiB back
/// makes 512 pages of 4 KiB of it, and a run frees most as it grows: lists that are copied to
/// larger places.
#[expect(unsafe_code, reason = "the allocator's options are set through its C interface")]
pub(super) fn keep_freed_memory() {
    // SAFETY: the option exists, any number is a value of it, and no other thread runs yet.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, -1) };
}
