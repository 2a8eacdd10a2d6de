//! What the helper's child is before it becomes the command. Done here, between two `exec`s, none of it needs `unsafe`.
//! (A sandbox will be entered here.)

use rustix::process::{
    Resource, Rlimit, Signal, getppid, getrlimit, set_parent_process_death_signal, setrlimit, setsid,
};
use std::{
    ffi::OsString,
    fs,
    io::{self, Write as _},
    os::unix::process::CommandExt as _,
    process::{Command, ExitCode},
};

/// Before the helper's process id, the program and its arguments.
pub(super) const ARGUMENT: &str = "--become";

/// As a shell says it.
const CANNOT_RUN: u8 = 126;

/// Open files; programs that need more may raise it to the hard limit.
const OPEN_FILES: u64 = 4096;

/// Prepares this process and turns it into the command. Returns only if that fails.
pub(super) fn become_command(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let helper = arguments.next().and_then(|pid| pid.to_str()?.parse::<i32>().ok());
    let Some(program) = arguments.next() else { return ExitCode::from(CANNOT_RUN) };
    let error = prepare(helper).err().unwrap_or_else(|| exec(program, arguments));
    let _ = writeln!(io::stderr(), "abide: cannot start the command: {error}");
    ExitCode::from(CANNOT_RUN)
}

fn prepare(helper: Option<i32>) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // If the helper died before that, nobody would ever be told.
    if getppid().map(|pid| pid.as_raw_nonzero().get()) != helper {
        return Err(io::Error::other("the tool helper is gone"));
    }
    // Its own session: no terminal, and `kill 0` does not reach the helper.
    let _ = setsid();
    let files = getrlimit(Resource::Nofile);
    let soft = files.maximum.map_or(OPEN_FILES, |hard| hard.min(OPEN_FILES));
    setrlimit(Resource::Nofile, Rlimit { current: Some(soft), maximum: files.maximum })?;
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    // When memory runs out, a command goes before the daemon does.
    let _ = fs::write("/proc/self/oom_score_adj", "500");
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "this process becomes the command")]
fn exec(program: OsString, arguments: impl Iterator<Item = OsString>) -> io::Error {
    Command::new(program).args(arguments).exec()
}
