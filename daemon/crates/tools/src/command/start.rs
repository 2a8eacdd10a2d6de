use super::{
    live::{Live, LiveGuard},
    spool::{Place, Spool},
};
use crate::{
    helper::Order,
    process::{self, Identity},
};
use abide_fail_point::{Point, pass};
use rustix::process::Pid;
use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs, io,
    io::Write as _,
    os::{
        fd::{AsRawFd as _, OwnedFd},
        unix::net::UnixStream as Connection,
    },
    process::Stdio,
    time::Duration,
};
use tokio::{
    net::UnixStream,
    process::{Child, Command},
};

/// A helper that does not take its order within this is not going to.
const HANDOVER: Duration = Duration::from_secs(5);

/// A command that is to run.
pub(crate) struct Start {
    /// The command line of the helper.
    pub(crate) helper: Vec<OsString>,
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
    pub(super) child: Child,
    /// While it is open, the command may run.
    pub(super) connection: UnixStream,
    pub(super) spool: Spool,
    pub(super) call: String,
    /// The helper's.
    pub(super) identity: Option<Identity>,
    pub(super) live: LiveGuard,
}

impl Start {
    /// Starts the helper, notes who it is, and only then tells it what to run: whatever runs can be found after a crash.
    ///
    /// Blocking, within a runtime.
    pub(crate) fn start(self, live: &Live) -> io::Result<Link> {
        let (ours, theirs) = Connection::pair()?;
        let (program, arguments) =
            self.helper.split_first().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        #[expect(clippy::disallowed_methods, reason = "the one place that starts a process")]
        let child = Command::new(program)
            .args(arguments)
            .env_clear()
            // Seen by the child, which has a copy of the descriptor until it executes the program.
            .current_dir(format!("/proc/self/fd/{}", self.directory.as_raw_fd()))
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let pid = child.id().ok_or_else(|| io::Error::other("the tool helper ended at once"))?;
        pass(Point::HelperStarted);
        let guard = live.enter(pid);
        let identity = i32::try_from(pid).ok().and_then(Pid::from_raw).and_then(|pid| Identity::of(pid).ok());
        self.place.note(identity.as_ref())?;
        pass(Point::HelperNoted);
        let spool = Spool::create(&self.place)?;
        let mut environment = self.environment;
        environment.insert(process::MARK.to_owned(), self.call.clone());
        let order = Order { command: self.command, environment };
        ours.set_write_timeout(Some(HANDOVER))?;
        (&ours).write_all(&order.line()?)?;
        pass(Point::CommandOrdered);
        ours.set_nonblocking(true)?;
        let connection = UnixStream::from_std(ours)?;
        Ok(Link { child, connection, spool, call: self.call, identity, live: guard })
    }
}

/// The shell that runs commands.
pub(crate) fn shell() -> &'static str {
    ["/bin/bash", "/usr/bin/bash"]
        .into_iter()
        .find(|path| fs::exists(path).unwrap_or(false))
        .unwrap_or("/bin/sh")
}
