//! See `evenkeel_fuzz::chakra`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| evenkeel_fuzz::chakra(data));
