//! The processes between the daemon and its commands.
//!
//! A **helper** watches over one command: it holds a connection to the daemon, and when that closes, for whatever reason, nothing
//! that the command started survives.
//!
//! * It adopts what the command leaves behind (subreaper), so that nothing escapes by `setsid` or a double fork.
//! * It starts the command from its main thread, which lives as long as itself: the command's parent-death signal is tied to the
//!   thread that started it. (The helper itself has none: the daemon's threads come and go, its connection does not.)
//! * It is single-purpose: no async runtime, nothing of the daemon's state, an empty environment, no descriptors but 0 to 2.
//!
//! The **fork server** is the one process from which helpers are forked: small and with one thread, so that a fork is cheap and
//! safe. To execute the daemon's program anew for each command takes longer than most commands. It ends when the daemon does.

mod descriptors;
mod handover;
mod protocol;
mod stage;
mod tree;

pub(crate) use handover::Handover;
use protocol::read_line;
pub(crate) use protocol::{Ending, Order, Report, STOP};
use rustix::{
    process::{fchdir, getpid, set_child_subreaper, setsid},
    stdio::{dup2_stderr, dup2_stdin, dup2_stdout},
};
use std::{
    fs::File,
    io::{self, BufReader, Write as _},
    os::{
        fd::AsFd as _,
        unix::{net::UnixStream, process::CommandExt as _},
    },
    process::{Command, ExitCode, Stdio},
    thread,
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
    // Nobody waits for a helper: the daemon hears from it, or sees its connection close.
    stage::forget_children(true)?;
    let _ = setsid();
    let daemon = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    while let Some(handover) = Handover::receive(&daemon)? {
        match stage::fork() {
            Ok(None) => {
                drop(daemon);
                return help(handover);
            }
            Ok(Some(pid)) => handover::answer(&daemon, Ok(pid))?,
            Err(error) => handover::answer(&daemon, Err(error))?,
        }
    }
    Ok(())
}

/// A helper's life.
fn help(handover: Handover) -> io::Result<()> {
    let Handover { connection, stdout, stderr, directory } = handover;
    stage::forget_children(false)?;
    dup2_stdin(&connection)?;
    dup2_stdout(&stdout)?;
    dup2_stderr(&stderr)?;
    fchdir(&directory)?;
    drop((stdout, stderr, directory));
    let _ = setsid();
    set_child_subreaper(Some(getpid()))?;
    let connection = UnixStream::from(connection);
    let mut daemon = BufReader::new(connection.try_clone()?);
    let Some(order) = read_line::<Order>(&mut daemon)? else { return Ok(()) };
    let report = match start(&order) {
        Ok(child) => {
            let tree = Tree::of(&child);
            let watched = tree.clone();
            if let Err(error) = thread::Builder::new().spawn(move || watched.watch(daemon)) {
                tree.end();
                return Err(error);
            }
            tree.wait()
        }
        Err(error) => Report::of(Ending::NotStarted(error.to_string())),
    };
    // With the report the output is complete: the daemon need not wait for this process to end.
    let nowhere = File::options().write(true).open("/dev/null")?;
    dup2_stdout(&nowhere)?;
    dup2_stderr(&nowhere)?;
    // The daemon may be gone; then nobody wants to know.
    let _ = report.write(&connection);
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the helper exists to start this process")]
fn start(order: &Order) -> io::Result<std::process::Child> {
    let (program, arguments) =
        order.command.split_first().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let helper = getpid();
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(&order.environment).stdin(Stdio::null());
    #[expect(
        unsafe_code,
        reason = "an `exec` of the whole daemon in between would cost more than the command does"
    )]
    // SAFETY: this process has one thread until the command is started, so its child may do whatever it could do itself.
    unsafe {
        command.pre_exec(move || stage::prepare(helper));
    }
    command.spawn()
}
