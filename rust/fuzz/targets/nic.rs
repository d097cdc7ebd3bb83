//! See `evenkeel_fuzz::nic`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| evenkeel_fuzz::nic(data));
