use super::{
    fork_server::ForkServer,
    live::{Live, LiveGuard},
    spool::{Place, Spool},
};
use crate::{
    helper::{Handover, Order},
    process::{self, Identity},
};
use abide_fail_point::{Point, pass};
use rustix::process::Pid;
use std::{
    collections::BTreeMap,
    fs, io,
    io::Write as _,
    os::{fd::OwnedFd, unix::net::UnixStream as Connection},
    time::Duration,
};
use tokio::net::{UnixStream, unix::pipe::Receiver};

/// A helper that does not take its order within this is not going to.
const HANDOVER: Duration = Duration::from_secs(5);

/// A command that is to run.
pub(crate) struct Start {
    /// Program (absolute) and arguments.
    pub(crate) command: Vec<String>,
    /// Where: an open directory.
    pub(crate) directory: OwnedFd,
    pub(crate) environment: BTreeMap<String, String>,
    /// The call's id.
    pub(crate) call: String,
    pub(crate) place: Place,
}

/// A command that runs.
pub(crate) struct Link {
    pub(super) stdout: Receiver,
    pub(super) stderr: Receiver,
    /// While it is open, the command may run.
    pub(super) connection: UnixStream,
    pub(super) spool: Spool,
    pub(super) call: String,
    /// The helper's.
    pub(super) identity: Option<Identity>,
    pub(super) live: LiveGuard,
}

impl Start {
    /// Has a helper forked, notes who it is, and only then tells it what to run: whatever runs can be found after a crash.
    ///
    /// Blocking, within a runtime.
    pub(crate) fn start(self, server: &ForkServer, live: &Live) -> io::Result<Link> {
        let (ours, connection) = Connection::pair()?;
        let (out, stdout) = io::pipe()?;
        let (err, stderr) = io::pipe()?;
        let pid = server.fork(&Handover {
            connection: connection.into(),
            stdout: stdout.into(),
            stderr: stderr.into(),
            directory: self.directory,
        })?;
        pass(Point::HelperStarted);
        let guard = live.enter(pid.unsigned_abs());
        let identity = Pid::from_raw(pid).and_then(|pid| Identity::of(pid).ok());
        self.place.note(identity.as_ref())?;
        pass(Point::HelperNoted);
        let mut environment = self.environment;
        environment.insert(process::MARK.to_owned(), self.call.clone());
        let order = Order { command: self.command, environment };
        ours.set_write_timeout(Some(HANDOVER))?;
        (&ours).write_all(&order.line()?)?;
        pass(Point::CommandOrdered);
        ours.set_nonblocking(true)?;
        Ok(Link {
            stdout: Receiver::from_owned_fd(out.into())?,
            stderr: Receiver::from_owned_fd(err.into())?,
            connection: UnixStream::from_std(ours)?,
            spool: Spool::new(&self.place),
            call: self.call,
            identity,
            live: guard,
        })
    }
}

/// The shell that runs commands.
pub(crate) fn shell() -> &'static str {
    ["/bin/bash", "/usr/bin/bash"]
        .into_iter()
        .find(|path| fs::exists(path).unwrap_or(false))
        .unwrap_or("/bin/sh")
}
