//! Two people with a client each: they start, answer and decide (also at the same time), stop, pause and
//! resume, and repeat requests that got no reply. Each reply is checked against the disk.

use super::{
    actor::Message,
    disk::AppendError,
    life::{Event, Life},
};
use crate::world::{facts, head, prompts, somebody, tool};
use abide_engine::{Command, Fork, Intervention, Refusal, Start, Task, driver, import, recalled};
use abide_protocol::{
    ApprovalId, ConversationId, QuestionId, Seq, TaskId, Timestamp,
    checkpoint::{UndoBegun, UndoFrom},
    inbox::{Decision, QuestionKind},
    memory::{RECALL, Reason, RecallWay, Snippet, Source},
    method::task::ImportMessage,
    record::{By, ClientMessage, Imported, Recalled, TaskStarted, Via},
    task::{Limits, Mode, RestartPolicy},
    transcript::ToolSpec,
};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

#[derive(Default)]
pub(super) struct People {
    requests: BTreeMap<u64, Request>,
    last: u64,
    /// All questions that were ever open, each with its task.
    questions: Vec<(TaskId, QuestionId)>,
    approvals: Vec<ApprovalId>,
    /// Questions and approvals whose answer or decision was acknowledged.
    acknowledged: BTreeSet<uuid::Uuid>,
    /// The messages sent, by id, each with the task whose start was acknowledged.
    messages: BTreeMap<String, Option<TaskId>>,
    /// Start requests to which a daemon died before it replied.
    unacknowledged: Vec<ClientMessage>,
}

/// A request that has been sent.
#[derive(Debug, Clone)]
pub(super) enum Request {
    Start { message: ClientMessage, task: TaskId },
    Stop(TaskId),
    Answer(TaskId, QuestionId, Option<String>),
    Decide(ApprovalId, Decision),
    Delete,
    Fork(Fork),
    Other(Command),
}

impl Request {
    /// The task that the request names.
    const fn task(&self) -> Option<TaskId> {
        match self {
            Self::Stop(task) | Self::Answer(task, ..) => Some(*task),
            Self::Fork(fork) => Some(fork.parent),
            Self::Other(command) => command.task(),
            Self::Start { .. } | Self::Decide(..) | Self::Delete => None,
        }
    }
}

/// Why a request failed.
pub(super) type Failure = driver::Failure<AppendError>;

impl People {
    /// No request is without a reply.
    pub(super) fn are_idle(&self) -> bool {
        self.requests.is_empty() && self.unacknowledged.is_empty()
    }

    /// The conversation was deleted: its messages may be sent again.
    pub(super) fn forget_tasks(&mut self) {
        self.messages.values_mut().for_each(|started| *started = None);
    }
}

impl Life {
    /// A person may do something.
    pub(super) fn person(&mut self, person: usize) {
        let pace = if self.nature.calm { 500 } else { 2 * self.nature.pace + 200 };
        self.after(pace, Event::Person(person));
        if self.daemon.is_none() {
            return;
        }
        self.read_inbox();
        if let Some(message) = self.people.unacknowledged.pop() {
            self.cover("a request sent again");
            return self.start(message);
        }
        let live: Vec<TaskId> = self.disk.published.live().map(|task| task.id).collect();
        if live.is_empty() {
            if !self.nature.calm && self.one_in(3) {
                self.undo();
            } else if !self.nature.calm && self.one_in(2) {
                self.new_task();
            }
            return;
        }
        if self.nature.calm || self.one_in(2) {
            self.respond();
        }
        if self.one_in(self.nature.interventions) {
            let task = self.pick(&live);
            self.intervene(task);
        }
    }

    fn read_inbox(&mut self) {
        for task in self.disk.published.live() {
            for id in task.questions.keys().map(|id| (task.id, *id)) {
                if !self.people.questions.contains(&id) {
                    self.people.questions.push(id);
                }
            }
            for id in task.approvals.keys() {
                if !self.people.approvals.contains(id) {
                    self.people.approvals.push(*id);
                }
            }
        }
    }

