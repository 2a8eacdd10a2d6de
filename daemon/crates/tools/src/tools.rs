use crate::{Error, Sandbox};
use abide_protocol::{
    CallId,
    inbox::Rule,
    message::CallOutcome,
    record::{CallPlanned, Permission},
    task::Approvals,
    transcript::{CallBlock, EffectClass, Risk, ToolResult, ToolSpec},
};
use std::{collections::BTreeMap, ffi::OsString, path::PathBuf, sync::Arc};
use tokio_util::sync::CancellationToken;

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
#[derive(Clone)]
pub struct Tools {
    options: Arc<Options>,
}

/// Where calls run, and what is allowed there.
pub struct Scope<'a> {
    /// An absolute path.
    pub workspace: &'a str,
    /// The task's frozen tools, control tools included.
    pub allowed: &'a [ToolSpec],
    pub approvals: Approvals,
    /// What a person decided for good: `Some(true)` allows, `Some(false)` denies. The rule's arguments are canonical JSON
    /// (no white space, sorted keys).
    pub remembered: &'a dyn Fn(&Rule) -> Option<bool>,
}

/// A planned call that is to run.
#[derive(Debug, Clone)]
pub struct Run {
    pub call_id: CallId,
    /// Counts from 1.
    pub attempt: u32,
    pub planned: CallPlanned,
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
pub struct Finding {
    /// What it had printed, capped.
    pub output: String,
    pub edit: EditState,
}

/// Whether an edit happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditState {
    NotAnEdit,
    NotDone,
    Done,
    /// The file is neither what it was nor what it should become.
    Unknown,
}

impl Tools {
    /// # Errors
    /// The spool folder cannot be used, or no helper is named.
    pub fn new(options: Options) -> Result<Self, Error> {
        if options.helper.is_empty() {
            return Err(Error::NoHelper);
        }
        Ok(Self { options: Arc::new(options) })
    }

    /// All tools, as models see them.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        Vec::new()
    }

    /// What confines the processes of a call that starts now.
    #[must_use]
    pub const fn sandbox(&self) -> Sandbox {
        Sandbox::None
    }

    /// Looks at the calls of one reply, in order, before anything runs. Blocking.
    ///
    /// What cannot run is [`Permission::Denied`] with the reason.
    #[must_use]
    pub fn plan(&self, _scope: &Scope<'_>, calls: &[CallBlock]) -> Vec<CallPlanned> {
        let plan = |call: &CallBlock| CallPlanned {
            call_id: call.id,
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
            summary: call.tool.clone(),
            effect: EffectClass::Pure,
            risk: Risk::Low,
            preview: None,
            edit: None,
            permission: Permission::Denied("no such tool".to_owned()),
        };
        calls.iter().map(plan).collect()
    }

    /// Runs a planned call to its end. Every failure is a result.
    pub async fn run(
        &self,
        _run: Run,
        _cancel: CancellationToken,
        _output: Box<dyn FnMut(&str) + Send>,
    ) -> Finished {
        Finished { outcome: CallOutcome::Refused, result: ToolResult::failure("no such tool"), duration_ms: 0 }
    }

    /// What is known of a call that was started and has no result. Blocking: sees first that no process of it survives.
    #[must_use]
    pub fn inspect(&self, _call_id: CallId, _attempt: u32, _planned: &CallPlanned, _workspace: &str) -> Finding {
        Finding { output: String::new(), edit: EditState::NotAnEdit }
    }

    /// Whether this process watches over a running tool.
    #[must_use]
    pub fn is_helper(&self, _pid: u32) -> bool {
        false
    }

    /// Drops the output that was kept of a call; its result has been committed. Blocking.
    pub fn forget(&self, _call_id: CallId, _attempt: u32) {
        let _ = &self.options;
    }
}
