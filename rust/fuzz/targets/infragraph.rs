//! See `evenkeel_fuzz::infragraph`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| evenkeel_fuzz::infragraph(data));
