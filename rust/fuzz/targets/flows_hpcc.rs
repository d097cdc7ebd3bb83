//! See `evenkeel_fuzz::flows_hpcc`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| evenkeel_fuzz::flows_hpcc(data));
