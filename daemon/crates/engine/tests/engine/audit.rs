//! Invariants that must hold after every record. They are checked from the records alone, without asking the
//! engine.

mod call;
mod files;
mod phase;
mod run;
pub(crate) mod status;
mod tree;

use abide_engine::{Effect, History, Origin, Task, effects, is_at_work, wake_at};
use abide_protocol::{
    ApprovalId, QuestionId, TaskId,
    inbox::Decision,
    record::{Intervened, Intervener, NewRecord, RecordBody},
    task::{PauseReason, Status},
    transcript::Entry,
};
use files::Files;
use std::{
    collections::{BTreeSet, HashMap, HashSet},
    mem,
};
use tree::Tree;

/// State collected from the records.
#[derive(Default)]
pub(crate) struct Audit {
    /// The same records, folded one by one.
    folded: History,
    decided: HashMap<ApprovalId, Decision>,
    answered: HashMap<QuestionId, Option<String>>,
    ended: HashSet<TaskId>,
    /// The status changes that single appends have made.
    pub(crate) steps: BTreeSet<(Status, Status)>,
    /// Interventions by people, each with the status of the task that it found.
    pub(crate) interventions: BTreeSet<String>,
    /// The newest root task and all tasks beneath it.
    tree: Tree,
    files: Files,
}

impl Audit {
    /// Checks an append and the state after it. `whole`: the append includes what the tasks did next.
    pub(crate) fn append(&mut self, records: &[NewRecord], history: &History, whole: bool) {
        let stands = |task: &Task| (task.id, abide_engine::status(task));
        let before: Vec<(TaskId, Status)> = self.folded.tasks().iter().map(stands).collect();
        let at_work = self.folded.live().filter(|task| is_at_work(task)).map(|task| task.id);
        self.tree.begin_append(at_work.collect());
        for record in records {
            self.record(record);
            self.folded.fold(record);
        }
        self.tree.end_append();
        self.intervened(records, &before);
        assert_eq!(&self.folded, history, "the state is that of the folded records");
        self.tree.check(history);
        assert!(
            history.root().is_some() || records.iter().all(|record| record.task_id.is_none()),
            "a task's records and no task: {records:?}"
        );
        for (id, from) in before {
            let Some(to) = history.task(id).map(abide_engine::status).filter(|to| *to != from) else {
                continue;
            };
            assert!(status::is_legal(from, to), "{from:?} -> {to:?}");
            self.steps.insert((from, to));
        }
        let under_way = effects(history);
        for task in history.tasks() {
            if records.iter().any(|record| record.task_id == Some(task.id)) {
                paired(task.entries(), task.calls().iter().any(|call| call.origin == Origin::Reply));
                self.tree.check_transcript(task);
            }
            if whole {
                // A task's call may wait for work on the files of the whole tree.
                let is_of = |effect: &Effect| match effect.ends_with_its_task() {
                    true => effect.task() == task.id,
                    false => !task.has_ended(),
                };
                goes_on(task, under_way.iter().any(is_of));
            }
        }
    }

    fn intervened(&mut self, records: &[NewRecord], before: &[(TaskId, Status)]) {
        for record in records {
            let RecordBody::Intervened(Intervened { by: Intervener::Person(_), kind, .. }) = &record.body
            else {
                continue;
            };
            let found = before.iter().find(|(task, _)| record.task_id == Some(*task));
            self.interventions.extend(found.map(|(_, status)| format!("{kind:?}: {status:?}")));
        }
    }

    /// The conversation was deleted.
    pub(crate) fn forget(&mut self) {
        let (steps, interventions) = (mem::take(&mut self.steps), mem::take(&mut self.interventions));
        *self = Self { steps, interventions, ..Self::default() };
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
            let may_follow = files::may_follow_an_end(&record.body);
            let follows = self.ended.contains(&task);
            assert!(!follows || may_follow, "no record follows a task's end: {record:?}");
        }
        match &record.body {
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
        self.files.record(record);
        self.tree.record(record);
    }
}

/// Every call has exactly one result, in call order, directly after its reply; only the newest reply's
/// results may be missing.
pub(crate) fn paired(entries: &[Entry], calling: bool) {
    let mut rest = entries.iter();
    let mut before: Option<&Entry> = None;
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
            Entry::Results(_) => {
                // Those of a setup follow the request.
                let follows = matches!(before, Some(Entry::Reply(_) | Entry::User(_) | Entry::Note(_)));
                assert!(follows, "results without their reply");
            }
            Entry::Result(r) => panic!("a result without its call: {r:?}"),
            Entry::User(_) | Entry::Note(_) | Entry::Partial(_) => {}
        }
        before = Some(entry);
    }
}

/// A live task never hangs: an attempt runs, a person is asked, or a wake-up time is set.
fn goes_on(task: &Task, under_way: bool) {
    if task.has_ended() {
        assert_eq!((under_way, wake_at(task)), (false, None));
        return;
    }
    let asked = !task.questions.is_empty() || !task.approvals.is_empty();
    match abide_engine::status(task) {
        Status::WaitingUser | Status::WaitingApproval => assert!(asked),
        Status::Paused => {
            assert!(task.paused.is_some() || task.held.is_some());
            let waits_unseen = task.paused.is_some_and(|why| why != PauseReason::User) && !asked;
            assert!(!waits_unseen, "a person can see every pause that no person made: {task:#?}");
        }
        // The audit of the tree checks that one of them is at work.
        Status::WaitingChildren => {}
        _ => assert!(under_way || wake_at(task).is_some(), "the task hangs: {task:#?}"),
    }
}
