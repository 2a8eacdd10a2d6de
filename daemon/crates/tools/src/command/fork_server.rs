use crate::{
    helper::{ask_for_helper, confine_helper, forked_helper},
    process::Identity,
    sandbox::{Lease, Namespaces, Plan},
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::Pid,
};
use std::{
    ffi::OsString,
    fs::File,
    io,
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::{Child, Command, Stdio},
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// A fork takes a fraction of a millisecond; after this time the server is taken for hung.
const PATIENCE: Duration = Duration::from_secs(5);

/// The mounts that this process sees.
const MOUNTS: &str = "/proc/self/mountinfo";

/// The source of helpers: two fork servers, each a process that the first command to need it starts.
#[derive(Debug)]
pub(crate) struct ForkServer {
    /// Program and arguments.
    command: Vec<OsString>,
    /// The fork server with the user's namespaces.
    host: Mutex<Option<Running>>,
    /// The fork server for commands without network.
    apart: Mutex<Option<Running>>,
}

/// A helper that waits for its order.
#[derive(Debug)]
pub(crate) struct Helper {
    pub(crate) pid: i32,
    pub(super) identity: Option<Identity>,
    pub(crate) connection: UnixStream,
    /// What no other helper uses.
    pub(crate) lease: Option<Lease>,
}

#[derive(Debug)]
struct Running {
    process: Child,
    /// Closing the connection ends the server.
    connection: UnixStream,
    /// The table of mounts when the server started. The server for commands without network has a copy of the
    /// mounts.
    mounts: File,
}

impl ForkServer {
    pub(crate) const fn new(command: Vec<OsString>) -> Self {
        Self { command, host: Mutex::new(None), apart: Mutex::new(None) }
    }

    /// Forks a helper for this plan. Blocking.
    ///
    /// On an error the fork server is ended; the next call starts another.
    pub(crate) fn helper(&self, plan: &Plan) -> io::Result<Helper> {
        let place = plan.confinement.place();
        let server = match place {
            Namespaces::Host | Namespaces::Networked => &self.host,
            Namespaces::Apart => &self.apart,
        };
        let mut running = server.lock().unwrap_or_else(PoisonError::into_inner);
        if place == Namespaces::Apart {
            end_outdated(&mut running);
        }
        let server = match running.take() {
            Some(server) => server,
            None => self.start()?,
        };
        let helper = server.helper(plan);
        if helper.is_ok() {
            *running = Some(server);
        } else {
            server.end();
        }
        helper
    }

    #[expect(clippy::disallowed_methods, reason = "the one place where the daemon starts a process")]
    fn start(&self) -> io::Result<Running> {
        let mounts = File::open(MOUNTS)?;
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
        Ok(Running { process, connection, mounts })
    }

    /// Ends the fork servers, and waits until they are gone. Helpers with a command go on: each has its own
    /// connection.
    pub(crate) fn close(&self) {
        for running in [&self.host, &self.apart] {
            let running = running.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(server) = running {
                server.end();
            }
        }
    }
}

impl Running {
    fn helper(&self, plan: &Plan) -> io::Result<Helper> {
        let (confinement, lease) = plan.for_one_helper()?;
        let (connection, theirs) = UnixStream::pair()?;
        connection.set_write_timeout(Some(PATIENCE))?;
        ask_for_helper(&self.connection, &theirs, confinement.place())?;
        drop(theirs);
        confine_helper(&connection, &confinement)?;
        let pid = forked_helper(&self.connection)?;
        let identity = Pid::from_raw(pid).and_then(|pid| Identity::of(pid).ok());
        Ok(Helper { pid, identity, connection, lease })
    }

    fn end(self) {
        let Self { mut process, connection, .. } = self;
        drop(connection);
        // A stopped server would not see the closed connection.
        let _ = process.kill();
        let _ = process.wait();
    }
}

impl Drop for ForkServer {
    fn drop(&mut self) {
        self.close();
    }
}

/// Ends a server if something was mounted or unmounted since the server started: the server's copy of the
/// mounts does not show the change. proc_pid_mountinfo(5)
fn end_outdated(running: &mut Option<Running>) {
    let is_outdated = |server: &mut Running| {
        !matches!(poll(&mut [PollFd::new(&server.mounts, PollFlags::PRI)], Some(&Timespec::default())), Ok(0))
    };
    if let Some(server) = running.take_if(is_outdated) {
        server.end();
    }
}
