use crate::helper::Handover;
use std::{
    ffi::OsString,
    io,
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::{Child, Command, Stdio},
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// A fork takes a fraction of a millisecond; a server that has not answered after this never will.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where helpers come from: a process of its own, started with the first command.
#[derive(Debug)]
pub(crate) struct ForkServer {
    /// Program and arguments.
    command: Vec<OsString>,
    running: Mutex<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    process: Child,
    /// When this closes, the server ends.
    connection: UnixStream,
}

impl ForkServer {
    pub(crate) const fn new(command: Vec<OsString>) -> Self {
        Self { command, running: Mutex::new(None) }
    }

    /// Has a helper forked; its process id. Blocking.
    ///
    /// If that fails, the server is ended, and the next one is another. Nobody knows then whether a helper has been forked: what was
    /// handed over must not be handed over again.
    pub(super) fn fork(&self, handover: &Handover) -> io::Result<i32> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let server = match running.take() {
            Some(server) => server,
            None => self.start()?,
        };
        let forked = handover.send(&server.connection);
        if forked.is_ok() {
            *running = Some(server);
        } else {
            server.end();
        }
        forked
    }

    #[expect(clippy::disallowed_methods, reason = "the one place where the daemon starts a process")]
    fn start(&self) -> io::Result<Running> {
        let (connection, theirs) = UnixStream::pair()?;
        connection.set_read_timeout(Some(PATIENCE))?;
        connection.set_write_timeout(Some(PATIENCE))?;
        let (program, arguments) =
            self.command.split_first().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        let process = Command::new(program)
            .args(arguments)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .spawn()?;
        Ok(Running { process, connection })
    }

    /// Ends the server and waits until it is gone. Helpers go on: theirs is another connection.
    pub(crate) fn close(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(server) = running {
            server.end();
        }
    }
}

impl Running {
    fn end(self) {
        let Self { mut process, connection } = self;
        drop(connection);
        // Halted, it would never see that.
        let _ = process.kill();
        let _ = process.wait();
    }
}

impl Drop for ForkServer {
    fn drop(&mut self) {
        self.close();
    }
}
