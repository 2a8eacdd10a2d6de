//! Checks a database against every promise, using what witnesses outside of it recorded.

mod forest;

use crate::{crowd::Ack, ledger::LedgerLine, model_server::ModelServer, witness::Witness};
use abide_client::protocol::{
    ApprovalId, CallId, ConversationId, QuestionId, TaskId,
    inbox::{Decision, QuestionKind},
    message::CallOutcome,
    record::{CallAssessed, CallFinished, RecordBody, TaskStarted},
    task::EndReason,
    transcript::EffectClass,
};
use forest::Forest;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
};

/// The text that the model gets as the result of a call interrupted by a crash.
const INTERRUPTED: &str = "Interrupted: the daemon stopped";

/// What was checked, in numbers.
#[derive(Debug, Default)]
pub struct Account {
    pub records: usize,
    pub tasks: usize,
    pub calls: usize,
    pub marks: usize,
    pub interrupted: usize,
    pub asked_about: usize,
    pub run_again: usize,
    pub acknowledged: usize,
    pub crash_loops: usize,
    pub sub_tasks: usize,
    pub forked_by_code: usize,
    pub delivered_as_notes: usize,
    pub delivered_to_waits: usize,
    pub read_by_code: usize,
    pub ended_with_parent: usize,
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} records, {} tasks, {} calls; {} marks by commands, none twice; {} calls interrupted and told to the model, {} of them \
             asked about, {} harmless ones run again; {} acknowledgements kept; {} pauses for too many deaths; {} sub-tasks ({} by code), \
             none started twice, {} delivered as notes, {} to waits, {} read by code, {} ended with their parents",
            self.records,
            self.tasks,
            self.calls,
            self.marks,
            self.interrupted,
            self.asked_about,
            self.run_again,
            self.acknowledged,
            self.crash_loops,
            self.sub_tasks,
            self.forked_by_code,
            self.delivered_as_notes,
            self.delivered_to_waits,
            self.read_by_code,
            self.ended_with_parent
        )
    }
}

#[derive(Default)]
struct Call {
    conversation: Option<ConversationId>,
    assessed: Option<CallAssessed>,
    started: Vec<u32>,
    finished: Vec<CallFinished>,
    allowed_by_person: bool,
    asked_about: usize,
}

#[derive(Default)]
struct Task {
    started: Option<Box<TaskStarted>>,
    ended: Vec<EndReason>,
    calls: Vec<CallId>,
}

#[derive(Default)]
struct Books {
    calls: HashMap<CallId, Call>,
    tasks: BTreeMap<TaskId, Task>,
    answers: HashMap<QuestionId, Vec<Option<String>>>,
    decisions: HashMap<ApprovalId, Vec<Decision>>,
    crash_loops: usize,
    forest: Forest,
}

/// The key of the task's script, from its prompt.
fn key(prompt: &str) -> String {
    let marker = prompt.split(['[', ']']).nth(1).and_then(|marker| marker.strip_prefix("k:"));
    marker.expect("a key").to_owned()
}

/// Checks everything; all tasks have ended.
///
/// # Panics
/// A promise is broken.
#[must_use]
pub fn audit(lines: &[LedgerLine], acks: &[Ack], witness: &Witness, model: &ModelServer) -> Account {
    let books = Books::of(lines);
    let mut account = Account {
        records: lines.len(),
        tasks: books.tasks.len(),
        calls: books.calls.len(),
        acknowledged: acks.len(),
        crash_loops: books.crash_loops,
        ..Account::default()
    };
    for (id, call) in &books.calls {
        call.check(*id, &mut account);
    }
    books.forest.check(model, &mut account);
    let is_code = |call: CallId| {
        books
            .calls
            .get(&call)
            .and_then(|call| call.assessed.as_ref())
            .is_some_and(|call| call.tool == "python")
    };
    account.forked_by_code = books.forest.forked_by(is_code);
    books.marks(witness, &mut account);
    books.tasks_and_model(model);
    books.acknowledged(acks);
    account
}

