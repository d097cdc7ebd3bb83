//! See `evenkeel_fuzz::study`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| evenkeel_fuzz::study(data));
