//! A line of JSON, as each side reads it.
#![no_main]

use abide_fuzz::both_ways;
use abide_protocol::codec::Codec;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| both_ways(Codec::Json, bytes));
