//! Starts programs, and knows which of them are still there. The only place of the harness that does.

use rustix::process::{Pid, Signal, kill_process};
use std::{
    env, fs,
    path::{Path, PathBuf},
    time::Duration,
};

/// A program that was built beside the tests.
///
/// # Panics
/// It was not built.
pub(crate) fn built(name: &str) -> PathBuf {
    let own = env::current_exe().expect("a test knows its own path");
    let folder = own.parent().expect("a program lies in a folder");
    // Tests lie in TARGET/PROFILE/deps, examples in a folder too, the benchmark beside the programs.
    let is_below = folder.ends_with("deps") || folder.ends_with("examples");
    let folder = if is_below { folder.parent().expect("it has a parent") } else { folder };
    let program = folder.join(name);
    assert!(
        program.exists(),
        "there is no {}: the scenarios run real binaries; build them first: cargo build --workspace --bins",
        program.display()
    );
    program
}

/// A program to run beside the tests, which may be awaited; it dies with its handle.
pub(crate) fn program(path: impl AsRef<std::ffi::OsStr>) -> tokio::process::Command {
    #[expect(clippy::disallowed_methods, reason = "the harness runs the real binaries")]
    let mut command = tokio::process::Command::new(path);
    command.kill_on_drop(true);
    command
}

/// A program that is waited for where nothing can be awaited: in a destructor.
pub(crate) fn blocking_program(path: impl AsRef<std::ffi::OsStr>) -> std::process::Command {
    #[expect(clippy::disallowed_methods, reason = "the harness runs the real binaries")]
    std::process::Command::new(path)
}

/// A process that belongs to a test's folder: it works beneath it, or names it in its environment or its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub pid: u32,
    /// Its arguments, with spaces between.
    pub command: String,
}

impl Found {
    /// SIGKILL.
    pub(crate) fn kill(&self) {
        if let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) {
            // It may have gone by itself meanwhile.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// The processes that belong to `folder`, zombies and this one left out.
pub(crate) fn belonging_to(folder: &Path) -> Vec<Found> {
    let marker = folder.as_os_str().as_encoded_bytes();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| found(&entry.path(), folder, marker)).collect()
}

fn found(proc: &Path, folder: &Path, marker: &[u8]) -> Option<Found> {
    let pid: u32 = proc.file_name()?.to_str()?.parse().ok()?;
    if pid == std::process::id() {
        return None;
    }
    let arguments = fs::read(proc.join("cmdline")).ok()?;
    let has = |bytes: &[u8]| bytes.windows(marker.len()).any(|w| w == marker);
    let works_there = fs::read_link(proc.join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
    let belongs = works_there || has(&arguments) || fs::read(proc.join("environ")).is_ok_and(|e| has(&e));
    // A zombie has no arguments any more.
    (belongs && !arguments.is_empty()).then(|| Found {
        pid,
        command: String::from_utf8_lossy(&arguments).replace('\0', " ").trim_end().to_owned(),
    })
}

/// Waits, where nothing can be awaited, until `is_so` or until `limit` is over; tells which.
pub(crate) fn settles(limit: Duration, is_so: impl Fn() -> bool) -> bool {
    let end = std::time::Instant::now() + limit;
    while !is_so() {
        if std::time::Instant::now() >= end {
            return false;
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "a destructor cannot await; between two looks at /proc"
        )]
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}
