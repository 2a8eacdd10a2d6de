use super::{Runner, Show, cancelled};
use crate::{
    Run, SubTasks,
    command::{self, How, Link, Redirect, SpoolFiles, Start, Waiting},
    environment,
    tool::{self, CallError, Command, Program},
};
use abide_protocol::{message::CallOutcome, record::Direct, transcript::ToolResult};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

impl Runner {
    /// Takes a helper, which waits. Nothing of the command begins.
    pub(super) async fn prepare_command(
        self: &Arc<Self>,
        command: &Command,
        run: &Run,
    ) -> Result<Waiting, CallError> {
        let (runner, command, run) = (Arc::clone(self), command.clone(), run.clone());
        let waiting = tokio::task::spawn_blocking(move || runner.helper_for(command, run));
        waiting.await.unwrap_or_else(|error| Err(CallError::Start(error.into())))
    }

    /// Runs a prepared command.
    pub(super) async fn command(
        self: Arc<Self>,
        command: Command,
        run: Run,
        waiting: Waiting,
        cancel: &CancellationToken,
        show: Show,
        sub_tasks: &dyn SubTasks,
    ) -> (CallOutcome, ToolResult) {
        let limit = command.timeout.min(run.max_secs.map_or(Duration::MAX, Duration::from_secs));
        let began = Instant::now();
        if cancel.is_cancelled() {
            discard(waiting).await;
            return cancelled();
        }
        let begun = match waiting.begin(cancel).await {
            Ok(link) => Ok(link),
            // The helper may have been killed while it waited for the commit, which takes long on a full disk.
            Err(error) => {
                tracing::warn!(%error, "a helper did not take its order; taking another one");
                self.begin_with_another(&command, &run, cancel).await
            }
        };
        let link = match begun {
            Ok(link) => link,
            Err(error) => return (CallOutcome::Done, ToolResult::failure(error.to_string())),
        };
        let ended = command::follow(link, limit, cancel, sub_tasks, show).await;
        let outcome = match ended.how {
            How::Cancelled => CallOutcome::Cancelled,
            _ => CallOutcome::Done,
        };
        (outcome, tool::command_result(&ended, began.elapsed(), limit))
    }

    async fn begin_with_another(
        self: &Arc<Self>,
        command: &Command,
        run: &Run,
        cancel: &CancellationToken,
    ) -> Result<Link, CallError> {
        let waiting = self.prepare_command(command, run).await?;
        waiting.begin(cancel).await.map_err(CallError::Start)
    }

    /// Blocking, within a runtime.
    fn helper_for(&self, command: Command, run: Run) -> Result<Waiting, CallError> {
        let workspace = self.workspace(&run.workspace)?;
        let spot = workspace.resolve(command.working_dir.as_deref().unwrap_or("."))?;
        let directory = workspace.folder(&spot)?.into_std_file().into();
        let mut environment = environment::allowed(run.environment);
        let (mut arguments, mut redirect) = (command.arguments, Redirect::default());
        let program = match command.program {
            Program::At(path) => path.to_owned(),
            Program::OnPath(name) => {
                let path = environment.get("PATH").map(String::as_str);
                command::find(name, path).ok_or(CallError::NoProgram(name))?
            }
            Program::Direct(direct) => {
                let Direct { program, arguments: words, environment: sets, stdout, stderr } = *direct;
                if !command::is_trusted(program.as_ref(), &workspace) {
                    return Err(CallError::ProgramChanged(program));
                }
                environment.extend(sets);
                (arguments, redirect) = (words, Redirect { stdout, stderr });
                program
            }
        };
        let start = Start {
            command: [vec![program], arguments].concat(),
            directory,
            environment,
            redirect,
            has_line: command.has_line,
            call: run.call_id.to_string(),
            files: SpoolFiles::of(&self.spool_dir, run.call_id, run.attempt),
        };
        start.prepare(&self.helpers, &self.live).map_err(CallError::Start)
    }
}

/// Gives the command up: its helper ends, and its files are removed.
pub(super) async fn discard(waiting: Waiting) {
    // It fails only when the daemon is ending; the next daemon then removes the files.
    let _ = tokio::task::spawn_blocking(move || waiting.discard()).await;
}
