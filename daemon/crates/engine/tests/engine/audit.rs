//! What must hold after every append, whatever happened.

use abide_engine::{History, Stage, Task, effects, is_legal, status, wake_at};
use abide_protocol::{
    ApprovalId, CallId, QuestionId, TaskId,
    record::{CallPlanned, NewRecord, Permission, RecordBody},
    task::{PauseReason, Status},
    transcript::{EffectClass, Entry},
};
use std::collections::{HashMap, HashSet};

/// What the records have said so far, read without the engine.
#[derive(Default)]
pub(crate) struct Audit {
    /// The same records, folded one by one and never anything else.
    folded: History,
    calls: HashMap<CallId, Seen>,
    decided: HashSet<ApprovalId>,
    answered: HashSet<QuestionId>,
    ended: HashSet<TaskId>,
    paused: Option<PauseReason>,
}

#[derive(Default)]
struct Seen {
    planned: Option<CallPlanned>,
    allowed: bool,
    attempts: u32,
    finished: bool,
}

impl Audit {
    /// Looks at one append and at the state it led to.
    pub(crate) fn append(&mut self, records: &[NewRecord], history: &History) {
        let before = self.folded.root().map(|t| (t.id, status(t)));
        for record in records {
            self.record(record);
            self.folded.fold(record);
        }
        assert_eq!(&self.folded, history, "the records tell the state");
        let Some(task) = history.root() else { return };
        let after = status(task);
        if let Some((_, from)) = before.filter(|(id, _)| *id == task.id) {
            assert!(is_legal(from, after), "{from:?} -> {after:?}");
        }
        transcript(history.entries(), matches!(task.stage, Stage::Calling(_)));
        goes_on(history, task, after);
    }

    fn record(&mut self, record: &NewRecord) {
        if let Some(task) = record.task_id {
            assert!(!self.ended.contains(&task), "nothing comes after an end: {record:?}");
        }
        match &record.body {
            RecordBody::TaskStarted(_) => self.paused = None,
            RecordBody::TaskEnded(_) => {
                assert!(self.calls.values().all(|c| c.finished), "every call has its result before the end");
                self.ended.extend(record.task_id);
            }
            RecordBody::Reply(r) => {
                self.calls.extend(r.reply.calls().map(|c| (c.id, Seen::default())));
            }
            RecordBody::ModelRequested(_) => {
                assert!(
                    self.calls.values().all(|c| c.finished),
                    "every call has its result before the next request"
                );
                assert_eq!(self.paused, None, "no request leaves in a pause");
            }
            RecordBody::CallPlanned(p) => self.call(p.call_id).planned = Some(p.clone()),
            RecordBody::ApprovalDecided(d) => {
                assert!(self.decided.insert(d.approval_id), "one decision for each approval");
                self.call(d.call_id).allowed |= d.decision.allows();
            }
            RecordBody::QuestionAnswered(a) => {
                assert!(self.answered.insert(a.question_id), "one answer to each question");
            }
            RecordBody::CallStarted(s) => {
                assert_eq!(self.paused, None, "no call begins in a pause");
                self.call(s.call_id).start(s.attempt);
            }
            RecordBody::CallFinished(f) => {
                let call = self.call(f.call_id);
                assert!(!call.finished, "one result for each call: {f:?}");
                call.finished = true;
            }
            RecordBody::Paused(p) => self.paused = Some(p.reason),
            RecordBody::Resumed(r) => assert_eq!(self.paused.take(), Some(r.was)),
            _ => {}
        }
    }

    fn call(&mut self, id: CallId) -> &mut Seen {
        self.calls.get_mut(&id).expect("the call is of a recorded reply")
    }
}

impl Seen {
    fn start(&mut self, attempt: u32) {
        let plan = self.planned.as_ref().expect("a call is planned before it starts");
        assert!(!self.finished, "a finished call does not start");
        assert_eq!(attempt, self.attempts + 1, "attempts count up");
        assert!(attempt == 1 || plan.effect != EffectClass::Unsafe, "an unsafe call starts once");
        assert_ne!(plan.effect, EffectClass::Control, "control calls are the engine's own");
        match plan.permission {
            Permission::Ask => assert!(self.allowed, "a person was asked, and has to allow it"),
            Permission::Denied(_) => panic!("a denied call started"),
            Permission::Tier | Permission::Rule | Permission::Yes => {}
        }
        self.attempts = attempt;
    }
}

/// Every call has exactly one result, in call order, right behind its reply; only the newest reply's may still be missing.
fn transcript(entries: &[Entry], calling: bool) {
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
