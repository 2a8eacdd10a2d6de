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

/// The most helpers of a fork server that wait for an order while nothing is under way. Each helper is
/// confined in advance for the commands of one conversation.
const WAITING: usize = 4;

/// The most helpers that wait for an order while a command or a checkpoint is under way. (To end a helper
/// takes time.)
const MOST_WAITING: usize = WAITING + 2;

/// How many helpers without network wait unconfined: one for the first command of a workspace, and one for
/// the git of the checkpoint before that command.
const SPARES: usize = 2;

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
    /// Helpers that are to be requested in advance.
    wanted: Mutex<Vec<Wanted>>,
    /// Held while a wanted helper is requested. So a release either takes the wish back or finds the helper.
    asking: Mutex<()>,
}

/// The command for which a helper is to be requested in advance.
#[derive(Debug)]
pub(crate) enum Wanted {
    /// The next command of this plan.
    Again(Plan),
    /// An expected command. Its plan is made first.
    First(Expected),
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
    /// Helpers that were requested in advance and not taken yet, the oldest first.
    asked: VecDeque<Asked>,
}

/// A helper that was requested.
#[derive(Debug)]
struct Asked {
    /// `None`: the helper is not confined yet.
    plan: Option<Plan>,
    /// The folders that the helper may write to, as they were when it was requested.
    writable: Vec<Option<Folder>>,
    lease: Option<Lease>,
    /// The daemon's end of the helper's connection.
    connection: UnixStream,
    /// The server's reply, once read. Replies come in the order of the requests.
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

    /// The fork server for this plan.
    const fn process(&self, plan: &Plan) -> &Mutex<Option<Running>> {
        match plan.confinement.place() {
            Namespaces::Host | Namespaces::Networked => &self.host,
            Namespaces::Apart => &self.apart,
        }
    }

    /// Takes the helper that was requested in advance for this plan, or requests a new one. Blocking.
    ///
    /// On an error the fork server is ended; the next call starts another.
    pub(crate) fn helper(&self, plan: &Plan) -> io::Result<Helper> {
        // The expected command has come, so its wish is late.
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

    /// Notes that [`Self::ask_for_wanted`] is to request a helper. A release takes the note back.
    pub(crate) fn want(&self, wanted: Wanted) {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).push(wanted);
    }

    /// Requests the wanted helpers. `plan` makes the plan of an expected command; without a plan no helper is
    /// requested. Blocking.
    pub(crate) fn ask_for_wanted(&self, plan: impl Fn(&Expected) -> Option<Plan>) {
        loop {
            // Locked for one helper at a time, so that a release need not wait for all of them. Nobody waits
            // to note a wish.
            let _asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
            let wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let Some(wanted) = wanted else { return };
            // Only a first command, which would wait, gets a spare helper.
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

    /// As [`Self::lacks`], but without blocking. `true` also if the fork server is in use.
    pub(crate) fn may_lack(&self, conversation: ConversationId) -> bool {
        self.apart.try_lock().map_or(true, |running| lacks(running.as_ref(), conversation))
    }

    /// Whether no helper waits for a command of this conversation, although the fork server runs. Blocking.
    fn lacks(&self, conversation: ConversationId) -> bool {
        lacks(self.apart.lock().unwrap_or_else(PoisonError::into_inner).as_ref(), conversation)
    }

    /// Requests helpers without network that are confined later. So the first command of a workspace need not
    /// wait for namespaces.
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

    /// Requests a helper in advance, so that the next command of this plan need not wait.
    pub(crate) fn ask_in_advance(&self, plan: &Plan) {
        // A locked server is in use by another command, perhaps for long.
        if let Ok(running) = self.process(plan).try_lock() {
            ask_in_advance(running, plan, |server, plan| server.fork_for(plan));
        }
    }

    /// Ends the oldest waiting helpers, if too many wait. Blocking.
    pub(crate) fn trim(&self) {
        for running in [&self.host, &self.apart] {
            let mut ended = Vec::new();
            if let Some(server) = &mut *running.lock().unwrap_or_else(PoisonError::into_inner) {
                while server.waiting() > WAITING {
                    ended.extend(server.take(|asked| asked.plan.is_some()));
                }
            }
            // The lock is free while the helpers end.
            drop(ended);
        }
    }

    /// Ends the helpers that wait for commands of this conversation, and the helpers that wait for the next
    /// checkpoint of any conversation. Blocking.
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

    /// Ends the fork servers and the helpers requested in advance, and waits until the servers are gone.
    /// Helpers with a command go on: each has its own connection.
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
            // A waiting helper may have been killed, and its process id reused. An open connection says that
            // the helper lived when its identity was read. A helper writes to the folders that existed when
            // it was confined, not to new folders at the same paths.
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

    /// Confines a spare helper, or requests a helper and confines it.
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

    /// A spare helper that lives, confined now.
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

    /// Reads the server's replies up to the reply to this request.
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

    /// Takes the first waiting helper for which `is_meant` is true.
    fn take(&mut self, is_meant: impl Fn(&Asked) -> bool) -> Option<Asked> {
        let index = self.asked.iter().position(is_meant)?;
        // Replies are read in order.
        let _ = self.read_reply(index);
        self.asked.remove(index)
    }

    fn end(self) {
        let Self { mut process, connection, asked, .. } = self;
        drop((connection, asked));
        // A stopped server would not see the closed connection.
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

/// A folder that exists. The inode number alone may have been that of an earlier folder.
#[derive(Debug, PartialEq, Eq)]
struct Folder {
    device: (u32, u32),
    inode: u64,
    /// Seconds and nanoseconds; 0 where the file system does not record it.
    made_at: (i64, u32),
}

/// The folders that this confinement lets a command write to; `None`: no folder is at that path.
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

/// Ends a server that may have got half of a request. The next command starts another server.
fn end(running: &mut Option<Running>) {
    if let Some(server) = running.take() {
        server.end();
    }
}

/// Ends a server and its waiting helpers if something was mounted or unmounted since the server started: the
/// server's copy of the mounts does not show the change. proc_pid_mountinfo(5)
fn end_outdated(running: &mut Option<Running>) {
    let is_outdated = |server: &mut Running| {
        !matches!(poll(&mut [PollFd::new(&server.mounts, PollFlags::PRI)], Some(&Timespec::default())), Ok(0))
    };
    if let Some(server) = running.take_if(is_outdated) {
        server.end();
    }
}

/// Whether the other end of an unused connection is open.
fn is_open(connection: &UnixStream) -> bool {
    matches!(poll(&mut [PollFd::new(connection, PollFlags::IN)], Some(&Timespec::default())), Ok(0))
}
