//! Memory to disk, and from there to what begins.

use super::{Actor, Prefix, Reply};
use crate::{
    runner::{Job, ModelJob, ToolJob},
    session::{
        CommandError, Sessions,
        mailbox::{Lane, Mail, Message},
    },
};
use abide_engine::{Effect, Input, Refusal, effects, view, wake_at};
use abide_fail_point::{Point, pass};
use abide_model::{ModelRequest, Written};
use abide_protocol::record::{NewRecord, RecordBody};
use abide_store::{Append, AppendError, Committed, StorageState, TaskProjection};
use abide_tools::Run;
use std::{collections::HashSet, future};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Somebody who did not want to wait for room, and what they are told once what they were told it of is stored.
struct Pressed {
    input: Input,
    told: Result<(), Refusal>,
    reply: Reply,
}

impl Actor {
    /// Has records stored that the memory has already, and begins what they call for.
    ///
    /// On a full disk this waits. A stop or an answer that comes in meanwhile is not kept waiting: what waits is taken back and goes
    /// in together with it, as one urgent append. (Should it just have gone in after all, the second append is refused, since a record
    /// is stored once; then whoever pressed has their turn after the records are read again.)
    pub(super) async fn append(
        &mut self,
        mut records: Vec<NewRecord>,
        mut urgent: bool,
        mail: &mut Mail,
    ) -> Result<(), CommandError> {
        pass(Point::Append);
        let (gate, _) = watch::channel(false);
        let sessions = self.sessions.clone();
        let store = &sessions.inner.store;
        let mut state = store.state();
        let mut pressed = Vec::new();
        let (stored, later) = loop {
            let later = self.begin(&gate, &records);
            let tasks = self.projections();
            let append = Append { conversation_id: self.id, records: records.clone(), tasks, urgent };
            let message = tokio::select! {
                biased;
                stored = store.append(append) => break (stored, later),
                message = pressing(&mut state, mail, &sessions), if !urgent => message,
            };
            let Some(message) = message else {
                self.lost = Some(CommandError::ShuttingDown.to_string());
                return Err(CommandError::ShuttingDown);
            };
            self.press(message, &mut records, &mut pressed, mail);
            urgent = true;
        };
        match stored {
            Ok(committed) => {
                gate.send_replace(true);
                for effect in later {
                    self.start(effect, &gate);
                }
                self.forget_spools(&committed);
                self.rest();
                for Pressed { told, reply, .. } in pressed {
                    let _ = reply.send(told.map(|()| self.applied()).map_err(CommandError::from));
                }
                Ok(())
            }
            Err(e) => {
                if let AppendError::Failed { reason } = &e {
                    sessions.store_failed(reason);
                }
                self.overtaken = !pressed.is_empty() && matches!(e, AppendError::Invalid { .. });
                for Pressed { input, reply, .. } in pressed {
                    mail.put_back(Message::Command { input, reply });
                }
                Err(e.into())
            }
        }
    }

    /// Adds what a stop, an answer or a deletion makes of the memory to what waits. Being refused rests on what waits, too: nobody
    /// hears of an end or an answer that is not on disk.
    fn press(
        &mut self,
        message: Message,
        records: &mut Vec<NewRecord>,
        pressed: &mut Vec<Pressed>,
        mail: &mut Mail,
    ) {
        let Message::Command { input, reply } = message else {
            for stop in self.stops() {
                let stop = self.kill_first(stop);
                records.extend(self.take(stop).unwrap_or_default());
            }
            // Once all that is stored it is its turn.
            mail.put_back(message);
            return;
        };
        let input = self.kill_first(input);
        let told = self.take(input.clone()).map(|more| records.extend(more));
        pressed.push(Pressed { input, told, reply });
    }

    /// Cancels what is not wanted any more, and starts what is new: a model is asked, a tool call is prepared, and both wait for the
    /// gate before anything of them is shown or done. Returns what is to be started once it is open: the first call of a task,
    /// since the store refuses a request that was made before.
    fn begin(&mut self, gate: &watch::Sender<bool>, records: &[NewRecord]) -> Vec<Effect> {
        let wanted: HashSet<Effect> = effects(&self.history).into_iter().collect();
        self.running.retain(|effect, _| wanted.contains(effect));
        if self.records_only {
            return Vec::new();
        }
        let new = wanted.into_iter().filter(|effect| !self.running.contains_key(effect));
        let new: Vec<Effect> = new.collect();
        if records.iter().any(|record| matches!(record.body, RecordBody::TaskStarted(_))) {
            return new;
        }
        for effect in new {
            self.start(effect, gate);
        }
        Vec::new()
    }

    fn projections(&self) -> Vec<TaskProjection> {
        self.history
            .root()
            .map(|t| TaskProjection { task: view(self.id, t), wake_at: wake_at(t) })
            .into_iter()
            .collect()
    }

    fn start(&mut self, effect: Effect, gate: &watch::Sender<bool>) {
        let Some(job) = self.job(effect) else { return };
        let cancel = CancellationToken::new();
        self.running.insert(effect, cancel.clone().drop_guard());
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
                        written: Written::default(),
                    }),
                };
                let request = ModelRequest {
                    model: head.model.clone(),
                    system: prefix.system.clone(),
                    tools: prefix.tools.clone(),
                    transcript: self.history.transcript().clone(),
                    written: prefix.written.clone(),
                    max_output_tokens: None,
                };
                Some(Job::Model(Box::new(ModelJob {
                    conversation: self.id,
                    task,
                    item,
                    attempt,
                    head,
                    request,
                })))
            }
            Effect::Tool { task: id, call, attempt } => {
                let assessed = task.call(call)?.assessed.clone()?;
                let run = Run {
                    call_id: call,
                    attempt,
                    assessed,
                    workspace: head.workspace.clone(),
                    environment: head.environment.clone(),
                    max_secs: None,
                };
                Some(Job::Tool(Box::new(ToolJob { conversation: self.id, task: id, call, attempt, run })))
            }
        }
    }

    /// The output that was kept in case of a crash has served. Nothing was kept of a call that never started.
    fn forget_spools(&self, committed: &Committed) {
        let done: Vec<_> = committed
            .records
            .iter()
            .filter_map(|r| {
                if let RecordBody::CallFinished(f) = &r.body { Some((f.call_id, f.attempt)) } else { None }
            })
            .filter(|(_, attempt)| *attempt > 0)
            .collect();
        if !done.is_empty() {
            let tools = self.sessions.inner.runner.tools.clone();
            let forget = move || done.into_iter().for_each(|(call, attempt)| tools.forget(call, attempt));
            self.sessions.inner.supervisor.spawn("kept output", async move {
                // It fails only if the runtime ends.
                let _ = tokio::task::spawn_blocking(forget).await;
            });
        }
    }
}

/// Once the disk is full: the next message of a person who does not want to wait; `None` when the daemon ends.
async fn pressing(
    state: &mut watch::Receiver<StorageState>,
    mail: &mut Mail,
    sessions: &Sessions,
) -> Option<Message> {
    loop {
        if state.wait_for(|state| state.full).await.is_err() {
            future::pending::<()>().await;
        }
        tokio::select! {
            biased;
            // There is room again: what waits goes in by itself.
            _ = state.wait_for(|state| !state.full) => {}
            message = mail.pressing() => return Some(message),
            () = sessions.cutting() => return None,
        }
    }
}
