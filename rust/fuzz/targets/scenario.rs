//! See `evenkeel_fuzz::scenario`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| evenkeel_fuzz::scenario(data));
