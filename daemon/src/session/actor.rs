//! The owner of one conversation.

use super::{
    Applied, CommandError, Sessions,
    mailbox::{Lane, Mail, Mailbox, Message},
    recover,
};
use crate::{
    clock,
    runner::{Job, ModelJob, ToolJob},
};
use abide_engine::{Effect, History, Input, Refusal, accept, advance, effects, handle, is_at_work, view, wake_at};
use abide_model::ModelRequest;
use abide_protocol::{
    ConversationId, TaskId,
    record::{NewRecord, RecordBody},
    transcript::ToolSpec,
};
use abide_store::{Append, AppendError, Committed, TaskProjection};
use abide_tools::Run;
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

/// How long an actor with nothing to do stays, so that a burst of requests reads the records once.
const LINGER: Duration = Duration::from_secs(2);

pub(super) struct Actor {
    id: ConversationId,
    sessions: Sessions,
    mailbox: Mailbox,
    history: History,
    /// What is under way, and how to cancel it.
    running: HashMap<Effect, CancellationToken>,
    /// What every request of the task begins with.
    prefix: Option<Prefix>,
}

struct Prefix {
    task: TaskId,
    system: Arc<str>,
    tools: Arc<[ToolSpec]>,
}

impl Actor {
    pub(super) fn new(id: ConversationId, sessions: Sessions, mailbox: Mailbox) -> Self {
        Self { id, sessions, mailbox, history: History::default(), running: HashMap::new(), prefix: None }
    }

    pub(super) async fn run(mut self, mut mail: Mail) {
        if let Err(e) = self.load().await {
            tracing::error!(conversation = %self.id, "{e}");
            return self.refuse_all(&mut mail, &e);
        }
        loop {
            let linger = if self.sessions.is_draining() { Duration::ZERO } else { LINGER };
            let nudged = mail.nudged.clone();
            tokio::select! {
                message = mail.next() => match message {
                    Some(message) => self.handle(message).await,
                    None => return,
                },
                () = nudged.notified() => {}
                () = self.sessions.inner.supervisor.ending() => return self.abandon(),
                () = tokio::time::sleep(linger), if self.may_go() => {
                    match self.sessions.retire(self.id, &mut mail) {
                        None => return,
                        Some((waiting, mailbox)) => {
                            self.mailbox = mailbox;
                            for message in waiting {
                                self.handle(message).await;
                            }
                        }
                    }
                }
            }
        }
    }

    /// Nothing runs, and every task waits for a person (or for the next daemon).
    fn may_go(&self) -> bool {
        self.running.is_empty() && (self.sessions.is_draining() || !self.history.live().any(is_at_work))
    }

    /// The daemon ends: what still runs is cut off, and found interrupted at the next start.
    fn abandon(&self) {
        for cancel in self.running.values() {
            cancel.cancel();
        }
    }

    fn refuse_all(&self, mail: &mut Mail, error: &CommandError) {
        while let Some((waiting, _)) = self.sessions.retire(self.id, mail) {
            for message in waiting {
                match message {
                    Message::Command { reply, .. } => drop(reply.send(Err(CommandError::Load(error.to_string())))),
                    Message::Delete { reply } => drop(reply.send(Err(CommandError::Load(error.to_string())))),
                    Message::Outcome { .. } | Message::Wake => {}
                }
            }
        }
    }

    /// Reads the records. Work that they say is under way was interrupted: nothing of it can run in this daemon.
    async fn load(&mut self) -> Result<(), CommandError> {
        let store = &self.sessions.inner.store;
        let records = store.conversation_records(self.id).await.map_err(|e| CommandError::Load(e.to_string()))?;
        self.history = History::from_records(&records);
        drop(records);
        if self.sessions.is_draining() {
            return Ok(());
        }
        for input in recover::inputs(&self.history, &self.sessions.inner.runner.tools).await {
            self.apply(input).await?;
        }
        // What was accepted while the last daemon drained has not been acted on yet.
        let records = advance(&mut self.history, &mut clock::mint());
        if records.is_empty() { Ok(()) } else { self.commit(records, false).await }
    }

    async fn handle(&mut self, message: Message) {
        match message {
            Message::Command { input, reply } => {
                let result = self.command(input).await;
                // A client that has gone does not need to know.
                let _ = reply.send(result);
            }
            Message::Outcome { effect, input } => {
                self.running.remove(&effect);
                self.outcome(input).await;
            }
            Message::Wake => self.outcome(Input::Wake).await,
            Message::Delete { reply } => self.delete(reply).await,
        }
    }

    async fn command(&mut self, input: Input) -> Result<Applied, CommandError> {
        if self.history.conversation.is_none() && !brings_its_conversation(&input) {
            return Err(CommandError::NoConversation);
        }
        let input = match input {
            Input::Stop { task, .. } => self.stop_first(task),
            input => input,
        };
        self.apply(input).await?;
        let task = self.history.root().map(|t| view(self.id, t));
        Ok(Applied { task })
    }

    /// A stop kills first and records after.
    fn stop_first(&mut self, task: TaskId) -> Input {
        let mut shown = String::new();
        self.running.retain(|effect, cancel| {
            if effect.task() != task {
                return true;
            }
            cancel.cancel();
            if let Effect::Model { item, .. } = effect {
                shown = self.sessions.inner.hub.shown(*item);
            }
            false
        });
        Input::Stop { task, shown }
    }

    async fn outcome(&mut self, input: Input) {
        match self.apply(input).await {
            Ok(()) => {}
            Err(CommandError::Refused(Refusal::Stale | Refusal::Ended(_) | Refusal::NoTask)) => {
                tracing::debug!(conversation = %self.id, "an outcome came too late");
            }
            Err(e) => tracing::error!(conversation = %self.id, "an outcome could not be recorded: {e}"),
        }
    }

