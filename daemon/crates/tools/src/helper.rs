//! The processes between the daemon and its commands.
//!
//! A **helper** watches one command. The helper holds a connection to the daemon. When the connection closes,
//! for whatever reason, the helper kills everything that the command started.
//!
//! * A helper adopts orphans of the command (subreaper), so that nothing escapes by `setsid` or a double
//!   fork.
//! * A helper has one thread for its whole life: the command's parent-death signal is tied to the thread that
//!   started the command. (The helper has the connection instead of such a signal, because the daemon's
//!   threads come and go.)
//! * A helper does nothing else: no async runtime, none of the daemon's state, an empty environment, no
//!   descriptors but its own.
//!
//! The **fork server** is the process that forks helpers: small and with one thread, so that a fork is cheap
//! and safe. To execute the daemon's program for each command would take longer than most commands. The fork
//! server ends with the daemon. A second fork server is for commands without network. It has left the user's
//! namespaces. Its helpers share its namespace of users, and get networks that earlier helpers have left.

mod confine;
mod descriptors;
mod limits;
mod protocol;
mod spawn;
mod stage;
mod tree;

use crate::sandbox::Confinement;
use confine::{Failure, Groundwork, Ready};
use limits::Limited;
use protocol::Program;
pub(crate) use protocol::{
    CommandEnd, Fittings, KILL, Order, Report, STOP, ask_for_helper, confine_helper, forked_helper,
};
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
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
use tree::{Tree, reap};

/// The entry point of the fork server: [`crate::Options::helper`] must run it.
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

/// Forks helpers until the daemon closes the connection. In a forked helper it returns when the helper has
/// finished.
fn serve() -> io::Result<()> {
    descriptors::keep_only_standard()?;
    let daemon = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let nowhere = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&nowhere)?;
    dup2_stdout(&nowhere)?;
    drop(nowhere);
    stage::restore_signals()?;
    let ends = ChildEnds::watch()?;
    stage::limit()?;
    let _ = setsid();
    let mut groundwork = Groundwork::lay();
    loop {
        await_request(&daemon, &ends, &mut groundwork)?;
        let Some((connection, place)) = protocol::asked_for_helper(&daemon)? else { return Ok(()) };
        let ready = groundwork.ready(place);
        // A helper without a place says why, and runs nothing.
        let forked = match stage::fork(ready.as_ref().map_or(0, Ready::namespaces)) {
            Ok(None) => {
                drop((daemon, ends));
                return help(&connection, groundwork, ready);
            }
            Ok(Some(pid)) => {
                ready.into_iter().for_each(|ready| groundwork.forked(ready, pid));
                Ok(pid)
            }
            Err(error) => Err(error),
        };
        match protocol::answer(&daemon, forked) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            answered => answered?,
        }
    }
}

/// Reaps helpers that have ended, until the daemon asks for a helper or closes the connection.
fn await_request(daemon: &UnixStream, ends: &ChildEnds, groundwork: &mut Groundwork) -> io::Result<()> {
    loop {
        let mut sources = [PollFd::new(daemon, PollFlags::IN), PollFd::new(ends, PollFlags::IN)];
        match poll(&mut sources, None) {
            Err(Errno::INTR) => continue,
            polled => polled?,
        };
        let [has_asked, has_ended] = sources.map(|source| !source.revents().is_empty());
        if has_ended {
            ends.drain();
            while let Some((child, _)) = reap() {
                groundwork.ended(child.as_raw_pid());
            }
        }
        if has_asked {
            return Ok(());
        }
    }
}

/// Runs a helper. A helper may wait long for its command, while the record of the command's start is
/// committed; all else is prepared before.
fn help(daemon: &UnixStream, groundwork: Groundwork, ready: Result<Ready, Failure>) -> io::Result<()> {
    let _ = setsid();
    set_child_subreaper(Some(getpid()))?;
    let prepared = ready.and_then(|ready| groundwork.prepare(ready));
    let Some(confinement) = protocol::confinement(daemon)? else { return Ok(()) };
    let confined = prepared.and_then(|prepared| prepared.confine(&confinement));
    let ends = ChildEnds::watch()?;
    let Some((program, mut fittings)) = Program::receive(daemon)? else { return Ok(()) };
    let started = confined.map_err(io::Error::other).and_then(|()| {
        if confinement != Confinement::None {
            fittings.directory = confine::inside(program.directory()?, &fittings.directory)?;
        }
        spawn::spawn(&program, &fittings)
    });
    // The output ends when the last writer of its pipes closes them, so this process must not keep one open.
    drop(fittings);
    let report = match started {
        Ok(command) => {
            let (limited, grace) = (Limited::of(&confinement), confinement.grace());
            Tree::new(command, ends, daemon, limited, grace).watch()
        }
        Err(error) => Report::of(CommandEnd::NotStarted(error.to_string())),
    };
    // If the daemon has ended, nobody reads the report.
    let _ = report.write(daemon);
    Ok(())
}
