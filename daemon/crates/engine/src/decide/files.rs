//! Checkpoints of the files that the newest root task and its sub-tasks work on, and the undo of changes.
//!
//! The first checkpoint is due with the first call that may change something, and such a call waits for it.
//! After that one is due whenever calls that may have changed something have finished and none runs; the next
//! such call waits for it, the model is asked meanwhile. So what is between two checkpoints and changed while
//! those calls ran, the task has changed. A removed file has no time of change, so the first of those calls
//! notes which files are missing when it starts.

use crate::{
    decide::{draft::Draft, effect::Effect, input::Refusal},
    mint::Mint,
    state::{
        files::{FirstCheckpoint, is_about_to_change, may_change, runs_and_may_change},
        history::History,
        status::is_at_work,
        task::{Call, CallStage, Stage, Task},
    },
};
use abide_protocol::{
    RecordId, TaskId, Timestamp,
    checkpoint::{CheckpointState, Checkpointed, UndoBegun, UndoEnded, UndoFrom, UndoResult, UndoneFiles},
    measure::counted,
    record::{CallAssessed, NewRecord, Permission, RecordBody},
    task::Approvals,
};

/// The checkpoint or the undo that should be under way.
pub(crate) fn effect(history: &History) -> Option<Effect> {
    let root = history.root()?;
    let files = &history.files;
    let mut calls = history.live().flat_map(Task::calls);
    let is_due = root.head.checkpoints
        && match files.first {
            FirstCheckpoint::NotTaken => calls.any(is_about_to_change),
            FirstCheckpoint::Taken(_) => files.is_due && !calls.any(runs_and_may_change),
            FirstCheckpoint::Impossible => false,
        };
    if is_due {
        return Some(Effect::Checkpoint { task: root.id, number: files.next });
    }
    files.undo.as_ref().map(|begun| Effect::Undo { task: root.id, undo: begun.undo })
}

/// Whether a daemon that starts goes on with the work on files. A first checkpoint can wait until something
/// is about to act: nothing has changed yet, and many tasks may wait for a person.
pub(crate) fn needs_daemon(history: &History) -> bool {
    let files = &history.files;
    let can_wait = matches!(files.first, FirstCheckpoint::NotTaken)
        && files.undo.is_none()
        && !history.live().any(is_at_work);
    effect(history).is_some() && !can_wait
}

/// The end of a root task whose checkpoint or undo is not over.
pub(crate) fn unfinished_after_end(history: &History, task: &Task) -> Option<Timestamp> {
    let Stage::Ended { at, .. } = task.stage else { return None };
    let is_root = history.root().is_some_and(|root| root.id == task.id);
    (is_root && effect(history).is_some()).then_some(at)
}

/// Why a call that is allowed has to ask after all: it was allowed because what it does can be undone, and
/// that turned out not to be so. `--yes` answers it, as it answers a call that was found to be so when it was
/// assessed.
pub(crate) fn asks_after_all(history: &History, task: &Task, call: &Call) -> Option<String> {
    let why = history.files.failed.as_ref()?;
    let approvals = task.head.approvals;
    let asks_nobody = |assessed: &CallAssessed| {
        assessed.permission == Permission::Sandbox
            && approvals.of_call(assessed.edit.is_some()) == Approvals::Ask
    };
    // One that a crash has interrupted began when it could be undone.
    let asks = matches!(call.stage, CallStage::Allowed)
        && call.attempts == 0
        && may_change(call)
        && call.assessed.as_ref().is_some_and(asks_nobody)
        && !call.by_person
        && !history.files.is_undo_waived();
    asks.then(|| format!("what is done here could not be undone: {why}"))
}

/// Whether a checkpoint or an undo should be under way. Calls that may change files wait for its end.
#[must_use]
pub fn works_on_files(history: &History) -> bool {
    effect(history).is_some()
}

/// Why a new root task, or another undo, has to wait.
pub(crate) fn refuse_while_undoing(history: &History) -> Result<(), Refusal> {
    if history.files.undo.is_some() { Err(Refusal::Undoing) } else { Ok(()) }
}

/// A checkpoint was made, or none could be.
pub(crate) fn checkpointed(
    history: &History,
    task: TaskId,
    number: u32,
    state: CheckpointState,
    mint: &mut Mint,
) -> Result<Vec<NewRecord>, Refusal> {
    if effect(history) != Some(Effect::Checkpoint { task, number }) {
        return Err(Refusal::Stale);
    }
    let step = history.step_of_checkpoint();
    let mut draft = Draft::new(task, mint);
    draft.push(RecordBody::Checkpointed(Checkpointed { number, step, state }));
    Ok(draft.records)
}

/// A person takes back what a task of the conversation has changed.
pub(crate) fn begin_undo(
    history: &History,
    begun: UndoBegun,
    mint: &mut Mint,
) -> Result<Vec<NewRecord>, Refusal> {
    let root = history.root().ok_or(Refusal::NoTask)?;
    refuse_while_undoing(history)?;
    let rests = root.has_ended() || root.paused.is_some() && !history.live().any(Task::in_flight);
    if !rests {
        return Err(Refusal::AtWork(root.id));
    }
    let mut draft = Draft::of(root, mint);
    draft.push(RecordBody::UndoBegun(begun));
    Ok(draft.records)
}

/// An undo is over.
pub(crate) fn end_undo(
    history: &History,
    undo: RecordId,
    result: UndoResult,
    mint: &mut Mint,
) -> Result<Vec<NewRecord>, Refusal> {
    let (Some(root), Some(begun)) = (history.root(), &history.files.undo) else { return Err(Refusal::Stale) };
    if begun.undo != undo {
        return Err(Refusal::Stale);
    }
    let (undone, from) = (begun.undone, begun.from);
    let note = match &result {
        UndoResult::Done(done) => Some(note(begun, done)),
        UndoResult::Failed(_) => None,
    };
    let mut draft = Draft::of(root, mint);
    draft.push(RecordBody::UndoEnded(UndoEnded { undo, undone, from, result, note }));
    Ok(draft.records)
}

/// Tells the model that files are not what it left.
fn note(begun: &UndoBegun, done: &UndoneFiles) -> String {
    let part = if begun.hunk.is_some() { "a part of " } else { "" };
    let what = match begun.from {
        UndoFrom::Start => "what the task had changed in files".to_owned(),
        UndoFrom::Step(step) => format!("what the task had changed in files from step {step} on"),
        UndoFrom::LastUndo => "the last undo".to_owned(),
    };
    let files = counted(u64::from(done.restored), "file");
    format!(
        "The user has taken back {part}{what}: {files} restored. Read a file again before you rely on its content."
    )
}
