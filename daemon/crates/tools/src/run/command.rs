use super::{CallRunner, Confined, Show, cancelled};
use crate::command::Watching;
use crate::{
    Run, SandboxSettings, SubTasks,
    command::{self, How, Link, Redirect, SpoolFiles, Start, Waiting},
    environment,
    guard::{Aside, Before},
    sandbox::{Confinement, Network, Plan, Sandbox},
    tool::{self, CallError, Command, Program},
};
use abide_protocol::{message::CallOutcome, record::Direct, sandbox::SandboxLevel, transcript::ToolResult};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

/// A command to run, and the call that it is for.
#[derive(Clone)]
pub(super) struct Ordered {
    pub(super) command: Command,
    pub(super) run: Run,
    pub(super) sandbox: SandboxSettings,
}

impl CallRunner {
    /// Takes a helper, which waits. Nothing of the command begins.
    pub(super) async fn prepare_command(self: &Arc<Self>, ordered: &Ordered) -> Result<Confined, CallError> {
        let (runner, ordered) = (Arc::clone(self), ordered.clone());
        let waiting = tokio::task::spawn_blocking(move || runner.helper_for(ordered));
        waiting.await.unwrap_or_else(|error| Err(CallError::Start(error.into())))
    }

    /// Runs a prepared command.
    pub(super) async fn command(
        self: Arc<Self>,
        ordered: Ordered,
        confined: Confined,
        cancel: &CancellationToken,
        show: Show,
        sub_tasks: &dyn SubTasks,
    ) -> (CallOutcome, ToolResult) {
        let most = ordered.run.max_secs.map_or(Duration::MAX, Duration::from_secs);
        let limit = ordered.command.timeout.min(most);
        let began = Instant::now();
        let Confined { waiting, before } = confined;
        if cancel.is_cancelled() {
            discard(waiting).await;
            return cancelled();
        }
        if let Some(refusal) = self.not_as_approved(&ordered).await {
            discard(waiting).await;
            return (CallOutcome::Refused, ToolResult::failure(refusal));
        }
        let watching = before.clone().and_then(|before| Watching::begin(&self.watches, before));
        let begun = match waiting.begin(cancel).await {
            Ok(link) => Ok(link),
            // The helper may have been killed during the commit, which takes long on a full disk.
            Err(error) => {
                tracing::warn!(%error, "a helper did not take its order; taking another one");
                self.begin_with_another(&ordered, cancel).await
            }
        };
        let link = match begun {
            Ok(link) => link,
            Err(error) => return (CallOutcome::Done, ToolResult::failure(error.to_string())),
        };
        let plan = link.plan().clone();
        let ended = command::follow(link, limit, cancel, sub_tasks, watching, show).await;
        let outcome = match ended.how {
            How::Cancelled => CallOutcome::Cancelled,
            _ => CallOutcome::Done,
        };
        let mut result = tool::command_result(&ended, began.elapsed(), limit);
        let mut hint = tool::maybe_unattended(&ended);
        if let Confinement::Landlock(view) | Confinement::Full(view) = &plan.confinement {
            hint = hint.or_else(|| tool::maybe_refused(&ended, view.network));
            result.diagnostics.extend(tool::maybe_limited(&ended));
        }
        result.diagnostics.extend(hint);
        if let Some(before) = before {
            result.diagnostics.extend(self.set_aside(before, ordered.run).await);
        }
        (outcome, result)
    }

    /// Sets aside what a command has left for others to run. Returns words about each thing.
    async fn set_aside(self: &Arc<Self>, before: Before, run: Run) -> Vec<String> {
        let runner = Arc::clone(self);
        let aside = Aside {
            folder: self.planner.private.aside(run.conversation, run.call_id),
            workspace: before.scene.workspace.clone(),
        };
        let looked = tokio::task::spawn_blocking(move || runner.guard.after(&before, &aside)).await;
        looked.unwrap_or_else(|error| {
            tracing::error!(%error, "the look after a command did not complete");
            vec!["what it left in the workspace could not be looked at; this is a fault in Abide".to_owned()]
        })
    }

    async fn begin_with_another(
        self: &Arc<Self>,
        ordered: &Ordered,
        cancel: &CancellationToken,
    ) -> Result<Link, CallError> {
        let Confined { waiting, .. } = self.prepare_command(ordered).await?;
        waiting.begin(cancel).await.map_err(CallError::Start)
    }

    /// Blocking, within a runtime.
    fn helper_for(&self, ordered: Ordered) -> Result<Confined, CallError> {
        let Ordered { command, run, sandbox: settings } = ordered;
        let workspace = self.workspace(&run.workspace)?;
        let sandbox = self.planned(&run.assessed.sandbox)?;
        let (plan, before) = if sandbox.level == SandboxLevel::None {
            (Plan::of(Confinement::None), None)
        } else {
            let before = self.guard.before(self.planner.scene(&workspace, &settings));
            (self.planner.plan(sandbox, &before.scene, &before.seen, run.conversation)?, Some(before))
        };
        let spot = workspace.resolve(command.working_dir.as_deref().unwrap_or("."))?;
        let directory = workspace.folder(&spot)?.into_std_file().into();
        let mut environment = match plan.confinement {
            Confinement::None => environment::outside(run.environment),
            Confinement::Landlock(_) | Confinement::Full(_) => {
                environment::inside(run.environment, &settings.environment, sandbox.network == Network::Host)
            }
        };
        let (mut arguments, mut redirect) = (command.arguments, Redirect::default());
        let program = match command.program {
            Program::At(path) => path.to_owned(),
            Program::OnPath(name) => {
                let path = environment.get("PATH").map(String::as_str);
                command::find(name, path).ok_or(CallError::NoProgram(name))?
            }
            Program::Direct(direct) => {
                let Direct { program, arguments: words, environment: sets, stdout, stderr } = *direct;
                if !command::is_trusted(program.as_ref(), &workspace, &settings.writable) {
                    return Err(CallError::ProgramChanged(program));
                }
                environment.extend(sets);
                (arguments, redirect) = (words, Redirect { stdout, stderr });
                program
            }
        };
        match &plan.confinement {
            Confinement::None => {}
            // The conversation's own folder is mounted at `/tmp`.
            Confinement::Full(_) => drop(environment.remove("TMPDIR")),
            Confinement::Landlock(view) => {
                let own = view.private.first().map(|private| private.folder.display().to_string());
                environment.extend(own.map(|own| ("TMPDIR".to_owned(), own)));
            }
        }
        let start = Start {
            command: [vec![program], arguments].concat(),
            directory,
            directory_path: spot.real.to_string_lossy().into_owned(),
            plan,
            environment,
            redirect,
            has_line: command.has_line,
            call: run.call_id.to_string(),
            files: SpoolFiles::of(&self.spool_dir, run.call_id, run.attempt),
        };
        let waiting = start.prepare(&self.helpers, &self.live).map_err(CallError::Start)?;
        Ok(Confined { waiting, before })
    }

    /// The sandbox that a call was assessed for, if this machine still has it.
    fn planned(&self, name: &str) -> Result<Sandbox, CallError> {
        let found = self.sandbox_level().level;
        let planned = Sandbox::named(name).filter(|sandbox| sandbox.level <= found);
        planned.ok_or_else(|| CallError::OtherSandbox { planned: name.to_owned(), found: found.name() })
    }
}

/// Gives the command up. Its helper ends, and its files are removed.
pub(super) async fn discard(waiting: Waiting) {
    // The task fails only when the daemon is ending. The next daemon then removes the files.
    let _ = tokio::task::spawn_blocking(move || waiting.discard()).await;
}
