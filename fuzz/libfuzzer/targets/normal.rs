#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| aw_fuzz::normal(data));
