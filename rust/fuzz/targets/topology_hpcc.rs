//! See `evenkeel_fuzz::topology_hpcc`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| evenkeel_fuzz::topology_hpcc(data));
