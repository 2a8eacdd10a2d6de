//! Starts programs, limits their time, and finds those that still run. No other part of the tests starts
//! processes.

use crate::wait;
use rustix::process::{Pid, Signal, kill_process};
use std::{
    env, fs,
    fs::File,
    io::{self, Read as _, Seek as _, Write as _},
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
    process::{ExitStatus, Output, Stdio},
    time::Duration,
};
use tokio::io::{AsyncBufReadExt as _, BufReader};

/// A program that was built beside the tests.
///
/// # Panics
/// It was not built.
#[must_use]
pub fn built(name: &str) -> PathBuf {
    let own = env::current_exe().expect("a test knows its own path");
    let folder = own.parent().expect("a program lies in a folder");
    // Tests are in TARGET/PROFILE/deps and examples in TARGET/PROFILE/examples; the benchmark is beside the
    // programs.
    let is_nested = folder.ends_with("deps") || folder.ends_with("examples");
    let folder = if is_nested { folder.parent().expect("it has a parent") } else { folder };
    let program = folder.join(name);
    assert!(
        program.exists(),
        "there is no {}: the scenarios run real binaries; build them first: cargo build --workspace --bins",
        program.display()
    );
    program
}

/// A program to run with tokio. It is killed when its handle is dropped.
pub fn program(path: impl AsRef<std::ffi::OsStr>) -> tokio::process::Command {
    #[expect(clippy::disallowed_methods, reason = "the harness runs the real binaries")]
    let mut command = tokio::process::Command::new(path);
    command.kill_on_drop(true);
    command
}

/// A program to run where nothing can be awaited: in a destructor, or before there is a runtime.
pub fn blocking_program(path: impl AsRef<std::ffi::OsStr>) -> std::process::Command {
    #[expect(clippy::disallowed_methods, reason = "the harness runs the real binaries")]
    std::process::Command::new(path)
}

/// Runs a program to its end. It is killed after [`wait::limit`].
///
/// # Errors
/// It cannot be started.
///
/// # Panics
/// It did not end in time. The panic message has its output.
pub async fn finished(command: &mut tokio::process::Command) -> io::Result<Output> {
    let printed = Printed::new()?;
    let (stdout, stderr) = printed.pipes()?;
    let mut child = command.stdout(stdout).stderr(stderr).kill_on_drop(true).spawn()?;
    match tokio::time::timeout(wait::limit(), child.wait()).await {
        Ok(status) => printed.with(status?),
        Err(_) => panic!("{}", printed.overdue(command.as_std(), wait::limit())),
    }
}

/// [`finished`], where nothing can be awaited.
///
/// # Errors
/// It cannot be started; or it did not end within `limit` and was killed, and the error has its output.
pub fn finished_blocking(command: &mut std::process::Command, limit: Duration) -> io::Result<Output> {
    let printed = Printed::new()?;
    let (stdout, stderr) = printed.pipes()?;
    let mut child = command.stdout(stdout).stderr(stderr).spawn()?;
    let mut status = None;
    let has_ended = wait_blocking(limit, || {
        status = child.try_wait().transpose();
        status.is_some()
    });
    if !has_ended {
        child.kill()?;
        child.wait()?;
        return Err(io::Error::new(io::ErrorKind::TimedOut, printed.overdue(command, limit)));
    }
    printed.with(status.unwrap_or_else(|| child.wait())?)
}

