use crate::{
    helper::{ask_for_helper, confine_helper, forked_helper},
    process::Identity,
    sandbox::{Confinement, Expected, Lease, Namespaces, Plan},
};
use abide_protocol::ConversationId;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{AtFlags, CWD, StatxFlags, statx},
    process::Pid,
};
use std::{
    collections::VecDeque,
    ffi::OsString,
    fs::File,
    io,
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// A fork takes a fraction of a millisecond; after this time the server is taken for hung.
const PATIENCE: Duration = Duration::from_secs(5);

/// How many helpers of a process wait for an order at most when nothing is under way. Each is confined in advance for the commands of one
/// conversation.
const WAITING: usize = 4;

/// How many wait at most while a command or a checkpoint is under way. (To end one takes time: placeholders go with it.)
const MOST_WAITING: usize = WAITING + 2;

/// How many helpers apart wait without a confinement: one for the first command of a workspace, and one for the git of the checkpoint that is
/// made before it.
const SPARES: usize = 2;

/// The mounts that this process sees.
const MOUNTS: &str = "/proc/self/mountinfo";

/// The source of helpers: processes of its own, each started with the first command that needs it.
#[derive(Debug)]
pub(crate) struct ForkServer {
    /// Program and arguments.
    command: Vec<OsString>,
    /// The one with the user's namespaces.
    host: Mutex<Option<Running>>,
    /// The one for commands without network.
    apart: Mutex<Option<Running>>,
    /// Helpers that are to be requested in advance.
    wanted: Mutex<Vec<Wanted>>,
    /// Held while wanted helpers are requested, so that a release either takes a plan back or finds its helper.
    asking: Mutex<()>,
}

/// What a helper is to be requested in advance for.
#[derive(Debug)]
pub(crate) enum Wanted {
    /// The next command of this plan.
    Again(Plan),
    /// A command of which the plan is to be made first.
    First(Expected),
}

/// A helper that waits for its order.
#[derive(Debug)]
pub(crate) struct Helper {
    pub(crate) pid: i32,
    pub(super) identity: Option<Identity>,
    pub(crate) connection: UnixStream,
    /// What it alone uses.
    pub(crate) lease: Option<Lease>,
}

#[derive(Debug)]
struct Running {
    process: Child,
    /// Closing it ends the server.
    connection: UnixStream,
    /// The table of mounts when it was started. That without the user's namespaces has a copy of them.
    mounts: File,
    /// Helpers that were requested in advance and are not taken yet, the oldest first.
    asked: VecDeque<Asked>,
}

/// A helper that was requested.
#[derive(Debug)]
struct Asked {
    /// None: it has no confinement yet.
    plan: Option<Plan>,
    /// The folders that it may write to, as they were when it was requested.
    writable: Vec<Option<Folder>>,
    lease: Option<Lease>,
    /// The daemon's end of its connection.
    connection: UnixStream,
    /// The server's reply, once it is read. The replies come in the order of the requests.
    forked: Option<io::Result<i32>>,
}

impl ForkServer {
    pub(crate) const fn new(command: Vec<OsString>) -> Self {
        Self {
            command,
            host: Mutex::new(None),
            apart: Mutex::new(None),
            wanted: Mutex::new(Vec::new()),
            asking: Mutex::new(()),
        }
    }

    /// The process that forks the helpers of this plan.
    const fn process(&self, plan: &Plan) -> &Mutex<Option<Running>> {
        match plan.confinement.place() {
            Namespaces::Host | Namespaces::Networked => &self.host,
            Namespaces::Apart => &self.apart,
        }
    }

    /// Takes the helper that was requested in advance for this plan, or requests one. Blocking.
    ///
    /// If that fails, the process is ended; the next call starts another.
    pub(crate) fn helper(&self, plan: &Plan) -> io::Result<Helper> {
        // The expected command is here.
        let is_late = |wanted: &Wanted| matches!(wanted, Wanted::First(expected) if plan.conversation == Some(expected.conversation));
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).retain(|wanted| !is_late(wanted));
        let mut running = self.process(plan).lock().unwrap_or_else(PoisonError::into_inner);
        if plan.confinement.place() == Namespaces::Apart {
            end_outdated(&mut running);
        }
        let mut server = match running.take() {
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

    /// Notes that a helper is to be requested in advance, for [`Self::ask_for_wanted`]. A release takes that back.
    pub(crate) fn want(&self, wanted: Wanted) {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).push(wanted);
    }

    /// Requests the helpers that are wanted. `plan` makes the plan of an expected command; without one, none is requested. Blocking.
    pub(crate) fn ask_for_wanted(&self, plan: impl Fn(&Expected) -> Option<Plan>) {
        loop {
            // For one helper at a time: a release does not wait for those of others. What others want they note without waiting.
            let _asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
            let wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let Some(wanted) = wanted else { return };
            // The spare helpers are for commands that would wait.
            let (plan, ask): (_, Ask) = match wanted {
                Wanted::Again(plan) => (Some(plan), |server, plan| server.fork_for(plan)),
                Wanted::First(expected) if self.lacks(expected.conversation) => {
                    (plan(&expected), Running::ask)
                }
                Wanted::First(_) => continue,
            };
            if let Some(plan) = plan {
                let running = self.process(&plan).lock().unwrap_or_else(PoisonError::into_inner);
                ask_in_advance(running, &plan, ask);
            }
        }
    }

    /// As [`Self::lacks`], but does not block: while somebody else uses the process it is true, perhaps without need.
    pub(crate) fn may_lack(&self, conversation: ConversationId) -> bool {
        self.apart.try_lock().map_or(true, |running| lacks(running.as_ref(), conversation))
    }

    /// Whether no helper waits for a command of this conversation, although there is a process that forks some. Blocking.
    fn lacks(&self, conversation: ConversationId) -> bool {
        lacks(self.apart.lock().unwrap_or_else(PoisonError::into_inner).as_ref(), conversation)
    }

    /// Requests helpers apart that are confined later, so that the first command of a workspace need not wait for their namespaces.
    pub(crate) fn ask_for_spares(&self) {
        let Ok(mut running) = self.apart.try_lock() else { return };
        if let Some(server) = &mut *running {
            for _ in server.asked.len() - server.waiting()..SPARES {
                match server.fork(Namespaces::Apart) {
                    Ok(spare) => server.asked.push_back(spare),
                    Err(_) => return end(&mut running),
                }
            }
        }
    }

    /// Requests a helper in advance, so that the next command of this plan need not wait for it.
    pub(crate) fn ask_in_advance(&self, plan: &Plan) {
        // If it is locked, another command waits for the server, which may take long.
        if let Ok(running) = self.process(plan).try_lock() {
            ask_in_advance(running, plan, |server, plan| server.fork_for(plan));
        }
    }

    /// Ends the oldest of the helpers that wait, if they are too many. Blocking.
    pub(crate) fn trim(&self) {
        for running in [&self.host, &self.apart] {
            let mut ended = Vec::new();
            if let Some(server) = &mut *running.lock().unwrap_or_else(PoisonError::into_inner) {
                while server.waiting() > WAITING {
                    ended.extend(server.take(|asked| asked.plan.is_some()));
                }
            }
            // Nobody waits for the process meanwhile.
            drop(ended);
        }
    }

    /// Ends the helpers that wait for commands of this conversation, and those that wait for the next checkpoint of any: they will not be
    /// used again. Blocking.
    pub(crate) fn release(&self, conversation: ConversationId) {
        let is_meant = |plan: &Plan| match plan.conversation {
            Some(other) => other == conversation,
            None => plan.confinement != Confinement::None,
        };
        let _asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).retain(|wanted| match wanted {
            Wanted::Again(plan) => !is_meant(plan),
            Wanted::First(expected) => expected.conversation != conversation,
        });
        for running in [&self.host, &self.apart] {
            let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(server) = &mut *running {
                while server.take(|asked| asked.plan.as_ref().is_some_and(is_meant)).is_some() {}
            }
        }
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
        Ok(Running { process, connection, mounts, asked: VecDeque::new() })
    }

    /// Ends the processes and the helpers requested in advance, and waits until the processes are gone. Other helpers go on: each
    /// has a connection of its own.
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
    fn helper(&mut self, plan: &Plan) -> io::Result<Helper> {
        let is_meant = |asked: &Asked| asked.is_confined_by(&plan.confinement);
        if let Some(index) = self.asked.iter().position(is_meant) {
            self.read_reply(index)?;
            // It may have been killed while it waited, and its process id reused. If its connection is open now, it lived when
            // its identity was read.
            // The helper can write to the folders that there were when it was confined, not to new ones at the same paths.
            if let Some(asked) = self.asked.remove(index)
                && asked.writable == folders(&plan.confinement)
                && let Ok(helper) = asked.into_helper()
                && is_open(&helper.connection)
            {
                return Ok(helper);
            }
        }
        if let Some(last) = self.asked.len().checked_sub(1) {
            self.read_reply(last)?;
        }
        let mut asked = self.ask(plan)?;
        if asked.forked.is_none() {
            asked.forked = Some(forked_helper(&self.connection));
        }
        asked.into_helper()
    }

    /// Confines the spare helper, or one that is requested now.
    fn ask(&mut self, plan: &Plan) -> io::Result<Asked> {
        let writable = folders(&plan.confinement);
        let (confinement, lease) = plan.for_one_helper()?;
        let asked = match self.spare(&confinement)? {
            Some(spare) => spare,
            None => self.fork_confined(&confinement)?,
        };
        Ok(Asked { plan: Some(plan.clone()), writable, lease, ..asked })
    }

    /// Requests a helper and confines it.
    fn fork_for(&self, plan: &Plan) -> io::Result<Asked> {
        let writable = folders(&plan.confinement);
        let (confinement, lease) = plan.for_one_helper()?;
        Ok(Asked { plan: Some(plan.clone()), writable, lease, ..self.fork_confined(&confinement)? })
    }

    fn fork_confined(&self, confinement: &Confinement) -> io::Result<Asked> {
        let asked = self.fork(confinement.place())?;
        confine_helper(&asked.connection, confinement)?;
        Ok(asked)
    }

    /// The spare helper, confined, if there is one and it lives.
    fn spare(&mut self, confinement: &Confinement) -> io::Result<Option<Asked>> {
        let Some(index) = self.asked.iter().position(|asked| asked.plan.is_none()) else { return Ok(None) };
        self.read_reply(index)?;
        let spare = self.asked.remove(index).filter(|spare| matches!(spare.forked, Some(Ok(_))));
        Ok(spare.filter(|spare| {
            is_open(&spare.connection) && confine_helper(&spare.connection, confinement).is_ok()
        }))
    }

    fn fork(&self, place: Namespaces) -> io::Result<Asked> {
        let (connection, theirs) = UnixStream::pair()?;
        connection.set_write_timeout(Some(PATIENCE))?;
        ask_for_helper(&self.connection, &theirs, place)?;
        Ok(Asked { plan: None, writable: Vec::new(), lease: None, connection, forked: None })
    }

    /// Reads the server's replies up to that of this request.
    fn read_reply(&mut self, index: usize) -> io::Result<()> {
        for asked in self.asked.iter_mut().take(index + 1) {
            if asked.forked.is_none() {
                let forked = forked_helper(&self.connection);
                let lost = forked.as_ref().is_err_and(|error| error.raw_os_error().is_none());
                asked.forked = Some(forked);
                if lost {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
        }
        Ok(())
    }

    /// How many helpers wait for an order.
    fn waiting(&self) -> usize {
        self.asked.iter().filter(|asked| asked.plan.is_some()).count()
    }

    /// Takes the first of these helpers from those that wait.
    fn take(&mut self, is_meant: impl Fn(&Asked) -> bool) -> Option<Asked> {
        let index = self.asked.iter().position(is_meant)?;
        // The server's replies are read in order.
        let _ = self.read_reply(index);
        self.asked.remove(index)
    }

    fn end(self) {
        let Self { mut process, connection, asked, .. } = self;
        drop((connection, asked));
        // A halted server would not see that the connection closed.
        let _ = process.kill();
        let _ = process.wait();
    }
}

impl Asked {
    fn is_confined_by(&self, confinement: &Confinement) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan.confinement == *confinement)
    }

    fn into_helper(self) -> io::Result<Helper> {
        let pid = self.forked.unwrap_or_else(|| Err(io::ErrorKind::NotConnected.into()))?;
        let identity = Pid::from_raw(pid).and_then(|pid| Identity::of(pid).ok());
        Ok(Helper { pid, identity, connection: self.connection, lease: self.lease })
    }
}

