//! Sub-tasks for a running call: for its code, or a `fork` that asks for a worktree.

use super::{
    CommandError, Sessions,
    mailbox::{Lane, Mailbox, Message},
};
use crate::{clock, runner::Forks};
use abide_engine::{Fork, OwnPlace, Refusal, result_of};
use abide_protocol::{CallId, TaskId, task::AgentTask};
use abide_tools::{Answer, SubTasks};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};
use tokio::sync::oneshot;

const OVER: &str = "this call is over";
const SHUTTING_DOWN: &str = "Abide is shutting down; sub-tasks go on at its next start";

/// Those of the task whose call runs.
pub(super) struct OfCall {
    pub(super) sessions: Sessions,
    pub(super) mailbox: Mailbox,
    pub(super) task: TaskId,
    pub(super) call: CallId,
    pub(super) attempt: u32,
    /// Those whose results it was given.
    pub(super) read: Mutex<BTreeSet<TaskId>>,
}

impl SubTasks for OfCall {
    fn fork(&self, index: u32, prompt: String) -> Answer<'_, String> {
        Box::pin(async move {
            let task = TaskId(clock::mint().uuid());
            let (parent, call, attempt) = (self.task, self.call, self.attempt);
            let fork = Fork { parent, call, attempt, index, task, prompt, tools: None, place: None };
            Ok(self.start(fork).await?.short())
        })
    }

    fn wait(&self, handle: String) -> Answer<'_, Value> {
        Box::pin(async move {
            tokio::select! {
                biased;
                // While the daemon drains no sub-task acts, so its end may not come.
                () = self.sessions.inner.draining.cancelled() => Err(SHUTTING_DOWN.to_owned()),
                result = self.result(&handle) => result,
            }
        })
    }

    fn read(&self) -> Vec<TaskId> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }
}

impl Forks for OfCall {
    fn fork(
        &self,
        task: TaskId,
        prompt: String,
        tools: Option<Vec<String>>,
        place: OwnPlace,
    ) -> Answer<'_, TaskId> {
        let (parent, call, attempt) = (self.task, self.call, self.attempt);
        let fork = Fork { parent, call, attempt, index: 0, task, prompt, tools, place: Some(place) };
        Box::pin(self.start(fork))
    }
}

impl OfCall {
    async fn start(&self, fork: Fork) -> Result<TaskId, String> {
        let (reply, forked) = oneshot::channel();
        // The mailbox of a running call is closed only when the call no longer counts.
        let sent = self.mailbox.put(Lane::Urgent, Message::Fork { fork, reply }).await;
        sent.map_err(|_| OVER)?;
        let applied = forked.await.map_err(|_| OVER)?.map_err(|error| words(&error))?;
        Ok(applied.task.ok_or(OVER)?.id)
    }

    async fn result(&self, handle: &str) -> Result<Value, String> {
        let own = self.task(self.task).await?.children;
        let is_named = |id: &&TaskId| id.short() == handle || id.to_string() == handle;
        let Some(child) = own.iter().find(is_named) else {
            let own: Vec<String> = own.iter().map(TaskId::short).collect();
            let own = if own.is_empty() { "none".to_owned() } else { own.join(", ") };
            return Err(format!("there is no sub-task `{handle}` of this task; it has: {own}"));
        };
        // It is watched before it is looked up, so that no end is missed.
        let end = self.sessions.inner.hub.end_of(*child);
        let result = match result_of(&self.task(*child).await?) {
            Some(result) => result,
            None => {
                let ended = end.come().await.map_err(|_| SHUTTING_DOWN)?;
                result_of(&ended).ok_or(OVER)?
            }
        };
        self.read.lock().unwrap_or_else(PoisonError::into_inner).insert(*child);
        Ok(result)
    }

    async fn task(&self, task: TaskId) -> Result<AgentTask, String> {
        let read = self.sessions.inner.store.task(task).await;
        read.map_err(|error| error.to_string())?.ok_or_else(|| OVER.to_owned())
    }
}

