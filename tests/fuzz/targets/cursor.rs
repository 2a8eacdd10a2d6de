#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| abide_fuzz::cursor(text));