impl Books {
    fn of(lines: &[LedgerLine]) -> Self {
        let mut books = Self::default();
        for line in lines {
            let record = line.record();
            if let Some(task) = line.task {
                books.forest.enter(task, &record);
            }
            books.enter(line.conversation, line.task, record);
        }
        books
    }

    fn enter(&mut self, conversation: ConversationId, task: Option<TaskId>, body: RecordBody) {
        match body {
            RecordBody::TaskStarted(started) => {
                let task = self.tasks.entry(task.expect("a task")).or_default();
                assert!(task.started.replace(started).is_none(), "a task begins once");
            }
            RecordBody::TaskEnded(ended) => {
                self.tasks.entry(task.expect("a task")).or_default().ended.push(ended.reason);
            }
            RecordBody::CallAssessed(assessed) => {
                self.tasks.entry(task.expect("a task")).or_default().calls.push(assessed.call_id);
                let call = self.calls.entry(assessed.call_id).or_default();
                call.conversation = Some(conversation);
                assert!(call.assessed.replace(assessed).is_none(), "a call is assessed once");
            }
            RecordBody::CallStarted(started) => {
                self.calls.entry(started.call_id).or_default().started.push(started.attempt);
            }
            RecordBody::CallFinished(finished) => {
                self.calls.entry(finished.call_id).or_default().finished.push(finished);
            }
            RecordBody::ApprovalDecided(decided) => {
                self.calls.entry(decided.call_id).or_default().allowed_by_person |= decided.decision.allows();
                self.decisions.entry(decided.approval_id).or_default().push(decided.decision);
            }
            RecordBody::QuestionAsked(question) if question.kind == QuestionKind::Interrupted => {
                let call = question.call_id.expect("such a question is about a call");
                self.calls.entry(call).or_default().asked_about += 1;
            }
            RecordBody::QuestionAnswered(answered) => {
                self.answers.entry(answered.question_id).or_default().push(answered.response);
            }
            RecordBody::Paused(paused) => {
                self.crash_loops +=
                    usize::from(paused.reason == abide_client::protocol::task::PauseReason::CrashLoop);
            }
            _ => {}
        }
    }

    /// The marks of commands: each at most once, none before the call's start was on disk, none missing if
    /// the call succeeded.
    fn marks(&self, witness: &Witness, account: &mut Account) {
        let marks = witness.marks();
        let mut once = BTreeSet::new();
        for mark in &marks {
            assert!(once.insert(mark.as_str()), "the command that leaves the mark {mark} ran twice");
        }
        account.marks = marks.len();
        for call in self.calls.values() {
            let Some(mark) = call.assessed.as_ref().and_then(|p| Witness::mark_of(&p.arguments)) else {
                continue;
            };
            let left = once.remove(mark.as_str());
            assert!(!left || !call.started.is_empty(), "{mark} ran before its start was on disk");
            let succeeded = call.finished.iter().any(|f| f.outcome == CallOutcome::Done && f.result.ok);
            assert!(left || !succeeded, "{mark} is said to have run, and did not");
            let refused = call
                .finished
                .iter()
                .any(|f| matches!(f.outcome, CallOutcome::Rejected | CallOutcome::Refused));
            assert!(!left || !refused, "{mark} ran although a person said no");
        }
        assert!(once.is_empty(), "marks of calls that no record knows: {once:?}");
    }

    /// Every task ends once, and the model got the result of every interrupted call.
    fn tasks_and_model(&self, model: &ModelServer) {
        for (id, task) in &self.tasks {
            assert_eq!(task.ended.len(), 1, "task {id} ended {:?}", task.ended);
            let started = task.started.as_ref().expect("a task begins");
            if task.ended != [EndReason::Completed] {
                let is_below = started.parent_id.is_some();
                let legal = task.ended == [EndReason::Stopped]
                    || (is_below && task.ended == [EndReason::ParentEnded]);
                assert!(legal, "task {id} ended {:?}", task.ended);
                continue;
            }
            let cut_short = task
                .calls
                .iter()
                .flat_map(|call| &self.calls[call].finished)
                .filter(|f| f.outcome == CallOutcome::Interrupted)
                .count();
            let key = &key(&started.original_prompt);
            let last = model.last_request(key).expect("a completed task has asked the model").text();
            let told = last.matches(INTERRUPTED).count();
            assert!(
                told >= cut_short,
                "{key}: {cut_short} calls were cut short, the model was told of {told}: {last}"
            );
        }
    }

