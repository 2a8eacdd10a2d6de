//! Runs a program that must not take long.

use std::{
    io::{self, Read},
    process::{Child, Command, Output},
    thread,
    time::{Duration, Instant},
};

/// The pause between two looks at the program.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// Runs a program to its end, with the beginnings of its output, of `most` bytes (and no more than a pipe
/// holds); what it has started ends with it. `None`: it took longer than that, and was killed. The program
/// begins a process group of its own.
pub(crate) fn run_within(mut command: Command, time: Duration, most: u64) -> io::Result<Option<Output>> {
    let deadline = Instant::now() + time;
    let mut child = command.spawn()?;
    let in_time = loop {
        if has_ended(&mut child)? {
            break true;
        }
        if Instant::now() >= deadline {
            break false;
        }
        thread::park_timeout(LOOK_AGAIN);
    };
    let killed = end_group(&mut child);
    if !in_time {
        killed?;
    }
    let status = child.wait()?;
    if !in_time {
        return Ok(None);
    }
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (stdout, stderr) =
        (stdout.map(|pipe| beginning(pipe, most)), stderr.map(|pipe| beginning(pipe, most)));
    Ok(Some(Output { status, stdout: stdout.unwrap_or_default(), stderr: stderr.unwrap_or_default() }))
}

/// Whether the process has ended. On Unix it is not waited for, so that its id, which is also that of its
/// group, stays its own.
fn has_ended(child: &mut Child) -> io::Result<bool> {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(Pid::from_child(child)), options)?.is_some())
    }
    #[cfg(not(unix))]
    Ok(child.try_wait()?.is_some())
}

/// Kills a process, unless it has ended, and all of its group: all that it has started, unless that has made
/// itself a group of its own.
fn end_group(child: &mut Child) -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process_group};
        Ok(kill_process_group(Pid::from_child(child), Signal::KILL)?)
    }
    #[cfg(not(unix))]
    child.kill()
}

/// What can be read at once of a pipe whose writer has ended: another process may still have it open.
#[cfg(unix)]
fn beginning(pipe: impl std::os::fd::AsFd + Read, most: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if rustix::io::ioctl_fionbio(&pipe, true).is_ok() {
        // It ends with an error if the pipe is still open; what was read is there.
        let _ = pipe.take(most).read_to_end(&mut bytes);
    }
    bytes
}

#[cfg(not(unix))]
fn beginning(pipe: impl Read, most: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = pipe.take(most).read_to_end(&mut bytes);
    bytes
}