impl Drop for ForkServer {
    fn drop(&mut self) {
        self.close();
    }
}

fn lacks(running: Option<&Running>, conversation: ConversationId) -> bool {
    let is_meant = |plan: &Plan| plan.conversation == Some(conversation);
    running.is_some_and(|server| !server.asked.iter().any(|asked| asked.plan.as_ref().is_some_and(is_meant)))
}

/// A folder that exists. Its inode number alone may be that of an earlier one.
#[derive(Debug, PartialEq, Eq)]
struct Folder {
    device: (u32, u32),
    inode: u64,
    /// Seconds and nanoseconds; 0 where the file system does not know.
    made_at: (i64, u32),
}

/// The folders that this confinement lets a command write to; `None`: there is none at that path.
fn folders(confinement: &Confinement) -> Vec<Option<Folder>> {
    let writable = match confinement {
        Confinement::None => &[][..],
        Confinement::Landlock(view) | Confinement::Full(view) => &view.writable,
    };
    let folder = |path: &PathBuf| {
        let flags = StatxFlags::INO | StatxFlags::BTIME;
        let seen = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, flags).ok()?;
        Some(Folder {
            device: (seen.stx_dev_major, seen.stx_dev_minor),
            inode: seen.stx_ino,
            made_at: (seen.stx_btime.tv_sec, seen.stx_btime.tv_nsec),
        })
    };
    writable.iter().map(folder).collect()
}

