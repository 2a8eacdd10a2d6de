//! Lets tasks act until every one of them waits.

use crate::{
    decide::{
        accept::{accept, is_over_time, wake_up, with_relatives},
        children, compaction,
        draft::{Draft, End, GoOn},
        files, incomplete,
        input::{Input, Refusal},
        limits, note, recalled, schedule,
        shown::Shown,
    },
    mint::Mint,
    mode::rules::{Action, Answer, Ending},
    state::{
        history::History,
        status::is_at_work,
        task::{Stage, Task},
    },
};
use abide_protocol::{
    inbox::QuestionKind,
    record::{
        AgentMessage, ModelRequested, NewRecord, Notice, NoticeKind, Nudge, Paused, PhaseBegan, RecordBody,
    },
    task::{EndReason, PauseReason, Phase},
};

/// Accepts an input that cuts off nothing that people were shown, and lets the tasks act until they wait: the
/// records of one append, folded into `history`.
///
/// # Errors
/// The refusal, if the input changes nothing; `history` is as it was.
pub fn handle(
    history: &mut History,
    input: impl Into<Input>,
    mint: &mut Mint,
) -> Result<Vec<NewRecord>, Refusal> {
    let mut records = accept(history, input, Shown::new(), mint)?;
    for record in &records {
        history.fold(record);
    }
    records.append(&mut advance(history, mint));
    Ok(records)
}

/// Folds what the tasks do next by themselves into `history`. One task acts at a time, each before its
/// parent, which may depend on it. Empty if all of them wait.
pub fn advance(history: &mut History, mint: &mut Mint) -> Vec<NewRecord> {
    advance_those(history, mint, |_, _| true)
}

/// [`advance`], but only of tasks that may act.
pub(crate) fn advance_those(
    history: &mut History,
    mint: &mut Mint,
    may_act: impl Fn(&History, &Task) -> bool,
) -> Vec<NewRecord> {
    let mut all = Vec::new();
    loop {
        let acts = |task| Some(next(history, task, mint)).filter(|records| !records.is_empty());
        let Some(records) = history.live().filter(|task| may_act(history, task)).find_map(acts) else {
            return all;
        };
        let mut records = with_relatives(history, records, &mut Shown::new(), mint);
        for record in &records {
            history.fold(record);
        }
        all.append(&mut records);
    }
}

/// Whether the task is at work or would act by itself. A starting daemon loads such a task; any other waits
/// for a person or a time. (A task at rest acts by itself only if its input was accepted while a daemon
/// drained.)
#[must_use]
pub fn needs_daemon(history: &History, task: &Task) -> bool {
    let is_root = history.root().is_some_and(|root| root.id == task.id);
    is_root && files::needs_daemon(history)
        || is_at_work(task)
        || !next(history, task, &mut Mint::new(task.started_at, 0)).is_empty()
}

fn next(history: &History, task: &Task, mint: &mut Mint) -> Vec<NewRecord> {
    if task.waits() {
        return Vec::new();
    }
    match &task.stage {
        Stage::Thinking { .. } | Stage::Ended { .. } => Vec::new(),
        Stage::Backoff { failed, phase, .. } if failed.until <= mint.at() => {
            request(task, task.step, failed.attempt + 1, *phase, mint)
        }
        Stage::Backoff { .. } => Vec::new(),
        Stage::Calling(calls) => schedule::next(history, task, calls, mint),
        Stage::Idle => match task.next() {
            Action::Think(phase) => think(history, task, Thought { phase, has_note: true }, mint),
            Action::GoOn(phase) => {
                think(history, task, Thought { phase: Some(phase), has_note: false }, mint)
            }
            Action::Join(_) if children::live(history, task).next().is_some() => Vec::new(),
            Action::Join(phase) => think(history, task, Thought { phase: Some(phase), has_note: true }, mint),
            Action::Skip(phase) => {
                let skipped = PhaseBegan { step: task.step, phase, text: None, asks: false };
                one(task, RecordBody::PhaseBegan(skipped), mint)
            }
            Action::Nudge(text) => one(task, RecordBody::Nudge(Nudge::new(text)), mint),
            Action::Finish(answer) => {
                let phase = task.head.mode.step_phase();
                // At a limit it could do nothing about it.
                let may_think = !is_at_limit(history, task, phase, mint);
                let has_unread = task.has_unread && may_think;
                if has_unread && phase.is_none() {
                    // Somebody's words came during the last reply: the next one answers them.
                    return think(history, task, Thought { phase, has_note: true }, mint);
                }
                let is_told = may_think && task.table().is_told_before_it_ends;
                if let Some(words) = children::keep_from_ending(history, task).filter(|_| is_told) {
                    let text = format!("Not over yet: {words}");
                    return one(task, RecordBody::Nudge(Nudge { text, names_children: true }), mint);
                }
                if has_unread {
                    return think(history, task, Thought { phase, has_note: true }, mint);
                }
                let end = End { notice: incomplete::notice(task), ..End::of(EndReason::Completed) };
                finish(history, task, answer, end, mint)
            }
            Action::Decline => {
                let words = "You declined to answer, so I stopped before the work began.";
                let end = End::of(EndReason::Declined).noticed(NoticeKind::Stopped, words);
                let answer = Answer { text: Some(words.to_owned()), is_message: false };
                finish(history, task, answer, end, mint)
            }
            Action::Refused => {
                let words = "The model declined to go on with this request.".to_owned();
                let mut draft = Draft::of(task, mint);
                let end = End { error: Some(words.clone()), ..End::of(EndReason::Error) };
                draft.end(task, end.noticed(NoticeKind::Error, words));
                draft.records
            }
        },
    }
}

