//! Runs an assessed call. Every failure is a result.

mod approved;
mod command;
mod look;

use command::Ordered;

use crate::{
    Finished, Run, SandboxSettings, SubTasks,
    assess::parse,
    command::{ForkServer, Live, Waiting},
    guard::{Before, Guard, Watches},
    sandbox::{Found, Levels, Plan, Planner},
    tool::{CallError, Change, Look, Proposal, Registry, Work},
    workspace::{Closed, PathError, Workspace},
};
use abide_protocol::{CallId, message::CallOutcome, record::Permission, transcript::ToolResult};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;

/// What running a call needs from the daemon.
#[derive(Debug)]
pub(crate) struct CallRunner {
    pub(crate) registry: Registry,
    pub(crate) helpers: ForkServer,
    pub(crate) spool_dir: PathBuf,
    pub(crate) closed: Arc<Closed>,
    pub(crate) live: Live,
    pub(crate) planner: Planner,
    pub(crate) levels: Levels,
    pub(crate) scratch_dir: PathBuf,
    pub(crate) worktrees_dir: PathBuf,
    pub(crate) guard: Guard,
    pub(crate) watches: Arc<Watches>,
}

/// A waiting helper, and the look at the workspace before the command. `None`: nothing confines the command.
struct Confined {
    waiting: Waiting,
    before: Option<Before>,
}

type Show = Box<dyn FnMut(&str) + Send>;

/// An assessed call that is ready to run; nothing of it has begun.
pub struct Prepared {
    runner: Arc<CallRunner>,
    run: Run,
    /// A call that cannot run has its result instead.
    ready: Result<Ready, (CallOutcome, ToolResult)>,
}

enum Ready {
    Command(Box<Ordered>, Box<Confined>),
    Look(Look),
    Change(Change),
}

impl Prepared {
    /// Runs the call to its end. Every failure is a result.
    ///
    /// `output` gets what a command prints, as it comes. All processes of a cancelled command are killed
    /// before this function returns; if the future is dropped, the helper kills them. Code starts sub-tasks
    /// with `sub_tasks`.
    pub async fn run(self, cancel: CancellationToken, output: Show, sub_tasks: &dyn SubTasks) -> Finished {
        let began = Instant::now();
        let Self { runner, run, ready } = self;
        let (outcome, result) = match ready {
            Ok(Ready::Command(ordered, confined)) => {
                runner.command(*ordered, *confined, &cancel, output, sub_tasks).await
            }
            Ok(_) if cancel.is_cancelled() => cancelled(),
            Ok(Ready::Look(look)) => runner.look(look, run, &cancel).await,
            Ok(Ready::Change(change)) => runner.change(change, run).await,
            Err(settled) => settled,
        };
        Finished {
            outcome,
            result,
            duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// Gives the call up: removes everything that was prepared.
    pub async fn discard(self) {
        if let Ok(Ready::Command(_, confined)) = self.ready {
            command::discard(confined.waiting).await;
        }
    }
}

impl CallRunner {
    pub(crate) async fn prepare(self: Arc<Self>, run: Run, sandbox: &SandboxSettings) -> Prepared {
        let ready = self.ready(&run, sandbox).await;
        Prepared { runner: self, run, ready }
    }

    async fn ready(
        self: &Arc<Self>,
        run: &Run,
        sandbox: &SandboxSettings,
    ) -> Result<Ready, (CallOutcome, ToolResult)> {
        if let Permission::Denied(why) = &run.assessed.permission {
            return Err((CallOutcome::Refused, ToolResult::failure(why.clone())));
        }
        let call = parse(&self.registry, &run.assessed.tool, &run.assessed.arguments)
            .map_err(|error| (CallOutcome::Refused, ToolResult::failure(error.to_string())))?;
        let command = match call.work() {
            Work::Command(command) => command.into_allowed(&run.assessed),
            Work::Look(look) => return Ok(Ready::Look(look)),
            Work::Change(change) => return Ok(Ready::Change(change)),
            Work::Elsewhere => {
                let words = format!("`{}` is carried out elsewhere", run.assessed.tool);
                return Err((CallOutcome::Refused, ToolResult::failure(words)));
            }
        };
        let ordered = Ordered { command, run: run.clone(), sandbox: sandbox.clone() };
        match self.prepare_command(&ordered).await {
            Ok(confined) => Ok(Ready::Command(Box::new(ordered), Box::new(confined))),
            Err(error) => Err((CallOutcome::Done, ToolResult::failure(error.to_string()))),
        }
    }

    async fn look(
        self: Arc<Self>,
        look: Look,
        run: Run,
        cancel: &CancellationToken,
    ) -> (CallOutcome, ToolResult) {
        look::look(move |stop| look(&self.workspace(&run.workspace)?, stop), cancel).await
    }

    async fn change(self: Arc<Self>, change: Change, run: Run) -> (CallOutcome, ToolResult) {
        let proposal = Proposal { mark: mark(run.call_id, run.attempt), edit: run.assessed.edit };
        let change = move || change(&self.workspace(&run.workspace)?, &proposal);
        (CallOutcome::Done, settled(tokio::task::spawn_blocking(change).await))
    }

    /// The best sandbox of this machine. Blocking.
    pub(crate) fn sandbox_level(&self) -> &Found {
        self.levels.found(&self.helpers)
    }

    /// The confinement of a git that may write to these folders only. (No program that a repository
    /// configures should run; if one did, it could do no harm elsewhere.) `work_tree` names a work tree in a
    /// hidden folder. Blocking.
    pub(crate) fn plan_git(&self, writable: &[&Path], work_tree: Option<&Path>) -> Plan {
        self.planner.plan_git(self.sandbox_level().level, writable, work_tree)
    }

    /// Whether a workspace is in a git worktree that Abide made, where only the tasks of one conversation
    /// work. Blocking.
    pub(crate) fn is_worktree(&self, workspace: &Workspace) -> bool {
        fs::canonicalize(&self.worktrees_dir).is_ok_and(|ours| workspace.real().starts_with(ours))
    }

    /// Whether a workspace is one that Abide made.
    pub(crate) fn is_scratch(&self, workspace: &Workspace) -> bool {
        let scratch = fs::canonicalize(&self.scratch_dir);
        scratch.is_ok_and(|scratch| workspace.real() != scratch && workspace.real().starts_with(scratch))
    }

    /// The workspace of a task, if it is still the chosen folder. The chosen path had no link; a task that
    /// works in a folder above can put a link there.
    pub(crate) fn workspace(&self, path: &str) -> Result<Workspace, PathError> {
        let workspace = Workspace::open(path, Arc::clone(&self.closed))?;
        if workspace.real() == Path::new(path) {
            Ok(workspace)
        } else {
            Err(PathError::Redirected(path.into()))
        }
    }
}

/// The name of the temporary file of an attempt.
pub(crate) fn mark(call: CallId, attempt: u32) -> String {
    format!("{call}-{attempt}")
}

fn cancelled() -> (CallOutcome, ToolResult) {
    (CallOutcome::Cancelled, ToolResult::failure("the task was stopped before this call did anything"))
}

/// The result of work on a blocking thread.
fn settled(done: Result<Result<ToolResult, CallError>, JoinError>) -> ToolResult {
    match done {
        Ok(Ok(result)) => result,
        Ok(Err(error)) => ToolResult::failure(error.to_string()),
        Err(error) => {
            tracing::error!(%error, "a tool's blocking task did not complete");
            ToolResult::failure("the tool itself failed; this is a fault in Abide. What it did is unknown")
        }
    }
}