/// How a helper is requested.
type Ask = fn(&mut Running, &Plan) -> io::Result<Asked>;

fn ask_in_advance(mut running: MutexGuard<'_, Option<Running>>, plan: &Plan, ask: Ask) {
    if let Some(server) = &mut *running
        && server.waiting() < MOST_WAITING
        && server.asked.iter().all(|asked| !asked.is_confined_by(&plan.confinement))
    {
        match ask(server, plan) {
            Ok(asked) => server.asked.push_back(asked),
            Err(_) => end(&mut running),
        }
    }
}

/// Ends a server that may have got half of a request. The next command starts another one.
fn end(running: &mut Option<Running>) {
    if let Some(server) = running.take() {
        server.end();
    }
}

/// Ends a server that has a copy of the mounts, with the helpers that wait, if something was mounted or unmounted since; it would not be
/// seen. proc_pid_mountinfo(5)
fn end_outdated(running: &mut Option<Running>) {
    let is_outdated = |server: &mut Running| {
        !matches!(poll(&mut [PollFd::new(&server.mounts, PollFlags::PRI)], Some(&Timespec::default())), Ok(0))
    };
    if let Some(server) = running.take_if(is_outdated) {
        server.end();
    }
}

/// Whether the other end is open. Nothing has been sent on it yet.
fn is_open(connection: &UnixStream) -> bool {
    matches!(poll(&mut [PollFd::new(connection, PollFlags::IN)], Some(&Timespec::default())), Ok(0))
}
