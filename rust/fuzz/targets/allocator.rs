//! See `evenkeel_fuzz::allocator`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| evenkeel_fuzz::allocator(data));