/// Ends the task with this answer.
fn finish(history: &History, task: &Task, answer: Answer, end: End, mint: &mut Mint) -> Vec<NewRecord> {
    let data = task.mode.data(&Ending {
        answer: answer.text.as_deref(),
        sub_results: children::results_so_far(history, &task.children),
        usage: history.usage(),
    });
    let mut draft = Draft::of(task, mint);
    if let Some(text) = answer.text.clone().filter(|_| answer.is_message) {
        draft.push(RecordBody::AgentMessage(AgentMessage { text }));
    }
    draft.end(task, End { summary: answer.text, data, ..end });
    draft.records
}

/// A model call that is due.
#[derive(Clone, Copy)]
struct Thought {
    phase: Option<Phase>,
    /// The phase's note for the model comes before it.
    has_note: bool,
}

/// Requests the next model call, unless a limit is reached. Only a new step counts towards the step limit.
fn think(history: &History, task: &Task, thought: Thought, mint: &mut Mint) -> Vec<NewRecord> {
    let Thought { phase, has_note } = thought;
    let begins_step = begins_step(task, phase);
    if begins_step && task.has_all_steps() {
        let words = "I have reached the maximum number of steps. Stopping here.";
        let end = End::of(EndReason::StepLimit).noticed(NoticeKind::LimitReached, words);
        return finish(history, task, task.mode.answer_at_limit(&task.facts()), end, mint);
    }
    if is_over_time(task, mint.at()) {
        return wake_up(history, task, &mut Shown::new(), mint);
    }
    let root = history.root().unwrap_or(task);
    if let Some(words) = limits::of_tree(history, task) {
        return ask_for_budget(root, &words, mint);
    }
    if !root.budget_alerted
        && let Some(text) = limits::nearly_exhausted(&root.limits, &history.usage())
    {
        return one(root, RecordBody::Notice(Notice { about: NoticeKind::BudgetNear, text }), mint);
    }
    if begins_step && step_begins_at(task).is_some_and(|at| mint.at() < at) {
        return Vec::new();
    }
    if begins_step && let Some(compacted) = compaction::before_step(task) {
        return one(task, RecordBody::Compacted(compacted), mint);
    }
    if begins_step && let Some(call) = recalled::before_step(task, mint) {
        return one(task, RecordBody::CallAssessed(call), mint);
    }
    let step = task.step + u32::from(begins_step);
    let mut records = Vec::new();
    if let Some(phase) = phase {
        let text = has_note.then(|| note::of_phase(task, phase)).flatten();
        let began = PhaseBegan { step, phase, text, asks: true };
        records = one(task, RecordBody::PhaseBegan(began), mint);
    }
    records.append(&mut request(task, step, 1, phase, mint));
    records
}

/// Whether no model call in this phase can be requested now.
fn is_at_limit(history: &History, task: &Task, phase: Option<Phase>, mint: &Mint) -> bool {
    begins_step(task, phase) && task.has_all_steps()
        || is_over_time(task, mint.at())
        || limits::of_tree(history, task).is_some()
}

/// Whether a model call in this phase begins a step.
fn begins_step(task: &Task, phase: Option<Phase>) -> bool {
    phase.is_none() || phase == task.head.mode.step_phase()
}

/// When the next step may begin, if there is a delay between steps.
pub(crate) fn step_begins_at(task: &Task) -> Option<abide_protocol::Timestamp> {
    let is_delayed = task.limits.step_delay_ms > 0 && task.step > 0 && matches!(task.stage, Stage::Idle);
    let delayed = is_delayed
        && match task.next() {
            Action::Think(phase) => begins_step(task, phase),
            Action::GoOn(phase) => begins_step(task, Some(phase)),
            _ => false,
        };
    delayed.then(|| task.idle_since.plus(task.limits.step_delay_ms))
}

fn request(task: &Task, step: u32, attempt: u32, phase: Option<Phase>, mint: &mut Mint) -> Vec<NewRecord> {
    let item = mint.record_id();
    one(task, RecordBody::ModelRequested(ModelRequested { item, step, attempt, phase }), mint)
}

fn ask_for_budget(task: &Task, words: &str, mint: &mut Mint) -> Vec<NewRecord> {
    let mut draft = Draft::of(task, mint);
    draft.push(RecordBody::Paused(Paused { reason: PauseReason::Budget }));
    let text = format!("{words} Go on with as much again?");
    draft.ask_to_go_on(GoOn::new(QuestionKind::Budget, text));
    draft.records
}

fn one(task: &Task, body: RecordBody, mint: &mut Mint) -> Vec<NewRecord> {
    let mut draft = Draft::of(task, mint);
    draft.push(body);
    draft.records
}
