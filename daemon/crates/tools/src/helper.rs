//! The process between the daemon and a command: it holds a connection to the daemon, and when that closes, for whatever reason,
//! nothing that the command started survives.
//!
//! * It adopts what the command leaves behind (subreaper), so that nothing escapes by `setsid` or a double fork.
//! * It starts the command from its main thread, which lives as long as itself: the command's parent-death signal is tied to the
//!   thread that started it. (The helper itself has none: the daemon's threads come and go, its connection does not.)
//! * It is single-purpose: no async runtime, nothing of the daemon's state, an empty environment, no descriptors but 0 to 2.

mod descriptors;
mod protocol;
mod stage;
mod tree;

use protocol::read_line;
pub(crate) use protocol::{Ending, Order, Report, STOP};
use rustix::process::{getpid, set_child_subreaper, setsid};
use std::{
    io::{self, BufReader, Write as _},
    os::{
        fd::AsFd as _,
        unix::{net::UnixStream, process::CommandExt as _},
    },
    process::{Command, ExitCode, Stdio},
    thread,
};
use tree::Tree;

/// Entry of the helper process: what [`crate::Options::helper`] must run.
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

fn serve() -> io::Result<()> {
    descriptors::keep_only_standard()?;
    let _ = setsid();
    set_child_subreaper(Some(getpid()))?;
    let connection = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
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
