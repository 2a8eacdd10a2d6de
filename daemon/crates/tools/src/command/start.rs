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
    fs,
    io::{self, PipeReader, Write as _},
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
        let Helper { pid, connection: ours, stdout, stderr } = Helper::forked(server, &self.directory)
            .or_else(|error| {
                // Something may have killed the server. A helper that it left behind sees its connection close, and ends.
                tracing::warn!(%error, "no helper could be forked; trying once more");
                Helper::forked(server, &self.directory)
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
            stdout: Receiver::from_owned_fd(stdout.into())?,
            stderr: Receiver::from_owned_fd(stderr.into())?,
            connection: UnixStream::from_std(ours)?,
            spool: Spool::new(&self.place),
            call: self.call,
            identity,
            live: guard,
        })
    }
}

/// A helper that waits for its order, and the daemon's ends of what it was given.
struct Helper {
    pid: i32,
    connection: Connection,
    stdout: PipeReader,
    stderr: PipeReader,
}

impl Helper {
    fn forked(server: &ForkServer, directory: &OwnedFd) -> io::Result<Self> {
        let (connection, theirs) = Connection::pair()?;
        let (stdout, out) = io::pipe()?;
        let (stderr, err) = io::pipe()?;
        let pid = server.fork(&Handover {
            connection: theirs.into(),
            stdout: out.into(),
            stderr: err.into(),
            directory: directory.try_clone()?,
        })?;
        Ok(Self { pid, connection, stdout, stderr })
    }
}

/// The shell that runs commands.
pub(crate) fn shell() -> &'static str {
    ["/bin/bash", "/usr/bin/bash"]
        .into_iter()
        .find(|path| fs::exists(path).unwrap_or(false))
        .unwrap_or("/bin/sh")
}
