//! Turns an attempt into a job for the runner.

use super::Actor;
use crate::{
    runner::{CheckpointJob, ForkJob, Job, ModelJob, ToolJob, UndoJob},
    session::{
        mailbox::{Lane, Message},
        sub_tasks::OfCall,
    },
};
use abide_engine::{Effect, control, declares_tools, driver::Gate};
use abide_model::{ModelRequest, Written};
use abide_protocol::{record::TaskStarted, transcript::ToolSpec};
use abide_tools::Run;
use std::sync::{Arc, Mutex};
use tokio::sync::watch;

/// The start that all model requests of a task share.
pub(super) struct Prefix {
    system: Arc<str>,
    tools: Arc<[ToolSpec]>,
    /// The part that is already in the provider's format.
    written: Written,
}

impl Prefix {
    /// That of a task with this head. Sub-tasks mostly have the prompt and the tools of one of the others.
    fn of<'p>(head: &TaskStarted, mut others: impl Iterator<Item = &'p Self>) -> Self {
        let tools: &[ToolSpec] = if declares_tools(head.mode) { &head.tools } else { &[] };
        let (system, tools) = match others.find(|o| *o.system == *head.system_prompt && *o.tools == *tools) {
            Some(other) => (other.system.clone(), other.tools.clone()),
            None => (head.system_prompt.as_str().into(), tools.into()),
        };
        Self { system, tools, written: Written::default() }
    }
}

impl Actor {
    pub(super) fn start(&mut self, effect: Effect, gate: Gate) {
        let Some(job) = self.job(effect) else { return };
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
        let attempt = self.sessions.inner.runner.start(job, gate, deliver);
        self.running.insert(effect, attempt);
    }

    fn job(&mut self, effect: Effect) -> Option<Job> {
        let history = self.driver.history();
        let task = history.task(effect.task())?;
        let head = task.head.clone();
        match effect {
            Effect::Model { item, attempt, .. } => {
                let (transcript, turn) = (task.transcript().clone(), task.turn());
                let knows_cut = task.knows_cut;
                let task = task.id;
                if !self.prefixes.contains_key(&task) {
                    self.prefixes.retain(|id, _| history.task(*id).is_some_and(|task| !task.has_ended()));
                    let prefix = Prefix::of(&head, self.prefixes.values());
                    self.prefixes.insert(task, prefix);
                }
                let prefix = self.prefixes.get(&task)?;
                let request = ModelRequest {
                    model: head.model.clone(),
                    system: prefix.system.clone(),
                    tools: prefix.tools.clone(),
                    conversation: Some(self.id),
                    transcript,
                    written: prefix.written.clone(),
                    max_output_tokens: None,
                    shape: turn.shape(&head.tools),
                };
                Some(Job::Model(Box::new(ModelJob {
                    conversation: self.id,
                    task,
                    item,
                    attempt,
                    head,
                    turn,
                    request,
                    knows_cut,
                })))
            }
            Effect::Checkpoint { task: id, number } => Some(Job::Checkpoint(CheckpointJob {
                conversation: self.id,
                task: id,
                number,
                step: history.step_of_checkpoint(),
                workspace: head.workspace.clone(),
                environment: head.environment.clone(),
                since: history.newest_checkpoint(),
            })),
            Effect::Undo { task, .. } => {
                let begun = history.undo()?.clone();
                Some(Job::Undo(UndoJob { conversation: self.id, task, begun }))
            }
            Effect::Tool { task: id, call, attempt } => {
                let of_call = task.call(call)?;
                let assessed = of_call.assessed.clone()?;
                let sub_tasks = Box::new(OfCall {
                    sessions: self.sessions.clone(),
                    mailbox: self.mailbox.clone(),
                    task: id,
                    call,
                    attempt,
                    read: Mutex::default(),
                });
                if let Some((prompt, tools)) = control::fork_apart(&assessed.tool, &assessed.arguments) {
                    return Some(Job::Fork(Box::new(ForkJob {
                        conversation: self.id,
                        task: id,
                        call,
                        attempt,
                        head,
                        prompt,
                        tools,
                        forks: sub_tasks,
                    })));
                }
                let checkpoint_before = history.checkpoint_before(of_call);
                let run = Run {
                    conversation: self.id,
                    call_id: call,
                    attempt,
                    assessed,
                    workspace: head.workspace.clone(),
                    environment: head.environment.clone(),
                    max_secs: None,
                };
                Some(Job::Tool(Box::new(ToolJob {
                    conversation: self.id,
                    task: id,
                    call,
                    attempt,
                    run,
                    checkpoint_before,
                    sub_tasks,
                })))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{
        Event, mailbox,
        tests::{CONVERSATION, TASK, begin_sub_task, facts, head, open, sessions},
    };
    use abide_engine::{Command, History, Mint, Start, Tail, effects, handle};
    use abide_protocol::{TaskId, Timestamp};
    use tempfile::TempDir;
    use uuid::Uuid;

    #[tokio::test]
    async fn requests_of_two_tasks_begin_each_with_its_own() {
        let folder = TempDir::new().unwrap();
        let store = open(folder.path(), 0);
        let (mut history, mut mint) = (History::default(), Mint::new(Timestamp(1), 1));
        let root = Start {
            task: TASK,
            conversation: Some(facts()),
            head: head("of the root"),
            imported: Vec::new(),
            recalled: None,
            setup: None,
        };
        handle(&mut history, Command::Start(Box::new(root)), &mut mint).unwrap();
        let child = TaskId(Uuid::from_u128(3));
        begin_sub_task(&mut history, [TASK, child], "of the child", &mut mint);

        let (mailbox, mail) = mailbox::new();
        let mut actor = Actor::new(CONVERSATION, sessions(&store, folder.path()), mailbox, mail);
        actor.driver.on(Event::Loaded { history: Box::new(history), tail: Tail::default() }, &mut mint);
        let asked = effects(actor.driver.history());
        let mut request = |task: TaskId| {
            let effect = *asked.iter().find(|effect| effect.task() == task).unwrap();
            let Some(Job::Model(job)) = actor.job(effect) else { panic!("a model is asked") };
            job.request
        };
        let (first, of_child, second) = (request(TASK), request(child), request(TASK));
        assert_eq!((&*first.system, &*of_child.system), ("of the root", "of the child"));
        assert!(Arc::ptr_eq(&first.system, &second.system), "requests of one task share their start");
        assert!(Arc::ptr_eq(&first.tools, &second.tools));
    }
}
