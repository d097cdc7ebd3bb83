//! See `evenkeel_fuzz::verbs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| evenkeel_fuzz::verbs(data));
