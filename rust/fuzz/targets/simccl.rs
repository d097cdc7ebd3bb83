//! See `evenkeel_fuzz::simccl`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| evenkeel_fuzz::simccl(data));
