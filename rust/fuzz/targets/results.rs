//! See `evenkeel_fuzz::results`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| evenkeel_fuzz::results(data));
