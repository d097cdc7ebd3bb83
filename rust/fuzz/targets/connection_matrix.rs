//! See `evenkeel_fuzz::connection_matrix`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| evenkeel_fuzz::connection_matrix(data));