/// Runs a program that builds or installs to its end, which must be a success; returns its standard output.
///
/// # Panics
/// It cannot be started, fails, or does not end within five times [`wait::limit`].
pub fn succeeds(command: &mut std::process::Command) -> String {
    let output =
        finished_blocking(command, 5 * wait::limit()).unwrap_or_else(|words| panic!("{command:?}: {words}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let stdout = text(&output.stdout);
    assert!(output.status.success(), "{command:?}: {}\n{stdout}{}", output.status, text(&output.stderr));
    stdout
}

/// Writes a program: this text or file, and so many zeros after it. Another process does, because a process
/// that is being started by another thread of this one would keep the file open for writing, and it could not
/// be executed meanwhile.
///
/// # Panics
/// It cannot be written.
pub fn write_program(path: &Path, content: impl Into<Stdio>, zeros: usize, mode: u32) {
    const SCRIPT: &str = r#"{ cat && head -c "$2" /dev/zero; } >"$1" && chmod "$3" "$1""#;
    let mut sh = blocking_program("sh");
    sh.args(["-c", SCRIPT, "sh"]).arg(path).args([zeros.to_string(), format!("{mode:o}")]);
    succeeds(sh.stdin(content));
}

/// A standard input that consists of this text.
///
/// # Panics
/// There is no room for a temporary file.
#[must_use]
pub fn input(text: &str) -> Stdio {
    let mut file = tempfile::tempfile().expect("a temporary file");
    file.write_all(text.as_bytes()).and_then(|()| file.rewind()).expect("a temporary file can be written");
    file.into()
}

/// A program's output, in files. A pipe ends only when all processes that the program has left running have
/// closed it.
struct Printed {
    stdout: File,
    stderr: File,
}

impl Printed {
    fn new() -> io::Result<Self> {
        Ok(Self { stdout: tempfile::tempfile()?, stderr: tempfile::tempfile()? })
    }

    fn pipes(&self) -> io::Result<(Stdio, Stdio)> {
        Ok((self.stdout.try_clone()?.into(), self.stderr.try_clone()?.into()))
    }

    fn with(mut self, status: ExitStatus) -> io::Result<Output> {
        Ok(Output { status, stdout: read_whole(&mut self.stdout)?, stderr: read_whole(&mut self.stderr)? })
    }

    fn overdue(mut self, command: &std::process::Command, limit: Duration) -> String {
        let text = |file| String::from_utf8_lossy(&read_whole(file).unwrap_or_default()).into_owned();
        format!(
            "{command:?} did not end within {} s and was killed; its standard output: {:?}, its standard error: {:?}",
            limit.as_secs(),
            text(&mut self.stdout),
            text(&mut self.stderr)
        )
    }
}

/// The output of a program that keeps running, for the message of a test that fails.
pub(crate) struct Log(File);

impl Log {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempfile().expect("a temporary file"))
    }

    pub(crate) fn pipe(&self) -> Stdio {
        self.0.try_clone().expect("a second handle of a file").into()
    }

    pub(crate) fn text(&self) -> String {
        // Reads at an offset: the program writes at the position that all handles of the file share.
        let mut bytes = vec![0; self.0.metadata().map_or(0, |found| found.len() as usize)];
        let read = self.0.read_at(&mut bytes, 0).unwrap_or_default();
        String::from_utf8_lossy(&bytes[..read]).into_owned()
    }

    /// The first line of the program's standard output, without its line end.
    ///
    /// # Panics
    /// No line comes in time, or the standard output is not a pipe.
    pub(crate) async fn first_line(&self, what: &str, child: &mut tokio::process::Child) -> String {
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        match tokio::time::timeout(wait::limit(), lines.next_line()).await {
            Ok(Ok(Some(line))) => line.trim().to_owned(),
            _ => panic!("{what} printed no line; its standard error:\n{}", self.text()),
        }
    }
}

fn read_whole(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A process that belongs to a test's folder: its working directory is within it, or its environment or
/// arguments name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub pid: u32,
    /// Its arguments, separated by spaces.
    pub command: String,
}

impl Found {
    /// Sends SIGKILL.
    pub fn kill(&self) {
        if let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) {
            // It may have ended by itself meanwhile.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// The processes that belong to `folder`, except zombies and this process.
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
    // A zombie has no arguments.
    (belongs && !arguments.is_empty()).then(|| Found {
        pid,
        command: String::from_utf8_lossy(&arguments).replace('\0', " ").trim_end().to_owned(),
    })
}

/// Whether a process of that session runs. Zombies do not count.
pub(crate) fn has_session(session: u32) -> bool {
    let is_of_it = |stat: String| {
        // proc_pid_stat(5): state, parent, group and session follow the name, which may contain spaces and
        // parentheses.
        let (_, fields) = stat.rsplit_once(')')?;
        let mut fields = fields.split_whitespace();
        let is_zombie = fields.next()? == "Z";
        Some(!is_zombie && fields.nth(2)?.parse() == Ok(session))
    };
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok())
        .any(|stat| is_of_it(stat) == Some(true))
}

/// Waits without a runtime until `holds` is true. Returns `false` if it is not within `limit`.
pub(crate) fn wait_blocking(limit: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let end = std::time::Instant::now() + limit;
    while !holds() {
        if std::time::Instant::now() >= end {
            return false;
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "a destructor cannot await; the pause is between two readings of /proc"
        )]
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

#[cfg(test)]
mod tests;
