//! Folds one record into the state. A stored record is a fact: none is refused, also none that an earlier
//! version wrote.

use crate::state::{
    files::{Files, TaskRecord},
    fold_calls::waive_undo,
    fold_task::{fold_task, move_clock},
    history::{Conversation, First, History},
    status::works,
    task::Task,
};
use abide_protocol::{
    CallId, TaskId, Timestamp,
    inbox::Decision,
    message::CallOutcome,
    record::{
        ConversationCreated, ConversationUpdated, Interruption, NewRecord, Record, RecordBody, TaskStarted,
    },
    transcript::Transcript,
};
use std::{mem, sync::Arc};

impl History {
    /// Folds a stored record.
    pub fn see(&mut self, record: &Record) {
        self.apply(record.task_id, record.at, &record.body);
    }

    /// Folds a record that is about to be stored.
    pub fn fold(&mut self, record: &NewRecord) {
        self.apply(record.task_id, record.at, &record.body);
    }

    fn apply(&mut self, task: Option<TaskId>, at: Timestamp, body: &RecordBody) {
        if !matches!(body, RecordBody::Restarted(_)) {
            self.newest = at;
        }
        match body {
            RecordBody::ConversationCreated(facts) => {
                self.conversation = Some(Conversation { facts: facts.clone(), archived: false });
            }
            RecordBody::ConversationUpdated(update) => {
                if let Some(conversation) = &mut self.conversation {
                    apply_update(&mut conversation.facts, update);
                }
            }
            RecordBody::ConversationArchived(a) => {
                if let Some(conversation) = &mut self.conversation {
                    conversation.archived = a.archived;
                }
            }
            RecordBody::ConversationDeleted(_) => *self = Self::default(),
            RecordBody::TaskStarted(head) => {
                if let Some(id) = task {
                    self.begin(id, at, Arc::new((**head).clone()));
                }
            }
            RecordBody::RuleRemembered(_) => {}
            RecordBody::ClockMoved(moved) => {
                self.clock_moved = Some((at, *moved));
                self.tasks
                    .iter_mut()
                    .filter(|task| !task.has_ended())
                    .for_each(|task| move_clock(task, *moved));
            }
            RecordBody::QuestionAnswered(a) => {
                let first = || First { said: a.response.clone(), at };
                self.answered.entry(a.question_id).or_insert_with(first);
                self.apply_to_task(task, at, body);
            }
            RecordBody::ApprovalDecided(d) => {
                self.decided.entry(d.approval_id).or_insert(First { said: d.decision, at });
                self.apply_to_task(task, at, body);
                if d.decision == Decision::AllowForTask {
                    self.tasks.iter_mut().for_each(waive_undo);
                }
            }
            _ => self.apply_to_task(task, at, body),
        }
    }

    fn begin(&mut self, id: TaskId, at: Timestamp, head: Arc<TaskStarted>) {
        let Some(parent) = head.parent_id else {
            let earlier = self.tasks.first_mut().map_or(&mut self.inherited, |root| &mut root.transcript);
            let transcript = mem::take(earlier);
            self.files = Files::default();
            self.tasks.clear();
            self.tasks.push(Task::new(id, at, head, transcript));
            self.restarts = 0;
            self.clock_moved = None;
            return;
        };
        let is_new = self.task(id).is_none();
        if let Some(parent) = self.tasks.iter_mut().find(|task| is_new && task.id == parent) {
            parent.children.push(id);
            parent.knows_live_children = false;
            self.tasks.push(Task::new(id, at, head, Transcript::default()));
            self.hold(at);
        }
    }

    /// Recomputes which sub-tasks are held by an ancestor. A task comes after its parent, so one pass reaches
    /// every depth.
    fn hold(&mut self, at: Timestamp) {
        for place in 1..self.tasks.len() {
            let (before, from) = self.tasks.split_at_mut(place);
            let Some(task) = from.first_mut().filter(|task| !task.has_ended()) else { continue };
            let parent = before.iter().find(|above| Some(above.id) == task.head.parent_id);
            let held = parent.and_then(Task::holds);
            if held != task.held {
                task.held = held;
                task.clock.record(at, works(task));
            }
        }
    }

    /// The root's clock also runs while a sub-task works.
    fn note_work_below(&mut self, at: Timestamp) {
        let Some((root, below)) = self.tasks.split_first_mut().filter(|(root, _)| !root.has_ended()) else {
            return;
        };
        let works_below = below.iter().any(works);
        if works_below != root.works_below {
            root.works_below = works_below;
            root.clock.record(at, works(root) || works_below);
        }
    }

    fn apply_to_task(&mut self, id: Option<TaskId>, at: Timestamp, body: &RecordBody) {
        let step = self.root().map_or(0, |root| root.step);
        let Some(task) = self.tasks.iter_mut().find(|task| Some(task.id) == id) else { return };
        self.files.fold(
            TaskRecord { task: task.id, step, at, body },
            call_of(body).and_then(|call| task.call(call)),
        );
        if let RecordBody::Restarted(r) = body
            && r.cause == Interruption::DaemonRestarted
        {
            let ran_until = r.ran_until.map_or(self.newest, |until| until.min(at).max(self.newest));
            task.clock.skip(ran_until, at);
        }
        fold_task(task, at, body);
        if matches!(body, RecordBody::CallAssessed(_)) && self.files.is_undo_waived() {
            waive_undo(task);
        }
        task.clock.record(at, works(task) || task.works_below);
        self.note_work_below(at);
        if let RecordBody::Restarted(r) = body {
            self.restarts = r.without_progress;
        } else if is_progress(body) {
            self.restarts = 0;
        }
        if changes_hold(body) {
            self.hold(at);
        }
    }
}

/// The call that a record of its start or its end is about.
const fn call_of(body: &RecordBody) -> Option<CallId> {
    match body {
        RecordBody::CallStarted(started) => Some(started.call_id),
        RecordBody::CallFinished(finished) => Some(finished.call_id),
        _ => None,
    }
}

/// Whether the record is progress, which resets the crash-loop count.
fn is_progress(body: &RecordBody) -> bool {
    match body {
        RecordBody::Reply(_)
        | RecordBody::ApprovalDecided(_)
        | RecordBody::QuestionAnswered(_)
        | RecordBody::Resumed(_) => true,
        RecordBody::CallFinished(f) => f.outcome == CallOutcome::Done,
        _ => false,
    }
}

/// Whether the record may change if the task holds its sub-tasks; see [`Task::holds`].
pub(crate) const fn changes_hold(body: &RecordBody) -> bool {
    matches!(
        body,
        RecordBody::Paused(_)
            | RecordBody::Resumed(_)
            | RecordBody::QuestionAsked(_)
            | RecordBody::QuestionAnswered(_)
    )
}

fn apply_update(facts: &mut ConversationCreated, update: &ConversationUpdated) {
    if let Some(title) = &update.title {
        facts.title.clone_from(title);
    }
    if let Some(workspace) = &update.workspace {
        facts.workspace.clone_from(workspace);
    }
    facts.mode = update.mode.or(facts.mode);
    facts.model = update.model.clone().or_else(|| facts.model.take());
    facts.persona = update.persona.clone().or_else(|| facts.persona.take());
    facts.memory = update.memory.unwrap_or(facts.memory);
}
