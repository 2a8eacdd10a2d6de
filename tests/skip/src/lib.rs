//! For tests that need something of the machine: without it they print why and pass, unless skipping is
//! forbidden.

#![expect(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a harness fails as tests do: by panicking with words"
)]

use std::{env, fs::File, io::Write as _};

/// Records that the test does not run, and why. `tests/run` lists these at its end.
///
/// # Panics
/// `ABIDE_TEST_NO_SKIP` is set, which forbids skipping.
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
