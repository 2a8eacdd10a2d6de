#![no_main]

use abide_fuzz::{Place, arguments};
use std::sync::LazyLock;

static PLACE: LazyLock<Place> =
    LazyLock::new(|| Place::new(&std::env::temp_dir().join(format!("abide-fuzz-{}", std::process::id()))));

libfuzzer_sys::fuzz_target!(|text: &str| arguments(&PLACE, text));