    /// Answers an open item; sometimes the other person does too, at the same time.
    fn respond(&mut self) {
        let times = if self.one_in(3) { 2 } else { 1 };
        for _ in 0..times {
            let waits = |task: &&Task| {
                !task.questions.is_empty() || !task.approvals.is_empty() || task.paused.is_some()
            };
            let waiting: Vec<TaskId> = self.disk.published.live().filter(waits).map(|task| task.id).collect();
            if waiting.is_empty() {
                return;
            }
            let chosen = self.pick(&waiting);
            let Some(task) = self.disk.published.task(chosen) else { return };
            let (id, paused) = (task.id, task.paused);
            let question = task.questions.values().next().map(|q| (q.id, q.kind));
            let approval = task.approvals.values().next().map(|approval| (approval.id, approval.for_task));
            if let Some((approval, for_task)) = approval {
                let decision =
                    if for_task && self.one_in(3) { Decision::AllowForTask } else { self.decision() };
                self.send_request(Request::Decide(approval, decision));
            } else if let Some((question, kind)) = question {
                let response = self.response(kind);
                self.send_request(Request::Answer(id, question, response));
            } else if paused.is_some() && (self.nature.calm || self.one_in(2)) {
                self.send_request(Request::Other(Command::Resume { task: id, by: None }));
            }
        }
    }

    fn decision(&mut self) -> Decision {
        use Decision as D;
        let others = [D::AllowOnce, D::AllowOnce, D::AllowAlways, D::RejectOnce, D::RejectAlways];
        self.pick(&others)
    }

    fn response(&mut self, kind: QuestionKind) -> Option<String> {
        let response = if self.nature.calm && kind != QuestionKind::Agent {
            Some("go on")
        } else {
            self.pick(&[None, Some("go on"), Some("go on"), Some("go on"), Some("stop"), Some("words")])
        };
        response.map(str::to_owned)
    }

    fn intervene(&mut self, task: TaskId) {
        match self.roll(18) {
            13.. => {
                let intervention = self.intervention();
                let by = By { via: Via::Socket, name: "sim".to_owned() };
                self.send_request(Request::Other(Command::Intervene { task, intervention, by }));
            }
            12 if self.one_in(4) => self.send_request(Request::Delete),
            0..3 => self.send_request(Request::Other(Command::Pause { task })),
            3..6 => self.send_request(Request::Other(Command::Resume { task, by: None })),
            6 => self.send_request(Request::Stop(task)),
            7 => {
                let archived = self.one_in(2);
                self.send_request(Request::Other(Command::Archive { archived }));
            }
            8 => self.new_task(),
            9 if !self.people.messages.is_empty() => self.repeat(),
            10 => self.undo(),
            _ => self.respond_late(),
        }
    }

    /// Takes back what the newest root task has changed; refused while it is at work.
    fn undo(&mut self) {
        let Some(undone) = self.disk.published.root().map(|root| root.id) else { return };
        let undo = self.mint().record_id();
        let command = Command::Undo(UndoBegun {
            undo,
            undone,
            from: UndoFrom::Start,
            all: false,
            files: Vec::new(),
            hunk: None,
            by: somebody(),
        });
        self.send_request(Request::Other(command));
    }

    fn intervention(&mut self) -> Intervention {
        match self.roll(16) {
            0..5 => Intervention::Comment("Mind the gap.".to_owned()),
            5..12 => {
                Intervention::Modify { comment: "modify".to_owned(), content: "Do another thing.".to_owned() }
            }
            12..14 => Intervention::Delete { comment: "delete".to_owned() },
            14 => Intervention::Complete { summary: "That is enough.".to_owned() },
            _ => Intervention::Fail { error: "That will not do.".to_owned() },
        }
    }

    /// Answers an item that may be closed already.
    fn respond_late(&mut self) {
        if !self.people.approvals.is_empty() && self.one_in(2) {
            let (approvals, decision) = (self.people.approvals.clone(), self.decision());
            let approval = self.pick(&approvals);
            self.send_request(Request::Decide(approval, decision));
        } else if !self.people.questions.is_empty() {
            let questions = self.people.questions.clone();
            let (task, question) = self.pick(&questions);
            let response = self.response(QuestionKind::Agent);
            self.send_request(Request::Answer(task, question, response));
        }
    }

    fn new_task(&mut self) {
        let id = format!("m{}", self.people.messages.len());
        let message = ClientMessage { id: id.clone(), digest: "d".to_owned() };
        self.people.messages.insert(id, None);
        if self.one_in(4) {
            self.start(message.clone());
        }
        self.start(message);
    }

    /// Sends an earlier message id again, with the same digest or (a client's defect) with another one.
    fn repeat(&mut self) {
        let count = self.people.messages.len() as u64;
        let id = format!("m{}", self.roll(count));
        let digest = self.pick(&["d", "d", "other"]).to_owned();
        self.start(ClientMessage { id, digest });
    }

