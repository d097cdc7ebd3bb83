//! See `evenkeel_fuzz::rails`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| evenkeel_fuzz::rails(data));
