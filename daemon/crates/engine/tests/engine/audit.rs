//! What must hold after every record, whatever happened: read from the records alone, without asking the engine.

mod call;
mod run;
pub(crate) mod status;

use abide_engine::{History, Stage, Task, effects, is_at_work, wake_at};
use abide_protocol::{
    ApprovalId, QuestionId, TaskId,
    inbox::Decision,
    record::{NewRecord, RecordBody},
    task::Status,
    transcript::Entry,
};
use run::Run;
use std::collections::{BTreeSet, HashMap, HashSet};

/// What the records have said so far.
#[derive(Default)]
pub(crate) struct Audit {
    /// The same records, folded one by one and never anything else.
    folded: History,
    decided: HashMap<ApprovalId, Decision>,
    answered: HashMap<QuestionId, Option<String>>,
    ended: HashSet<TaskId>,
    /// From which status to which other one a single append has led.
    pub(crate) steps: BTreeSet<(Status, Status)>,
    /// The newest task.
    run: Run,
}

impl Audit {
    /// Looks at one append and at the state it led to. `whole`: all that follows by itself is in it too.
    pub(crate) fn append(&mut self, records: &[NewRecord], history: &History, whole: bool) {
        let before = self.folded.root().map(|t| (t.id, abide_engine::status(t)));
        self.run.begin_append(self.folded.live().any(is_at_work));
        for record in records {
            self.record(record);
            self.folded.fold(record);
        }
        self.run.end_append();
        assert_eq!(&self.folded, history, "the records tell the state");
        let Some(task) = history.root() else {
            assert!(
                records.iter().all(|record| record.task_id.is_none()),
                "a task's records and no task: {records:?}"
            );
            return;
        };
        let after = abide_engine::status(task);
        if let Some((_, from)) = before.filter(|(id, from)| *id == task.id && *from != after) {
            assert!(status::is_legal(from, after), "{from:?} -> {after:?}");
            self.steps.insert((from, after));
        }
        self.run.is_frozen(task);
        paired(history.entries(), matches!(task.stage, Stage::Calling(_)));
        if whole {
            goes_on(history, task, after);
        }
    }

    /// The conversation was deleted.
    pub(crate) fn forget(&mut self) {
        let steps = std::mem::take(&mut self.steps);
        *self = Self { steps, ..Self::default() };
    }

    /// The response that counts.
    pub(crate) fn answer(&self, question: QuestionId) -> Option<&Option<String>> {
        self.answered.get(&question)
    }

    /// The decision that counts.
    pub(crate) fn decision(&self, approval: ApprovalId) -> Option<Decision> {
        self.decided.get(&approval).copied()
    }

    fn record(&mut self, record: &NewRecord) {
        if let Some(task) = record.task_id {
            assert!(!self.ended.contains(&task), "nothing comes after an end: {record:?}");
        }
        match &record.body {
            RecordBody::TaskStarted(head) => {
                assert!(self.folded.live().next().is_none(), "one task at a time");
                self.run = Run::new((**head).clone());
            }
            RecordBody::TaskEnded(_) => self.ended.extend(record.task_id),
            RecordBody::ApprovalDecided(d) => {
                let first = self.decided.insert(d.approval_id, d.decision);
                assert_eq!(first, None, "one decision for each approval");
            }
            RecordBody::QuestionAnswered(a) => {
                let first = self.answered.insert(a.question_id, a.response.clone());
                assert_eq!(first, None, "one answer to each question");
            }
            _ => {}
        }
        self.run.record(record);
    }
}

/// Every call has exactly one result, in call order, right behind its reply; only the newest reply's may still be missing.
pub(crate) fn paired(entries: &[Entry], calling: bool) {
    let mut rest = entries.iter();
    while let Some(entry) = rest.next() {
        match entry {
            Entry::Reply(reply) if calling && rest.len() == 0 => assert!(reply.calls().count() > 0),
            Entry::Reply(reply) => {
                for call in reply.calls() {
                    match rest.next() {
                        Some(Entry::Result(r)) => {
                            assert_eq!((r.call_id, &r.provider_id), (call.id, &call.provider_id));
                        }
                        other => panic!("the result of {call:?} is missing: {other:?}"),
                    }
                }
            }
            Entry::Result(r) => panic!("a result without its call: {r:?}"),
            Entry::User(_) | Entry::Note(_) | Entry::Partial(_) => {}
        }
    }
}

/// A live task never hangs: something is under way, or a person is asked, or a moment is waited for.
fn goes_on(history: &History, task: &Task, status: Status) {
    if task.has_ended() {
        assert_eq!((effects(history), wake_at(task)), (Vec::new(), None));
        return;
    }
    let asked = !task.questions.is_empty() || !task.approvals.is_empty();
    match status {
        Status::WaitingUser | Status::WaitingApproval => assert!(asked),
        Status::Paused => assert!(task.paused.is_some()),
        _ => {
            let waits = !effects(history).is_empty() || wake_at(task).is_some();
            assert!(waits, "the task hangs: {task:#?}");
        }
    }
}
