//! The processes between the daemon and its commands.
//!
//! A **helper** watches over one command: it holds a connection to the daemon, and when that closes, for whatever reason, nothing
//! that the command started survives.
//!
//! * It adopts what the command leaves behind (subreaper), so that nothing escapes by `setsid` or a double fork.
//! * It has one thread, which lives as long as itself: the command's parent-death signal is tied to the thread that started it. (The
//!   helper itself has none: the daemon's threads come and go, its connection does not.)
//! * It is single-purpose: no async runtime, nothing of the daemon's state, an empty environment, no descriptors but its own.
//!
//! The **fork server** is the one process from which helpers are forked: small and with one thread, so that a fork is cheap and
//! safe. To execute the daemon's program anew for each command takes longer than most commands. It ends when the daemon does.

mod descriptors;
mod protocol;
mod spawn;
mod stage;
mod tree;

use protocol::Program;
pub(crate) use protocol::{CommandEnd, Fittings, Order, Report, STOP, ask_for_helper, forked_helper};
use rustix::{
    process::{getpid, set_child_subreaper, setsid},
    stdio::{dup2_stdin, dup2_stdout},
};
use stage::ChildEnds;
use std::{
    fs::File,
    io::{self, Write as _},
    os::{fd::AsFd as _, unix::net::UnixStream},
    process::ExitCode,
};
use tree::Tree;

/// Entry of the fork server: what [`crate::Options::helper`] must run.
#[must_use]
pub fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "abide: the tool helper failed: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Forks helpers until the daemon has gone. In a forked helper it returns when the helper is done.
fn serve() -> io::Result<()> {
    descriptors::keep_only_standard()?;
    let daemon = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let nowhere = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&nowhere)?;
    dup2_stdout(&nowhere)?;
    drop(nowhere);
    // Nobody waits for a helper: the daemon hears from it, or sees its connection close.
    stage::forget_children(true)?;
    stage::limit()?;
    let _ = setsid();
    while let Some(connection) = protocol::asked_for_helper(&daemon)? {
        let forked = match stage::fork() {
            Ok(None) => {
                drop(daemon);
                return help(&connection);
            }
            Ok(Some(pid)) => Ok(pid),
            Err(error) => Err(error),
        };
        match protocol::answer(&daemon, forked) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
            answered => answered?,
        }
    }
    Ok(())
}

/// A helper's life. Most of it may be over before there is a command, so all that can be done before is.
fn help(daemon: &UnixStream) -> io::Result<()> {
    stage::forget_children(false)?;
    let _ = setsid();
    set_child_subreaper(Some(getpid()))?;
    let ends = ChildEnds::watch()?;
    let Some((program, fittings)) = Program::receive(daemon)? else { return Ok(()) };
    let started = spawn::spawn(&program, &fittings);
    // With the last end of its pipes the output is complete: no other may be here.
    drop(fittings);
    let report = match started {
        Ok(command) => Tree::new(command, ends, daemon).watch(),
        Err(error) => Report::of(CommandEnd::NotStarted(error.to_string())),
    };
    // The daemon may be gone; then nobody wants to know.
    let _ = report.write(daemon);
    Ok(())
}