    fn start(&mut self, message: ClientMessage) {
        let task = TaskId(self.mint().uuid());
        self.send_request(Request::Start { message, task });
    }

    fn head(&mut self) -> TaskStarted {
        use Mode as M;
        let modes = [
            M::Chat,
            M::Agent,
            M::Agent,
            M::Agent,
            M::Agent,
            M::Roa,
            M::Roa,
            M::Plan,
            M::Auto,
            M::Tree,
            M::Tree,
        ];
        let mode = self.pick(&modes);
        let strict = self.nature.strict_limits;
        let mut limit = |n: u64| if strict && self.one_in(2) { n } else { 0 };
        let limits = Limits {
            max_steps: u32::try_from(limit(match mode {
                M::Roa => 2,
                M::Plan | M::Tree => 4,
                _ => 12,
            }))
            .expect("small"),
            max_duration_secs: limit(20),
            step_delay_ms: limit(700),
            max_tokens: limit(200),
            max_cost_micros: 0,
            question_timeout_secs: limit(9),
            max_depth: 2,
            max_children: 2,
            max_tasks: 5,
        };
        use RestartPolicy as R;
        let restart = self.pick(&[R::Resume, R::Resume, R::Resume, R::Ask, R::Pause]);
        let tools = if self.one_in(3) {
            Vec::new()
        } else {
            vec![tool(), ToolSpec { name: RECALL.to_owned(), ..tool() }]
        };
        let compact_at_tokens = self.nature.compact_at_tokens;
        let (prompts, checkpoints, parks) = (prompts(mode), self.one_in(2), self.one_in(2));
        TaskStarted { mode, limits, restart, tools, prompts, compact_at_tokens, checkpoints, parks, ..head() }
    }

    /// An earlier conversation that a task is started with, or none.
    fn imported(&mut self) -> Vec<Imported> {
        let mut messages = Vec::new();
        let replies = if self.one_in(4) { 2 } else { 0 };
        for turn in 0..replies {
            let calls = self.roll(3);
            let ids: Vec<String> = (0..calls).map(|call| format!("{turn}-{call}")).collect();
            let asked: Vec<_> = ids.iter().map(|id| json!({ "id": id, "tool": "tool" })).collect();
            messages.push(json!({ "role": "assistant", "text": "I look.", "toolCalls": asked }));
            // In another order than the calls.
            messages.extend(ids.iter().rev().map(|id| json!({ "role": "user", "callId": id, "result": id })));
        }
        let messages: Vec<ImportMessage> = serde_json::from_value(messages.into()).expect("messages");
        import(&messages, &mut self.mint()).expect("nothing is wrong with them")
    }

    pub(super) fn recalled(&mut self) -> Option<Recalled> {
        // No dice: other lives stay as they are.
        let found = self.people.last % 4;
        let snippet = |n: u64| Snippet {
            conversation_id: ConversationId(Uuid::nil()),
            title: "earlier".to_owned(),
            seq: Seq(n),
            at: Timestamp(0),
            source: Source::Agent,
            before: String::new(),
            text: "what was said".to_owned(),
            why: vec![Reason::Words(1)],
        };
        recalled(RecallWay::Words, (0..found).map(snippet).collect(), None)
    }

    fn send_request(&mut self, request: Request) {
        self.send_request_within(60, request);
    }

    pub(super) fn send_request_within(&mut self, ms: u64, request: Request) {
        self.people.last += 1;
        // As when another conversation is deleted.
        if self.daemon.is_some() && self.people.last.is_multiple_of(5) {
            self.at_once(Event::Mail(Box::new(Message::Reread)));
        }
        self.people.requests.insert(self.people.last, request);
        self.in_this_daemon(ms, Event::Request(self.people.last));
    }

    /// The daemon receives the request.
    pub(super) fn request(&mut self, number: u64) {
        let Some(request) = self.people.requests.get(&number).cloned() else { return };
        let command = match request {
            Request::Start { message, task } => {
                if self.disk.started(&message).is_some() {
                    return self.reply(number, Ok(None));
                }
                let head = TaskStarted { client_message: Some(message), ..self.head() };
                let imported = self.imported();
                let recalled = self.recalled();
                Command::Start(Box::new(Start {
                    task,
                    conversation: Some(facts()),
                    head,
                    imported,
                    recalled,
                    setup: None,
                }))
            }
            Request::Stop(task) => Command::Stop { task },
            Request::Answer(task, question, response) => {
                Command::Answer { task, question, response, by: None }
            }
            Request::Decide(approval, decision) => {
                Command::Decide { approval, decision, note: None, rule: None, by: somebody() }
            }
            Request::Delete => return self.admit(Message::Delete { reply: number }),
            Request::Fork(fork) => return self.admit(Message::Fork { fork, reply: number }),
            Request::Other(command) => command,
        };
        self.admit(Message::Command { command, reply: number });
    }

