//! The packages, made by `packaging/build` of the programs under test.

use crate::process;
use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::LazyLock,
};
use tempfile::TempDir;

/// The version that the programs say.
pub const NOW: &str = env!("CARGO_PKG_VERSION");
/// A version to upgrade to. Its programs do the same, and the daemon's is another file.
pub const NEXT: &str = "99.0.0";

static BUILT: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = target().join("test-packages");
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("the packages of an earlier run can be removed");
    }
    build(NOW, &folder, &[]);
    let next = next_programs();
    build_of(next.path(), NEXT, &folder, &["deb", "tar"]);
    folder
});

/// The folder of the packages of [`NOW`] (all formats) and [`NEXT`] (.deb and .tar.gz). The first test that
/// needs them builds them.
///
/// # Panics
/// They cannot be built.
#[must_use]
pub fn built() -> &'static Path {
    &BUILT
}

/// Builds packages into `out`: these formats, or all.
///
/// # Panics
/// They cannot be built.
pub fn build(version: &str, out: &Path, formats: &[&str]) {
    build_of(&programs(), version, out, formats);
}

fn build_of(programs: &Path, version: &str, out: &Path, formats: &[&str]) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging/build");
    let mut command = process::blocking_program(script);
    command.arg("--programs").arg(programs).args(["--quick", "--version", version]).arg("--out").arg(out);
    process::succeeds(command.args(formats));
}

/// The programs under test, with a section more in the daemon's, so that a daemon finds another one
/// installed.
fn next_programs() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in ["abide", "abide-gui"] {
        symlink(programs().join(name), folder.path().join(name)).expect("a link");
    }
    let section = folder.path().join("section");
    fs::write(&section, NEXT).expect("a temporary file");
    let mut command = process::blocking_program("objcopy");
    command.arg("--add-section").arg(format!(".abide.next={}", section.display()));
    process::succeeds(command.arg(programs().join("abided")).arg(folder.path().join("abided")));
    folder
}

fn programs() -> PathBuf {
    let program = process::built("abide");
    program.parent().expect("a program lies in a folder").to_path_buf()
}

/// Where cargo puts what it builds.
pub(crate) fn target() -> PathBuf {
    programs().parent().expect("programs lie in TARGET/PROFILE").to_path_buf()
}
