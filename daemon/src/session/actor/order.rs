//! Carries out the driver's orders.

use super::{Actor, history_snapshot};
use crate::{
    clock,
    runner::Attempt,
    session::{CommandError, Event, Order, mailbox::Lane, recover},
};
use abide_engine::{
    Effect, Refusal, Shown,
    driver::{Append, CutOff},
};
use abide_fail_point::{Point, pass};
use abide_protocol::CallId;
use abide_store::{AppendError, TaskProjection};
use abide_tools::Tools;
use std::{collections::HashMap, mem, sync::Arc};
use tokio::sync::watch;

impl Actor {
    pub(super) async fn carry_out(&mut self, order: Order) {
        match order {
            Order::Load => {
                let running = mem::take(&mut self.running);
                self.load(running);
            }
            Order::Reread => self.load(HashMap::new()),
            Order::KeepSnapshot(snapshot) => self.keep_history_snapshot(*snapshot),
            Order::Inspect(calls) => {
                let tools = &self.sessions.inner.runner.tools;
                let findings = recover::inspect(self.driver.history(), &calls, tools, self.id);
                self.pending = Some(Box::pin(async move { Event::Inspected(findings.await) }));
            }
            Order::Append(append) => self.append(append),
            Order::Withdraw(_) => self.pending = None,
            Order::Start { effect, gate } => self.start(effect, gate),
            Order::Kill(cut_off) => self.kill(cut_off).await,
            Order::OpenGate => {
                self.gate.send_replace(true);
                self.gate = watch::channel(false).0;
            }
            Order::DropGate => self.gate = watch::channel(false).0,
            Order::DropOutput(calls) => self.drop_output(calls),
            Order::SetAlarm(at) => self.sessions.inner.alarm.set(self.id, at, self.driver.clock()),
            // Sending fails only if the client has disconnected.
            Order::Reply { reply, answer } => drop(reply.send(answer.map_err(CommandError::from))),
            Order::Erase => self.erase(),
            Order::ReplyDeleted { reply, answer } => drop(reply.send(answer.map_err(CommandError::from))),
            Order::OutcomeRefused(Refusal::Stale | Refusal::Ended(_) | Refusal::NoTask) => {
                tracing::debug!(conversation = %self.id, "an outcome came too late");
            }
            Order::OutcomeRefused(refusal) => {
                tracing::error!(conversation = %self.id, "an outcome could not be recorded: {refusal}");
            }
            Order::Leave => {
                self.has_left = true;
                let cut = if self.sessions.is_cutting() { self.under_way() } else { Vec::new() };
                self.sessions.retire(self.id, cut);
                self.running.clear();
                self.sessions.trim_caches(self.id);
                self.mail.close();
            }
            Order::PassOn(message) => {
                // Only a message of the command lane can be refused.
                let _ = self.sessions.deliver(self.id, Lane::Urgent, message).await;
            }
        }
    }

    /// Ends these attempts, and loads the records.
    fn load(&mut self, running: HashMap<Effect, Attempt>) {
        // A failed append may have been the start of a task, whose prefix is cached here. And words may have been
        // taken out of one.
        self.prefixes.clear();
        let (id, sessions) = (self.id, self.sessions.clone());
        self.pending = Some(Box::pin(async move {
            Attempt::end_all(running.into_values()).await;
            match history_snapshot::load(&sessions.inner.store, id).await {
                Ok((history, tail)) => Event::Loaded { history: Box::new(history), tail },
                Err(error) => {
                    tracing::error!(conversation = %id, "the records cannot be read: {error}");
                    Event::LoadFailed(CommandError::Load(Arc::new(error)))
                }
            }
        }));
    }

    fn append(&mut self, append: Append) {
        pass(Point::Append);
        let Append { id, records, tasks, urgent } = append;
        let tasks = tasks.into_iter().map(|projection| TaskProjection {
            task: projection.task,
            wake_at: projection.wake_at,
            needs_daemon: projection.needs_daemon,
        });
        let stored =
            abide_store::Append { conversation_id: self.id, records, tasks: tasks.collect(), urgent };
        let sessions = self.sessions.clone();
        self.pending = Some(Box::pin(async move {
            let Err(error) = sessions.inner.store.append(stored).await else {
                return Event::Committed(id);
            };
            match &error {
                AppendError::Failed { reason } => sessions.store_failed(reason),
                AppendError::DuplicateClientMessage(_)
                | AppendError::DuplicateTaskId(_)
                | AppendError::Full(_)
                | AppendError::Withdrawn => {}
                other => tracing::warn!("an append failed: {other}"),
            }
            let contradicts = matches!(error, AppendError::Invalid { .. });
            Event::AppendFailed { append: id, error: error.into(), contradicts }
        }));
    }

    fn erase(&mut self) {
        let (id, sessions) = (self.id, self.sessions.clone());
        self.pending = Some(Box::pin(async move {
            let mut mint = clock::mint();
            let erased = sessions.inner.store.delete_conversation(id, mint.at(), mint.record_id()).await;
            if let Ok(deleted) = &erased {
                sessions.forget_checkpoints(id).await;
                sessions.forget_private_files(id).await;
                sessions.reread(&deleted.blanked);
            }
            Event::Erased(erased.map(|deleted| deleted.records).map_err(CommandError::from))
        }));
    }

    async fn kill(&mut self, cut_off: CutOff) {
        let call = |effect: &Effect| match *effect {
            Effect::Tool { call, attempt, .. } => Some((call, attempt)),
            _ => None,
        };
        let calls: Vec<(CallId, u32)> = cut_off.attempts.iter().filter_map(call).collect();
        // One of which the outcome has come is not running.
        let running = cut_off.attempts.iter().filter_map(|effect| self.running.remove(effect));
        Attempt::end_all(running).await;
        let hub = &self.sessions.inner.hub;
        let shown: Shown = cut_off.replies.into_iter().map(|item| (item, hub.shown(item))).collect();
        let outputs = outputs(self.sessions.inner.runner.tools.clone(), calls).await;
        self.send(Event::Killed(shown.with_outputs(outputs)));
    }

    fn drop_output(&self, calls: Vec<CallId>) {
        let tools = self.sessions.inner.runner.tools.clone();
        self.sessions.inner.supervisor.spawn("kept output", async move {
            let drop = move || tools.drop_kept(&calls.into_iter().collect());
            // The blocking task fails only if the runtime ends.
            if let Ok(Err(error)) = tokio::task::spawn_blocking(drop).await {
                tracing::warn!("output of ended calls could not be dropped: {error}");
            }
        });
    }
}

/// The output that calls have given so far. It is on disk.
async fn outputs(tools: Tools, calls: Vec<(CallId, u32)>) -> Vec<(CallId, String)> {
    if calls.is_empty() {
        return Vec::new();
    }
    let read = move || calls.into_iter().map(|(call, attempt)| (call, tools.output(call, attempt))).collect();
    // It fails only if the runtime ends.
    tokio::task::spawn_blocking(read).await.unwrap_or_default()
}
