//! Recovery at start: work that the previous daemon left.

use super::{Sessions, actor::history_snapshot};
use abide_engine::{Finding, History, driver::StartedCall, works_on_files};
use abide_protocol::{CallId, ConversationId, record::TaskStarted};
use abide_store::ReadError;
use abide_tools::Tools;
use std::{collections::BTreeSet, future::Future, sync::Arc, time::Duration};

/// A checkpoint takes a fraction of a second; after this time what is known by then is shown.
pub const FILES_AT_REST: Duration = Duration::from_secs(20);

/// Inspects calls that were interrupted.
pub(super) fn inspect(
    history: &History,
    calls: &[StartedCall],
    tools: &Tools,
    conversation: ConversationId,
) -> impl Future<Output = Vec<Finding>> + Send + use<> {
    let known = |started: &StartedCall| {
        let task = history.task(started.task)?;
        let assessed = task.call(started.call)?.assessed.clone()?;
        Some((started.call, started.attempt, assessed, Arc::clone(&task.head)))
    };
    let known: Vec<_> = calls.iter().filter_map(known).collect();
    let tools = tools.clone();
    let look = move || {
        let look = |(call, attempt, assessed, head): (_, _, _, Arc<TaskStarted>)| {
            finding(call, tools.inspect(conversation, call, attempt, &assessed, &head.workspace))
        };
        known.into_iter().map(look).collect()
    };
    async move { tokio::task::spawn_blocking(look).await.unwrap_or_default() }
}

fn finding(call: CallId, found: abide_tools::Inspection) -> Finding {
    Finding { call, output: found.output, edit: found.edit }
}

impl Sessions {
    /// Drops kept output of calls whose result is committed, or whose start never was because the last daemon
    /// died before that. `kept` must be listed before this daemon prepares a call, which the store does not
    /// know either until its commit.
    pub async fn drop_settled_output(self, kept: Vec<CallId>) {
        let (tools, store) = (self.inner.runner.tools.clone(), &self.inner.store);
        let dropped = async {
            let settled = store.settled_calls(kept).await?.into_iter().collect();
            tokio::task::spawn_blocking(move || tools.drop_kept(&settled)).await??;
            anyhow::Ok(())
        };
        if let Err(e) = dropped.await {
            tracing::warn!("output of ended calls could not be dropped: {e}");
        }
    }

    /// Waits until no checkpoint and no undo of the conversation is under way, but not for long.
    ///
    /// # Errors
    /// The records cannot be read.
    pub async fn files_at_rest(&self, conversation: ConversationId) -> Result<(), ReadError> {
        let mut worked = self.inner.hub.work_on_files();
        if works_on_files(&history_snapshot::load(&self.inner.store, conversation).await?.0) {
            // A start may have left it until it is needed.
            drop(self.mailbox(conversation));
        }
        let rest = async {
            loop {
                worked.mark_unchanged();
                let (history, _) = history_snapshot::load(&self.inner.store, conversation).await?;
                if !works_on_files(&history) || worked.changed().await.is_err() {
                    return Ok(());
                }
            }
        };
        tokio::time::timeout(FILES_AT_REST, rest).await.unwrap_or(Ok(()))
    }

    /// Removes the checkpoints of a conversation that was deleted.
    pub(super) async fn forget_checkpoints(&self, conversation: ConversationId) {
        let checkpoints = self.inner.runner.tools.checkpoints().clone();
        // It fails only if the runtime ends; the next start does it then.
        let _ = tokio::task::spawn_blocking(move || checkpoints.forget(conversation)).await;
    }

    /// Removes the checkpoints of conversations whose deletion the last daemon did not survive.
    pub async fn forget_checkpoints_of_deleted(self) {
        let checkpoints = self.inner.runner.tools.checkpoints().clone();
        let found = async {
            let noted = tokio::task::spawn_blocking(move || checkpoints.conversations()).await??;
            if noted.is_empty() {
                return Ok(noted);
            }
            let known: BTreeSet<_> = self.inner.store.recorded_conversations().await?.into_iter().collect();
            anyhow::Ok(noted.into_iter().filter(|id| !known.contains(id)).collect())
        };
        match found.await {
            Ok(deleted) => {
                for conversation in deleted {
                    self.forget_checkpoints(conversation).await;
                }
            }
            Err(e) => tracing::warn!("checkpoints of deleted conversations could not be removed: {e}"),
        }
    }

    /// Removes what a crash has left of worktrees that were being made or removed, and those whose
    /// conversation or sub-task was never recorded or is deleted, if nothing is lost by it.
    pub async fn tidy_worktrees(&self) {
        let worktrees = self.inner.runner.tools.worktrees().clone();
        let tidy = worktrees.clone();
        let made = tokio::task::spawn_blocking(move || tidy.tidy()).await.unwrap_or_default();
        for worktree in made {
            let store = &self.inner.store;
            let is_gone = match worktree.task {
                Some(task) => matches!(store.task(task).await, Ok(None)),
                None => matches!(store.conversation(worktree.conversation).await, Ok(None)),
            };
            if is_gone {
                let worktrees = worktrees.clone();
                let removed = tokio::task::spawn_blocking(move || worktrees.remove(&worktree)).await;
                if let Ok(Err(error)) = removed {
                    tracing::warn!("a worktree without a task stays: {error}");
                }
            }
        }
    }

    /// Removes what the sandbox keeps of conversations that are deleted.
    pub async fn drop_private_files(self) {
        let tools = self.inner.runner.tools.clone();
        let kept = tokio::task::spawn_blocking(move || tools.kept_conversations()).await.unwrap_or_default();
        for conversation in kept {
            if matches!(self.inner.store.conversation(conversation).await, Ok(None)) {
                self.forget_private_files(conversation).await;
            }
        }
    }

    /// Removes what the sandbox keeps of a deleted conversation.
    pub(super) async fn forget_private_files(&self, conversation: ConversationId) {
        let tools = self.inner.runner.tools.clone();
        // It fails only if the runtime ends; the next start removes them.
        let _ = tokio::task::spawn_blocking(move || tools.forget_conversation(conversation)).await;
    }

    /// Drops what commands of a conversation in which nothing runs have changed in caches, if it is too large.
    pub(super) fn trim_caches(&self, conversation: ConversationId) {
        let tools = self.inner.runner.tools.clone();
        self.inner.supervisor.spawn("caches", async move {
            let _ = tokio::task::spawn_blocking(move || tools.trim_caches(conversation)).await;
        });
    }

    /// Starts the actor of every conversation with a task that needs the daemon; the others cost nothing
    /// until a message comes.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn recover(&self) -> Result<(), abide_store::ReadError> {
        for (at, conversation) in self.inner.store.wakes().await? {
            self.inner.alarm.set(conversation, Some(at), crate::clock::moved());
        }
        for conversation in self.inner.store.needing_daemon().await? {
            drop(self.mailbox(conversation));
        }
        Ok(())
    }
}
