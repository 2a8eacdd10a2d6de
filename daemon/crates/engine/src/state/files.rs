//! Checkpoints of the files that the newest root task and its sub-tasks work on, and the undo of changes.
//!
//! The first checkpoint is due with the first call that may change something, and such a call waits for it. After that one is due
//! whenever calls that may have changed something have finished and none runs; the next such call waits for it, the model is asked
//! meanwhile. So what is between two checkpoints and changed while those calls ran, the task has changed. A removed file
//! has no time of change, so the first of those calls notes which files are missing when it starts.

use crate::{
    decide::{accept::Draft, effects::Effect, input::Refusal},
    mint::Mint,
    state::{
        history::History,
        status::is_at_work,
        task::{Call, CallStage, Stage, Task},
    },
};
use abide_protocol::{
    RecordId, TaskId, Timestamp,
    checkpoint::{
        CheckpointState, Checkpointed, Ran, SavedTree, UndoBegun, UndoEnded, UndoFrom, UndoResult,
        UndoneFiles, Window,
    },
    inbox::Decision,
    measure::counted,
    record::{CallAssessed, Interruption, NewRecord, Permission, RecordBody},
    task::Approvals,
    transcript::EffectClass,
};

/// What is known of the files of the newest root task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Files {
    first: FirstCheckpoint,
    /// The number of the next checkpoint.
    next: u32,
    /// Calls that may have changed something.
    since: Option<Since>,
    /// Such a call has finished since the newest checkpoint was made or tried.
    is_due: bool,
    /// Why the last checkpoint that was tried could not be made.
    failed: Option<String>,
    /// An undo that has begun.
    undo: Option<UndoBegun>,
    /// A person has allowed for the task what could not be undone.
    is_undo_waived: bool,
}

/// The checkpoint before the task's first change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum FirstCheckpoint {
    #[default]
    NotTaken,
    /// The newest checkpoint.
    Taken(SavedTree),
    /// None can be made.
    Impossible,
}

/// What ran since the newest checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Since {
    /// The root task's step in which the first call started. The next step may begin before the checkpoint is made.
    step: u32,
    ran: Ran,
}

/// A record of a task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen<'r> {
    pub(crate) task: TaskId,
    /// The root task's step before it.
    pub(crate) step: u32,
    pub(crate) at: Timestamp,
    pub(crate) body: &'r RecordBody,
}

impl Files {
    /// The undo that has begun.
    pub(crate) const fn undo(&self) -> Option<&UndoBegun> {
        self.undo.as_ref()
    }

    /// Whether a person has allowed for the task what could not be undone.
    pub(crate) const fn is_undo_waived(&self) -> bool {
        self.is_undo_waived
    }

    /// What a checkpoint begins with: the one before, and the calls that may have changed files since.
    #[must_use]
    pub(crate) fn since(&self) -> Option<(SavedTree, Option<Ran>)> {
        match &self.first {
            FirstCheckpoint::Taken(saved) => {
                Some((saved.clone(), self.since.as_ref().map(|since| since.ran.clone())))
            }
            FirstCheckpoint::NotTaken | FirstCheckpoint::Impossible => None,
        }
    }

    /// The root task's step in which the first call started that ran since the newest checkpoint.
    pub(crate) fn step(&self) -> Option<u32> {
        self.since.as_ref().map(|since| since.step)
    }

    /// The checkpoint after which this call, which has just started, is the first that may change something, and when it started.
    pub(crate) fn before(&self, call: &Call) -> Option<(SavedTree, Timestamp)> {
        let CallStage::Started { at, .. } = call.stage else { return None };
        match &self.first {
            FirstCheckpoint::Taken(saved) if may_change(call) => {
                let first = self.since.as_ref().map(|since| since.ran.window.from);
                (first == Some(at)).then(|| (saved.clone(), at))
            }
            _ => None,
        }
    }

