//! See `evenkeel_fuzz::goal`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| evenkeel_fuzz::goal(data));
