//! See `evenkeel_fuzz::settings`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| evenkeel_fuzz::settings(data));