    /// Checks a reply against the records on disk; it may name a task.
    pub(super) fn reply(&mut self, number: u64, answer: Result<Option<TaskId>, Failure>) {
        let Some(request) = self.people.requests.remove(&number) else { return };
        self.log(|| format!("    reply to {request:?}: {answer:?}"));
        if let (Err(Failure::Refused(Refusal::Ended(reason))), Some(task)) = (&answer, request.task()) {
            let ended = self.disk.published.task(task).is_none_or(Task::has_ended);
            assert!(ended, "a command is refused because its task has ended ({reason:?}), and it has not");
        }
        match request {
            Request::Start { message, task } => self.check_start_reply(&message, task, &answer),
            Request::Stop(task) => {
                let ended = self.disk.published.task(task).is_none_or(|task| task.has_ended());
                let failed = matches!(answer, Err(Failure::ShuttingDown | Failure::Failed(_)));
                assert!(ended || failed, "a stop is acknowledged, and the task lives: {answer:?}");
            }
            Request::Answer(_, question, response) => {
                let recorded = self.audit.answer(question);
                match answer {
                    Ok(_) => {
                        assert_eq!(recorded, Some(&response), "the acknowledged answer is the recorded one");
                        assert!(
                            self.people.acknowledged.insert(question.0),
                            "only one answer is acknowledged"
                        );
                    }
                    Err(Failure::Refused(Refusal::Answered(first))) => {
                        assert_eq!(recorded, Some(&first.said), "the refusal names the first answer");
                        self.cover("a second answer refused");
                    }
                    Err(Failure::Refused(Refusal::NoQuestion)) => {
                        assert_eq!(recorded, None, "the question has no answer");
                    }
                    Err(_) => {}
                }
            }
            Request::Decide(approval, decision) => {
                let recorded = self.audit.decision(approval);
                match answer {
                    Ok(_) => {
                        assert_eq!(recorded, Some(decision), "the acknowledged decision is the recorded one");
                        assert!(
                            self.people.acknowledged.insert(approval.0),
                            "only one decision is acknowledged"
                        );
                    }
                    Err(Failure::Refused(Refusal::Decided(first))) => {
                        assert_eq!(recorded, Some(first.said), "the refusal names the first decision");
                        self.cover("a second answer refused");
                    }
                    Err(Failure::Refused(Refusal::NoApproval)) => {
                        assert_eq!(recorded, None, "the approval has no decision");
                    }
                    Err(_) => {}
                }
            }
            Request::Delete => {
                assert!(
                    answer.is_err() || self.disk.records.is_empty(),
                    "a deletion is acknowledged, and records are left"
                );
            }
            Request::Fork(fork) => self.check_fork_reply(fork, answer),
            Request::Other(_) => {}
        }
    }

    /// A message starts one task, however often it is sent, and every reply names that task.
    fn check_start_reply(
        &mut self,
        message: &ClientMessage,
        task: TaskId,
        answer: &Result<Option<TaskId>, Failure>,
    ) {
        match self.disk.started(message) {
            Some(Ok(started)) => {
                let acknowledged = self.people.messages.get_mut(&message.id).expect("it was sent");
                let first = *acknowledged.get_or_insert(started);
                assert_eq!(first, started, "a message starts one task");
                if started != task {
                    self.cover("a message sent twice");
                }
            }
            Some(Err(())) => self.cover("a message id sent with another digest"),
            None => {
                assert!(answer.is_err(), "a start is acknowledged, and its task is not on disk");
                let acknowledged = self.people.messages.get(&message.id).is_some_and(Option::is_some);
                assert!(!acknowledged, "an acknowledged task is no longer on disk");
            }
        }
    }

    /// The daemon has died, and with it all connections: starts without a reply will be sent again.
    pub(super) fn break_connections(&mut self) {
        for request in std::mem::take(&mut self.people.requests).into_values() {
            if let Request::Start { message, .. } = request
                && message.digest == "d"
            {
                self.people.unacknowledged.push(message);
            }
        }
    }
}
