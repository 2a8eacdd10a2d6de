//! What the helper's child is before it becomes the command. (A sandbox will be entered here.)

use rustix::process::{
    Pid, Resource, Rlimit, Signal, getppid, getrlimit, set_parent_process_death_signal, setrlimit, setsid,
};
use std::{fs, io};

/// Open files; programs that need more may raise it to the hard limit.
const OPEN_FILES: u64 = 4096;

/// Prepares this process, a child of the helper's.
pub(super) fn prepare(helper: Pid) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // If the helper died before that, nobody would ever be told.
    if getppid() != Some(helper) {
        return Err(io::ErrorKind::BrokenPipe.into());
    }
    // Its own session: no terminal, and `kill 0` does not reach the helper.
    setsid()?;
    let files = getrlimit(Resource::Nofile);
    let soft = files.maximum.map_or(OPEN_FILES, |hard| hard.min(OPEN_FILES));
    setrlimit(Resource::Nofile, Rlimit { current: Some(soft), maximum: files.maximum })?;
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    // When memory runs out, a command goes before the daemon does.
    let _ = fs::write("/proc/self/oom_score_adj", "500");
    Ok(())
}
