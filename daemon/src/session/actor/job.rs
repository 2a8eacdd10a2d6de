//! From an attempt that is to be started to the runner's job.

use super::Actor;
use crate::{
    runner::{Job, ModelJob, ToolJob},
    session::mailbox::{Lane, Message},
};
use abide_engine::{Effect, driver::Gate};
use abide_model::{ModelRequest, Written};
use abide_protocol::{TaskId, transcript::ToolSpec};
use abide_tools::Run;
use std::sync::Arc;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// What every request of a task begins with.
pub(super) struct Prefix {
    task: TaskId,
    system: Arc<str>,
    tools: Arc<[ToolSpec]>,
    /// As the provider has it.
    written: Written,
}

impl Actor {
    pub(super) fn start(&mut self, effect: Effect, gate: Gate) {
        let Some(job) = self.job(effect) else { return };
        let cancel = CancellationToken::new();
        self.running.insert(effect, cancel.clone().drop_guard());
        let mailbox = self.mailbox.clone();
        let deliver = Box::new(move |effect, input| {
            let sent = async move {
                // A closed mailbox means that the outcome no longer counts.
                let _ = mailbox.put(Lane::Urgent, Message::Outcome { effect, input: Box::new(input) }).await;
            };
            Box::pin(sent) as _
        });
        let gate = match gate {
            Gate::Closed => self.gate.subscribe(),
            Gate::Open => watch::channel(true).1,
        };
        self.sessions.inner.runner.start(job, gate, cancel, deliver);
    }

    fn job(&mut self, effect: Effect) -> Option<Job> {
        let history = self.driver.history();
        let task = history.task(effect.task())?;
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
                    transcript: history.transcript().clone(),
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
}