fn words(error: &CommandError) -> String {
    match error {
        CommandError::Refused(Refusal::Stale | Refusal::Ended(_) | Refusal::NoTask) => OVER.to_owned(),
        CommandError::ShuttingDown | CommandError::CutOff => SHUTTING_DOWN.to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        events::Hub,
        session::tests::{CONVERSATION, TASK, paused_task_with, sessions_with},
    };
    use abide_engine::Command;
    use abide_store::{Committed, Options, Store};
    use futures_util::FutureExt as _;
    use serde_json::json;
    use std::time::Duration;
    use tempfile::TempDir;
    use uuid::Uuid;

    const CHILD: TaskId = TaskId(Uuid::from_u128(3));

    /// A timeout much longer than any of these tests takes.
    const PATIENCE: Duration = Duration::from_secs(30);

    /// The code of a call that the records do not list as running.
    async fn code(folder: &TempDir) -> OfCall {
        let hub = Hub::default();
        let publish = hub.clone();
        let sink = Box::new(move |committed: &Committed| publish.publish(committed));
        let options = Options { path: folder.path().join("abide.db"), reserve_bytes: 0, readers: 1 };
        let store = Store::open(options, sink).unwrap();
        paused_task_with(&store, Some(CHILD)).await;
        let sessions = sessions_with(hub, &store, folder.path());
        let mailbox = sessions.mailbox(CONVERSATION);
        OfCall {
            sessions,
            mailbox,
            task: TASK,
            call: CallId(Uuid::from_u128(4)),
            attempt: 1,
            read: Mutex::default(),
        }
    }

    #[tokio::test]
    async fn a_wait_ends_with_the_sub_task_and_again_gives_the_same() {
        let folder = TempDir::new().unwrap();
        let code = code(&folder).await;
        assert_eq!(code.read(), []);
        let early = code.wait(CHILD.short());
        let stop = code.sessions.command(CONVERSATION, Command::Stop { task: CHILD });
        let both = async { tokio::join!(early, stop) };
        let (early, stopped) = tokio::time::timeout(PATIENCE, both).await.unwrap();
        assert_eq!(stopped.unwrap().task.unwrap().id, CHILD);
        let early = early.unwrap();
        assert_eq!(
            (&early["handle"], &early["endReason"]),
            (&json!(CHILD.short()), &json!("stopped")),
            "{early}"
        );
        assert_eq!(code.wait(CHILD.to_string()).await, Ok(early));
        assert_eq!(code.read(), [CHILD]);
        let nobody = format!("there is no sub-task `nobody` of this task; it has: {}", CHILD.short());
        assert_eq!(code.wait("nobody".to_owned()).await, Err(nobody));
    }

    #[tokio::test]
    async fn a_drain_ends_open_and_new_waits() {
        let folder = TempDir::new().unwrap();
        let code = code(&folder).await;
        let mut open = code.wait(CHILD.short());
        while code.sessions.inner.hub.waits() == 0 {
            assert_eq!((&mut open).now_or_never(), None);
            tokio::task::yield_now().await;
        }
        let both = async { tokio::join!(open, code.sessions.drain(PATIENCE)) };
        let (open, ()) = tokio::time::timeout(PATIENCE, both).await.unwrap();
        assert_eq!(open, Err(SHUTTING_DOWN.to_owned()));
        assert_eq!(code.sessions.inner.hub.waits(), 0);
        assert_eq!(code.wait(CHILD.short()).await, Err(SHUTTING_DOWN.to_owned()));
    }

    #[tokio::test]
    async fn a_call_that_does_not_run_forks_nothing() {
        let folder = TempDir::new().unwrap();
        let code = code(&folder).await;
        assert_eq!(SubTasks::fork(&code, 0, "Go.".to_owned()).await, Err(OVER.to_owned()));
        let root = code.sessions.inner.store.task(TASK).await.unwrap().unwrap();
        assert_eq!(root.children, [CHILD]);
    }
}
