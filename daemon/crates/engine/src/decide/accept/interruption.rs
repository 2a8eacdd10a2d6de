//! Recovers interrupted work: attempts that ran when the daemon died, or that it cancelled because an append
//! had failed. Only a death counts towards the crash loop and applies the task's restart policy.

use crate::{
    decide::{
        children,
        draft::{Draft, GoOn},
        input::Finding,
    },
    mint::Mint,
    state::{
        history::History,
        status::is_at_work,
        task::{Call, CallStage, Stage, Task},
    },
};
use abide_protocol::{
    QuestionId, Timestamp,
    inbox::{Question, QuestionKind},
    message::CallOutcome,
    record::{
        EditState, Interruption, ModelErrorKind, ModelFailed, NewRecord, Paused, RecordBody, Restarted,
    },
    task::{PauseReason, RestartPolicy},
    transcript::{EffectClass, ToolResult},
};
use std::fmt::Write as _;

/// Ends of the daemon in a row, by a crash or a stop that cut the task off, without progress after which the
/// task is paused instead of resumed.
const CRASH_LOOP: u32 = 3;

const CRASH_LOOP_QUESTION: &str = "The daemon has ended three times in a row while this task was at work, and the task got no further. It is paused, because \
                                   it may be the cause. Go on?";
const RESTART_QUESTION: &str = "The daemon was restarted while this task was at work. Go on?";

/// Records the interruption of every task that was at work, and of the root, whose restart policy and
/// crash-loop count apply to the whole tree.
pub(super) fn accept(
    history: &History,
    cause: Interruption,
    findings: &[Finding],
    ran_until: Option<Timestamp>,
    mint: &mut Mint,
) -> Vec<NewRecord> {
    let (at, crashed) = (mint.at(), cause == Interruption::DaemonRestarted);
    // A task that waits for a person was not interrupted and cannot have caused the death.
    if !history.live().any(is_at_work) {
        return Vec::new();
    }
    // A task in backoff cannot have caused the death either, but it goes on by itself.
    let waits_for_retry =
        |task: &Task| matches!(&task.stage, Stage::Backoff { failed, .. } if failed.until > at);
    let counts_as_crash = crashed && history.live().any(|task| is_at_work(task) && !waits_for_retry(task));
    let without_progress = history.restarts.saturating_add(u32::from(counts_as_crash));
    let restarted = RecordBody::Restarted(Restarted { without_progress, cause, ran_until });
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
        records.append(&mut interrupt(history, task, cause, findings, mint));
    }
    if let Some(root) = history.root().filter(|root| crashed && !root.has_ended() && root.paused.is_none()) {
        let mut draft = Draft::of(root, mint);
        if without_progress >= CRASH_LOOP {
            pause(&mut draft, PauseReason::CrashLoop, CRASH_LOOP_QUESTION);
        } else {
            apply_restart_policy(&mut draft, root);
        }
        records.append(&mut draft.records);
    }
    records
}

fn interrupt(
    history: &History,
    task: &Task,
    cause: Interruption,
    findings: &[Finding],
    mint: &mut Mint,
) -> Vec<NewRecord> {
    let mut draft = Draft::of(task, mint);
    if let Stage::Thinking { item, attempt, .. } = task.stage {
        draft.push(RecordBody::ModelFailed(ModelFailed {
            item,
            attempt,
            kind: ModelErrorKind::Interrupted,
            message: model_call_failure(cause).to_owned(),
            retry_at: Some(draft.mint.at()),
            sent: true,
        }));
    }
    for call in task.calls() {
        if matches!(call.stage, CallStage::Started { .. }) {
            let forked = children::names_of_forked(history, task, call.block.id);
            let finding = findings.iter().find(|f| f.call == call.block.id);
            recover(&mut draft, call, cause, finding, &forked);
        }
    }
    draft.records
}

const fn model_call_failure(cause: Interruption) -> &'static str {
    match cause {
        Interruption::DaemonRestarted => "The daemon stopped during this model call.",
        Interruption::AppendFailed => {
            "A record could not be stored, so the daemon cancelled this model call."
        }
    }
}

fn apply_restart_policy(draft: &mut Draft<'_>, task: &Task) {
    match task.head.restart {
        RestartPolicy::Resume => {}
        RestartPolicy::Pause => pause(draft, PauseReason::Restart, RESTART_QUESTION),
        RestartPolicy::Ask => draft.ask_to_go_on(GoOn::new(QuestionKind::Restart, RESTART_QUESTION)),
    }
}

/// A pause that no person made asks whether to go on, so that it is in the inbox.
fn pause(draft: &mut Draft<'_>, reason: PauseReason, question: &str) {
    draft.push(RecordBody::Paused(Paused { reason }));
    draft.ask_to_go_on(GoOn::new(QuestionKind::Restart, question));
}

/// Records the result of an interrupted call, or nothing if the call may run again: folding `Restarted` has
/// made it `Allowed`. `forked`: the names of the sub-tasks that it has started.
fn recover(draft: &mut Draft<'_>, call: &Call, cause: Interruption, finding: Option<&Finding>, forked: &str) {
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
        (EffectClass::Verifiable | EffectClass::Unsafe, _) => {
            interrupted(draft, call, cause, finding, forked);
        }
    }
}

fn interrupted(
    draft: &mut Draft<'_>,
    call: &Call,
    cause: Interruption,
    finding: Option<&Finding>,
    forked: &str,
) {
    let reason = match cause {
        Interruption::DaemonRestarted => "the daemon stopped while this call ran",
        Interruption::AppendFailed => "a record could not be stored while this call ran",
    };
    let mut words = format!(
        "Interrupted: {reason}. The call was killed and is not run again; its effects are unknown. Look at what it did before you \
         do anything again."
    );
    if !forked.is_empty() {
        let _ = write!(
            words,
            " It had started sub-tasks: {forked}. Those at work go on, and none is started again; `wait` gives their results."
        );
    }
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
                        "You had approved `{summary}`, and the daemon stopped while it ran. Did it happen?"
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
