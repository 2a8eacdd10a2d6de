use crate::{
    Error,
    assess::Assessor,
    checkpoint::{CheckpointFolders, Checkpoints},
    command::{self, ForkServer, Live, SpoolFiles},
    guard::{Guard, Running, Watches},
    run::{CallRunner, Prepared},
    sandbox::{Levels, Mounts, Planner, PrivateFolders, Sockets},
    settings::SandboxSettings,
    tool::Registry,
    workspace::Closed,
    worktree::Worktrees,
};
use abide_fail_point::{Point, pass};
use abide_protocol::{
    CallId, ConversationId,
    inbox::Rule,
    message::CallOutcome,
    record::{CallAssessed, EditState},
    sandbox::SandboxLevel,
    task::Approvals,
    transcript::{CallBlock, ToolResult, ToolSpec},
};
use abide_rules::Book;
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    fs, io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

/// What the tools need from the daemon.
#[derive(Debug, Clone)]
pub struct Options {
    /// The command that runs [`crate::helper::main`], e.g. `["/proc/self/exe", "tool-helper"]`.
    pub helper: Vec<OsString>,
    /// The folder for the output of running tools until their results are committed.
    pub spool_dir: PathBuf,
    /// Abide's own folders, closed to tools. (A workspace beneath one of them is closed, too.)
    pub own_dirs: Vec<PathBuf>,
    /// The user's home.
    pub home: PathBuf,
    pub checkpoints: CheckpointFolders,
    /// Folders of Abide that commands do not see, except a command's workspace in one of them.
    pub hidden_dirs: Vec<PathBuf>,
    /// The folder for the private folders of conversations.
    pub sandbox_dir: PathBuf,
    /// The folder for git worktrees of tasks.
    pub worktrees_dir: PathBuf,
}

/// The tools of this machine. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Tools {
    pub(crate) runner: Arc<CallRunner>,
    checkpoints: Checkpoints,
    worktrees: Worktrees,
}

/// The workspace of calls, and what calls may do there.
pub struct Scope<'a> {
    /// An absolute path.
    pub workspace: &'a str,
    /// The commands' `PATH`.
    pub path: Option<&'a str>,
    /// The task's frozen tools, control tools included.
    pub allowed: &'a [ToolSpec],
    pub approvals: Approvals,
    /// A person's remembered decision on the rule of a call: `Some(true)` allows, `Some(false)` denies.
    pub remembered: &'a dyn Fn(&Rule) -> Option<bool>,
    /// The rules that stand in this workspace.
    pub rules: &'a Book,
    pub sandbox: &'a SandboxSettings,
}

/// An assessed call to run.
#[derive(Debug, Clone)]
pub struct Run {
    pub conversation: ConversationId,
    pub call_id: CallId,
    /// Counts from 1.
    pub attempt: u32,
    pub assessed: CallAssessed,
    pub workspace: String,
    /// The task's environment. Processes in the sandbox get a part of it.
    pub environment: BTreeMap<String, String>,
    /// No process runs longer than this, whatever the call says.
    pub max_secs: Option<u64>,
}

/// The result of a run.
#[derive(Debug, Clone)]
pub struct Finished {
    pub outcome: CallOutcome,
    pub result: ToolResult,
    pub duration_ms: u64,
}

/// What was found out about a call that was started and has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// The call's output, limited in length, and words about what was set aside.
    pub output: String,
    pub edit: EditState,
}

/// The tools that cannot be used where commands get this `PATH`, each with the missing program. Blocking.
#[must_use]
pub fn missing(path: Option<&str>) -> Vec<(String, &'static str)> {
    let registry = Registry::built_in();
    registry.missing(path).map(|(tool, program)| (tool.to_owned(), program)).collect()
}

impl Tools {
    /// # Errors
    /// The spool folder cannot be used, or `options.helper` is empty.
    pub fn new(options: Options) -> Result<Self, Error> {
        let Options {
            helper,
            spool_dir,
            own_dirs,
            home,
            checkpoints,
            hidden_dirs,
            sandbox_dir,
            worktrees_dir,
        } = options;
        if helper.is_empty() {
            return Err(Error::NoHelper);
        }
        for path in [&spool_dir, &sandbox_dir] {
            if let Err(source) = fs::DirBuilder::new().recursive(true).mode(0o700).create(path) {
                return Err(Error::Folder { path: path.clone(), source });
            }
        }
        let closed = Arc::new(Closed::new(&own_dirs, &home));
        let cut_off = command::kept(&spool_dir).unwrap_or_default().into_keys();
        let running = Arc::new(Running::after(cut_off));
        let runner = Arc::new(CallRunner {
            registry: Registry::built_in(),
            helpers: ForkServer::new(helper),
            spool_dir,
            closed,
            live: Live::default(),
            planner: Planner {
                home,
                own: hidden_dirs,
                private: Arc::new(PrivateFolders::new(sandbox_dir.join("conversations"))),
                sockets: Sockets::default(),
                mounts: Mounts::default(),
                links: Arc::default(),
                running: Arc::clone(&running),
            },
            levels: Levels::default(),
            scratch_dir: checkpoints.scratch.clone(),
            worktrees_dir,
            guard: Guard::with(running),
            watches: Arc::new(Watches::default()),
        });
        let checkpoints = Checkpoints::new(Arc::clone(&runner), checkpoints);
        let worktrees = Worktrees::new(Arc::clone(&runner));
        Ok(Self { runner, checkpoints, worktrees })
    }