    /// Everything that the daemon acknowledged is in the database.
    fn acknowledged(&self, acks: &[Ack]) {
        for ack in acks {
            match ack {
                Ack::Started { key, reply } => {
                    let by_key: Vec<_> = self
                        .tasks
                        .iter()
                        .filter(|(_, t)| {
                            let message = t.started.as_ref().and_then(|s| s.client_message.as_ref());
                            message.is_some_and(|message| message.id == *key)
                        })
                        .map(|(id, _)| *id)
                        .collect();
                    assert_eq!(by_key, [reply.task_id], "the tasks of {key}");
                }
                Ack::Answered { question, said, won, counts } => {
                    let answers = self.answers.get(question).map_or(&[][..], Vec::as_slice);
                    assert_eq!(answers, std::slice::from_ref(counts), "the answers of {question}");
                    assert!(!won || said == counts, "{question}: who won counts");
                }
                Ack::Decided { approval, said, won, counts } => {
                    let decisions = self.decisions.get(approval).map_or(&[][..], Vec::as_slice);
                    assert_eq!(decisions, [*counts], "the decisions of {approval}");
                    assert!(!won || said == counts, "{approval}: who won counts");
                }
                Ack::Stopped(task) => {
                    assert_eq!(self.tasks[task].ended, [EndReason::Stopped], "task {task} was stopped");
                }
            }
        }
        let mut winners = BTreeSet::new();
        for ack in acks {
            if let Ack::Answered { question, won: true, .. } = ack {
                assert!(winners.insert(question.0), "{question} was won twice");
            }
            if let Ack::Decided { approval, won: true, .. } = ack {
                assert!(winners.insert(approval.0), "{approval} was won twice");
            }
        }
    }
}

impl Call {
    fn check(&self, id: CallId, account: &mut Account) {
        let assessed = self.assessed.as_ref().unwrap_or_else(|| panic!("call {id} was never assessed"));
        let [finished] = &self.finished[..] else {
            panic!("call {id} ({}) has {} results", assessed.summary, self.finished.len())
        };
        assert!(
            self.started.iter().copied().eq(1..=self.started.len() as u32),
            "call {id}: attempts {:?}",
            self.started
        );
        if let Some(data) = finished.result.data.as_ref().filter(|_| assessed.tool == "python") {
            // It asserts that the same request is the same sub-task. While the daemon drains its waits are
            // exceptions.
            let is_drained = data.value().to_string().contains("Abide is shutting down");
            let is_whole = finished.outcome != CallOutcome::Done || finished.result.ok || is_drained;
            assert!(is_whole, "the code of call {id} failed: {data:?}");
        }
        if assessed.effect == EffectClass::Unsafe {
            assert!(self.started.len() <= 1, "the unsafe call {id} ({}) was started twice", assessed.summary);
        }
        account.run_again += self.started.len().saturating_sub(1);
        let interrupted = finished.outcome == CallOutcome::Interrupted;
        account.interrupted += usize::from(interrupted);
        account.asked_about += self.asked_about;
        assert!(
            !interrupted || !self.started.is_empty(),
            "call {id} is said to be interrupted and never began"
        );
        assert!(
            assessed.effect != EffectClass::Pure || !interrupted,
            "the harmless call {id} ({}) is not run again",
            assessed.summary
        );
        let expected = usize::from(interrupted && self.allowed_by_person);
        assert_eq!(
            self.asked_about, expected,
            "questions about the cut short call {id} ({})",
            assessed.summary
        );
    }
}
