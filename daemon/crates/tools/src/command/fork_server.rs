use crate::{
    helper::{ask_for_helper, forked_helper},
    process::Identity,
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::Pid,
};
use std::{
    ffi::OsString,
    io,
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::{Child, Command, Stdio},
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// A fork takes a fraction of a millisecond; after this time the server is taken for hung.
const PATIENCE: Duration = Duration::from_secs(5);

/// The source of helpers: a process of its own, started with the first command.
#[derive(Debug)]
pub(crate) struct ForkServer {
    /// Program and arguments.
    command: Vec<OsString>,
    running: Mutex<Option<Running>>,
}

/// A helper that waits for its order.
#[derive(Debug)]
pub(crate) struct Helper {
    pub(crate) pid: i32,
    pub(super) identity: Option<Identity>,
    pub(crate) connection: UnixStream,
}

#[derive(Debug)]
struct Running {
    process: Child,
    /// Closing it ends the server.
    connection: UnixStream,
    /// The daemon's end of the connection to a helper that was requested in advance and is not taken yet. Its identity has not
    /// been read.
    asked: Option<UnixStream>,
}

impl ForkServer {
    pub(crate) const fn new(command: Vec<OsString>) -> Self {
        Self { command, running: Mutex::new(None) }
    }

    /// Takes the helper that was requested in advance, or requests one. Blocking.
    ///
    /// If that fails, the server is ended; the next call starts another.
    pub(crate) fn helper(&self) -> io::Result<Helper> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let mut server = match running.take() {
            Some(server) => server,
            None => self.start()?,
        };
        let helper = server.helper();
        if helper.is_ok() {
            *running = Some(server);
        } else {
            server.end();
        }
        helper
    }

    /// Requests a helper in advance, so that the next command need not wait for it.
    pub(crate) fn ask_in_advance(&self) {
        // If it is locked, another command waits for the server, which may take long.
        let Ok(mut running) = self.running.try_lock() else { return };
        if let Some(server) = &mut *running
            && server.asked.is_none()
        {
            // If this fails, the next command requests one again.
            let _ = server.ask().map(|connection| server.asked = Some(connection));
        }
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
        Ok(Running { process, connection, asked: None })
    }

    /// Ends the server and the helper requested in advance, and waits until the server is gone. Other helpers go on: each has a
    /// connection of its own.
    pub(crate) fn close(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(server) = running {
            server.end();
        }
    }
}

impl Running {
    fn helper(&mut self) -> io::Result<Helper> {
        if let Some(connection) = self.asked.take() {
            let helper = self.answer(connection)?;
            // It may have been killed while it waited, and its process id reused. If its connection is open now, it lived when
            // its identity was read.
            if is_open(&helper.connection) {
                return Ok(helper);
            }
        }
        let connection = self.ask()?;
        self.answer(connection)
    }

    fn ask(&self) -> io::Result<UnixStream> {
        let (connection, theirs) = UnixStream::pair()?;
        ask_for_helper(&self.connection, &theirs)?;
        Ok(connection)
    }

    fn answer(&self, connection: UnixStream) -> io::Result<Helper> {
        let pid = forked_helper(&self.connection)?;
        let identity = Pid::from_raw(pid).and_then(|pid| Identity::of(pid).ok());
        Ok(Helper { pid, identity, connection })
    }

    fn end(self) {
        let Self { mut process, connection, asked } = self;
        drop((connection, asked));
        // A halted server would not see that the connection closed.
        let _ = process.kill();
        let _ = process.wait();
    }
}

impl Drop for ForkServer {
    fn drop(&mut self) {
        self.close();
    }
}

/// Whether the other end is open. Nothing has been sent on it yet.
fn is_open(connection: &UnixStream) -> bool {
    matches!(poll(&mut [PollFd::new(connection, PollFlags::IN)], Some(&Timespec::default())), Ok(0))
}
