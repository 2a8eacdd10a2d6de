//! The owner of one conversation.

mod commit;

use super::{
    Applied, CommandError, Sessions,
    mailbox::{Lane, Mail, Mailbox, Message, is_urgent},
    recover,
};
use crate::clock;
use abide_engine::{Effect, History, Input, Refusal, accept, advance, handle, is_at_work, view, wake_at};
use abide_model::Written;
use abide_protocol::{
    ConversationId, TaskId,
    method::daemon::{CutCall, CutOff, CutWork},
    record::NewRecord,
    transcript::ToolSpec,
};
use std::{collections::HashMap, sync::Arc, time::Duration};
use tokio::sync::oneshot;
use tokio_util::sync::DropGuard;

/// How long an actor with nothing to do stays, so that a burst of requests reads the records once.
const LINGER: Duration = Duration::from_secs(2);

pub(super) struct Actor {
    id: ConversationId,
    sessions: Sessions,
    mailbox: Mailbox,
    history: History,
    /// What is under way. It is cancelled when it is taken out of here, in whatever way the actor goes.
    running: HashMap<Effect, DropGuard>,
    /// Read while the daemon drains: what the records say is under way is not, and is left to the next daemon.
    records_only: bool,
    /// What was taken back from the store had just gone in: the records are other than the memory thought.
    overtaken: bool,
    /// Why the memory is not what the records say; then the actor goes.
    lost: Option<String>,
    /// What every request of the task begins with.
    prefix: Option<Prefix>,
}

type Reply = oneshot::Sender<Result<Applied, CommandError>>;

struct Prefix {
    task: TaskId,
    system: Arc<str>,
    tools: Arc<[ToolSpec]>,
    /// As the provider has it.
    written: Written,
}

impl Actor {
    pub(super) fn new(id: ConversationId, sessions: Sessions, mailbox: Mailbox) -> Self {
        Self {
            id,
            sessions,
            mailbox,
            history: History::default(),
            running: HashMap::new(),
            records_only: false,
            overtaken: false,
            lost: None,
            prefix: None,
        }
    }

    pub(super) async fn run(mut self, mut mail: Mail) {
        if let Err(e) = self.load(&mut mail).await {
            tracing::error!(conversation = %self.id, "{e}");
            let why = match e {
                CommandError::Load(why) => why,
                other => other.to_string(),
            };
            return self.refuse_all(mail, &why).await;
        }
        loop {
            let linger = if self.sessions.is_draining() { Duration::ZERO } else { LINGER };
            let nudged = mail.nudged.clone();
            tokio::select! {
                message = mail.next() => match message {
                    Some(message) => self.handle(message, &mut mail).await,
                    None => return,
                },
                () = nudged.notified() => {}
                // What still runs is found interrupted at the next start.
                () = self.sessions.cutting() => return self.leave(),
                () = tokio::time::sleep(linger), if self.may_go() => return self.go(mail).await,
            }
            if let Some(why) = self.lost.take() {
                return self.refuse_all(mail, &why).await;
            }
        }
    }

    /// Nothing runs, and every task waits for a person (or for the next daemon).
    fn may_go(&self) -> bool {
        self.running.is_empty() && (self.sessions.is_draining() || !self.history.live().any(is_at_work))
    }

    /// What came in at the last moment is for the next actor.
    async fn go(self, mail: Mail) {
        self.leave();
        for message in mail.rest().await {
            // Only what comes by the other lane can be refused.
            let _ = self.sessions.deliver(self.id, Lane::Urgent, message).await;
        }
    }

    fn leave(&self) {
        self.sessions.retire(self.id, if self.sessions.is_cutting() { self.under_way() } else { Vec::new() });
    }

    /// What runs, in words that a person understands.
    fn under_way(&self) -> Vec<CutOff> {
        let title = self.history.conversation.as_ref().map(|c| c.facts.title.clone()).unwrap_or_default();
        let work = |effect: &Effect| match *effect {
            Effect::Model { .. } => Some(CutWork::ModelCall),
            Effect::Tool { task, call, .. } => {
                let call = self.history.task(task)?.call(call)?;
                let summary = call.assessed.as_ref().map_or(&call.block.tool, |assessed| &assessed.summary);
                Some(CutWork::ToolCall(CutCall {
                    call_id: call.block.id,
                    tool: call.block.tool.clone(),
                    summary: summary.clone(),
                    effect: call.effect(),
                }))
            }
        };
        let running = self.running.keys().filter_map(|effect| Some((effect.task(), work(effect)?)));
        running
            .map(|(task_id, work)| CutOff { conversation_id: self.id, title: title.clone(), task_id, work })
            .collect()
    }

    /// Records that cannot be read can still be deleted.
    async fn refuse_all(mut self, mail: Mail, why: &str) {
        self.leave();
        self.running.clear();
        for message in mail.rest().await {
            let error = CommandError::Load(why.to_owned());
            match message {
                Message::Command { reply, .. } => drop(reply.send(Err(error))),
                Message::Delete { reply } => drop(reply.send(self.erase().await)),
                Message::Outcome { .. } | Message::Wake => {}
            }
        }
    }

    /// Takes up what the records say, and once more if they turn out to be other than the memory thought.
    async fn load(&mut self, mail: &mut Mail) -> Result<(), CommandError> {
        self.overtaken = false;
        let loaded = self.take_up(mail).await;
        if self.overtaken {
            self.running.clear();
            return self.take_up(mail).await;
        }
        loaded
    }

