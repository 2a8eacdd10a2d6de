use crate::{
    Error,
    assess::{Assessor, Schemas},
    command::{self, ForkServer, Live, SpoolFiles},
    run::{Prepared, Runner},
    tool::Registry,
    workspace::Closed,
};
use abide_fail_point::{Point, pass};
use abide_protocol::{
    CallId,
    inbox::Rule,
    message::CallOutcome,
    record::{CallAssessed, EditState},
    task::Approvals,
    transcript::{CallBlock, ToolResult, ToolSpec},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    fs, io,
    os::unix::fs::DirBuilderExt as _,
    path::PathBuf,
    sync::Arc,
};

/// What tools need to know of the daemon.
#[derive(Debug, Clone)]
pub struct Options {
    /// The command that runs [`crate::helper::main`], e.g. `["/proc/self/exe", "tool-helper"]`.
    pub helper: Vec<OsString>,
    /// Where the output of running tools is kept until their results are committed.
    pub spool_dir: PathBuf,
    /// Abide's own folders, closed to tools. (A workspace beneath one of them is closed as a whole.)
    pub own_dirs: Vec<PathBuf>,
    /// The user's home.
    pub home: PathBuf,
}

/// The tools of this machine. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Tools {
    runner: Arc<Runner>,
    schemas: Arc<Schemas>,
}

/// Where calls run, and what is allowed there.
pub struct Scope<'a> {
    /// An absolute path.
    pub workspace: &'a str,
    /// The `PATH` that commands get.
    pub path: Option<&'a str>,
    /// The task's frozen tools, control tools included.
    pub allowed: &'a [ToolSpec],
    pub approvals: Approvals,
    /// What a person decided for good: `Some(true)` allows, `Some(false)` denies. The rule's arguments are
    /// the call's, byte for byte.
    pub remembered: &'a dyn Fn(&Rule) -> Option<bool>,
}

/// An assessed call that is to run.
#[derive(Debug, Clone)]
pub struct Run {
    pub call_id: CallId,
    /// Counts from 1.
    pub attempt: u32,
    pub assessed: CallAssessed,
    pub workspace: String,
    /// For processes; what is not on the allow-list is dropped.
    pub environment: BTreeMap<String, String>,
    /// No process runs longer than this, whatever the call says.
    pub max_secs: Option<u64>,
}

/// What a run came to.
#[derive(Debug, Clone)]
pub struct Finished {
    pub outcome: CallOutcome,
    pub result: ToolResult,
    pub duration_ms: u64,
}

/// What is known of a call that was started and has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// What it had printed, capped.
    pub output: String,
    pub edit: EditState,
}

impl Tools {
    /// # Errors
    /// The spool folder cannot be used, or no helper is named.
    pub fn new(options: Options) -> Result<Self, Error> {
        let Options { helper, spool_dir, own_dirs, home } = options;
        if helper.is_empty() {
            return Err(Error::NoHelper);
        }
        if let Err(source) = fs::DirBuilder::new().recursive(true).mode(0o700).create(&spool_dir) {
            return Err(Error::Spool { path: spool_dir, source });
        }
        let closed = Arc::new(Closed::new(&own_dirs, &home));
        let runner = Arc::new(Runner {
            registry: Registry::built_in(),
            helpers: ForkServer::new(helper),
            spool_dir,
            closed,
            live: Live::default(),
        });
        Ok(Self { runner, schemas: Arc::default() })
    }

    /// All tools, as models see them.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.runner.registry.specs().cloned().collect()
    }

    /// Looks at the calls of one reply, in order, before anything runs; each is assessed as if those before it had run. Blocking.
    ///
    /// What cannot run is [`Permission::Denied`](abide_protocol::record::Permission::Denied) with the reason.
    #[must_use]
    pub fn assess(&self, scope: &Scope<'_>, calls: &[CallBlock]) -> Vec<CallAssessed> {
        let mut assessor =
            Assessor::new(scope, &self.schemas, &self.runner.registry, Arc::clone(&self.runner.closed));
        calls.iter().map(|call| assessor.assess(call)).collect()
    }

    /// Makes everything ready for an assessed call while the record of its start is being committed. Nothing of the call is done
    /// before [`Prepared::run`]: a command's helper waits, and a note of who it is lies among the kept output. What is never run is
    /// to be [discarded](Prepared::discard); after a crash [`Self::drop_kept`] drops the note.
    pub async fn prepare(&self, run: Run) -> Prepared {
        Arc::clone(&self.runner).prepare(run).await
    }

    /// What is known of a call that was started and has no result. Blocking: sees first that no process of it survives.
    #[must_use]
    pub fn inspect(
        &self,
        call_id: CallId,
        attempt: u32,
        assessed: &CallAssessed,
        workspace: &str,
    ) -> Inspection {
        self.runner.inspect(call_id, attempt, assessed, workspace)
    }

    /// Ends the process that helpers come from, and waits until it is gone. What runs goes on until its own connection closes.
    /// Blocking.
    pub fn close(&self) {
        self.runner.helpers.close();
    }

    /// Whether this process watches over a running tool.
    #[must_use]
    pub fn is_helper(&self, pid: u32) -> bool {
        self.runner.live.contains(pid)
    }

    /// The calls of which output is kept. Blocking.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn kept(&self) -> io::Result<Vec<CallId>> {
        Ok(command::kept(&self.runner.spool_dir)?.into_keys().collect())
    }

    /// Drops what is kept of all attempts of these calls: they have their results, and whoever was to drop it has died. Blocking.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn drop_kept(&self, calls: &BTreeSet<CallId>) -> io::Result<()> {
        for (_, paths) in
            command::kept(&self.runner.spool_dir)?.into_iter().filter(|(call, _)| calls.contains(call))
        {
            paths.iter().for_each(|path| command::remove(path));
        }
        Ok(())
    }

    /// Drops the output that was kept of a call; its result has been committed. Blocking.
    pub fn forget(&self, call_id: CallId, attempt: u32) {
        pass(Point::OutputDropped);
        SpoolFiles::of(&self.runner.spool_dir, call_id, attempt).remove();
    }
}