    /// Checkpoints of work trees.
    #[must_use]
    pub const fn checkpoints(&self) -> &Checkpoints {
        &self.checkpoints
    }

    /// Git worktrees of tasks.
    #[must_use]
    pub const fn worktrees(&self) -> &Worktrees {
        &self.worktrees
    }

    /// The tools that can be used where commands get this `PATH`, as models get them. Blocking.
    #[must_use]
    pub fn specs(&self, path: Option<&str>) -> Vec<ToolSpec> {
        self.runner.registry.specs(path).cloned().collect()
    }

    /// Assesses the calls of one reply, in order, before anything runs, each as if the calls before it had
    /// run. Blocking.
    ///
    /// A call that cannot run gets [`Permission::Denied`](abide_protocol::record::Permission::Denied) with
    /// the reason.
    #[must_use]
    pub fn assess(&self, scope: &Scope<'_>, calls: &[CallBlock]) -> Vec<CallAssessed> {
        let mut assessor = Assessor::new(scope, &self.runner, &self.checkpoints);
        calls.iter().map(|call| assessor.assess(call)).collect()
    }

    /// Prepares an assessed call while the record of its start is being committed. Nothing of the call is
    /// done before [`Prepared::run`]: a command's helper waits, and the helper's identity is written to a
    /// file of the spool folder. A call that will not run must be [discarded](Prepared::discard). After a
    /// crash [`Self::drop_kept`] removes the file.
    pub async fn prepare(&self, run: Run, sandbox: &SandboxSettings) -> Prepared {
        Arc::clone(&self.runner).prepare(run, sandbox).await
    }

    /// The user's home.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.runner.planner.home
    }

    /// The best sandbox that this machine allows, found out once by making one, and words that say why no
    /// better one can be made. Blocking.
    #[must_use]
    pub fn sandbox(&self) -> (SandboxLevel, &[String]) {
        let found = self.runner.sandbox_level();
        (found.level, &found.why_not)
    }

    /// Drops a conversation's changes of caches if they are too large. Blocking.
    pub fn trim_caches(&self, conversation: ConversationId) {
        self.runner.planner.private.trim(conversation);
    }

    /// Removes what the sandbox keeps of a conversation that is deleted. Blocking.
    pub fn forget_conversation(&self, conversation: ConversationId) {
        self.runner.planner.private.remove(conversation);
    }

    /// The conversations of which the sandbox keeps something. Blocking.
    #[must_use]
    pub fn kept_conversations(&self) -> Vec<ConversationId> {
        self.runner.planner.private.conversations()
    }

    /// Finds out about a call that was started and has no result. Blocking: first all its processes are
    /// killed.
    #[must_use]
    pub fn inspect(
        &self,
        conversation: ConversationId,
        call_id: CallId,
        attempt: u32,
        assessed: &CallAssessed,
        workspace: &str,
    ) -> Inspection {
        self.runner.inspect(conversation, call_id, attempt, assessed, workspace)
    }

    /// Ends the fork servers and waits until they are gone. Running commands go on until their own
    /// connections close. Blocking.
    pub fn close(&self) {
        self.runner.helpers.close();
    }

    /// Whether this process is the helper of a running tool.
    #[must_use]
    pub fn is_helper(&self, pid: u32) -> bool {
        self.runner.live.contains(pid)
    }

    /// The calls whose output is kept. Blocking.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn kept(&self) -> io::Result<Vec<CallId>> {
        Ok(command::kept(&self.runner.spool_dir)?.into_keys().collect())
    }

    /// Removes what is kept of all attempts of these calls. The results of the calls are committed. Blocking.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn drop_kept(&self, calls: &BTreeSet<CallId>) -> io::Result<()> {
        pass(Point::OutputDropped);
        for (_, paths) in
            command::kept(&self.runner.spool_dir)?.into_iter().filter(|(call, _)| calls.contains(call))
        {
            paths.iter().for_each(|path| command::remove(path));
        }
        calls.iter().for_each(|call| self.runner.guard.running.is_looked_at(*call));
        Ok(())
    }

    /// The output that an attempt has given so far, in the form of a result. Blocking.
    #[must_use]
    pub fn output(&self, call_id: CallId, attempt: u32) -> String {
        SpoolFiles::of(&self.runner.spool_dir, call_id, attempt).output()
    }
}
