//! Folds a record into its task.

use crate::{
    mode::rules::Last,
    state::{
        fold_calls::{
            accepted_summary, call_mut, finish_call, of_reply, reset_started_calls, result_line,
            wants_to_end, without_reply,
        },
        imported::append_imported,
        intervened::intervened,
        recalled::append_recalled,
        scratchpad,
        task::{Call, CallStage, Counted, Failed, Origin, Repeats, Stage, Step, Task},
        transcript::{
            append, append_deferred, append_results, append_results_of, compact, drop_read_results,
        },
    },
};
use abide_protocol::{
    Timestamp,
    checkpoint::UndoEnded,
    inbox::QuestionKind,
    memory::RECALL,
    message::CallOutcome,
    record::{self, NoticeKind, Permission, RecordBody},
    task::PauseReason,
    transcript::{Entry, Reply, Transcript},
};
use std::{mem, sync::Arc};

/// Folds a record of this task into it. What depends on other tasks follows in [`super::fold`].
pub(super) fn fold_task(task: &mut Task, at: Timestamp, body: &RecordBody) {
    match body {
        RecordBody::UserMessage(m) => {
            append(task, Entry::User(m.text.clone()));
            append_named_files(task);
        }
        RecordBody::Imported(imported) => append_imported(task, imported),
        RecordBody::Recalled(recalled) => append_recalled(task, recalled),
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
            if let Some(used) = &f.usage {
                task.usage.add(used);
            }
            finish_call(task, f);
            drop_read_results(task, &f.read_results);
            if let Stage::Calling(calls) = &task.stage
                && calls.iter().all(Call::is_finished)
            {
                if calls.iter().all(|call| call.origin == Origin::Step) {
                    task.recalled_before = task.step + 1;
                } else {
                    if !is_setting_up(task) {
                        task.last = Last::Results { complete: accepted_summary(calls) };
                    }
                    task.results = calls.iter().filter_map(result_line).collect();
                    task.idle_since = at;
                }
                append_results(task);
                task.stage = Stage::Idle;
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
        _ => apply_to_state(task, at, body),
    }
    task.mode.fold(body, &task.last);
}

/// Tells the model which files the user named, if no phase's note does.
fn append_named_files(task: &mut Task) {
    if !task.head.files.is_empty() && task.head.mode.step_phase().is_none() {
        let note = format!("Files of the workspace that the user named: {}", task.files.list());
        append(task, Entry::Note(note));
    }
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
            let own = match task.stage {
                Stage::Idle if is_setting_up(task) => Some(Origin::Text),
                Stage::Idle if p.tool == RECALL => Some(Origin::Step),
                _ => None,
            };
            if let Some(origin) = own {
                task.stage = Stage::Calling(vec![without_reply(p, origin)]);
            }
            if own != Some(Origin::Step) {
                task.repeats.see(&p.tool, &p.arguments);
            }
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
            keep_report(task, &update.text);
            keep_said(task, &update.text);
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
        | RecordBody::Recalled(_)
        | RecordBody::Noted(_)
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
    keep_report(task, &reported);
    let shown = r.shown();
    keep_said(task, &shown);
    task.shown = shown;
    let calls = of_reply(r);
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

/// Whether the task has not begun its first step or phase: a call is not of a reply then, and when it has
/// finished the mode begins.
fn is_setting_up(task: &Task) -> bool {
    task.step == 0 && task.mode.phase().is_none()
}

/// Keeps this text of a reply or an update, unless it is blank.
fn keep_said(task: &mut Task, text: &str) {
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
fn keep_report(task: &mut Task, words: &str) {
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
pub(super) fn move_clock(task: &mut Task, moved: record::ClockMoved) {
    task.clock.leave_out(moved.set_by_ms.saturating_add_unsigned(moved.slept_ms));
    task.idle_since = task.idle_since.moved_by(moved.set_by_ms);
    if let Stage::Backoff { failed, .. } = &mut task.stage {
        failed.until = failed.until.moved_by(moved.set_by_ms);
    }
    for question in task.questions.values_mut() {
        question.expires_at = question.expires_at.map(|at| at.moved_by(moved.set_by_ms));
    }
}
