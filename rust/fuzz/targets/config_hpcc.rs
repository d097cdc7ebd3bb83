//! See `evenkeel_fuzz::config_hpcc`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| evenkeel_fuzz::config_hpcc(data));
