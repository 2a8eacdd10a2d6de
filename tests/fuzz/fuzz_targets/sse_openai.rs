//! A streamed answer of OpenAI Chat Completions.
#![no_main]

use abide_fuzz::answer;
use abide_model::Api;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| answer(Api::OpenAiChat, bytes));