    /// Folds a record of a task. `call`: the call that it is about, before the record.
    pub(crate) fn see(&mut self, record: Seen<'_>, call: Option<&Call>) {
        let Seen { task, step, at, body } = record;
        match body {
            RecordBody::CallStarted(_) if call.is_some_and(may_change) => {
                let edit = call.and_then(|call| call.assessed.as_ref()?.edit.clone());
                let ran = self.ran(step, at);
                ran.commands |= edit.is_none();
                ran.edits.extend(edit);
            }
            RecordBody::CallFinished(_) if call.is_some_and(runs_and_may_change) => self.has_run(step, at),
            // What ran has ended at some time between.
            RecordBody::Restarted(r) if r.cause == Interruption::DaemonRestarted && self.since.is_some() => {
                self.has_run(step, at);
            }
            RecordBody::Checkpointed(checkpointed) => self.checkpointed(checkpointed),
            RecordBody::ApprovalDecided(decided) if decided.decision == Decision::AllowForTask => {
                self.is_undo_waived = true;
            }
            RecordBody::UndoBegun(begun) => self.undo = Some(begun.clone()),
            RecordBody::UndoEnded(ended) => {
                self.undo = None;
                if let (UndoResult::Done(done), FirstCheckpoint::Taken(saved)) =
                    (&ended.result, &mut self.first)
                    && ended.undone == task
                {
                    saved.clone_from(&done.after);
                }
            }
            _ => {}
        }
    }

    fn ran(&mut self, step: u32, at: Timestamp) -> &mut Ran {
        let window = Window { from: at, until: at };
        let ran = Ran { window, edits: Vec::new(), commands: false };
        &mut self.since.get_or_insert(Since { step, ran }).ran
    }

    fn has_run(&mut self, step: u32, at: Timestamp) {
        self.is_due = true;
        let Ran { window, .. } = self.ran(step, at);
        window.until = window.until.max(at);
    }

    fn checkpointed(&mut self, checkpointed: &Checkpointed) {
        self.next = checkpointed.number.saturating_add(1);
        self.is_due = false;
        self.failed = match &checkpointed.state {
            CheckpointState::Impossible(why) => Some(why.clone()),
            CheckpointState::Taken(_) | CheckpointState::Unchanged => None,
        };
        match (&checkpointed.state, &self.first) {
            (CheckpointState::Taken(taken), _) => {
                self.first = FirstCheckpoint::Taken(taken.saved.clone());
                self.since = None;
            }
            (CheckpointState::Unchanged, _) => self.since = None,
            (CheckpointState::Impossible(_), FirstCheckpoint::NotTaken) => {
                self.first = FirstCheckpoint::Impossible;
            }
            // The next one covers this time too.
            (CheckpointState::Impossible(_), _) => {}
        }
    }
}

/// Whether the call may change files.
fn may_change(call: &Call) -> bool {
    matches!(call.effect(), EffectClass::Verifiable | EffectClass::Unsafe)
}

fn runs_and_may_change(call: &Call) -> bool {
    matches!(call.stage, CallStage::Started { .. }) && may_change(call)
}

/// Whether a checkpoint is due before this call, which has not begun.
fn is_about_to_change(call: &Call) -> bool {
    let is_open = matches!(call.stage, CallStage::Queued | CallStage::Approval(_) | CallStage::Allowed);
    let is_denied = |call: &Call| {
        call.assessed.as_ref().is_none_or(|assessed| matches!(assessed.permission, Permission::Denied(_)))
    };
    is_open && may_change(call) && !is_denied(call)
}

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

/// Whether a daemon that starts goes on with the work on files. A first checkpoint can wait until something is about to act: nothing has
/// changed yet, and many tasks may wait for a person.
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

/// Why a call that is allowed has to ask after all: it was allowed because what it does can be undone, and that turned out not to be
/// so. `--yes` answers it, as it answers a call that was found to be so when it was assessed.
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
        && !history.files.is_undo_waived;
    asks.then(|| format!("what is done here could not be undone: {why}"))
}

/// Whether calls that may change files have to wait.
pub(crate) fn holds_changes(history: &History) -> bool {
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
