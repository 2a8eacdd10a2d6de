//! Folds one record into the state. A stored record is a fact: none is refused, also none that an earlier version wrote.

use crate::{
    mode::{control::Control, rules::Last},
    state::{
        files::{Files, Seen},
        history::{Conversation, First, History},
        imported::append_imported,
        intervened::intervened,
        scratchpad,
        status::works,
        task::{Call, CallStage, Counted, Failed, Repeats, Stage, Step, Task},
        transcript::{
            append, append_deferred, append_results, append_results_of, compact, drop_read_results,
        },
    },
};
use abide_protocol::{
    CallId, TaskId, Timestamp,
    checkpoint::UndoEnded,
    inbox::{Decision, QuestionKind},
    message::CallOutcome,
    method::task::TaskFile,
    record::{
        self, CallAssessed, ConversationCreated, ConversationUpdated, Interruption, NewRecord, NoticeKind,
        Permission, Record, RecordBody, TaskStarted,
    },
    task::PauseReason,
    transcript::{CallBlock, Entry, Reply, Transcript},
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

    /// Recomputes which sub-tasks are held by an ancestor. A task comes after its parent, so one pass reaches every depth.
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
        self.files
            .see(Seen { task: task.id, step, at, body }, call_of(body).and_then(|call| task.call(call)));
        if let RecordBody::Restarted(r) = body
            && r.cause == Interruption::DaemonRestarted
        {
            let ran_until = r.ran_until.map_or(self.newest, |until| until.min(at).max(self.newest));
            task.clock.skip(ran_until, at);
        }
        match body {
            RecordBody::UserMessage(m) => {
                append(task, Entry::User(m.text.clone()));
                append_named_files(task);
            }
            RecordBody::Imported(imported) => append_imported(task, imported),
            RecordBody::PhaseBegan(began) => begin_phase(task, began),
            RecordBody::ResultsDelivered(d) => {
                append_results_of(task, &d.tasks, Entry::Note(d.text.clone()));
            }
            RecordBody::Intervened(i) => intervened(task, at, i),
            RecordBody::Nudge(n) => {
                task.knows_live_children |= n.names_children;
                append(task, Entry::Note(n.text.clone()));
                if matches!(task.stage, Stage::Idle) {
                    task.last = Last::Nudged;
                }
            }
            RecordBody::UndoEnded(UndoEnded { note: Some(note), .. }) => {
                append(task, Entry::Note(note.clone()));
            }
            RecordBody::PartialReply(p) => append(task, Entry::Partial(p.text.clone())),
            RecordBody::Reply(r) => {
                let reply = reply(task, at, r);
                task.transcript.push(Entry::Reply(reply));
                let (tokens, entries) = (r.reply.usage.tokens(), task.entries().len());
                task.counted = if tokens > 0 { Counted { tokens, entries } } else { Counted::default() };
                if task.calls().is_empty() {
                    append_deferred(task);
                }
            }
            RecordBody::ModelFailed(f) => {
                model_failed(task, at, f);
                append_deferred(task);
            }
            RecordBody::Compacted(c) => compact(task, c),
            RecordBody::CallFinished(f) => {
                let is_refused_end = f.outcome == CallOutcome::Refused && wants_to_end(task, f.call_id);
                if is_refused_end {
                    // Whoever refuses an end has named the sub-tasks at work.
                    task.knows_live_children = true;
                    // It may have to be made again and again, and that is no loop.
                    task.repeats = Repeats::default();
                }
                finish_call(task, f);
                drop_read_results(task, &f.read_results);
                if let Stage::Calling(calls) = &task.stage
                    && calls.iter().all(Call::is_finished)
                {
                    if !is_setting_up(task) {
                        task.last = Last::Results { complete: accepted_summary(calls) };
                    }
                    task.results = calls.iter().filter_map(result_line).collect();
                    append_results(task);
                    task.stage = Stage::Idle;
                    task.idle_since = at;
                }
            }
            RecordBody::TaskEnded(_) => {
                append_results(task);
                apply_to_state(task, at, body);
                task.steps = Vec::new();
                if task.head.parent_id.is_some() {
                    task.transcript = Transcript::default();
                }
            }
            RecordBody::CallAssessed(_) => {
                apply_to_state(task, at, body);
                if self.files.is_undo_waived() {
                    waive_undo(task);
                }
            }
            _ => apply_to_state(task, at, body),
        }
        task.mode.fold(body, &task.last);
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

/// Tells the model which files the user named, if no phase's note does.
fn append_named_files(task: &mut Task) {
    if !task.head.files.is_empty() && task.head.mode.step_phase().is_none() {
        let note = format!("Files of the workspace that the user named: {}", task.files.list());
        append(task, Entry::Note(note));
    }
}

/// Allows the calls that would ask only because what they do could not be undone.
fn waive_undo(task: &mut Task) {
    let Stage::Calling(calls) = &mut task.stage else { return };
    let asks = |call: &&mut Call| {
        let asks = |assessed: &CallAssessed| assessed.for_task && assessed.permission == Permission::Ask;
        matches!(call.stage, CallStage::Queued) && call.assessed.as_ref().is_some_and(asks)
    };
    calls.iter_mut().filter(asks).for_each(|call| call.stage = CallStage::Allowed);
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

/// Applies a record that changes only its own task, and not its transcript.
#[expect(clippy::too_many_lines, reason = "every kind of record is listed")]
fn apply_to_state(task: &mut Task, at: Timestamp, body: &RecordBody) {
    match body {
        RecordBody::ModelRequested(r) => {
            begin_step(task, r.step);
            task.has_unread = false;
            let before = match mem::replace(&mut task.stage, Stage::Idle) {
                Stage::Backoff { failed, .. } if failed.attempt + 1 == r.attempt => Some(failed),
                _ => None,
            };
            task.stage = Stage::Thinking { item: r.item, attempt: r.attempt, phase: r.phase, before };
        }
        RecordBody::CallAssessed(p) => {
            if is_setting_up(task) && matches!(task.stage, Stage::Idle) {
                task.stage = Stage::Calling(vec![setup(p)]);
            }
            task.repeats.see(&p.tool, &p.arguments);
            if let Some(call) = call_mut(task, p.call_id) {
                call.assessed = Some(p.clone());
                if !matches!(p.permission, Permission::Ask | Permission::Denied(_)) {
                    call.stage = CallStage::Allowed;
                }
            }
        }
        RecordBody::ApprovalRequested(a) => {
            if let Some(call) = call_mut(task, a.call_id) {
                call.stage = CallStage::Approval(a.id);
                task.approvals.insert(a.id, a.clone());
            }
        }
        RecordBody::ApprovalDecided(d) => {
            task.approvals.remove(&d.approval_id);
            if d.decision.allows()
                && let Some(call) = call_mut(task, d.call_id)
            {
                call.stage = CallStage::Allowed;
                call.by_person = true;
            }
        }
        RecordBody::CallStarted(s) => {
            if let Some(call) = call_mut(task, s.call_id) {
                call.stage = CallStage::Started { attempt: s.attempt, at };
                call.attempts = s.attempt;
            }
        }
        RecordBody::Joining(joining) => {
            if let Some(call) = call_mut(task, joining.call_id) {
                call.stage = CallStage::Joining(joining.tasks.clone());
            }
        }
        RecordBody::QuestionAsked(q) => {
            if q.kind == QuestionKind::Agent
                && let Some(call) = q.call_id.and_then(|id| call_mut(task, id))
            {
                call.stage = CallStage::Asking(q.id);
            }
            task.questions.insert(q.id, q.clone());
        }
        RecordBody::QuestionAnswered(a) => {
            if task.questions.remove(&a.question_id).is_some_and(|q| q.kind == QuestionKind::Loop) {
                task.repeats = Repeats::default();
            }
        }
        RecordBody::Paused(p) => {
            task.paused = Some(p.reason);
            if let Stage::Backoff { failed, .. } = &mut task.stage {
                failed.was_parked |= p.reason == PauseReason::Parked;
            }
        }
        RecordBody::Resumed(_) => {
            task.paused = None;
            // Whoever lets it go on need not wait for the next attempt.
            if let Stage::Backoff { failed, .. } = &mut task.stage {
                failed.until = failed.until.min(at);
            }
        }
        RecordBody::LimitsRaised(l) => {
            task.limits = l.limits;
            task.budget_alerted = false;
        }
        RecordBody::Restarted(_) => reset_started_calls(task),
        RecordBody::TaskEnded(end) => {
            // A request that was under way had been sent, so it counts.
            task.usage.model_calls += u64::from(matches!(task.stage, Stage::Thinking { .. }));
            task.stage = Stage::Ended { at, end: end.clone() };
            task.questions.clear();
            task.approvals.clear();
            task.paused = None;
            task.held = None;
        }
        RecordBody::Update(update) => {
            report(task, &update.text);
            said(task, &update.text);
        }
        RecordBody::Notice(n) => {
            task.budget_alerted |= n.about == NoticeKind::BudgetNear;
            task.knows_cut |= n.about == NoticeKind::ContextCut;
        }
        // Applied to the conversation or the transcript, or changing no state.
        RecordBody::ConversationCreated(_)
        | RecordBody::ConversationUpdated(_)
        | RecordBody::ConversationArchived(_)
        | RecordBody::ConversationDeleted(_)
        | RecordBody::TaskStarted(_)
        | RecordBody::UserMessage(_)
        | RecordBody::Nudge(_)
        | RecordBody::Reply(_)
        | RecordBody::PartialReply(_)
        | RecordBody::RuleRemembered(_)
        | RecordBody::CallFinished(_)
        | RecordBody::Compacted(_)
        | RecordBody::ModelFailed(_)
        | RecordBody::ResultsDelivered(_)
        | RecordBody::PhaseBegan(_)
        | RecordBody::AgentMessage(_)
        | RecordBody::Imported(_)
        | RecordBody::Intervened(_)
        | RecordBody::Checkpointed(_)
        | RecordBody::UndoBegun(_)
        | RecordBody::UndoEnded(_)
        | RecordBody::ClockMoved(_)
        | RecordBody::ModelTraced(_) => {}
    }
}

fn reply(task: &mut Task, at: Timestamp, r: &record::ReplyRecord) -> Arc<Reply> {
    let mut usage = r.reply.usage;
    usage.model_calls = usage.model_calls.max(1);
    task.usage.add(&usage);
    task.was_reached = true;
    let reported = task.mode.report(r);
    report(task, &reported);
    let shown = r.shown();
    said(task, &shown);
    task.shown = shown;
    let call = |block: &CallBlock, is_read| Call {
        block: block.clone(),
        assessed: None,
        stage: CallStage::Queued,
        attempts: 0,
        by_person: false,
        is_read,
    };
    let native = r.reply.calls().map(|block| call(block, false));
    let calls: Vec<Call> = native.chain(r.calls.iter().map(|block| call(block, true))).collect();
    if calls.is_empty() {
        let text = task.shown.clone();
        task.last = Last::Text { text, stop: r.reply.stop_reason, output: usage.output };
        task.stage = Stage::Idle;
        task.idle_since = at;
    } else {
        task.stage = Stage::Calling(calls);
    }
    Arc::new(r.reply.clone())
}

/// Whether the task has not begun its first step or phase: a call is not of a reply then, and when it has finished the mode begins.
fn is_setting_up(task: &Task) -> bool {
    task.step == 0 && task.mode.phase().is_none()
}

/// A call that no reply has. So the model is told of it in words.
fn setup(assessed: &record::CallAssessed) -> Call {
    let block = CallBlock {
        id: assessed.call_id,
        provider_id: String::new(),
        tool: assessed.tool.clone(),
        arguments: assessed.arguments.clone(),
        opaque: None,
    };
    Call { block, assessed: None, stage: CallStage::Queued, attempts: 0, by_person: false, is_read: true }
}

/// Keeps this text of a reply or an update, unless it is blank.
fn said(task: &mut Task, text: &str) {
    if !text.trim().is_empty() {
        text.clone_into(&mut task.said);
    }
}

/// Begins this step, if it is a new one.
fn begin_step(task: &mut Task, number: u32) -> bool {
    let is_new = number > task.step;
    if is_new {
        task.step = number;
        task.steps.push(Step { number, start: task.entries().len(), report: String::new() });
    }
    is_new
}

/// Makes the agent's words the report of its step, unless they are blank.
fn report(task: &mut Task, words: &str) {
    let words = scratchpad::one_line(words);
    if let Some(step) = task.steps.last_mut().filter(|_| !words.is_empty()) {
        step.report = words;
    }
}

fn begin_phase(task: &mut Task, began: &record::PhaseBegan) {
    if begin_step(task, began.step) {
        task.results.clear();
    }
    if let Some(text) = &began.text {
        append(task, Entry::Note(text.clone()));
    }
}

/// A finished call's result on one line. A question's result is the answer.
fn result_line(call: &Call) -> Option<String> {
    match &call.stage {
        CallStage::Finished { result, .. } => Some(scratchpad::result_line(&call.block.tool, &result.text())),
        _ => None,
    }
}

fn model_failed(task: &mut Task, at: Timestamp, f: &record::ModelFailed) {
    let phase = match &task.stage {
        Stage::Thinking { phase, .. } | Stage::Backoff { phase, .. } => *phase,
        Stage::Idle | Stage::Calling(_) | Stage::Ended { .. } => None,
    };
    task.was_reached |= f.sent;
    task.usage.model_calls += u64::from(f.sent);
    let (alike, was_parked) = (task.alike(&f.message), task.was_parked());
    task.stage = f.retry_at.map_or(Stage::Idle, |until| {
        let reason = f.message.clone();
        let failed = Failed { attempt: f.attempt, until, kind: f.kind, reason, alike, was_parked };
        Stage::Backoff { item: f.item, phase, failed }
    });
    task.idle_since = at;
}

/// What is due after a time is due that time after the clock was set. A sleep of the machine counts for it.
fn move_clock(task: &mut Task, moved: record::ClockMoved) {
    task.clock.leave_out(moved.set_by_ms.saturating_add_unsigned(moved.slept_ms));
    task.idle_since = task.idle_since.moved_by(moved.set_by_ms);
    if let Stage::Backoff { failed, .. } = &mut task.stage {
        failed.until = failed.until.moved_by(moved.set_by_ms);
    }
    for question in task.questions.values_mut() {
        question.expires_at = question.expires_at.map(|at| at.moved_by(moved.set_by_ms));
    }
}

/// After an interruption no attempt runs any more: a call that was started and has no result may be started again.
fn reset_started_calls(task: &mut Task) {
    let Stage::Calling(calls) = &mut task.stage else { return };
    for call in calls.iter_mut().filter(|c| matches!(c.stage, CallStage::Started { .. })) {
        call.stage = CallStage::Allowed;
    }
}

/// Whether this call is a `task_complete` that may be carried out.
fn wants_to_end(task: &Task, call: CallId) -> bool {
    let is_allowed = |call: &Call| matches!(call.stage, CallStage::Allowed);
    task.call(call).is_some_and(|call| {
        is_allowed(call)
            && Control::parse(&call.block.tool, &call.block.arguments)
                .is_some_and(|parsed| matches!(parsed, Control::Complete { .. }))
    })
}

fn finish_call(task: &mut Task, f: &record::CallFinished) {
    if let Some(call) = call_mut(task, f.call_id) {
        let edit = call.assessed.as_ref().and_then(|known| known.edit.as_ref()).filter(|_| f.result.ok);
        let written = edit.map(|edit| TaskFile::written(edit, f.call_id));
        let was = std::mem::replace(
            &mut call.stage,
            CallStage::Finished { outcome: f.outcome, result: f.result.clone() },
        );
        match was {
            CallStage::Approval(id) => drop(task.approvals.remove(&id)),
            CallStage::Asking(id) => drop(task.questions.remove(&id)),
            _ => {}
        }
        if let Some(file) = written {
            task.files.add(file);
        }
    }
}

fn call_mut(task: &mut Task, id: CallId) -> Option<&mut Call> {
    if let Stage::Calling(calls) = &mut task.stage {
        calls.iter_mut().find(|c| c.block.id == id)
    } else {
        None
    }
}

/// The summary of a `task_complete` that took effect.
fn accepted_summary(calls: &[Call]) -> Option<String> {
    calls.iter().find_map(|call| match &call.stage {
        CallStage::Finished { outcome: CallOutcome::Done, result }
            if call.block.tool == crate::mode::control::TASK_COMPLETE && result.ok =>
        {
            Some(crate::mode::control::summary(&call.block.arguments))
        }
        _ => None,
    })
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
}
