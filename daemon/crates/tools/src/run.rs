//! Carrying out a planned call. Every failure is a result.

mod change;
mod look;
mod shell;

pub(crate) use change::mark;

use crate::{
    Finished, Run,
    command::{ForkServer, Live},
    plan::{Refusal, parse},
    tool::Call,
    workspace::{Closed, PathError, Workspace},
};
use abide_protocol::{message::CallOutcome, record::Permission, transcript::ToolResult};
use std::{path::PathBuf, sync::Arc, time::Instant};
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;

/// What carrying out a call needs to know of the daemon.
#[derive(Debug)]
pub(crate) struct Runner {
    pub(crate) helpers: ForkServer,
    pub(crate) spool_dir: PathBuf,
    pub(crate) closed: Arc<Closed>,
    pub(crate) live: Live,
}

type Show = Box<dyn FnMut(&str) + Send>;

impl Runner {
    pub(crate) async fn run(self: Arc<Self>, run: Run, cancel: CancellationToken, show: Show) -> Finished {
        let began = Instant::now();
        let (outcome, result) = self.outcome(run, &cancel, show).await;
        Finished {
            outcome,
            result,
            duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }

    async fn outcome(
        self: Arc<Self>,
        run: Run,
        cancel: &CancellationToken,
        show: Show,
    ) -> (CallOutcome, ToolResult) {
        if let Permission::Denied(why) = &run.planned.permission {
            return (CallOutcome::Refused, ToolResult::failure(why.clone()));
        }
        let call = match parse(&run.planned.tool, &run.planned.arguments) {
            Ok(call) => call,
            Err(refusal) => return (CallOutcome::Refused, ToolResult::failure(refusal.to_string())),
        };
        if cancel.is_cancelled() {
            return cancelled();
        }
        match call {
            Call::Shell(shell) => self.shell(shell, run, cancel, show).await,
            Call::Read(read) => look::look(move |_| read.run(&self.workspace(&run.workspace)?), cancel).await,
            Call::List(list) => {
                look::look(move |stop| list.run(&self.workspace(&run.workspace)?, stop), cancel).await
            }
            Call::Write(_) | Call::Patch(_) | Call::CreateDir(_) => {
                // Short, and not to be left half-way: it is waited for, whatever happens.
                let changed = tokio::task::spawn_blocking(move || self.change(&call, &run)).await;
                (CallOutcome::Done, settled(changed))
            }
        }
    }

    pub(crate) fn workspace(&self, path: &str) -> Result<Workspace, PathError> {
        Workspace::open(path, Arc::clone(&self.closed))
    }
}

fn cancelled() -> (CallOutcome, ToolResult) {
    (CallOutcome::Cancelled, ToolResult::failure("the task was stopped before this call did anything"))
}

/// The result of work on a blocking thread.
fn settled<E: Into<Refusal>>(done: Result<Result<ToolResult, E>, JoinError>) -> ToolResult {
    match done {
        Ok(Ok(result)) => result,
        Ok(Err(error)) => ToolResult::failure(error.into().to_string()),
        Err(error) => {
            tracing::error!(%error, "a tool failed in a way it should not");
            ToolResult::failure("the tool itself failed; this is a fault in Abide. What it did is unknown")
        }
    }
}
