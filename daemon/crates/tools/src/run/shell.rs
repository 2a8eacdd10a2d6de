use super::{Runner, Show, cancelled, settled};
use crate::{
    Run,
    command::{self, How, Link, Place, Start},
    environment,
    plan::Refusal,
    tool::{self, Shell},
};
use abide_protocol::{message::CallOutcome, transcript::ToolResult};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

impl Runner {
    pub(super) async fn shell(
        self: Arc<Self>,
        shell: Shell,
        run: Run,
        cancel: &CancellationToken,
        show: Show,
    ) -> (CallOutcome, ToolResult) {
        let limit = shell.timeout().min(run.max_secs.map_or(Duration::MAX, Duration::from_secs));
        let began = Instant::now();
        let stop = cancel.clone();
        let link = match tokio::task::spawn_blocking(move || self.start(shell, run, &stop)).await {
            Ok(Ok(link)) => link,
            Ok(Err(_)) if cancel.is_cancelled() => return cancelled(),
            Ok(Err(refusal)) => return (CallOutcome::Done, ToolResult::failure(refusal.to_string())),
            Err(error) => return (CallOutcome::Done, settled::<Refusal>(Err(error))),
        };
        let ended = command::follow(link, limit, cancel, show).await;
        let outcome = match ended.how {
            How::Cancelled => CallOutcome::Cancelled,
            _ => CallOutcome::Done,
        };
        (outcome, tool::shell_result(&ended, began.elapsed(), limit))
    }

    fn start(&self, shell: Shell, run: Run, cancel: &CancellationToken) -> Result<Link, Refusal> {
        shell.check()?;
        let workspace = self.workspace(&run.workspace)?;
        let spot = workspace.resolve(shell.working_dir.as_deref().unwrap_or("."))?;
        let directory = workspace.folder(&spot)?.into_std_file().into();
        let start = Start {
            command: vec![command::shell().to_owned(), "-c".to_owned(), shell.command],
            directory,
            environment: environment::allowed(run.environment),
            call: run.call_id.to_string(),
            place: Place::of(&self.spool_dir, run.call_id, run.attempt),
        };
        start.start(&self.helpers, &self.live, cancel).map_err(Refusal::Start)
    }
}