    /// Reads the records. Work that they say is under way was interrupted: nothing of it can run in this daemon.
    async fn take_up(&mut self, mail: &mut Mail) -> Result<(), CommandError> {
        let store = &self.sessions.inner.store;
        let records =
            store.conversation_records(self.id).await.map_err(|e| CommandError::Load(e.to_string()))?;
        self.history = History::from_records(&records);
        // It may have been made of what was not stored in the end.
        self.prefix = None;
        drop(records);
        self.records_only = self.sessions.is_draining();
        if self.records_only {
            return Ok(());
        }
        for input in recover::inputs(&self.history, &self.sessions.inner.runner.tools).await {
            let records = self.take(input)?;
            self.append(records, false, mail).await?;
        }
        if self.sessions.is_draining() {
            return Ok(());
        }
        // What was accepted while the last daemon drained has not been acted on yet.
        let records = advance(&mut self.history, &mut clock::mint());
        if records.is_empty() { Ok(()) } else { self.append(records, false, mail).await }
    }

    async fn handle(&mut self, message: Message, mail: &mut Mail) {
        match message {
            Message::Command { input, reply } => {
                let result = self.command(input, mail).await;
                // A client that has gone does not need to know.
                let _ = reply.send(result);
            }
            Message::Outcome { effect, input } => {
                self.running.remove(&effect);
                self.outcome(input, mail).await;
            }
            Message::Wake => self.outcome(Input::Wake, mail).await,
            Message::Delete { reply } => self.delete(reply, mail).await,
        }
    }

    async fn command(&mut self, input: Input, mail: &mut Mail) -> Result<Applied, CommandError> {
        if self.history.conversation.is_none() && !brings_its_conversation(&input) {
            return Err(CommandError::NoConversation);
        }
        let input = self.kill_first(input);
        self.apply(input, mail).await?;
        Ok(self.applied())
    }

    fn applied(&self) -> Applied {
        Applied { task: self.history.root().map(|t| view(self.id, t)) }
    }

    /// A stop kills first and records after.
    fn kill_first(&mut self, input: Input) -> Input {
        let Input::Stop { task, mut shown } = input else { return input };
        let hub = &self.sessions.inner.hub;
        self.running.retain(|effect, _| {
            if effect.task() == task
                && let Effect::Model { item, .. } = effect
            {
                shown = hub.shown(*item);
            }
            effect.task() != task
        });
        Input::Stop { task, shown }
    }

    fn stops(&self) -> Vec<Input> {
        self.history.live().map(|t| Input::Stop { task: t.id, shown: String::new() }).collect()
    }

    async fn outcome(&mut self, input: Input, mail: &mut Mail) {
        match self.apply(input, mail).await {
            Ok(()) => {}
            Err(CommandError::Refused(Refusal::Stale | Refusal::Ended(_) | Refusal::NoTask)) => {
                tracing::debug!(conversation = %self.id, "an outcome came too late");
            }
            Err(e) => tracing::error!(conversation = %self.id, "an outcome could not be recorded: {e}"),
        }
    }

    /// An input becomes records, these are committed, and what they call for begins.
    async fn apply(&mut self, input: Input, mail: &mut Mail) -> Result<(), CommandError> {
        let urgent = is_urgent(&input);
        let records = self.take(input)?;
        if records.is_empty() {
            self.rest();
            return Ok(());
        }
        let Err(e) = self.append(records, urgent, mail).await else { return Ok(()) };
        self.running.clear();
        if self.lost.is_none()
            && let Err(unreadable) = self.load(mail).await
        {
            tracing::error!(conversation = %self.id, "{unreadable}");
            self.lost = Some(unreadable.to_string());
        }
        Err(e)
    }

    /// What an input makes of the memory. While the daemon drains that is all; else also what follows from it.
    fn take(&mut self, input: Input) -> Result<Vec<NewRecord>, Refusal> {
        let mut mint = clock::mint();
        if !self.sessions.is_draining() {
            return handle(&mut self.history, input, &mut mint);
        }
        let records = accept(&self.history, input, &mut mint)?;
        records.iter().for_each(|record| self.history.fold(record));
        Ok(records)
    }

    /// Until the next input, or the next moment that a task waits for.
    fn rest(&self) {
        self.sessions.inner.alarm.set(self.id, self.history.live().filter_map(wake_at).min());
    }

    async fn delete(&mut self, reply: oneshot::Sender<Result<u64, CommandError>>, mail: &mut Mail) {
        for stop in self.stops() {
            let stop = self.kill_first(stop);
            if let Err(e) = self.apply(stop, mail).await {
                return drop(reply.send(Err(e)));
            }
        }
        let deleted = self.erase().await;
        if deleted.is_ok() {
            self.history = History::default();
        }
        let _ = reply.send(deleted);
    }

    async fn erase(&self) -> Result<u64, CommandError> {
        let mut mint = clock::mint();
        let store = &self.sessions.inner.store;
        let records = store.delete_conversation(self.id, mint.at(), mint.record_id()).await?;
        self.sessions.inner.alarm.set(self.id, None);
        Ok(records)
    }
}

fn brings_its_conversation(input: &Input) -> bool {
    match input {
        Input::Create(_) => true,
        Input::Start(start) => start.conversation.is_some(),
        _ => false,
    }
}
