use super::{
    fork_server::{ForkServer, Helper},
    live::{Live, LiveGuard},
    spool::{Place, Spool},
};
use crate::{
    helper::{Fittings, Order},
    process::{self, Identity},
};
use abide_fail_point::{Point, pass};
use std::{collections::BTreeMap, fs, io, os::fd::OwnedFd, time::Duration};
use tokio::net::{UnixStream, unix::pipe::Receiver};
use tokio_util::sync::CancellationToken;

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
    /// Takes a helper, notes who it is, and only then tells it what to run: whatever runs can be found after a crash.
    ///
    /// Blocking, within a runtime. If it is cancelled before it is told, nothing runs and nothing is kept.
    pub(crate) fn start(
        self,
        server: &ForkServer,
        live: &Live,
        cancel: &CancellationToken,
    ) -> io::Result<Link> {
        let (stdout, out) = io::pipe()?;
        let (stderr, err) = io::pipe()?;
        let Helper { pid, identity, connection } = server.helper().or_else(|error| {
            // Something may have killed the server.
            tracing::warn!(%error, "no helper could be forked; trying once more");
            server.helper()
        })?;
        pass(Point::HelperStarted);
        let guard = live.enter(pid.unsigned_abs());
        self.place.note(identity.as_ref())?;
        pass(Point::HelperNoted);
        if cancel.is_cancelled() {
            // What was kept may have been dropped already, since a stop is recorded at once.
            self.place.remove();
            return Err(io::ErrorKind::Interrupted.into());
        }
        let mut environment = self.environment;
        environment.insert(process::MARK.to_owned(), self.call.clone());
        let stdout = Receiver::from_owned_fd(stdout.into())?;
        let stderr = Receiver::from_owned_fd(stderr.into())?;
        connection.set_write_timeout(Some(HANDOVER))?;
        let order = Order { command: self.command, environment };
        let fittings = Fittings { directory: self.directory, stdout: out.into(), stderr: err.into() };
        order.send(&connection, &fittings)?;
        pass(Point::CommandOrdered);
        server.ask_in_advance();
        connection.set_nonblocking(true).map_err(|e| unheard(&e))?;
        Ok(Link {
            stdout,
            stderr,
            connection: UnixStream::from_std(connection).map_err(|e| unheard(&e))?,
            spool: Spool::new(&self.place, cancel.clone()),
            call: self.call,
            identity,
            live: guard,
        })
    }
}

/// With its connection the command ends, but it may have begun.
fn unheard(error: &io::Error) -> io::Error {
    io::Error::other(format!(
        "it was ended at once, since its helper could not be listened to ({error}); how far it came is unknown"
    ))
}

/// The shell that runs commands.
pub(crate) fn shell() -> &'static str {
    ["/bin/bash", "/usr/bin/bash"]
        .into_iter()
        .find(|path| fs::exists(path).unwrap_or(false))
        .unwrap_or("/bin/sh")
}
