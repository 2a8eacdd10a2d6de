//! Two people with a client each: they start, answer and decide (also at the same time), stop, pause and resume, and repeat requests
//! that got no reply. Each reply is checked against the disk.

use super::{
    actor::Message,
    disk::AppendError,
    life::{Event, Life},
};
use crate::world::{facts, head};
use abide_engine::{Command, Fork, Refusal, Start, Task, driver};
use abide_protocol::{
    ApprovalId, QuestionId, TaskId,
    inbox::{Decision, QuestionKind},
    record::{ClientMessage, TaskStarted},
    task::{Limits, Mode, RestartPolicy},
};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub(super) struct People {
    requests: BTreeMap<u64, Ask>,
    last: u64,
    /// All items that were ever open.
    questions: Vec<(TaskId, QuestionId)>,
    approvals: Vec<ApprovalId>,
    /// Items whose answer or decision was acknowledged as the winning one.
    won: BTreeSet<uuid::Uuid>,
    /// Start requests by id, with the task that was acknowledged.
    messages: BTreeMap<String, Option<TaskId>>,
    /// Requests sent to a daemon that died before its reply.
    unacknowledged: Vec<ClientMessage>,
}

/// A request that has been sent.
#[derive(Debug, Clone)]
enum Ask {
    Start { message: ClientMessage, task: TaskId },
    Stop(TaskId),
    Answer(TaskId, QuestionId, Option<String>),
    Decide(ApprovalId, Decision),
    Delete,
    Fork { parent: TaskId, task: TaskId },
    Other(Command),
}

impl Ask {
    /// The task that the request names.
    const fn task(&self) -> Option<TaskId> {
        match self {
            Self::Stop(task) | Self::Answer(task, ..) | Self::Fork { parent: task, .. } => Some(*task),
            Self::Other(command) => command.task(),
            Self::Start { .. } | Self::Decide(..) | Self::Delete => None,
        }
    }
}

/// The greatest depth of a sub-task.
const DEEPEST: u32 = 2;
/// The most live tasks of a tree.
const MOST: usize = 5;

/// Why a request failed.
type Failure = driver::Failure<AppendError>;

