//! Tests that need something of the machine. Without it they say so and pass, unless nothing may be missing.

#![expect(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a harness fails as tests do: by panicking with words"
)]

use std::{env, fs::File, io::Write as _};

/// The test does not run, for this reason. The test command shows all such reasons at its end.
///
/// # Panics
/// `ABIDE_TEST_NO_SKIP` is set: the machine was to have everything.
pub fn skip(test: &str, reason: &str) {
    let words = format!("skipped: {test}: {reason}");
    assert!(env::var_os("ABIDE_TEST_NO_SKIP").is_none(), "{words}, though nothing may be skipped");
    eprintln!("{words}");
    if let Some(file) = env::var_os("ABIDE_TEST_SKIPS") {
        let written =
            File::options().create(true).append(true).open(file).and_then(|mut f| writeln!(f, "{words}"));
        written.expect("the list of what was skipped can be written");
    }
}