    /// An input becomes records, these are committed, and what they call for begins.
    async fn apply(&mut self, input: Input) -> Result<(), CommandError> {
        let urgent = matches!(input, Input::Stop { .. } | Input::Answer { .. } | Input::Decide { .. });
        let mut mint = clock::mint();
        let records = if self.sessions.is_draining() {
            let records = accept(&self.history, input, &mut mint)?;
            records.iter().for_each(|record| self.history.fold(record));
            records
        } else {
            handle(&mut self.history, input, &mut mint)?
        };
        if records.is_empty() {
            self.rest();
            return Ok(());
        }
        self.commit(records, urgent).await
    }

    /// Until the next input, or the next moment that a task waits for.
    fn rest(&self) {
        self.sessions.inner.alarm.set(self.id, self.history.live().filter_map(wake_at).min());
    }

    async fn commit(&mut self, records: Vec<NewRecord>, urgent: bool) -> Result<(), CommandError> {
        let wanted: HashSet<Effect> = effects(&self.history).into_iter().collect();
        self.running.retain(|effect, cancel| {
            let keep = wanted.contains(effect);
            if !keep {
                cancel.cancel();
            }
            keep
        });
        let (gate, _) = watch::channel(false);
        let (models, tools): (Vec<Effect>, Vec<Effect>) = wanted
            .into_iter()
            .filter(|effect| !self.running.contains_key(effect))
            .partition(|effect| matches!(effect, Effect::Model { .. }));
        for effect in models {
            self.start(effect, &gate);
        }
        let tasks = self.projections();
        let append = Append { conversation_id: self.id, records, tasks, urgent };
        match self.sessions.inner.store.append(append).await {
            Ok(committed) => {
                gate.send_replace(true);
                for effect in tools {
                    self.start(effect, &gate);
                }
                self.forget_spools(&committed);
                self.rest();
                Ok(())
            }
            Err(e) => {
                if let AppendError::Failed { reason } = &e {
                    self.sessions.store_failed(reason);
                }
                drop(gate);
                self.abandon();
                self.running.clear();
                Box::pin(self.load()).await?;
                Err(e.into())
            }
        }
    }

    fn projections(&self) -> Vec<TaskProjection> {
        self.history.root().map(|t| TaskProjection { task: view(self.id, t), wake_at: wake_at(t) }).into_iter().collect()
    }

    fn start(&mut self, effect: Effect, gate: &watch::Sender<bool>) {
        let Some(job) = self.job(effect) else { return };
        let cancel = CancellationToken::new();
        self.running.insert(effect, cancel.clone());
        let mailbox = self.mailbox.clone();
        let deliver = Box::new(move |effect, input| {
            let sent = async move {
                // A closed mailbox means that the outcome no longer counts.
                let _ = mailbox.put(Lane::Urgent, Message::Outcome { effect, input }).await;
            };
            Box::pin(sent) as _
        });
        self.sessions.inner.runner.start(job, gate.subscribe(), cancel, deliver);
    }

    fn job(&mut self, effect: Effect) -> Option<Job> {
        let task = self.history.task(effect.task())?;
        let head = task.head.clone();
        match effect {
            Effect::Model { task, item, attempt } => {
                let prefix = match &self.prefix {
                    Some(prefix) if prefix.task == task => prefix,
                    _ => self.prefix.insert(Prefix {
                        task,
                        system: head.system_prompt.as_str().into(),
                        tools: head.tools.clone().into(),
                    }),
                };
                let request = ModelRequest {
                    model: head.model.clone(),
                    system: prefix.system.clone(),
                    tools: prefix.tools.clone(),
                    entries: self.history.entries().to_vec(),
                    max_output_tokens: None,
                };
                Some(Job::Model(Box::new(ModelJob { conversation: self.id, task, item, attempt, head, request })))
            }
            Effect::Tool { task: id, call, attempt } => {
                let planned = task.call(call)?.planned.clone()?;
                let run = Run {
                    call_id: call,
                    attempt,
                    planned,
                    workspace: head.workspace.clone(),
                    environment: head.environment.clone(),
                    max_secs: None,
                };
                Some(Job::Tool(Box::new(ToolJob { conversation: self.id, task: id, call, attempt, run })))
            }
        }
    }

    /// The output that was kept in case of a crash has served.
    fn forget_spools(&self, committed: &Committed) {
        let done: Vec<_> = committed
            .records
            .iter()
            .filter_map(|r| if let RecordBody::CallFinished(f) = &r.body { Some((f.call_id, f.attempt)) } else { None })
            .collect();
        if !done.is_empty() {
            let tools = self.sessions.inner.runner.tools.clone();
            drop(tokio::task::spawn_blocking(move || done.into_iter().for_each(|(call, attempt)| tools.forget(call, attempt))));
        }
    }

    async fn delete(&mut self, reply: oneshot::Sender<Result<u64, CommandError>>) {
        let live: Vec<TaskId> = self.history.live().map(|t| t.id).collect();
        for task in live {
            let stop = self.stop_first(task);
            if let Err(e) = self.apply(stop).await {
                return drop(reply.send(Err(e)));
            }
        }
        let mut mint = clock::mint();
        let deleted = self.sessions.inner.store.delete_conversation(self.id, mint.at(), mint.record_id()).await;
        if deleted.is_ok() {
            self.history = History::default();
            self.sessions.inner.alarm.set(self.id, None);
        }
        let _ = reply.send(deleted.map_err(CommandError::from));
    }
}

fn brings_its_conversation(input: &Input) -> bool {
    match input {
        Input::Create(_) => true,
        Input::Start(start) => start.conversation.is_some(),
        _ => false,
    }
}