impl People {
    pub(super) fn await_nothing(&self) -> bool {
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
            self.came_by("a request sent again");
            return self.start(message);
        }
        let live: Vec<TaskId> = self.disk.told.live().map(|task| task.id).collect();
        if live.is_empty() {
            if !self.nature.calm && self.one_in(2) {
                self.new_task();
            }
            return;
        }
        if self.nature.calm || self.one_in(2) {
            self.respond();
        }
        if self.one_in(self.nature.meddling) {
            let task = self.pick(&live);
            self.meddle(task);
        }
    }

    fn read_inbox(&mut self) {
        for task in self.disk.told.live() {
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
            let waiting: Vec<TaskId> = self.disk.told.live().filter(waits).map(|task| task.id).collect();
            if waiting.is_empty() {
                return;
            }
            let chosen = self.pick(&waiting);
            let Some(task) = self.disk.told.task(chosen) else { return };
            let (id, paused) = (task.id, task.paused);
            let question = task.questions.values().next().map(|q| (q.id, q.kind));
            let approval = task.approvals.keys().next().copied();
            if let Some(approval) = approval {
                let decision = self.decision();
                self.ask(Ask::Decide(approval, decision));
            } else if let Some((question, kind)) = question {
                let response = self.response(kind);
                self.ask(Ask::Answer(id, question, response));
            } else if paused.is_some() && (self.nature.calm || self.one_in(2)) {
                self.ask(Ask::Other(Command::Resume { task: id }));
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

    fn meddle(&mut self, task: TaskId) {
        match self.roll(13) {
            12 if self.one_in(4) => self.ask(Ask::Delete),
            0..3 => self.ask(Ask::Other(Command::Pause { task })),
            3..6 => self.ask(Ask::Other(Command::Resume { task })),
            6 => self.ask(Ask::Stop(task)),
            7 => {
                let archived = self.one_in(2);
                self.ask(Ask::Other(Command::Archive { archived }));
            }
            8 => self.new_task(),
            9 if !self.people.messages.is_empty() => self.repeat(),
            _ => self.respond_late(),
        }
    }

    /// Answers an item that may be closed already.
    fn respond_late(&mut self) {
        if !self.people.approvals.is_empty() && self.one_in(2) {
            let (approvals, decision) = (self.people.approvals.clone(), self.decision());
            let approval = self.pick(&approvals);
            self.ask(Ask::Decide(approval, decision));
        } else if !self.people.questions.is_empty() {
            let questions = self.people.questions.clone();
            let (task, question) = self.pick(&questions);
            let response = self.response(QuestionKind::Agent);
            self.ask(Ask::Answer(task, question, response));
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

    /// Repeats a request's id, with the same words or (a client's defect) with others.
    fn repeat(&mut self) {
        let count = self.people.messages.len() as u64;
        let id = format!("m{}", self.roll(count));
        let digest = self.pick(&["d", "d", "other"]).to_owned();
        self.start(ClientMessage { id, digest });
    }

    fn start(&mut self, message: ClientMessage) {
        let task = TaskId(self.mint().uuid());
        self.ask(Ask::Start { message, task });
    }

    /// A tool starts a task beneath its own.
    pub(super) fn fork(&mut self, parent: TaskId) {
        let depth = self.disk.told.task(parent).map_or(0, |task| task.head.depth);
        if depth < DEEPEST && self.disk.told.live().count() < MOST {
            let task = TaskId(self.mint().uuid());
            self.ask(Ask::Fork { parent, task });
        }
    }

    fn head(&mut self) -> TaskStarted {
        let strict = self.nature.strict_limits;
        let mut limit = |n: u64| if strict && self.one_in(2) { n } else { 0 };
        let limits = Limits {
            max_steps: u32::try_from(limit(12)).expect("small"),
            max_duration_secs: limit(20),
            step_delay_ms: limit(700),
            max_tokens: limit(200),
            max_cost_micros: 0,
            question_timeout_secs: limit(9),
        };
        use RestartPolicy as R;
        let restart = self.pick(&[R::Resume, R::Resume, R::Resume, R::Ask, R::Pause]);
        let mode = if self.one_in(8) { Mode::Chat } else { Mode::Agent };
        TaskStarted { mode, limits, restart, ..head() }
    }

    fn ask(&mut self, ask: Ask) {
        self.people.last += 1;
        self.people.requests.insert(self.people.last, ask);
        self.in_this_daemon(60, Event::Request(self.people.last));
    }

    /// The daemon receives the request.
    pub(super) fn request(&mut self, number: u64) {
        let Some(ask) = self.people.requests.get(&number).cloned() else { return };
        let command = match ask {
            Ask::Start { message, task } => {
                if self.disk.started(&message).is_some() {
                    return self.reply(number, Ok(()));
                }
                let head = TaskStarted { client_message: Some(message), ..self.head() };
                Command::Start(Box::new(Start { task, conversation: Some(facts()), head }))
            }
            Ask::Stop(task) => Command::Stop { task },
            Ask::Answer(task, question, response) => Command::Answer { task, question, response, by: None },
            Ask::Decide(approval, decision) => Command::Decide { approval, decision, note: None, by: None },
            Ask::Delete => return self.post(Message::Delete { reply: number }),
            Ask::Fork { parent, task } => {
                let head = TaskStarted { original_prompt: format!("Do a part: {task}"), ..self.head() };
                let fork = Box::new(Fork { parent, task, head });
                return self.post(Message::Fork { fork, reply: number });
            }
            Ask::Other(command) => command,
        };
        self.post(Message::Command { command, reply: number });
    }

    /// Checks a reply: what it says must be on disk.
    pub(super) fn reply(&mut self, number: u64, told: Result<(), Failure>) {
        let Some(ask) = self.people.requests.remove(&number) else { return };
        self.say(|| format!("    told of {ask:?}: {told:?}"));
        if let (Err(Failure::Refused(Refusal::Ended(reason))), Some(task)) = (&told, ask.task()) {
            let ended = self.disk.told.task(task).is_none_or(Task::has_ended);
            assert!(ended, "told that the task has ended ({reason:?}), and it has not");
        }
        match ask {
            Ask::Start { message, task } => self.told_of_start(&message, task, &told),
            Ask::Stop(task) => {
                let ended = self.disk.told.task(task).is_none_or(|task| task.has_ended());
                let lives = matches!(told, Err(Failure::ShuttingDown | Failure::Failed(_)));
                assert!(ended || lives, "told of a stop that has not happened: {told:?}");
            }
            Ask::Answer(_, question, response) => {
                let answer = self.audit.answer(question);
                match told {
                    Ok(()) => {
                        assert_eq!(answer, Some(&response), "the answer that won is the one that counts");
                        assert!(self.people.won.insert(question.0), "one answer wins");
                    }
                    Err(Failure::Refused(Refusal::Answered(first))) => {
                        assert_eq!(answer, Some(&first.said), "the loser is told the first answer");
                        self.came_by("a lost race");
                    }
                    Err(Failure::Refused(Refusal::NoQuestion)) => {
                        assert_eq!(answer, None, "it has no answer");
                    }
                    Err(_) => {}
                }
            }
            Ask::Decide(approval, decision) => {
                let decided = self.audit.decision(approval);
                match told {
                    Ok(()) => {
                        assert_eq!(decided, Some(decision), "the decision that won is the one that counts");
                        assert!(self.people.won.insert(approval.0), "one decision wins");
                    }
                    Err(Failure::Refused(Refusal::Decided(first))) => {
                        assert_eq!(decided, Some(first.said), "the loser is told the first decision");
                        self.came_by("a lost race");
                    }
                    Err(Failure::Refused(Refusal::NoApproval)) => assert_eq!(decided, None, "it is decided"),
                    Err(_) => {}
                }
            }
            Ask::Delete => {
                assert!(
                    told.is_err() || self.disk.records.is_empty(),
                    "told of a deletion, and records are there"
                );
            }
            Ask::Fork { parent, task } => {
                let parent_of = |task: &Task| task.head.parent_id;
                let started = self.disk.told.task(task).and_then(parent_of);
                match told {
                    Ok(()) => assert!(started == Some(parent) || self.disk.told.task(parent).is_none()),
                    Err(Failure::Refused(_)) => assert_eq!(started, None, "refused, and it is there"),
                    Err(_) => {}
                }
            }
            Ask::Other(_) => {}
        }
    }

    /// However often a message is sent, it starts one task, and every reply names that one.
    fn told_of_start(&mut self, message: &ClientMessage, task: TaskId, told: &Result<(), Failure>) {
        match self.disk.started(message) {
            Some(Ok(started)) => {
                let acknowledged = self.people.messages.get_mut(&message.id).expect("it was sent");
                let first = *acknowledged.get_or_insert(started);
                assert_eq!(first, started, "one message, one task");
                if started != task {
                    self.came_by("a message sent twice");
                }
            }
            Some(Err(())) => self.came_by("a conflict"),
            None => {
                assert!(told.is_err(), "told of a task that is not on disk");
                let acknowledged = self.people.messages.get(&message.id).is_some_and(Option::is_some);
                assert!(!acknowledged, "a task that was acknowledged has vanished");
            }
        }
    }

    /// Connections break: requests without a reply are unacknowledged, and starts are repeated.
    pub(super) fn hang_up(&mut self) {
        for ask in std::mem::take(&mut self.people.requests).into_values() {
            if let Ask::Start { message, .. } = ask
                && message.digest == "d"
            {
                self.people.unacknowledged.push(message);
            }
        }
    }
}
