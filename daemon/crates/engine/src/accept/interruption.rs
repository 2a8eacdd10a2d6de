//! Interrupted work: attempts that were under way when the daemon died, or that it cancelled because an append had failed. Only a
//! death is a crash: it counts towards the crash loop, and the task's restart policy applies.

use super::Draft;
use crate::{
    history::History,
    input::Finding,
    mint::Mint,
    status::is_at_work,
    task::{Call, CallStage, Stage, Task},
};
use abide_protocol::{
    QuestionId,
    inbox::{Question, QuestionKind},
    message::CallOutcome,
    record::{
        EditState, Interruption, ModelErrorKind, ModelFailed, NewRecord, Paused, RecordBody, Restarted,
    },
    task::{PauseReason, RestartPolicy},
    transcript::{EffectClass, ToolResult},
};

/// Daemon deaths in a row without progress after which the task is paused instead of resumed.
const CRASH_LOOP: u32 = 3;

/// Records the interruption of every task that was at work, and of the root, which decides for the whole tree.
pub(super) fn accept(
    history: &History,
    cause: Interruption,
    findings: &[Finding],
    mint: &mut Mint,
) -> Vec<NewRecord> {
    let (at, crashed) = (mint.at(), cause == Interruption::DaemonRestarted);
    // Tasks that wait for a person were not interrupted and cannot have caused the death.
    if !history.live().any(is_at_work) {
        return Vec::new();
    }
    // A task that waits for its next attempt cannot have caused it either; it goes on by itself.
    let waits_for_retry = |task: &Task| matches!(task.stage, Stage::Backoff { until, .. } if until > at);
    let counts_as_crash = crashed && history.live().any(|task| is_at_work(task) && !waits_for_retry(task));
    let without_progress = history.restarts.saturating_add(u32::from(counts_as_crash));
    let restarted = RecordBody::Restarted(Restarted { without_progress, cause });
    let is_restarted =
        |task: &&Task| !task.has_ended() && (is_at_work(task) || task.head.parent_id.is_none());
    let tasks: Vec<&Task> = history.tasks().iter().filter(is_restarted).collect();
    let mut records = Vec::new();
    for task in &tasks {
        let mut draft = Draft::of(task, mint);
        draft.push(restarted.clone());
        records.append(&mut draft.records);
    }
    // After all `Restarted` records: an edit found done counts as progress and resets the count.
    for task in &tasks {
        records.append(&mut interrupt(task, cause, findings, mint));
    }
    if let Some(root) = history.root().filter(|root| crashed && !root.has_ended() && root.paused.is_none()) {
        let mut draft = Draft::of(root, mint);
        if without_progress >= CRASH_LOOP {
            draft.push(RecordBody::Paused(Paused { reason: PauseReason::CrashLoop }));
        } else {
            apply_restart_policy(&mut draft, root);
        }
        records.append(&mut draft.records);
    }
    records
}

fn interrupt(task: &Task, cause: Interruption, findings: &[Finding], mint: &mut Mint) -> Vec<NewRecord> {
    let mut draft = Draft::of(task, mint);
    if let Stage::Thinking { item, attempt, .. } = task.stage {
        draft.push(RecordBody::ModelFailed(ModelFailed {
            item,
            attempt,
            kind: ModelErrorKind::Interrupted,
            message: format!("{} during this model call.", describe(cause)),
            retry_at: Some(draft.mint.at()),
            sent: true,
        }));
    }
    for call in task.calls() {
        if matches!(call.stage, CallStage::Started { .. }) {
            recover(&mut draft, call, cause, findings.iter().find(|f| f.call == call.block.id));
        }
    }
    draft.records
}

/// The start of a sentence for people and models.
const fn describe(cause: Interruption) -> &'static str {
    match cause {
        Interruption::DaemonRestarted => "The daemon went away",
        Interruption::AppendFailed => "What happened could not be stored, and the work was stopped",
    }
}

fn apply_restart_policy(draft: &mut Draft<'_>, task: &Task) {
    match task.head.restart {
        RestartPolicy::Resume => {}
        RestartPolicy::Pause => draft.push(RecordBody::Paused(Paused { reason: PauseReason::Restart })),
        RestartPolicy::Ask => {
            let question = Question {
                id: QuestionId(draft.mint.uuid()),
                kind: QuestionKind::Restart,
                at: draft.mint.at(),
                text: "The daemon was restarted while this task was at work. Go on?".to_owned(),
                choices: vec![super::answer::GO_ON.to_owned(), super::answer::STOP.to_owned()],
                call_id: None,
                expires_at: None,
            };
            draft.push(RecordBody::QuestionAsked(question));
        }
    }
}

/// A call that gets no record here may run again: folding `restarted` has made it `Allowed`.
fn recover(draft: &mut Draft<'_>, call: &Call, cause: Interruption, finding: Option<&Finding>) {
    let edit = finding.map_or(EditState::Unknown, |f| f.edit);
    match (call.effect(), edit) {
        (EffectClass::Pure | EffectClass::Control, _) | (EffectClass::Verifiable, EditState::NotDone) => {}
        (EffectClass::Verifiable, EditState::Done) => {
            let words = match cause {
                Interruption::DaemonRestarted => {
                    "Done; the daemon was restarted meanwhile and found the file as it should be."
                }
                Interruption::AppendFailed => {
                    "Done; its result was lost, and the daemon found the file as it should be."
                }
            };
            let result = ToolResult::success(words, None);
            draft.finish_call(call, CallOutcome::Done, result);
        }
        (EffectClass::Verifiable | EffectClass::Unsafe, _) => interrupted(draft, call, cause, finding),
    }
}

fn interrupted(draft: &mut Draft<'_>, call: &Call, cause: Interruption, finding: Option<&Finding>) {
    let what = match cause {
        Interruption::DaemonRestarted => "the daemon went away while this ran. It was stopped",
        Interruption::AppendFailed => "what happened while this ran could not be stored. It was stopped",
    };
    let mut words = format!(
        "Interrupted: {what} and is not run again; its effects are unknown. Look at what it did before you do anything again."
    );
    match finding.map(|f| f.output.trim_end()).filter(|o| !o.is_empty()) {
        Some(output) => {
            words.push_str(" Its output so far:\n");
            words.push_str(output);
        }
        None => words.push_str(" It had given no output."),
    }
    draft.finish_call(call, CallOutcome::Interrupted, ToolResult::failure(words));
    if call.by_person {
        let summary = call.assessed.as_ref().map_or(call.block.tool.as_str(), |p| p.summary.as_str());
        let question = Question {
            id: QuestionId(draft.mint.uuid()),
            kind: QuestionKind::Interrupted,
            at: draft.mint.at(),
            text: match cause {
                Interruption::DaemonRestarted => {
                    format!(
                        "You had approved `{summary}`, and the daemon went away while it ran. Did it happen?"
                    )
                }
                Interruption::AppendFailed => {
                    format!(
                        "You had approved `{summary}`, and its result could not be stored. Did it happen?"
                    )
                }
            },
            choices: vec!["it happened".to_owned(), "it did not".to_owned(), "let the agent look".to_owned()],
            call_id: Some(call.block.id),
            expires_at: None,
        };
        draft.push(RecordBody::QuestionAsked(question));
    }
}
