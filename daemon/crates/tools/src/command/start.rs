use super::{
    fork_server::{ForkServer, Helper},
    live::{Live, LiveGuard},
    spool::{Spool, SpoolFiles},
};
use crate::{
    helper::{Fittings, Order},
    process::{self, Identity},
    sandbox::{Lease, Plan},
};
use abide_fail_point::{Point, pass};
use abide_protocol::record::DirectOutput;
use std::{
    collections::BTreeMap,
    fs::File,
    io,
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::net,
    },
    time::Duration,
};
use tokio::{
    io::{AsyncWriteExt as _, Interest},
    net::{UnixStream, unix::pipe::Receiver},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

/// The time after which a helper that has not read its order counts as hung.
const HANDOVER: Duration = Duration::from_secs(5);

/// A command to run.
pub(crate) struct Start {
    /// Program (absolute) and arguments.
    pub(crate) command: Vec<String>,
    /// The working directory, open.
    pub(crate) directory: OwnedFd,
    /// The working directory's path, without links.
    pub(crate) directory_path: String,
    pub(crate) plan: Plan,
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) redirect: Redirect,
    /// The command's stdin is a line to the daemon; otherwise stdin is empty.
    pub(crate) has_line: bool,
    /// The call's id.
    pub(crate) call: String,
    pub(crate) files: SpoolFiles,
}

/// A command with a waiting helper. Nothing of the command has begun. Dropping this value ends the helper.
pub(crate) struct Waiting {
    /// The encoded order.
    message: Vec<u8>,
    fittings: Fittings,
    stdout: Receiver,
    stderr: Receiver,
    /// The daemon's end of the line.
    line: Option<UnixStream>,
    connection: UnixStream,
    files: SpoolFiles,
    call: String,
    /// The helper's identity.
    identity: Option<Identity>,
    live: LiveGuard,
    needs: Needs,
}

/// A command that runs.
pub(crate) struct Link {
    pub(super) stdout: Receiver,
    pub(super) stderr: Receiver,
    /// The daemon's end of the command's line, if it has one.
    pub(super) line: Option<UnixStream>,
    /// Closing this connection ends the command.
    pub(super) connection: UnixStream,
    pub(super) spool: Spool,
    pub(super) call: String,
    /// The helper's identity.
    pub(super) identity: Option<Identity>,
    pub(super) live: LiveGuard,
    pub(super) needs: Needs,
}

/// What a confined helper needs until its end.
pub(super) type Needs = (Plan, Option<Lease>);

impl Start {
    /// Takes a helper and writes down its identity before the helper gets an order, so that everything that
    /// runs can be found after a crash.
    ///
    /// Blocking, within a runtime.
    pub(crate) fn prepare(self, server: &ForkServer, live: &Live) -> io::Result<Waiting> {
        let (stdout, out) = io::pipe()?;
        let (stderr, err) = io::pipe()?;
        let (out, err) = self.redirect.streams(out.into(), err.into())?;
        let (line, stdin) = if self.has_line { Some(line()?) } else { None }.unzip();
        let mut environment = self.environment;
        environment.insert(process::MARK.to_owned(), self.call.clone());
        let order = Order { directory: self.directory_path, command: self.command, environment };
        let message = order.message()?;
        let stdout = Receiver::from_owned_fd(stdout.into())?;
        let stderr = Receiver::from_owned_fd(stderr.into())?;
        let Helper { pid, identity, connection, lease } = server.helper(&self.plan).or_else(|error| {
            // The server may have been killed.
            tracing::warn!(%error, "no helper could be forked; trying once more");
            server.helper(&self.plan)
        })?;
        pass(Point::HelperStarted);
        let guard = live.enter(pid.unsigned_abs());
        connection.set_nonblocking(true)?;
        let waiting = Waiting {
            message,
            fittings: Fittings { directory: self.directory, stdin, stdout: out, stderr: err },
            stdout,
            stderr,
            line,
            connection: UnixStream::from_std(connection)?,
            files: self.files,
            call: self.call,
            identity,
            live: guard,
            needs: (self.plan.clone(), lease),
        };
        if let Err(error) = waiting.files.note(waiting.identity.as_ref()) {
            waiting.discard();
            return Err(error);
        }
        pass(Point::HelperNoted);
        Ok(waiting)
    }
}

impl Link {
    pub(crate) const fn plan(&self) -> &Plan {
        &self.needs.0
    }
}

impl Waiting {
    /// Sends the helper its order. After an error the helper has not got the whole order, and nothing has
    /// begun.
    ///
    /// Once `cancel` is cancelled, no more output is kept.
    pub(crate) async fn begin(mut self, cancel: &CancellationToken) -> io::Result<Link> {
        timeout(HANDOVER, self.hand_over()).await??;
        pass(Point::CommandOrdered);
        let Self { stdout, stderr, line, connection, files, call, identity, live, needs, .. } = self;
        let spool = Spool::new(&files, cancel.clone());
        Ok(Link { stdout, stderr, line, connection, spool, call, identity, live, needs })
    }

    async fn hand_over(&mut self) -> io::Result<()> {
        let Self { message, fittings, connection, .. } = self;
        let send = || fittings.send(connection.as_fd(), message);
        let sent = connection.async_io(Interest::WRITABLE, send).await?;
        connection.write_all(message.get(sent..).unwrap_or_default()).await
    }

    /// Ends the helper and removes its files: the command will not run. Blocking.
    pub(crate) fn discard(self) {
        let Self { connection, files, .. } = self;
        drop(connection);
        files.remove();
    }
}

/// The outputs of a command that runs without a shell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Redirect {
    pub(crate) stdout: DirectOutput,
    pub(crate) stderr: DirectOutput,
}

impl Default for Redirect {
    fn default() -> Self {
        Self { stdout: DirectOutput::Own, stderr: DirectOutput::Own }
    }
}

impl Redirect {
    fn streams(self, out: OwnedFd, err: OwnedFd) -> io::Result<(OwnedFd, OwnedFd)> {
        let dropped = || Ok::<OwnedFd, io::Error>(File::options().write(true).open("/dev/null")?.into());
        let err = match self.stderr {
            DirectOutput::Own => err,
            DirectOutput::Stdout => out.try_clone()?,
            DirectOutput::Dropped => dropped()?,
        };
        let out = if self.stdout == DirectOutput::Dropped { dropped()? } else { out };
        Ok((out, err))
    }
}

/// The two ends of a line: the daemon's, and a command's stdin.
fn line() -> io::Result<(UnixStream, OwnedFd)> {
    let (ours, theirs) = net::UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    Ok((UnixStream::from_std(ours)?, theirs.into()))
}
